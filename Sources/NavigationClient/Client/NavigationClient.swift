import Navigation
import NavigationSync
import RuntimePaths

/// A client of `navd`: performs operations on navs and watches them.
///
/// One client serves a whole process; everything it does shares one connection. It connects by
/// itself, and again after every loss, going on with the same watches and operations, each of
/// which is performed once whatever happens to the connection. All methods may be called from
/// anywhere; none blocks.
///
/// ```swift
/// let client = try await NavigationClient.connect(name: "shell")
/// try await client.perform([.create(root: .init(id: "home", title: "Home")), .attach()], on: "kiosk")
/// for try await state in client.watch("kiosk") {
///   draw(state.bar, state.top)
/// }
/// ```
///
/// An operation that takes something away says what it saw, so that it never takes away anything
/// else:
///
/// ```swift
/// try await client.pop(from: state)   // fails with `desync` if another screen is on top by now
/// ```
public final class NavigationClient: Sendable {
  /// Whether the daemon is there.
  public enum Status: Hashable, Sendable {
    /// The session with the daemon is open.
    case connected
    /// It is not; the client keeps trying.
    case disconnected
  }

  /// Where the daemon is, unless it sends the client on to another place.
  public let endpoint: String
  let engine: ClientEngine

  /// Makes a client, which connects in the background.
  ///
  /// - Parameters:
  ///   - endpoint: where the daemon is, such as `ipc:///run/navd/navd.sock`. Without it,
  ///     `NAVD_ENDPOINT` says so, else it is the first socket among the runtime directories of
  ///     the user and of the system.
  ///   - name: what people call this client.
  ///   - serverKey: the daemon's public key, or the path of a file that holds it, for an endpoint on a
  ///     network; without it `NAVD_SERVER_KEY` says it.
  ///   - keyFile: the file of the client's secret key, as `navctl key new` makes it, for an endpoint
  ///     on a network; without it `NAVD_KEY` says it.
  ///   - heartbeat: the silence after which the daemon gives a sign of life, 1 … 60 s; three times
  ///     as much counts as a loss.
  /// - Throws: `unreachable` when there is no endpoint, a key is missing, or no thread can be made.
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
    let session = SessionReplica(
      client: ClientID(high: source.next(), low: source.next()), name: name,
      heartbeat: UInt64(clamping: heartbeat.milliseconds), seed: source.next())
    engine = try ClientEngine(endpoint: self.endpoint, identity: identity, session: session)
    try engine.start()
  }

  deinit { close() }

  /// Makes a client, and waits until the daemon has welcomed it.
  ///
  /// - Parameters:
  ///   - endpoint: as in ``init(endpoint:name:serverKey:keyFile:heartbeat:)``.
  ///   - name: what people call this client.
  ///   - serverKey: as above.
  ///   - keyFile: as above.
  ///   - timeout: how long to wait.
  /// - Returns: a client whose session is open.
  /// - Throws: `unreachable`, or why the daemon refused.
  public static func connect(
    endpoint: String? = nil, name: String = "", serverKey: String? = nil, keyFile: String? = nil,
    timeout: Duration = .seconds(5)
  ) async throws(NavigationClientError) -> NavigationClient {
    let client = try NavigationClient(
      endpoint: endpoint, name: name, serverKey: serverKey, keyFile: keyFile)
    if let error = await client.engine.ready(within: timeout) { throw error }
    return client
  }

  /// Ends every request and watch with `closed`, and the thread behind this client.
  ///
  /// When it returns, the thread has ended. The last reference to the client does the same.
  public func close() { engine.stop() }

  /// Performs operations as one: all of them or none.
  ///
  /// While nothing is connected the operations wait; they are sent again, unchanged, until the
  /// daemon has said what became of them, and it performs them once.
  ///
  /// - Parameters:
  ///   - operations: 1 … 16 operations.
  ///   - nav: the name of the nav.
  ///   - guard: what must hold. A guard from a state whose watch has found itself out of step
  ///     fails here, with `desync`.
  ///   - animated: whether displays should animate the change; nil for what is usual.
  ///   - optimistic: whether ``display(_:)`` shows what they do to the stack and its titles at
  ///     once. What is refused, or does not apply any more because others were faster, is
  ///     withdrawn. While the nav is not watched, or its mirror is not known to be right, they
  ///     fail with `desync` and are not sent.
  ///   - policy: what to do while a transition is under way.
  ///   - limit: how long it may take. After that it is not begun any more, and fails with
  ///     `expired`.
  /// - Returns: what became of it.
  /// - Throws: why not; ``NavigationClientError/mayHaveHappened`` says whether that is certain.
  @discardableResult
  public func perform(
    _ operations: [NavigationOperation], on nav: String, guardedBy guard: NavigationGuard = .none,
    animated: Bool? = nil, optimistic: Bool = false,
    whenBusy policy: NavigationBusyPolicy = .refuse, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationReply {
    let request = OpRequest(
      id: 0, nav: nav, guards: `guard`.guards, isAnimated: animated, waits: policy == .queue)
    let result = await engine.perform(
      request, operations, isFromMirror: `guard`.isFromMirror, isOptimistic: optimistic,
      within: limit)
    return NavigationReply(try result.get())
  }

  /// Reads one thing of a nav as JSON, without watching it.
  ///
  /// For the state of a nav, ``state(of:)`` is better.
  ///
  /// - Parameters:
  ///   - what: `state`, `bar`, `top`, `detached`, `log`, `verify` or `stats`.
  ///   - nav: the name of the nav.
  ///   - limit: how long to wait.
  /// - Returns: what was read.
  /// - Throws: why not.
  public func read(
    _ what: String = "state", of nav: String, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationValue {
    guard let what = GetRequest.What(rawValue: what) else {
      throw NavigationClientError(.invalidArgument, "nothing is called \(what)")
    }
    let result = await engine.get(GetRequest(id: 0, nav: nav, what: what), within: limit)
    return try result.get().value.flatMap { NavigationValue.read($0.bytes) } ?? .null
  }

  /// Follows a nav.
  ///
  /// The first element is the state as it is; another follows with every change. The sequence
  /// ends when the nav is closed, and throws when there is no such nav or this process may not
  /// read it. Losses of the connection do not end it. Stop iterating, or cancel the task, to stop
  /// watching.
  ///
  /// - Parameters:
  ///   - nav: the name of the nav.
  ///   - buffering: what to keep for a reader that is slow.
  /// - Returns: the states, in order; each iterator watches by itself.
  public func watch(
    _ nav: String, buffering: NavigationBuffering = .newest
  ) -> NavigationUpdates {
    NavigationUpdates(client: self, nav: nav, buffering: buffering)
  }

  /// Follows a nav as it is to be shown: with what this client performs optimistically.
  ///
  /// As ``watch(_:buffering:)`` of the newest state; more elements come when something is shown
  /// before it is confirmed, or is withdrawn.
  ///
  /// - Parameter nav: the name of the nav.
  /// - Returns: the states, confirmed and displayed; each iterator watches by itself.
  public func display(_ nav: String) -> NavigationDisplayUpdates {
    NavigationDisplayUpdates(client: self, nav: nav)
  }

  /// The newest state of a nav, as soon as it is known to be the daemon's newest.
  ///
  /// Of a nav that is watched it is known already, unless the connection was just lost; else the
  /// daemon is asked. Take it just before deciding what to do, and guard that with it.
  ///
  /// - Parameter nav: the name of the nav.
  /// - Returns: the state.
  /// - Throws: `no-nav`, `forbidden`; `cancelled` when the task is cancelled while it waits.
  public func state(of nav: String) async throws(NavigationClientError) -> NavigationState {
    var states = watch(nav).makeAsyncIterator()
    if let state = try await states.next() { return state }
    guard Task.isCancelled else { throw NavigationClientError(.noNav, "the nav was closed") }
    throw NavigationClientError(.cancelled, "the task was cancelled")
  }

  /// Whether the daemon is there, now and with every change.
  ///
  /// Nothing has to be done when it is not: watches and operations go on by themselves. It is for
  /// telling people that what they see may be old.
  ///
  /// - Returns: the status, and each new one, until the client is closed; a reader that is slow is
  ///   spared those in between.
  public func statuses() -> AsyncStream<Status> { engine.statuses() }

  /// Whether a watched nav's newest state is known to be the daemon's newest.
  ///
  /// False while the connection is lost, while the mirror is being repaired, and of a nav that is
  /// not watched.
  public func isSynchronised(_ nav: String) -> Bool { engine.isSynced(nav) }
}

/// What to do with operations on the stack while a transition, a question or a gesture is open.
public enum NavigationBusyPolicy: Hashable, Sendable {
  /// They fail with `transition-in-progress`.
  case refuse
  /// They wait for its end, and their guards are looked at again then: guard by top or stack, not
  /// by revision. When too many wait already, they fail with `queue-full`.
  case queue
}
