import ZeroMQ
import NavigationCore
import RuntimePaths

/// A client of `navd`: performs operations on navs and watches them.
///
/// One client serves a whole process, over one connection to each daemon that it needs. It connects
/// by itself, and reconnects after every loss. Watches and operations then continue, and the daemon
/// performs each operation once. All methods can be called from any task or thread; only ``close()`` blocks.
///
/// ```swift
/// let client = try await NavigationClient.connect(name: "shell")
/// let home = ScreenDescription(id: "home", title: "Home")
/// try await client.perform(
///   [.create(root: home), .attach()], on: "kiosk", guardedBy: .unguarded)
/// for try await state in client.watch("kiosk") {
///   draw(state.bar, state.top)
/// }
/// ```
///
/// An operation that removes screens has a guard: the state in which the caller saw them. It never
/// removes other screens:
///
/// ```swift
/// try await client.pop(from: state)   // fails with `desync` if another screen is on top by now
/// ```
public final class NavigationClient: Sendable {
  /// The status of the connection.
  public enum Status: Hashable, Sendable {
    /// The session with the daemon is open.
    case connected
    /// There is no session; the client keeps trying to connect.
    case disconnected
  }

  /// The address of the daemon; a redirect by the daemon does not change it.
  public let endpoint: String
  let engine: ClientEngine

  /// Makes a client that connects in the background.
  ///
  /// - Parameters:
  ///   - endpoint: the address of the daemon, such as `ipc:///run/navd/navd.sock`. The default is
  ///     `NAVD_ENDPOINT`, else the first socket in the runtime directories of the user and of the
  ///     system.
  ///   - name: the name of this client in logs and lists.
  ///   - serverKey: the daemon's public key or a file with it, for an address at tcp://. The
  ///     default is `NAVD_SERVER_KEY`.
  ///   - keyFile: the file of the client's secret key, as `navctl key new` creates it, for an
  ///     address at tcp://. The default is `NAVD_KEY`.
  ///   - heartbeat: the silence after which the daemon sends a heartbeat, 1 … 60 s. Three times
  ///     this silence counts as a loss of the connection.
  /// - Throws: `unreachable` if there is no address, a key is missing, or no thread can start.
  public init(
    endpoint: String? = nil, name: String = "", serverKey: String? = nil, keyFile: String? = nil,
    heartbeat: Duration = .seconds(5)
  ) throws(NavigationClientError) {
    let identity: NetworkIdentity?
    do {
      self.endpoint = try PathRules.current().clientEndpoint(option: endpoint)
      identity = try NetworkIdentity.read(
        for: self.endpoint, serverKey: serverKey, keyFile: keyFile, environment: .current())
    } catch {
      throw NavigationClientError(.unreachable, "\(error)")
    }
    var source = SystemRandomNumberGenerator()
    let cluster = ClusterReplica(
      client: ClientID(high: source.next(), low: source.next()), name: name,
      heartbeat: UInt64(clamping: heartbeat.milliseconds), seed: source.next())
    engine = try ClientEngine(endpoint: self.endpoint, identity: identity, cluster: cluster)
  }

  deinit { close() }

  /// Makes a client and waits until its session is open.
  ///
  /// - Parameters:
  ///   - endpoint: as in ``init(endpoint:name:serverKey:keyFile:heartbeat:)``.
  ///   - name: the name of this client in logs and lists.
  ///   - serverKey: as above.
  ///   - keyFile: as above.
  ///   - timeout: how long to wait.
  /// - Returns: a client whose session is open.
  /// - Throws: `unreachable` after the timeout, or the error with which the daemon refused.
  public static func connect(
    endpoint: String? = nil, name: String = "", serverKey: String? = nil, keyFile: String? = nil,
    timeout: Duration = .seconds(5)
  ) async throws(NavigationClientError) -> NavigationClient {
    let client = try NavigationClient(
      endpoint: endpoint, name: name, serverKey: serverKey, keyFile: keyFile)
    if let error = await client.engine.awaitSession(within: timeout) { throw error }
    return client
  }

  /// Ends the client: all its requests and watches fail with `closed`.
  ///
  /// When it returns, the client's thread has ended. The release of the last reference does the
  /// same.
  public func close() { engine.stop() }

