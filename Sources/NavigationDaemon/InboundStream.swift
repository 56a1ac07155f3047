/// Reads along with what one peer sends, in ZMTP 3 (RFC 37), and tells what of it has to be held.
///
/// libzmq bounds a frame, and how many messages wait; it does not bound the frames of a message, nor
/// all that waits together. It also takes any routing id from a peer, though those that begin with a
/// zero octet are its own, and ends the process when it comes to one that is taken. So what it does
/// not look at is looked at here, before it sees it.
///
/// Law: how the bytes are cut into pieces changes nothing, up to the first offence.
package struct InboundStream: Sendable {
  /// What a peer is cut off for.
  package enum Offence: Hashable, Sendable {
    /// It speaks a version of ZMTP before 3, of which a peer that must identify itself is none.
    case version
    /// Its handshake names a routing id that is not for peers to choose.
    case reservedRoutingID
    /// Its message has more bytes in all frames than one may have.
    case longMessage
    /// What it tells the transport is longer than anything that the transport is told.
    case longCommand
  }

  /// What a frame is reckoned at beyond its bytes: what libzmq keeps of it.
  package static let frameCost = 64
  /// The longest command that a peer may send: nothing is longer than a handshake with its names.
  static let commandBytes = 4096
  /// What CURVE adds to a frame: a name, a nonce, an authenticator and the flags.
  private static let sealBytes = 33
  /// The longest frame that may be a sign of life under CURVE, sealed.
  private static let signOfLifeBytes = sealBytes + 23

  /// Whether its frames are sealed by CURVE, so that only their lengths can be seen.
  let isSealed: Bool
  /// The most that one message may cost.
  private let messageLimit: Int

  private var greetingBytes = 0
  /// The bytes of the length that are still to come; -1 while it is the flags that come next.
  private var lengthBytes = -1
  private var length: UInt64 = 0
  private var remaining: UInt64 = 0
  private var flags: UInt8 = 0
  /// Whether the frame costs nothing.
  private var isFree = false
  private var command: [UInt8] = []
  /// Signs of life that are free until the next second.
  private var signsOfLife = Self.signsOfLifePerSecond
  private var second: UInt64 = 0
  /// What the message cost so far whose last frame has not ended; of sealed ones nothing is known.
  package private(set) var unfinished = 0

  private static let signsOfLifePerSecond = 2

  /// Begins with a new connection.
  ///
  /// - Parameters:
  ///   - isSealed: whether the peer has to speak CURVE.
  ///   - messageLimit: the most that one message may cost, in bytes.
  package init(isSealed: Bool, messageLimit: Int) {
    self.isSealed = isSealed
    self.messageLimit = messageLimit
  }

  /// Reads on.
  ///
  /// - Parameters:
  ///   - bytes: what comes next, in any number.
  ///   - second: the time, in seconds of a clock that never goes back.
  ///   - cost: grows by what has to be held of it until the message is taken.
  /// - Returns: what the peer is to be cut off for; then nothing more may be read.
  package mutating func read(
    _ bytes: Span<UInt8>, at second: @autoclosure () -> UInt64, cost: inout Int
  ) -> Offence? {
    var index = 0
    while index < bytes.count {
      if remaining > 0 {
        let count = Int(min(remaining, UInt64(bytes.count - index)))
        if let offence = readBody(bytes.extracting(index..<index + count), &cost) { return offence }
        index += count
        continue
      }
      let byte = bytes[index]
      index += 1
      if greetingBytes < 64 {
        guard isGreeting(byte) else { return .version }
        greetingBytes += 1
      } else if lengthBytes < 0 {
        flags = byte
        length = 0
        lengthBytes = byte & Flag.long != 0 ? 8 : 1
      } else {
        length = length << 8 | UInt64(byte)
        lengthBytes -= 1
        guard lengthBytes == 0 else { continue }
        if let offence = beginFrame(second, &cost) { return offence }
      }
    }
    return nil
  }

  private enum Flag {
    static let more: UInt8 = 1
    static let long: UInt8 = 2
    static let command: UInt8 = 4
  }

  private var isCommand: Bool { flags & Flag.command != 0 }

  /// Whether a byte may come next in the greeting of version 3; libzmq tells versions by these three.
  private func isGreeting(_ byte: UInt8) -> Bool {
    switch greetingBytes {
    case 0: byte == 0xFF
    case 9: byte & 1 == 1
    case 10: byte >= 3
    default: true
    }
  }

  private mutating func beginFrame(_ second: () -> UInt64, _ cost: inout Int) -> Offence? {
    remaining = length
    lengthBytes = -1
    if isCommand {
      if length > Self.commandBytes { return .longCommand }
    } else {
      isFree = isSealed && length <= Self.signOfLifeBytes && isSignOfLife(second())
      if !isFree {
        // Its bytes follow, the seal among them, which nobody keeps.
        let seal = isSealed ? Int(min(length, UInt64(Self.sealBytes))) : 0
        add(Self.frameCost - seal, &cost)
      }
    }
    return remaining == 0 ? endFrame() : nil
  }

  private mutating func readBody(_ bytes: Span<UInt8>, _ cost: inout Int) -> Offence? {
    remaining -= UInt64(bytes.count)
    if isCommand {
      if !isSealed { for index in bytes.indices { command.append(bytes[index]) } }
    } else if !isFree {
      add(bytes.count, &cost)
      if unfinished > messageLimit { return .longMessage }
    }
    return remaining == 0 ? endFrame() : nil
  }

  private mutating func add(_ bytes: Int, _ cost: inout Int) {
    cost += bytes
    if !isSealed { unfinished += bytes }
  }

  private mutating func endFrame() -> Offence? {
    guard isCommand else {
      if unfinished > messageLimit { return .longMessage }
      if flags & Flag.more == 0 { unfinished = 0 }
      return nil
    }
    defer { command.removeAll() }
    return Self.reservesRoutingID(command.span) ? .reservedRoutingID : nil
  }

  private static let ready = [5] + Array("READY".utf8)
  private static let identity = Array("identity".utf8)

  /// Whether a handshake names a routing id that begins with a zero octet.
  private static func reservesRoutingID(_ command: Span<UInt8>) -> Bool {
    guard command.starts(with: ready) else { return false }
    var index = 6
    while index < command.count {
      let name = index + 1
      let value = name + Int(command[index]) + 4
      guard value <= command.count else { return false }
      var length = 0
      for place in value - 4..<value { length = length << 8 | Int(command[place]) }
      // In letters of either case.
      let isRoutingID =
        value - 4 - name == identity.count
        && command.extracting(name..<value - 4).starts(with: identity, mask: 0x20)
      if isRoutingID, length > 0, value < command.count, command[value] == 0 { return true }
      index = value + length
    }
    return false
  }

  /// Whether a short sealed frame is let pass for a sign of life: these are never taken by anybody.
  private mutating func isSignOfLife(_ now: UInt64) -> Bool {
    if now != second { signsOfLife = Self.signsOfLifePerSecond }
    second = now
    guard signsOfLife > 0 else { return false }
    signsOfLife -= 1
    return true
  }
}

extension Span<UInt8> {
  /// Whether it begins with other bytes; `mask` is set in each of ours first.
  fileprivate func starts(with bytes: [UInt8], mask: UInt8 = 0) -> Bool {
    guard count >= bytes.count else { return false }
    for index in bytes.indices where self[index] | mask != bytes[index] { return false }
    return true
  }
}
