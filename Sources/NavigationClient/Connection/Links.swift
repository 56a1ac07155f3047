package import ZeroMQ
package import NavigationCore
import RuntimePaths

/// The connections of one client: one for each session, all on the thread of the caller.
struct Links: ~Copyable {
  /// A connection, or the plan for one.
  private final class Entry {
    let id: LinkID
    /// The address; nil for the configured ones.
    var address: DaemonAddress?
    var link: Link?
    /// When to connect; until then, the events of the present connection are ignored.
    var connectAt: UInt64?

    init(_ id: LinkID) { self.id = id }
  }

  private let configured: String
  private let identity: NetworkIdentity?
  private var poller = Poller()
  private var entries: [Entry] = []

  /// Makes a client without connections; a wait ends while the descriptor `wake` is readable.
  init(_ configured: String, as identity: NetworkIdentity?, wake: Int32?) {
    self.configured = configured
    self.identity = identity
    if let wake { _ = poller.add(descriptor: wake) }
  }

  /// The links, oldest first.
  var ids: [LinkID] { entries.map(\.id) }

  /// The address to which a link is or will be connected; nil if there is none.
  func place(of id: LinkID) -> String? {
    guard let entry = entry(id) else { return nil }
    if let address = entry.address { return address.endpoint }
    return entry.link?.endpoint ?? endpoints(in: configured).first
  }

  /// The likely reason why a link has no connection; nil if none is known.
  func doubt(_ id: LinkID) -> ConnectionRefusal? { entry(id)?.link?.doubt }

  /// Connects now, to an address or, if it is nil, to the configured ones.
  mutating func connect(_ id: LinkID, to address: DaemonAddress?) throws(ZeroMQError) {
    let entry = makeEntry(id)
    entry.connectAt = nil
    if entry.address == address, entry.link != nil {
      try entry.link?.advance(&poller)
      return
    }
    entry.address = address
    let places = endpoints(in: address?.endpoint ?? configured)
    let link = try Link.open(places, as: keys(for: address), in: &poller)
    entry.link?.leave(&poller)
    entry.link = consume link
  }

  /// Plans to connect; until then, the present connection is ignored.
  mutating func connect(_ id: LinkID, to address: DaemonAddress?, at time: UInt64) {
    let entry = makeEntry(id)
    if entry.address != address {
      drop(entry)
      entry.address = address
    }
    entry.link?.dropUnsent()
    entry.connectAt = time
  }

  mutating func close(_ id: LinkID) {
    guard let entry = entry(id) else { return }
    drop(entry)
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

  /// Waits until a link has events, the descriptor is readable, or the timeout has passed; returns
  /// whether anything is ready, except what is due.
  @discardableResult
  mutating func wait(milliseconds: Int) throws(ZeroMQError) -> Bool {
    var milliseconds = milliseconds
    if let due = dueAt {
      let left = Deadline(at: due).remainingMilliseconds
      if milliseconds < 0 || milliseconds > left { milliseconds = left }
    }
    return try poller.wait(milliseconds: milliseconds) > 0
  }

  /// When to call `takeEvents` of all links at the latest; nil while nothing is planned.
  var dueAt: UInt64? { entries.compactMap { $0.connectAt ?? $0.link?.dueAt }.min() }

  /// Changes whenever `signs()` does.
  var generation: UInt64 { poller.generation }

  /// The descriptors that become readable when a link has events; see `Poller.signs()`.
  func signs() throws(ZeroMQError) -> [Int32] { try poller.signs() }

  /// Connects if that is due, and returns the events of a link.
  mutating func takeEvents(of id: LinkID) throws(ZeroMQError) -> [Link.Event] {
    guard let entry = entry(id) else { return [] }
    guard let time = entry.connectAt else { return try entry.link?.takeEvents(&poller) ?? [] }
    // The old connection is abandoned, so its events are ignored until the new one opens.
    _ = try entry.link?.takeEvents(&poller)
    guard time <= SystemClock.bootMilliseconds() else { return [] }
    do throws(ZeroMQError) {
      try connect(id, to: entry.address)
      return []
    } catch {
      // The process has no descriptor left, or the address is malformed.
      entry.connectAt = SystemClock.bootMilliseconds() + Self.pauseMilliseconds
      return [.impossible]
    }
  }

  /// How long to wait before the next attempt if a socket cannot be made.
  private static let pauseMilliseconds: UInt64 = 1000

  private func keys(for address: DaemonAddress?) -> NetworkIdentity? {
    guard let address else { return identity }
    return identity?.keys(for: address) ?? .read(for: address, environment: .current())
  }

  private func entry(_ id: LinkID) -> Entry? { entries.first { $0.id == id } }

  private mutating func makeEntry(_ id: LinkID) -> Entry {
    if let entry = entry(id) { return entry }
    entries.append(Entry(id))
    return entries[entries.count - 1]
  }

  private mutating func drop(_ entry: Entry) {
    entry.link?.leave(&poller)
    entry.link = nil
  }
}

extension ClusterReplica {
  /// Performs operations, which begin within a time or never; see `perform(_:operations:until:)`.
  ///
  /// `endpoint` is where the nav is if the client does not know better.
  mutating func perform(
    _ request: OpRequest, _ operations: [[UInt8]], within limit: Duration?, at endpoint: String
  ) -> (id: UInt64, outputs: [ClusterOutput]) {
    var request = request
    request.expire(after: limit, at: place(of: request.nav) ?? endpoint)
    return perform(
      request, operations: operations, until: limit.map { Deadline($0).milliseconds })
  }

  /// Handles an event of a link, which is or will be connected to `place`.
  mutating func receive(
    _ event: Link.Event, of link: LinkID, at place: String?
  ) -> [ClusterOutput] {
    let now = SystemClock.bootMilliseconds()
    switch event {
    case .message(let message, let verb, let body):
      return receive(message, verb: verb, octets: body.count, from: link, at: now)
    case .unreadable: return receiveUnreadable(from: link, at: now)
    case .connected: return connected(link, to: place, at: now)
    case .disconnected: return disconnected(link, at: now)
    case .failed: return failed(link, at: now)
    // libzmq reconnects after a broken handshake, but not after a refused key.
    case .refused, .impossible: return failed(link, isFinal: true, at: now)
    }
  }
}

extension NetworkIdentity {
  /// The keys for a daemon that another one has named; nil for a socket of this machine.
  package func keys(for address: DaemonAddress) -> NetworkIdentity? {
    guard address.endpoint.hasPrefix("tcp:") else { return nil }
    let key = address.key.flatMap { CurvePublicKey(z85: $0) } ?? serverKey
    return NetworkIdentity(serverKey: key, keys: keys)
  }

  /// Reads the keys for a daemon at tcp:// that one on this machine has named; nil if it named no
  /// key, or `NAVD_KEY` names no key file that can be read.
  static func read(
    for address: DaemonAddress, environment: ProcessEnvironment
  ) -> NetworkIdentity? {
    guard address.endpoint.hasPrefix("tcp:"), let own = environment["NAVD_KEY"],
      let key = address.key.flatMap({ CurvePublicKey(z85: $0) })
    else { return nil }
    do {
      return NetworkIdentity(serverKey: key, keys: try SecretKeyFile.pair(own))
    } catch {
      // Without keys, the handshake fails, and the client asks for the nav elsewhere.
      return nil
    }
  }
}
