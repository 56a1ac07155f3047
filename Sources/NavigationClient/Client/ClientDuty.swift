import NavigationCore

/// The client's record of its delegate roles or its display lease for one nav.
struct ClientDuty {
  enum Kind: Sendable {
    case delegate(NavigationRoles)
    case display(force: Bool, isKept: Bool)

    var isDelegate: Bool { if case .delegate = self { true } else { false } }
  }

  var ticket: UInt64
  var nav: String
  var kind: Kind
  var statuses: AsyncStream<NavigationDutyStatus>.Continuation
  /// The task that waits for the daemon's first reply.
  var waiter: ClientState.Waiter?
  var isActive = false
  /// The open questions, with the tasks that answer them.
  var asks: [AskID: Task<Void, Never>?] = [:]
}

extension ClientState {
  /// Requests roles or a display; they replace earlier ones of this client for the nav.
  mutating func assume(_ duty: ClientDuty) {
    let before = duties.values.first {
      $0.nav == duty.nav && $0.kind.isDelegate == duty.kind.isDelegate
    }
    if let before {
      let error = NavigationClientError(.replaced, "a later call replaced this for the same nav")
      dismiss(before.ticket, error)
    }
    duties[duty.ticket] = duty
    switch duty.kind {
    case .delegate(let roles): absorb(cluster.delegate(duty.nav, roles.registration))
    case .display(let force, let isKept):
      absorb(cluster.lease(duty.nav, force ? .force : .take, isKept: isKept))
    }
  }

  /// Ends roles or releases a display; `error` is nil if the caller asked for it.
  mutating func resign(_ ticket: UInt64, _ error: NavigationClientError? = nil) {
    guard let duty = duties[ticket] else { return }
    dismiss(ticket, error)
    switch duty.kind {
    case .delegate: absorb(cluster.delegate(duty.nav, DelegateRegistration(roles: [])))
    case .display: absorb(cluster.lease(duty.nav, .release))
    }
  }

  private mutating func dismiss(_ ticket: UInt64, _ error: NavigationClientError?) {
    guard let duty = duties.removeValue(forKey: ticket) else { return }
    for case let task? in duty.asks.values { resumptions.append { _ in task.cancel() } }
    if let waiter = duty.waiter {
      let reason = error ?? NavigationClientError(.cancelled, "the application ended this")
      resume(waiter, reason)
    }
    report(.ended(error), of: duty)
  }

  mutating func dismissAll(_ error: NavigationClientError) {
    for ticket in duties.keys { dismiss(ticket, error) }
  }

  mutating func absorb(_ event: DutyEvent) {
    switch event {
    case .registered(let nav, let roles):
      if !roles.isEmpty { activate(nav, isDelegate: true) }
    case .registrationRefused(let nav, let refusal):
      guard let duty = duty(nav, isDelegate: true) else { return }
      dismiss(duty.ticket, NavigationClientError(refusal))
    case .interrupted(let nav):
      if let duty = duty(nav, isDelegate: true), duty.isActive { interrupt(duty.ticket) }
    case .leaseTaken(let nav, _): activate(nav, isDelegate: false)
    case .leaseRefused(let nav, let refusal):
      guard let duty = duty(nav, isDelegate: false) else { return }
      dismiss(duty.ticket, NavigationClientError(refusal))
    case .leaseLost(let nav, let isTakenAgain):
      guard let duty = duty(nav, isDelegate: false) else { return }
      if isTakenAgain {
        interrupt(duty.ticket)
      } else {
        dismiss(duty.ticket, NavigationClientError(.leaseLost, "the display lease has ended"))
      }
    case .leaseReleased: break
    case .asked(let id, let ask):
      guard let duty = duty(ask.nav, isDelegate: true), case .delegate(let roles) = duty.kind else {
        return
      }
      duties[duty.ticket]?.asks[id] = .some(nil)
      resumptions.append { $0.answer(ask, id, roles, duty.ticket) }
    case .settled(let id, let nav, _), .voided(let id, let nav):
      guard let duty = duty(nav, isDelegate: true) else { return }
      let task = duties[duty.ticket]?.asks.removeValue(forKey: id) ?? nil
      if let task { resumptions.append { _ in task.cancel() } }
    }
  }

  private mutating func interrupt(_ ticket: UInt64) {
    duties[ticket]?.isActive = false
    if let duty = duties[ticket] { report(.interrupted, of: duty) }
  }

  private mutating func activate(_ nav: String, isDelegate: Bool) {
    guard let duty = duty(nav, isDelegate: isDelegate) else { return }
    duties[duty.ticket]?.isActive = true
    duties[duty.ticket]?.waiter = nil
    if let waiter = duty.waiter { resume(waiter, nil) }
    if !duty.isActive { report(.active, of: duty) }
  }

  private mutating func report(_ status: NavigationDutyStatus, of duty: ClientDuty) {
    resumptions.append { _ in
      duty.statuses.yield(status)
      if case .ended = status { duty.statuses.finish() }
    }
  }

  private func duty(_ nav: String, isDelegate: Bool) -> ClientDuty? {
    duties.values.first { $0.nav == nav && $0.kind.isDelegate == isDelegate }
  }

  var dutiesExpireAt: UInt64? { duties.values.compactMap(\.waiter?.expiresAt).min() }

  mutating func expireDuties(at now: UInt64) {
    for (ticket, duty) in duties where duty.waiter?.expiresAt.map({ $0 <= now }) ?? false {
      resign(ticket, NavigationClientError(.expired, "the daemon did not answer in time"))
    }
  }
}

extension ClientEngine {
  /// Registers delegate roles or takes a display, and waits for the daemon's reply.
  func assume(
    _ kind: ClientDuty.Kind, of nav: String, within: Duration?
  ) async -> Result<GrantedDuty, NavigationClientError> {
    let (statuses, listener) = AsyncStream.makeStream(
      of: NavigationDutyStatus.self, bufferingPolicy: .bufferingNewest(16))
    let ticket = state.withLock { $0.takeTicket() }
    let error: NavigationClientError? = await wait(orFail: { $0 }) { state, continuation in
      state.assume(
        ClientDuty(
          ticket: ticket, nav: nav, kind: kind, statuses: listener,
          waiter: .init(
            continuation: continuation, expiresAt: within.map { Deadline($0).milliseconds })))
      return nil
    } onCancel: { state, error in
      state.resign(ticket, error)
    }
    if let error { return .failure(error) }
    return .success(GrantedDuty(self, ticket, statuses))
  }

  func answer(_ ask: Ask, _ id: AskID, _ roles: NavigationRoles, _ ticket: UInt64) {
    let wait = Int64(clamping: min(ask.within, UInt64(Int32.max)))
    let deadline = ContinuousClock.now + .milliseconds(wait)
    let task = Task { [weak self] in
      let value: NavigationValue?
      // A closure that throws has no answer: the settings of the nav decide at once.
      do { value = try await roles.answer(ask, by: deadline) } catch { value = .null }
      self?.finish(ticket, id, value)
    }
    let isOpen = change { state -> Bool in
      guard state.duties[ticket]?.asks[id] != nil else { return false }
      state.duties[ticket]?.asks[id] = task
      return true
    }
    if !isOpen { task.cancel() }
  }

  private func finish(_ ticket: UInt64, _ id: AskID, _ value: NavigationValue?) {
    change { state in
      guard state.duties[ticket]?.asks[id] != nil else { return }
      state.duties[ticket]?.asks[id] = nil
      guard let value else { return }
      state.absorb(state.cluster.answer(id, value: Array(value.json.utf8)))
    }
  }
}
