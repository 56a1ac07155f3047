/// Reads along with what one peer sends, in ZMTP 3 (RFC 37), and tells what of it has to be held.
///
/// libzmq bounds a frame, and how many messages wait; it does not bound the frames of a message, nor
/// all that waits together. It takes any routing id from a peer, though it ends the process when it
/// comes to give one out itself that is taken, and keeps the messages of a peer whose id is another's
/// for ever. And it tells a command by its name alone, and some commands it keeps as messages. So
/// what a peer may say by the protocol, and nothing else, is let through here before libzmq sees it.
///
/// Law: how the bytes are cut into pieces changes nothing, up to the first offence.
package struct InboundStream: Sendable {
  /// What a peer is cut off for.
  package enum Offence: Hashable, Sendable {
    /// It speaks a version of ZMTP before 3, of which a peer that must identify itself is none.
    case version
    /// Its handshake names a routing id, which is not for peers to choose.
    case routingID
    /// Its message has more bytes in all frames than one may have.
    case longMessage
    /// It tells the transport what a peer does not tell it, or not then.
    case command
  }

  /// What a frame is reckoned at beyond its bytes: what libzmq keeps of it.
  package static let frameCost = 64
  /// The longest command that a peer may send: none is longer than a handshake with its names.
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
  /// Whether the handshake is over, of what is not sealed.
  private var isReady = false
  /// Signs of life that are free now, and until a message is taken.
  private var signsOfLifeNow = Self.signsOfLifePerSecond
  private var signsOfLifeLeft = Self.signsOfLifeInARow
  private var second: UInt64 = 0
  /// What the message cost so far whose last frame has not ended; of sealed ones nothing is known.
  package private(set) var unfinished = 0

  private static let signsOfLifePerSecond = 2
  /// More than come in half a day.
  static let signsOfLifeInARow = 65_536

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

  /// Notes that a message was taken, so that what seemed signs of life is not one without an end.
  package mutating func noteTaken() { signsOfLifeLeft = Self.signsOfLifeInARow }

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
      guard flags & ~Flag.long == Flag.command, length <= Self.commandBytes else { return .command }
    } else {
      // libzmq would take a handshake for one that does not say that it is a command.
      guard flags & ~Flag.long <= Flag.more, isReady || isSealed else { return .command }
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
      for index in bytes.indices { command.append(bytes[index]) }
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
    let whole = command
    command = []
    return judge(whole.span)
  }

  private mutating func judge(_ command: Span<UInt8>) -> Offence? {
    if isSealed {
      let isHandshake = Name.handshakes.contains { command.starts(with: $0) }
      return isHandshake ? nil : .command
    }
    if isReady {
      return Name.signsOfLife.contains { command.starts(with: $0) } ? nil : .command
    }
    guard command.starts(with: Name.ready) else { return .command }
    isReady = true
    let metadata = command.extracting(Name.ready.count..<command.count)
    return Self.namesRoutingID(metadata) ? .routingID : nil
  }

  /// The names of commands, each behind its length.
  private enum Name {
    static let ready = [5] + Array("READY".utf8)
    static let signsOfLife = ["PING", "PONG"].map { [4] + Array($0.utf8) }
    static let handshakes = [[5] + Array("HELLO".utf8), [8] + Array("INITIATE".utf8)]
  }

  private static let identity = Array("identity".utf8)

  /// Whether the properties of a handshake name a routing id.
  package static func namesRoutingID(_ metadata: Span<UInt8>) -> Bool {
    var index = 0
    while index < metadata.count {
      let name = index + 1
      let value = name + Int(metadata[index]) + 4
      guard value <= metadata.count else { return false }
      var length = 0
      for place in value - 4..<value { length = length << 8 | Int(metadata[place]) }
      // In letters of either case.
      let isRoutingID =
        value - 4 - name == identity.count
        && metadata.extracting(name..<value - 4).starts(with: identity, mask: 0x20)
      if isRoutingID, length > 0 { return true }
      index = value + length
    }
    return false
  }

  /// Whether a short sealed frame is let pass for a sign of life, of which libzmq keeps nothing.
  private mutating func isSignOfLife(_ now: UInt64) -> Bool {
    // Those of a while may be read at once.
    let seconds = Int(min(now - min(second, now), 32))
    signsOfLifeNow = min(
      signsOfLifeNow + seconds * Self.signsOfLifePerSecond, 32 * Self.signsOfLifePerSecond)
    second = now
    guard signsOfLifeNow > 0, signsOfLifeLeft > 0 else { return false }
    signsOfLifeNow -= 1
    signsOfLifeLeft -= 1
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
