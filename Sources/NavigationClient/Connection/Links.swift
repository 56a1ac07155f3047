package import ZeroMQ
package import NavigationCore
import RuntimePaths

/// The connections of one client: one for each session, all on the thread of the caller.
struct Links: ~Copyable {
  /// One connection, or the time at which to connect.
  private final class Entry {
    let id: LinkID
    /// The address that a daemon named; nil for the configured ones.
    var address: DaemonAddress?
    var link: Link?
    /// When to connect again; until then, the client ignores the present connection.
    var connectAt: UInt64?

    init(_ id: LinkID) { self.id = id }
  }

  private let configuredEndpoints: String
  private let identity: NetworkIdentity?
  private var poller = Poller()
  private var wakeSlot: Poller.Slot?
  private var entries: [Entry] = []

  /// Makes a list without connections; `wait` returns while the descriptor `wake` is readable.
  init(_ configuredEndpoints: String, as identity: NetworkIdentity?, wake: Int32?) {
    self.configuredEndpoints = configuredEndpoints
    self.identity = identity
    if let wake { wakeSlot = poller.add(descriptor: wake) }
  }

  /// The ids of the connections, oldest first.
  var ids: [LinkID] { entries.map(\.id) }

  /// The address to which a link is or will be connected; nil for an unknown link.
  func endpoint(of id: LinkID) -> String? {
    guard let entry = entry(id) else { return nil }
    if let address = entry.address { return address.endpoint }
    return entry.link?.endpoint ?? endpoints(in: configuredEndpoints).first
  }

  /// The likely reason why a link has no connection; nil if it knows none.
  func likelyRefusal(_ id: LinkID) -> ConnectionRefusal? { entry(id)?.link?.likelyRefusal }

  /// Connects a link now, to an address or with nil to the configured ones.
  mutating func connect(_ id: LinkID, to address: DaemonAddress?) throws(ZeroMQError) {
    let entry = makeEntry(id)
    entry.connectAt = nil
    if entry.address == address, entry.link != nil {
      try entry.link?.connectToNextEndpoint(&poller)
      return
    }
    entry.address = address
    let addresses = endpoints(in: address?.endpoint ?? configuredEndpoints)
    let link = try Link.open(addresses, as: keys(for: address), in: &poller)
    entry.link?.stopWatching(&poller)
    entry.link = consume link
  }

  /// Plans to connect a link at a time; until then, the client ignores its present connection.
  mutating func connect(_ id: LinkID, to address: DaemonAddress?, at time: UInt64) {
    let entry = makeEntry(id)
    if entry.address != address {
      closeLink(of: entry)
      entry.address = address
    }
    entry.connectAt = time
  }

  mutating func close(_ id: LinkID) {
    guard let entry = entry(id) else { return }
    closeLink(of: entry)
    entries.removeAll { $0 === entry }
  }

  /// Sends a message, or queues it until libzmq can accept it.
  mutating func send(
    _ id: LinkID, _ verb: ClientVerb, _ body: [UInt8]
  ) throws(ZeroMQError) {
    try entry(id)?.link?.send(verb, body, &poller)
  }

  mutating func perform(_ output: ClusterOutput) throws(ZeroMQError) {
    switch output {
    case .send(let link, let verb, let body): try send(link, verb, body)
    case .connect(let link, let address, let at): connect(link, to: address, at: at)
    case .close(let link): close(link)
    // What there was to drop was sent at once.
    case .dropUnsent, .event: break
    }
  }

  /// Waits until a link has events, the descriptor `wake` is readable, or the timeout has passed.
  ///
  /// Returns whether a descriptor is ready; a due `takeEvents` does not count.
  @discardableResult
  mutating func wait(milliseconds: Int) throws(ZeroMQError) -> Bool {
    var milliseconds = milliseconds
    if let due = dueAt {
      let left = Deadline(at: due).remainingMilliseconds
      if milliseconds < 0 || milliseconds > left { milliseconds = left }
    }
    return try poller.wait(milliseconds: milliseconds) > 0
  }

  /// Whether the descriptor `wake` was readable, or in error, at the end of the last wait.
  var isWoken: Bool { if let wakeSlot { !poller.readiness(of: wakeSlot).isEmpty } else { false } }

