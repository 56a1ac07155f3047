import NavigationCore

extension ClientEngine {
  /// Delegate roles or a display lease that the daemon has granted, with its later status changes.
  struct Assumed: Sendable {
    var ticket: UInt64
    var statuses: AsyncStream<NavigationDutyStatus>
  }

  /// Registers delegate roles or takes a display, and waits for the daemon's reply.
  func assume(
    _ kind: ClientDuty.Kind, of nav: String, within: Duration?
  ) async -> Result<Assumed, NavigationClientError> {
    let (statuses, listener) = AsyncStream.makeStream(
      of: NavigationDutyStatus.self, bufferingPolicy: .bufferingNewest(16))
    let ticket = state.withLock { $0.takeTicket() }
    let error: NavigationClientError? = await wait(orFail: { $0 }) { state, continuation in
      state.assume(
        ClientDuty(
          ticket: ticket, nav: nav, kind: kind, statuses: listener,
          waiter: .init(continuation: continuation, expiresAt: Self.time(after: within))))
      return nil
    } onCancel: { state, error in
      state.resign(ticket, error)
    }
    if let error { return .failure(error) }
    return .success(Assumed(ticket: ticket, statuses: statuses))
  }

  func resign(_ ticket: UInt64) { change { $0.resign(ticket) } }

  /// Resumes a waiting task, or starts a task that answers a question of the daemon.
  func resume(_ resumption: Resumption) {
    guard case .ask(let roles, let ticket, let id, let ask) = resumption else {
      resumption.resume()
      return
    }
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
