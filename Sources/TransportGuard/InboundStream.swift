/// Parses the bytes of one peer, in ZMTP 3 (RFC 37), and counts those that libzmq must hold.
///
/// libzmq limits the size of a frame, and the number of waiting messages. libzmq limits neither the
/// number of frames in a message nor the bytes of all that wait. libzmq accepts any routing id from
/// a peer, but aborts the process when its own counter reaches an id in use, and never frees
/// the messages of a peer whose id another peer has. libzmq recognises a command by its name alone,
/// and queues some commands as messages. So this parser lets libzmq see only what the protocol
/// allows.
///
/// Law: the result does not depend on how the bytes are cut into pieces, up to the first offence.
package struct InboundStream: Sendable {
  /// The reasons to disconnect a peer.
  package enum Offence: Hashable, Sendable {
    /// The peer uses a version of ZMTP before 3, in which peers cannot authenticate.
    case version
    /// The peer chose a routing id in its handshake; only libzmq may assign one.
    case routingID
    /// The frames of a message together exceed the limit.
    case longMessage
    /// The peer sent a command that no client may send now; the name is empty if it is unreadable.
    case command(name: String, bytes: Int)
  }

  /// The bytes that libzmq uses for a frame beside its payload.
  package static let frameCost = 64
  /// The maximum size of a command; the longest one is a handshake with its properties.
  static let maximumCommandBytes = 4096
  /// The bytes that CURVE adds to a frame: a name, a nonce, an authenticator and the flags.
  private static let sealBytes = 33
  /// The maximum size of a sealed frame that may be a heartbeat.
  private static let maximumHeartbeatBytes = sealBytes + 23

  /// Whether CURVE seals the frames, so that only their lengths are visible.
  let isSealed: Bool
  /// The maximum cost of one message, in bytes.
  private let messageByteLimit: Int

  private var greetingBytes = 0
  /// The number of length bytes still to come; -1 if the flags come next.
  private var lengthBytesLeft = -1
  private var length: UInt64 = 0
  private var bodyBytesLeft: UInt64 = 0
  private var flags: UInt8 = 0
  /// Whether the present frame is a sealed heartbeat, of which libzmq keeps nothing.
  private var isHeartbeat = false
  private var command: [UInt8] = []
  /// Whether the handshake is over; only for frames that are not sealed.
  private var isReady = false
  /// The number of heartbeats that may come now without cost.
  private var heartbeatAllowance = Self.heartbeatsPerSecond
  private var heartbeatsUntilMessage = Self.maximumHeartbeatsInARow
  private var lastSecond: UInt64 = 0
  /// The bytes held so far of a message whose last frame has not ended; 0 if CURVE seals the frames.
  package private(set) var unfinishedCost = 0

  private static let heartbeatsPerSecond = 2
  /// The heartbeats without cost until the loop takes a message: more than a peer sends in 12 h.
  static let maximumHeartbeatsInARow = 65_536

  package init(isSealed: Bool, messageByteLimit: Int) {
    self.isSealed = isSealed
    self.messageByteLimit = messageByteLimit
  }

  /// Parses the next bytes; returns the reason to disconnect the peer.
  ///
  /// After a reason, no more bytes may be parsed. `second` is that of a monotonic clock; `cost`
  /// grows by the bytes that must be held until the message is taken.
  package mutating func read(
    _ bytes: Span<UInt8>, at second: @autoclosure () -> UInt64, cost: inout Int
  ) -> Offence? {
    var index = 0
    while index < bytes.count {
      if bodyBytesLeft > 0 {
        let count = Int(min(bodyBytesLeft, UInt64(bytes.count - index)))
        if let offence = readBody(bytes.extracting(index..<index + count), &cost) { return offence }
        index += count
        continue
      }
      let byte = bytes[index]
      index += 1
      if greetingBytes < 64 {
        guard isGreeting(byte) else { return .version }
        greetingBytes += 1
      } else if lengthBytesLeft < 0 {
        flags = byte
        length = 0
        lengthBytesLeft = byte & Flag.long != 0 ? 8 : 1
      } else {
        length = length << 8 | UInt64(byte)
        lengthBytesLeft -= 1
        guard lengthBytesLeft == 0 else { continue }
        if let offence = beginFrame(second, &cost) { return offence }
      }
    }
    return nil
  }

  /// Notes that the loop took a message, so the heartbeats were not frames of one endless message.
  package mutating func noteTaken() { heartbeatsUntilMessage = Self.maximumHeartbeatsInARow }

  private enum Flag {
    static let more: UInt8 = 1
    static let long: UInt8 = 2
    static let command: UInt8 = 4
  }

  private var isCommand: Bool { flags & Flag.command != 0 }

  /// Whether a byte may come next in the greeting of version 3.
  ///
  /// libzmq recognises the version by the three bytes that are checked.
  private func isGreeting(_ byte: UInt8) -> Bool {
    switch greetingBytes {
    case 0: byte == 0xFF
    case 9: byte & 1 == 1
    case 10: byte >= 3
    default: true
    }
  }

  private mutating func beginFrame(_ second: () -> UInt64, _ cost: inout Int) -> Offence? {
    bodyBytesLeft = length
    lengthBytesLeft = -1
    let unknown = Offence.command(name: "", bytes: Int(clamping: length))
    isHeartbeat = isSealed && length <= Self.maximumHeartbeatBytes && passesAsHeartbeat(second())
    if isCommand {
      guard flags & ~Flag.long == Flag.command, length <= Self.maximumCommandBytes
      else { return unknown }
    } else {
      // libzmq would accept a handshake in a frame without the command flag.
      guard flags & ~Flag.long <= Flag.more, isReady || isSealed else { return unknown }
      if !isHeartbeat {
        // The bytes follow. The seal is among them, but libzmq does not keep it.
        let seal = isSealed ? Int(min(length, UInt64(Self.sealBytes))) : 0
        add(Self.frameCost - seal, &cost)
      }
    }
    return bodyBytesLeft == 0 ? endFrame() : nil
  }

  private mutating func readBody(_ bytes: Span<UInt8>, _ cost: inout Int) -> Offence? {
    bodyBytesLeft -= UInt64(bytes.count)
    if isCommand {
      for index in bytes.indices { command.append(bytes[index]) }
    } else if !isHeartbeat {
      add(bytes.count, &cost)
      if unfinishedCost > messageByteLimit { return .longMessage }
    }
    return bodyBytesLeft == 0 ? endFrame() : nil
  }

  private mutating func add(_ bytes: Int, _ cost: inout Int) {
    cost += bytes
    if !isSealed { unfinishedCost += bytes }
  }

  private mutating func endFrame() -> Offence? {
    guard isCommand else {
      if unfinishedCost > messageByteLimit { return .longMessage }
      if flags & Flag.more == 0 { unfinishedCost = 0 }
      return nil
    }
    let whole = command
    command = []
    return judge(whole.span)
  }

  private mutating func judge(_ command: Span<UInt8>) -> Offence? {
    let allowed =
      isSealed
      ? Name.handshakes + (isHeartbeat ? [Name.message] : [])
      : isReady ? Name.heartbeats : [Name.ready]
    guard allowed.contains(where: { command.starts(with: $0) }) else {
      return .command(name: Self.name(of: command), bytes: command.count)
    }
    guard !isSealed, !isReady else { return nil }
    isReady = true
    let metadata = command.extracting(Name.ready.count..<command.count)
    return Self.namesRoutingID(metadata) ? .routingID : nil
  }

  /// The names of commands, each after its length.
  private enum Name {
    static let ready = [5] + Array("READY".utf8)
    static let heartbeats = ["PING", "PONG"].map { [4] + Array($0.utf8) }
    static let handshakes = [[5] + Array("HELLO".utf8), [8] + Array("INITIATE".utf8)]
    /// A sealed frame, in the form of RFC 26; libzmq sends it without the flag of a command.
    ///
    /// Some libraries, such as pyomq, set the flag in an answer to a heartbeat.
    static let message = [7] + Array("MESSAGE".utf8)
  }

  /// The name of a command, for the log; empty if it is none.
  private static func name(of command: Span<UInt8>) -> String {
    let length = command.isEmpty ? 0 : Int(command[0])
    guard length <= 16, length < command.count else { return "" }
    let bytes = (0..<length).map { command[$0 + 1] }
    return bytes.allSatisfy { (0x41...0x5A).contains($0) }
      ? String(decoding: bytes, as: UTF8.self) : ""
  }

  private static let routingIDProperty = Array("identity".utf8)

  /// Whether the properties of a handshake name a routing id that is not empty.
  package static func namesRoutingID(_ metadata: Span<UInt8>) -> Bool {
    var index = 0
    while index < metadata.count {
      let name = index + 1
      let value = name + Int(metadata[index]) + 4
      guard value <= metadata.count else { return false }
      var length = 0
      for place in value - 4..<value { length = length << 8 | Int(metadata[place]) }
      // Property names are case-insensitive.
      let isRoutingID =
        value - 4 - name == routingIDProperty.count
        && metadata.extracting(name..<value - 4).starts(with: routingIDProperty, mask: 0x20)
      if isRoutingID, length > 0 { return true }
      index = value + length
    }
    return false
  }

  /// Whether a short sealed frame passes as a heartbeat, of which libzmq keeps nothing.
  private mutating func passesAsHeartbeat(_ now: UInt64) -> Bool {
    // Heartbeats of up to 32 s may arrive at once.
    let seconds = Int(min(now - min(lastSecond, now), 32))
    heartbeatAllowance = min(
      heartbeatAllowance + seconds * Self.heartbeatsPerSecond, 32 * Self.heartbeatsPerSecond)
    lastSecond = now
    guard heartbeatAllowance > 0, heartbeatsUntilMessage > 0 else { return false }
    heartbeatAllowance -= 1
    heartbeatsUntilMessage -= 1
    return true
  }
}

extension Span<UInt8> {
  /// Whether the span begins with these bytes, if the bits of `mask` are set in each of its bytes.
  fileprivate func starts(with bytes: [UInt8], mask: UInt8 = 0) -> Bool {
    guard count >= bytes.count else { return false }
    for index in bytes.indices where self[index] | mask != bytes[index] { return false }
    return true
  }
}