  /// When the caller must call `takeEvents` of all links at the latest; nil for no limit.
  var dueAt: UInt64? { entries.compactMap { $0.connectAt ?? $0.link?.dueAt }.min() }

  /// Changes whenever `signalDescriptors()` does.
  var generation: UInt64 { poller.generation }

  /// The descriptors that become readable when a link has events; see `Poller.signalDescriptors()`.
  func signalDescriptors() throws(ZeroMQError) -> [Int32] { try poller.signalDescriptors() }

  /// Connects a link if that is due, and returns its events.
  mutating func takeEvents(of id: LinkID) throws(ZeroMQError) -> [Link.Event] {
    guard let entry = entry(id) else { return [] }
    guard let time = entry.connectAt else { return try entry.link?.takeEvents(&poller) ?? [] }
    // The old connection is abandoned, so its events are ignored until the new one opens.
    entry.link?.abandon()
    _ = try entry.link?.takeEvents(&poller)
    guard time <= SystemClock.bootMilliseconds() else { return [] }
    do throws(ZeroMQError) {
      try connect(id, to: entry.address)
      return []
    } catch {
      entry.connectAt = SystemClock.bootMilliseconds() + Self.socketRetryMilliseconds
      return [.cannotOpenSocket]
    }
  }

  /// How long the client waits after it could not open a socket.
  private static let socketRetryMilliseconds: UInt64 = 1000

  /// The keys for an address; nil for a socket of this machine, or if the client has no keys.
  private func keys(for address: DaemonAddress?) -> NetworkIdentity? {
    guard let address else { return identity }
    if let identity { return identity.keys(for: address) }
    // A daemon on this machine can name one at tcp://.
    guard address.endpoint.hasPrefix("tcp:"),
      let own = ProcessEnvironment.current()["NAVD_KEY"],
      let key = address.key.flatMap({ CurvePublicKey(z85: $0) })
    else { return nil }
    do {
      return NetworkIdentity(serverKey: key, keys: try SecretKeyFile.pair(own))
    } catch {
      // Without keys, the handshake fails, and the client asks for the nav elsewhere.
      return nil
    }
  }

  private func entry(_ id: LinkID) -> Entry? { entries.first { $0.id == id } }

  private mutating func makeEntry(_ id: LinkID) -> Entry {
    if let entry = entry(id) { return entry }
    entries.append(Entry(id))
    return entries[entries.count - 1]
  }

  private mutating func closeLink(of entry: Entry) {
    entry.link?.stopWatching(&poller)
    entry.link = nil
  }
}

extension ClusterReplica {
  /// Sends operations; after `limit`, they fail as `expired` if they have not begun.
  ///
  /// The daemon is at `endpoint`, unless the client knows that another one has the nav.
  mutating func perform(
    _ request: OpRequest, _ operations: [[UInt8]], within limit: Duration?, at endpoint: String
  ) -> (id: UInt64, outputs: [ClusterOutput]) {
    var request = request
    request.setTimeLimit(limit, ifLocal: self.endpoint(of: request.nav) ?? endpoint)
    return perform(
      request, operations: operations, until: limit.map { Deadline($0).milliseconds })
  }

  /// Handles an event of a link, which is or will be connected to `endpoint`.
  mutating func receive(
    _ event: Link.Event, of link: LinkID, at endpoint: String?
  ) -> [ClusterOutput] {
    let now = SystemClock.bootMilliseconds()
    switch event {
    case .message(let message, let verb, let body):
      return receive(message, verb: verb, octets: body.count, from: link, at: now)
    case .unreadable: return receiveUnreadable(from: link, at: now)
    case .connected: return connected(link, to: endpoint, at: now)
    case .disconnected: return disconnected(link, at: now)
    case .connectFailed: return failed(link, at: now)
    // The link connects again after a broken handshake, but not after a refused key.
    case .refused, .cannotOpenSocket: return failed(link, isFinal: true, at: now)
    }
  }
}

extension NetworkIdentity {
  /// The keys for a daemon that another daemon has named; nil for a socket of this machine.
  package func keys(for address: DaemonAddress) -> NetworkIdentity? {
    guard address.endpoint.hasPrefix("tcp:") else { return nil }
    let key = address.key.flatMap { CurvePublicKey(z85: $0) } ?? serverKey
    return NetworkIdentity(serverKey: key, keys: keys)
  }
}
