import ZeroMQ
import NavigationCore
import RuntimePaths

/// The connection of one stream to navd; after a loss, it never connects again.
///
/// A second connection would have no session, so the page's messages must not go there.
struct DaemonLink: ~Copyable {
  /// An event of the connection.
  enum Event {
    case connected
    case lost
  }

  private let socket: Socket
  private var monitor: Monitor
  private var parts = Multipart(capacity: 3)
  let socketSlot: Poller.Slot
  let monitorSlot: Poller.Slot
  private var isPaused = false
  /// Whether a message may wait in the socket that the poller does not report.
  ///
  /// As `Poller.addSignal` says, the poller reports a message only after a receive that found
  /// nothing, with no other call since. So each send makes this true, and such a receive false.
  private(set) var mustReadUnsignalled = true

  static func open(
    _ endpoint: String, as identity: NetworkIdentity?, in context: borrowing Context,
    _ poller: inout Poller
  ) throws(ZeroMQError) -> DaemonLink {
    let socket = try context.socket(.dealer)
    try socket.set(.linger(milliseconds: 0))
    try socket.set(.neverReconnect)
    // Little waits here: what the page does not take stays in navd, which then joins diffs, and what
    // navd does not take stays in the outbox, which has a limit in octets.
    try socket.set(.receiveHighWaterMark(1))
    try socket.set(.sendHighWaterMark(4))
    try identity?.configure(socket)
    let monitor = try Monitor.start(on: socket)
    try socket.connect(endpoint)
    let slot = try poller.addSignal(of: socket)
    let monitorSlot = try poller.addSignal(of: monitor.reader)
    return DaemonLink(
      socket: socket, monitor: monitor, socketSlot: slot, monitorSlot: monitorSlot)
  }

  /// Stops or resumes reading from navd, where messages wait meanwhile.
  mutating func pause(_ isPaused: Bool, _ poller: inout Poller) {
    guard isPaused != self.isPaused else { return }
    self.isPaused = isPaused
    for slot in [socketSlot, monitorSlot] { poller.watch(slot, for: isPaused ? [] : .readable) }
    mustReadUnsignalled = true
  }

  /// Sends messages; returns how many the socket accepted.
  mutating func send(_ messages: ArraySlice<PageMessage>) throws(ZeroMQError) -> Int {
    mustReadUnsignalled = true
    for (count, message) in messages.enumerated() {
      guard try socket.send([message.frame, message.body]) == .sent else { return count }
    }
    return messages.count
  }

  /// The next message as a line of the stream; nil if there is none.
  mutating func receiveLine() throws(ZeroMQError) -> [UInt8]? {
    mustReadUnsignalled = false
    guard try socket.receive(into: &parts) else { return nil }
    mustReadUnsignalled = true
    guard parts.count == 2 else { return [] }
    return PageMessage.streamLine(frame: parts[0].bytes, body: parts[1].bytes)
  }

  mutating func nextEvent() throws(ZeroMQError) -> Event? {
    while let event = try monitor.next() {
      switch event.kind {
      case .connected: return .connected
      case .disconnected, .handshakeFailed, .handshakeBroken, .refused: return .lost
      case .accepted, .handshakeSucceeded, .connectRetried: continue
      }
    }
    return nil
  }

  func mustRead(_ poller: borrowing Poller) -> Bool {
    mustReadUnsignalled || poller.isReadable(socketSlot) || poller.isReadable(monitorSlot)
  }
}
