import ZeroMQ
import NavigationCore
import RuntimePaths
import Synchronization

/// Runs the thread of a client, which alone uses the sockets; tasks use only the state under a lock.
final class ClientEngine: Sendable {
  /// The configured address of the daemon, or several, separated by commas.
  private let endpoint: String
  private let identity: NetworkIdentity?
  private let ownState: Lock<ClientState>
  private let forksAtInit = Forks.count
  private var isForked: Bool { forksAtInit != Forks.count }
  /// The client's state; in a child of fork(2), that of a client that has ended.
  var state: Lock<ClientState> { isForked ? Self.forkedState : ownState }
  private let wake: WakeDescriptor
  private let thread = Lock<Thread?>(nil)

  init(
    endpoint: String, identity: NetworkIdentity?, cluster: ClusterReplica
  ) throws(NavigationClientError) {
    // A child does not have the threads on which the tasks of its parent ran.
    guard Self.firstClientForks.min(Forks.count, ordering: .relaxed).newValue == Forks.count else {
      throw .forked
    }
    guard let wake = WakeDescriptor() else {
      throw NavigationClientError(.unreachable, "the process has no file descriptor left")
    }
    self.endpoint = endpoint
    self.identity = identity
    self.wake = wake
    ownState = Lock(ClientState(cluster: cluster))
    guard let thread = Thread({ self.run() }) else {
      throw NavigationClientError(.unreachable, "the system can start no further thread")
    }
    self.thread.withLock { $0 = thread }
  }

  /// The number of forks before the first client of this process or an ancestor.
  private static let firstClientForks = Atomic(Int.max)

  private static let forkedState: Lock<ClientState> = {
    let id = ClientID(high: 0, low: 0)
    var state = ClientState(cluster: ClusterReplica(client: id, name: "", seed: 0))
    state.close(with: .forked)
    return Lock(state)
  }()

  /// Ends the session, fails all requests and watches, and waits until the thread has ended.
  ///
  /// In a child of fork(2), it does nothing: the session belongs to the parent.
  func stop() {
    guard !isForked else {
      _ = unsafe Unmanaged.passRetained(self)
      return
    }
    change { state in
      state.handle(state.cluster.leave())
      state.close(with: NavigationClientError(.closed, "the client is closed"))
    }
    thread.withLock { $0.take() }?.join()
  }

  /// Changes the state under the lock, then resumes tasks and wakes the thread; returns the result
  /// of `body`.
  @discardableResult
  func change<Value: Sendable>(_ body: (inout ClientState) -> Value) -> Value {
    let value = changeWithoutWaking(body)
    if !isForked { wake.signal() }
    return value
  }

  private func changeWithoutWaking<Value: Sendable>(_ body: (inout ClientState) -> Value) -> Value {
    let (value, deferredCalls) = state.withLock { (body(&$0), $0.takeDeferredCalls()) }
    for call in deferredCalls { call(self) }
    return value
  }

  func perform(
    _ request: OpRequest, _ operations: [NavigationOperation], requiresSyncedMirror: Bool,
    within: Duration?
  ) async -> Result<OkReply, NavigationClientError> {
    await awaitAnswer(within: within) { state in
      let isByPerson = operations.contains { $0.kind.isByPerson }
      let limit = within ?? (isByPerson ? OperationKind.personLimit : nil)
      if requiresSyncedMirror, state.cluster.replica(of: request.nav) != nil,
        let doubt = state.cluster.guardRefusal(for: request.nav)
      {
        return .failure(NavigationClientError(doubt))
      }
      return .success(
        state.cluster.perform(
          request, operations.map(\.octets.bytes), within: limit, at: endpoint))
    }
  }

  typealias SentRequest = (id: UInt64, outputs: [ClusterOutput])

  /// Sends the request that `send` makes, and waits for the daemon's answer.
  func awaitAnswer(
    within: Duration?,
    _ send: @Sendable (inout ClientState) -> Result<SentRequest, NavigationClientError>
  ) async -> Result<OkReply, NavigationClientError> {
    let ticket = state.withLock { $0.takeTicket() }
    return await wait(orFail: Result.failure) { state, continuation in
      switch send(&state) {
      case .failure(let error): return .failure(error)
      case .success(let request):
        state.requests[request.id] = ClientState.Request(
          ticket: ticket, continuation: continuation,
          expiresAt: within.map { Deadline($0).milliseconds })
        // Last, because a request that is too large gets its error in these outputs.
        state.handle(request.outputs)
        return nil
      }
    } onCancel: { state, error in
      let request = state.requests.first { $0.value.ticket == ticket }
      if let request { state.abandon(request.key, error) }
    }
  }

