import NavigationCore

/// The client's record of its delegate roles or its display lease for one nav.
struct ClientDuty {
  var ticket: UInt64
  /// The closures that answer questions; nil for a display.
  var roles: NavigationRoles?
  var statuses: AsyncStream<NavigationDutyStatus>.Continuation
  /// The task that waits for the daemon's first reply.
  var waiter: ClientState.Waiter?
  var isActive = false
  /// The open questions, with the tasks that answer them.
  var answerTasks: [AskID: Task<Void, Never>?] = [:]
}

extension ClientState {
  /// Requests roles, or a display; ends the earlier request of the same kind for the nav.
  mutating func requestDuty(_ key: Duties.Key, _ duty: ClientDuty, _ requests: [ClusterOutput]) {
    endDuty(
      key, NavigationClientError(.replaced, "a later call replaced this for the same nav"))
    duties[key] = duty
    handle(requests)
  }

  /// Ends roles or releases a display; `error` is nil if the caller asked for it.
  mutating func endDuty(_ ticket: UInt64, _ error: NavigationClientError? = nil) {
    guard let key = duties.first(where: { $0.value.ticket == ticket })?.key else { return }
    endDuty(key, error)
    switch key.kind {
    case .roles: handle(cluster.delegate(key.nav, DelegateRegistration(roles: [])))
    case .lease: handle(cluster.lease(key.nav, .release))
    }
  }

  mutating func endDuty(_ key: Duties.Key, _ error: NavigationClientError?) {
    guard let duty = duties.removeValue(forKey: key) else { return }
    for case let task? in duty.answerTasks.values { deferredCalls.append { _ in task.cancel() } }
    if let waiter = duty.waiter {
      let reason = error ?? NavigationClientError(.cancelled, "the application ended this")
      resume(waiter, reason)
    }
    report(.ended(error), of: duty)
  }

  mutating func handle(_ event: DutyEvent) {
    switch event {
    case .registered(let nav, let roles): if !roles.isEmpty { activate(Duties.keys(of: nav).roles) }
    case .registrationRefused(let nav, let refusal):
      endDuty(Duties.keys(of: nav).roles, NavigationClientError(refusal))
    case .interrupted(let nav):
      let key = Duties.keys(of: nav).roles
      if duties[key]?.isActive == true { interrupt(key) }
    case .leaseTaken(let nav, _): activate(Duties.keys(of: nav).lease)
    case .leaseRefused(let nav, let refusal):
      endDuty(Duties.keys(of: nav).lease, NavigationClientError(refusal))
    case .leaseLost(let nav, isTakenAgain: true): interrupt(Duties.keys(of: nav).lease)
    case .leaseLost(let nav, _):
      let error = NavigationClientError(.leaseLost, "the display lease has ended")
      endDuty(Duties.keys(of: nav).lease, error)
    case .leaseReleased: break
    case .asked(let id, let ask):
      let key = Duties.keys(of: ask.nav).roles
      guard let roles = duties[key]?.roles else { return }
      duties[key]?.answerTasks[id] = .some(nil)
      deferredCalls.append { $0.answer(ask, id, roles, key) }
    case .settled(let id, let nav, _), .voided(let id, let nav):
      let task = duties[Duties.keys(of: nav).roles]?.answerTasks.removeValue(forKey: id) ?? nil
      if let task { deferredCalls.append { _ in task.cancel() } }
    }
  }

  private mutating func interrupt(_ key: Duties.Key) {
    duties[key]?.isActive = false
    if let duty = duties[key] { report(.interrupted, of: duty) }
  }

  private mutating func activate(_ key: Duties.Key) {
    guard let duty = duties[key] else { return }
    duties[key]?.isActive = true
    duties[key]?.waiter = nil
    if let waiter = duty.waiter { resume(waiter, nil) }
    if !duty.isActive { report(.active, of: duty) }
  }

  private mutating func report(_ status: NavigationDutyStatus, of duty: ClientDuty) {
    deferredCalls.append { _ in
      duty.statuses.yield(status)
      if case .ended = status { duty.statuses.finish() }
    }
  }

  mutating func expireDuties(at now: UInt64) {
    for duty in duties.values where duty.waiter?.expiresAt.map({ $0 <= now }) ?? false {
      endDuty(duty.ticket, NavigationClientError(.expired, "the daemon did not answer in time"))
    }
  }
}

extension ClientEngine {
  /// Registers delegate roles or takes a display, and waits for the daemon's reply.
  func requestDuty(
    _ key: Duties.Key, _ roles: NavigationRoles? = nil, within: Duration?,
    _ request: (inout ClusterReplica) -> [ClusterOutput]
  ) async -> Result<GrantedDuty, NavigationClientError> {
    let (statuses, listener) = AsyncStream.makeStream(
      of: NavigationDutyStatus.self, bufferingPolicy: .bufferingNewest(16))
    let ticket = state.withLock { $0.takeTicket() }
    let error: NavigationClientError? = await wait(orFail: { $0 }) { state, continuation in
      let duty = ClientDuty(
        ticket: ticket, roles: roles, statuses: listener,
        waiter: .init(
          continuation: continuation, expiresAt: within.map { Deadline($0).milliseconds }))
      state.requestDuty(key, duty, request(&state.cluster))
      return nil
    } onCancel: { state, error in
      state.endDuty(ticket, error)
    }
    if let error { return .failure(error) }
    return .success(GrantedDuty(self, ticket, statuses))
  }

  func answer(_ ask: Ask, _ id: AskID, _ roles: NavigationRoles, _ key: Duties.Key) {
    let wait = Int64(clamping: min(ask.withinMilliseconds, UInt64(Int32.max)))
    let deadline = ContinuousClock.now + .milliseconds(wait)
    let task = Task { [weak self] in
      let value: NavigationValue?
      // A closure that throws has no answer: the settings of the nav decide at once.
      do { value = try await roles.answer(ask, by: deadline) } catch { value = .null }
      self?.sendAnswer(key, id, value)
    }
    let isOpen = change { state -> Bool in
      guard state.duties[key]?.answerTasks[id] != nil else { return false }
      state.duties[key]?.answerTasks[id] = task
      return true
    }
    if !isOpen { task.cancel() }
  }

  private func sendAnswer(_ key: Duties.Key, _ id: AskID, _ value: NavigationValue?) {
    change { state in
      guard state.duties[key]?.answerTasks[id] != nil else { return }
      state.duties[key]?.answerTasks[id] = nil
      guard let value else { return }
      state.handle(state.cluster.answer(id, value: Array(value.json.utf8)))
    }
  }
}