  /// Performs operations: all of them in one revision, or none.
  ///
  /// Without a connection the operations wait. After a loss, the client sends them again unchanged
  /// until it has a reply, and the daemon performs them once.
  ///
  /// - Parameters:
  ///   - operations: 1 … 16 operations.
  ///   - nav: the name of the nav.
  ///   - guard: the condition on the state of the nav; ``NavigationGuard/unguarded`` for none. A guard
  ///     from a watched state fails at once: with `unreachable` without a connection, and with `desync`
  ///     until the watch is in sync again.
  ///   - animated: whether displays should animate the change; nil for the operation's default.
  ///   - policy: whether the operations fail or wait while a transition is open.
  ///   - limit: the time limit. After it the daemon does not begin the operations, and the call
  ///     fails with `expired`. Without one, what a person does (`ui.*`, `gesture.*`,
  ///     `button.activate`) begins within 2 s or never, and other operations have no limit.
  /// - Returns: the revision, and the results of the operations.
  /// - Throws: the error; ``NavigationClientError/mayHaveHappened`` is true if the daemon may have
  ///   performed the operations.
  @discardableResult
  public func perform(
    _ operations: [NavigationOperation], on nav: String, guardedBy guard: NavigationGuard,
    animated: Bool? = nil, whenBusy policy: NavigationBusyPolicy? = nil,
    within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationReply {
    let request = OpRequest(
      id: 0, nav: nav, guards: `guard`.guards, isAnimated: animated,
      onBusy: policy.flatMap { BusyPolicy(word: $0.rawValue) })
    let result = await engine.perform(
      request, operations, requiresSyncedMirror: `guard`.requiresSyncedMirror, within: limit)
    return NavigationReply(try result.get())
  }

  /// Reads one aspect of a nav as JSON, without a watch.
  ///
  /// To read the state of a nav, ``state(of:)`` is easier.
  ///
  /// - Parameters:
  ///   - aspect: what to read.
  ///   - nav: the name of the nav.
  ///   - limit: how long to wait.
  /// - Returns: the value, in the words of the protocol.
  /// - Throws: the error of the daemon, or `expired`.
  public func read(
    _ aspect: NavigationAspect, of nav: String, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationValue {
    let result = await engine.awaitAnswer(within: limit) {
      .success($0.cluster.get(aspect.request(of: nav)))
    }
    return try result.get().value.flatMap { NavigationValue.read($0.bytes) } ?? .null
  }

  /// Watches a nav.
  ///
  /// The first element is the present state; every change gives another. The sequence ends when the
  /// nav is closed. It throws if the nav does not exist or this process may not read it. A loss of
  /// the connection does not end it. To end the watch, stop iterating or cancel the task.
  ///
  /// - Parameters:
  ///   - nav: the name of the nav.
  ///   - wait: whether to wait for a nav that does not exist yet, and after its end for the next
  ///     one of that name.
  ///   - buffering: the states that a slow reader gets: only the newest, or all.
  /// - Returns: the states in order; each iterator has a watch of its own.
  public func watch(
    _ nav: String, wait: Bool = false, buffering: NavigationBuffering = .newest
  ) -> NavigationUpdates {
    NavigationUpdates(client: self, nav: nav, buffering: buffering, waits: wait)
  }

  /// Returns the newest state of a nav.
  ///
  /// If the nav is watched and its mirror is in sync, the state is available at once. Otherwise the
  /// client waits for the daemon. Call it directly before a decision, and use the state as guard.
  ///
  /// - Parameter nav: the name of the nav.
  /// - Returns: the state.
  /// - Throws: `no-nav` or `forbidden`; `cancelled` if the task is cancelled.
  public func state(of nav: String) async throws(NavigationClientError) -> NavigationState {
    var states = watch(nav).makeAsyncIterator()
    if let state = try await states.next() { return state }
    guard Task.isCancelled else { throw NavigationClientError(.noNav, "the nav was closed") }
    throw NavigationClientError(.cancelled, "the task was cancelled")
  }

  /// The present status of the connection, and every change of it.
  ///
  /// The client reconnects by itself. The status lets an application show the user that the display
  /// may be out of date.
  ///
  /// - Returns: a stream until the client is closed; a slow reader gets only the newest status.
  public func statuses() -> AsyncStream<Status> { engine.statuses() }

  /// The optional features that the daemon has; empty before the first session.
  public var features: Set<NavigationFeature> { engine.state.withLock { $0.features } }

  /// Whether the client's state of a watched nav is in sync with the daemon.
  ///
  /// False without a connection, while the mirror is being repaired, and for a nav without a watch.
  public func isSynchronised(_ nav: String) -> Bool {
    engine.state.withLock { $0.cluster.replica(of: nav)?.isSynced ?? false }
  }
}

/// The behaviour of stack operations while a transition, a question or a gesture is open.
public enum NavigationBusyPolicy: String, Hashable, Sendable, CaseIterable {
  /// They fail with `transition-in-progress`.
  case reject
  /// They wait for its end, and the daemon checks their guards then.
  ///
  /// Guard such operations by top or stack, not by revision, because the revision changes while
  /// they wait. If too many wait already, they fail with `queue-full`.
  case queue
  /// They end the transition where it stands, and begin from there; for a question they wait.
  case interrupt
}
