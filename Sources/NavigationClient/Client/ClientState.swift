import NavigationCore

/// A call that the engine makes after it has released the lock, such as to resume a task.
typealias DeferredCall = @Sendable (ClientEngine) -> Void

/// The state that tasks and the thread share: the sessions and the waiting tasks.
struct ClientState {
  /// A task that waits for the daemon's answer to a request.
  struct Request {
    var ticket: UInt64
    var continuation: CheckedContinuation<Result<OkReply, NavigationClientError>, Never>
    var expiresAt: UInt64?
  }

  /// A task that waits for a session, or for roles or a lease; it resumes with an error or nil.
  struct Waiter {
    var continuation: CheckedContinuation<NavigationClientError?, Never>
    var expiresAt: UInt64?
  }

  var cluster: ClusterReplica
  /// The error with which the client has ended; nil while it works.
  private(set) var end: NavigationClientError?
  var requests: [UInt64: Request] = [:]
  var waiters: [UInt64: Waiter] = [:]
  var subscriptions: [UInt64: Subscription] = [:]
  var duties: [Duties.Key: ClientDuty] = [:]
  private(set) var features: Set<NavigationFeature> = []
  private var listeners: [UInt64: AsyncStream<NavigationClient.Status>.Continuation] = [:]
  /// The outputs that the client's thread, which owns the connections, must perform.
  private var commands: [ClusterOutput] = []
  var deferredCalls: [DeferredCall] = []
  private var ticketCount: UInt64 = 0

  init(cluster: ClusterReplica) { self.cluster = cluster }

  mutating func takeTicket() -> UInt64 {
    ticketCount += 1
    return ticketCount
  }

  mutating func takeCommands() -> [ClusterOutput] {
    defer { commands = [] }
    return commands
  }

  mutating func takeDeferredCalls() -> [DeferredCall] {
    defer { deferredCalls = [] }
    return deferredCalls
  }

  /// Handles the outputs of the sessions: commands for the thread, and results for tasks.
  mutating func handle(_ outputs: [ClusterOutput]) {
    for output in outputs {
      switch output {
      case .send, .connect, .close: commands.append(output)
      // The next session sends again what the lost one had not delivered.
      case .dropUnsent(let link):
        commands.removeAll { if case .send(link, _, _) = $0 { true } else { false } }
      case .event(let event): handle(event)
      }
    }
  }

  private mutating func handle(_ event: SessionEvent) {
    switch event {
    case .opened(let welcome):
      features = Set(welcome.features.map { NavigationFeature(rawValue: $0) })
      resumeWaiters(nil)
      report(.connected)
    case .lost: report(.disconnected)
    case .closed(.refused(let refusal)): close(with: NavigationClientError(refusal))
    case .closed(.dismissed(let why)):
      close(with: NavigationClientError(.closed, "navd ended the session: \(why)"))
    case .answered(let id, let result):
      guard let request = requests.removeValue(forKey: id) else { return }
      let answer = result.mapError { NavigationClientError($0) }
      deferredCalls.append { _ in request.continuation.resume(returning: answer) }
    case .changed(let nav, let change): handle(change, of: nav)
    case .ephemeral(let event):
      guard let mirror = cluster.replica(of: event.nav)?.mirror else { return }
      let state = NavigationState(nav: event.nav, mirror: mirror, ephemeral: event.events)
      offer(state) { $0.buffering == .everyRevision && $0.hasReceivedState }
    case .watchEnded(let nav, .full, let outcome): endWatch(nav, outcome)
    case .duty(let event): handle(event)
    case .queued, .latest, .traced, .watchEnded: break
    }
  }

  private mutating func handle(_ change: MirrorChange, of nav: String) {
    switch change {
    case .applied(let mirror, let diff):
      offer(NavigationState(nav: nav, mirror: mirror, diff: diff)) { _ in true }
    case .replaced(let mirror, _):
      offer(NavigationState(nav: nav, mirror: mirror)) { _ in true }
    case .resumed(let mirror):
      offer(NavigationState(nav: nav, mirror: mirror)) { !$0.hasReceivedState }
    case .suspect, .proven: break
    }
  }

  /// Gives a state to those watches of its nav that meet a condition.
  private mutating func offer(_ state: NavigationState, _ isMeant: (Subscription) -> Bool) {
    for (key, subscription) in subscriptions
    where subscription.nav == state.nav && isMeant(subscription) {
      if let call = subscriptions[key]?.offer(state) { deferredCalls.append(call) }
    }
  }

  private mutating func endWatch(_ nav: String, _ outcome: WatchOutcome) {
    let end: Delivery =
      switch outcome {
      case .ended("closed", _): .success(nil)
      case .ended(let why, let endpoint):
        .failure(
          NavigationClientError(
            .init(rawValue: why), endpoint.map { "the nav lives at \($0)" } ?? "the watch is over"))
      case .refused(let refusal): .failure(NavigationClientError(refusal))
      }
    let isGone = if case .failure(let error) = end { error.code == .noNav } else { true }
    for (key, subscription) in subscriptions
    where subscription.nav == nav && !(isGone && subscription.waits) {
      if let call = subscriptions[key]?.finish(end) { deferredCalls.append(call) }
    }
    // The watch that has ended was for others too, which do not wait.
    let isWanted = subscriptions.values.contains { $0.nav == nav && $0.isLive }
    if isWanted, cluster.replica(of: nav) == nil { handle(cluster.watch(nav, waits: true)) }
  }