  /// Waits until the session is open; returns the error if it is refused or `within` passes.
  func awaitSession(within: Duration) async -> NavigationClientError? {
    let ticket = state.withLock { $0.takeTicket() }
    return await wait(orFail: { $0 }) { state, continuation in
      guard state.cluster.phase != .open else { return .some(nil) }
      state.waiters[ticket] = ClientState.Waiter(
        continuation: continuation, expiresAt: Deadline(within).milliseconds)
      return nil
    } onCancel: { state, error in
      if let waiter = state.waiters.removeValue(forKey: ticket) { state.resume(waiter, error) }
    }
  }

  /// Suspends the task until `ClientState` resumes it; returns at once if `begin` returns a value.
  func wait<Value: Sendable>(
    orFail fail: (NavigationClientError) -> Value,
    _ begin: (inout ClientState, CheckedContinuation<Value, Never>) -> Value?,
    onCancel cancel: @Sendable (inout ClientState, NavigationClientError) -> Void
  ) async -> Value {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let value: Value? = change { state in
          if let end = state.end { return fail(end) }
          // A cancellation before this line is seen here. A later one finds what `begin` left.
          guard !Task.isCancelled else {
            return fail(NavigationClientError(.cancelled, "the task is cancelled"))
          }
          return begin(&state, continuation)
        }
        if let value { continuation.resume(returning: value) }
      }
    } onCancel: {
      change { cancel(&$0, NavigationClientError(.cancelled, "the task was cancelled")) }
    }
  }

  /// Returns a stream of the present status of the connection and every change.
  ///
  /// A slow reader gets only the newest status.
  func statuses() -> AsyncStream<NavigationClient.Status> {
    let ticket = state.withLock { $0.takeTicket() }
    return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { $0.removeListener(ticket) }
      }
      change { $0.addListener(ticket, continuation) }
    }
  }

  /// Waits for the next state of a watch.
  func next(_ ticket: UInt64) async -> Delivery {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let delivery: Delivery? = state.withLock { state in
          guard var subscription = state.subscriptions[ticket] else {
            return isForked ? .failure(.forked) : .success(nil)
          }
          defer { state.subscriptions[ticket] = subscription }
          if let delivery = subscription.take() { return delivery }
          if Task.isCancelled { return .success(nil) }
          subscription.reader = continuation
          return nil
        }
        if let delivery { continuation.resume(returning: delivery) }
      }
    } onCancel: {
      let reader = state.withLock { state in
        defer { state.subscriptions[ticket]?.reader = nil }
        return state.subscriptions[ticket]?.reader
      }
      reader?.resume(returning: .success(nil))
    }
  }

  /// The main function of the thread, which returns when the client is closed.
  private func run() {
    do throws(ZeroMQError) {
      try serve()
    } catch {
      change { $0.close(with: NavigationClientError(.unreachable, "\(error)")) }
    }
  }

  private func serve() throws(ZeroMQError) {
    var links = Links(endpoint, as: identity, wake: wake.descriptor)
    try links.connect(.first, to: nil)
    while true {
      let turn = advance()
      for command in turn.commands { try links.perform(command) }
      guard !turn.hasEnded else { return }
      try links.wait(milliseconds: turn.wakeAt.map { Deadline(at: $0).remainingMilliseconds } ?? -1)
      wake.drain()
      for link in links.ids {
        let events = try links.takeEvents(of: link)
        guard !events.isEmpty else { continue }
        let place = links.endpoint(of: link)
        state.withLock { state in
          for event in events {
            if case .refused(let refusal) = event, link == .first {
              state.failWaiters(.refused(endpoint: place ?? "", refusal))
            }
            state.handle(state.cluster.receive(event, of: link, at: place))
          }
        }
      }
    }
  }

  /// Handles deadlines, and resumes the tasks that have a result.
  ///
  /// Returns the commands for the links, and when it must be called again.
  private func advance() -> (commands: [ClusterOutput], wakeAt: UInt64?, hasEnded: Bool) {
    changeWithoutWaking { state in
      let now = SystemClock.bootMilliseconds()
      state.handle(state.cluster.tick(at: now))
      state.handle(state.cluster.grantCredit())
      state.expireWaits(at: now)
      let timers = [state.cluster.wakeAt, state.expiresAt].compactMap { $0 }
      return (state.takeCommands(), timers.min(), state.end != nil)
    }
  }
}