  mutating func close(with error: NavigationClientError) {
    guard end == nil else { return }
    end = error
    for (_, request) in requests {
      var failure = error
      failure.mayHaveHappened = true
      deferredCalls.append { [failure] _ in
        request.continuation.resume(returning: .failure(failure))
      }
    }
    requests = [:]
    for key in duties.keys { endDuty(key, error) }
    resumeWaiters(error)
    for key in subscriptions.keys {
      if let call = subscriptions[key]?.finish(.failure(error)) {
        deferredCalls.append(call)
      }
    }
    report(nil)
    listeners = [:]
  }

  /// Fails the tasks that wait for the session, because the daemon or its socket refuses it.
  mutating func failWaiters(_ error: ConnectionError) {
    if case .refused(_, .handshake) = error { return }
    resumeWaiters(NavigationClientError(.forbidden, "\(error)"))
  }

  private mutating func resumeWaiters(_ error: NavigationClientError?) {
    for waiter in waiters.values { resume(waiter, error) }
    waiters = [:]
  }

  mutating func resume(_ waiter: Waiter, _ error: NavigationClientError?) {
    deferredCalls.append { _ in waiter.continuation.resume(returning: error) }
  }

  /// When the first wait of a task times out; nil if none does.
  var expiresAt: UInt64? {
    let times = requests.values.map(\.expiresAt) + waiters.values.map(\.expiresAt)
    return (times + duties.values.map(\.waiter?.expiresAt)).compactMap { $0 }.min()
  }

  mutating func expireWaits(at now: UInt64) {
    expireDuties(at: now)
    for (id, request) in requests where request.expiresAt.map({ $0 <= now }) ?? false {
      abandon(id, NavigationClientError(.expired, "the daemon did not answer in time"))
    }
    for (key, waiter) in waiters where waiter.expiresAt.map({ $0 <= now }) ?? false {
      waiters[key] = nil
      let error = NavigationClientError(.unreachable, "no daemon answers")
      resume(waiter, error)
    }
  }

  /// Fails one request, which the client then does not repeat.
  mutating func abandon(_ id: UInt64, _ reason: NavigationClientError) {
    guard let request = requests.removeValue(forKey: id) else { return }
    var error = reason
    let forgotten = cluster.forget(id)
    error.mayHaveHappened = forgotten.mayHaveHappened
    handle(forgotten.outputs)
    deferredCalls.append { [error] _ in request.continuation.resume(returning: .failure(error)) }
  }

  /// Adds a watch of a task, and returns its ticket.
  mutating func subscribe(
    _ nav: String, _ buffering: NavigationBuffering, waits: Bool = false
  ) -> UInt64 {
    let ticket = takeTicket()
    var subscription = Subscription(nav: nav, buffering: buffering, waits: waits)
    let replica = cluster.replica(of: nav)
    if let end {
      _ = subscription.finish(.failure(end))
    } else if let replica, replica.isSynced, let mirror = replica.mirror {
      _ = subscription.offer(NavigationState(nav: nav, mirror: mirror))
    } else if replica == nil
      || !waits && subscriptions.values.contains(where: { $0.nav == nav && $0.waits })
    {
      // The watch of those that wait would not report that there is no nav.
      handle(cluster.watch(nav, mirror: replica?.mirror, waits: waits))
    }
    subscriptions[ticket] = subscription
    return ticket
  }

  mutating func unsubscribe(_ ticket: UInt64) {
    guard let subscription = subscriptions.removeValue(forKey: ticket) else { return }
    if let reader = subscription.reader {
      deferredCalls.append { _ in reader.resume(returning: .success(nil)) }
    }
    let nav = subscription.nav
    let isWanted = subscriptions.values.contains { $0.nav == nav && $0.isLive }
    guard !isWanted, subscription.isLive else { return }
    handle(cluster.unwatch(nav))
  }

  /// Adds a stream that gets the present status of the connection and every change.
  mutating func addListener(
    _ ticket: UInt64, _ continuation: AsyncStream<NavigationClient.Status>.Continuation
  ) {
    listeners[ticket] = continuation
    let status: NavigationClient.Status? =
      if end != nil { nil } else { cluster.phase == .open ? .connected : .disconnected }
    report(status, to: continuation)
  }

  mutating func removeListener(_ ticket: UInt64) { listeners[ticket] = nil }

  private mutating func report(_ status: NavigationClient.Status?) {
    for listener in listeners.values { report(status, to: listener) }
  }

  private mutating func report(
    _ status: NavigationClient.Status?,
    to listener: AsyncStream<NavigationClient.Status>.Continuation
  ) {
    deferredCalls.append { _ in
      if let status { listener.yield(status) } else { listener.finish() }
    }
  }
}
