import NavigationCore
import Testing

@testable import TransportGuard

/// ZMTP 3 by hand, see RFC 37.
enum Wire {
  static func greeting(_ mechanism: String = "NULL", version: UInt8 = 3) -> [UInt8] {
    let name = Array(mechanism.utf8)
    return [0xFF] + Array(repeating: 0, count: 8) + [0x7F, version, 0] + name
      + Array(repeating: 0, count: 52 - name.count)
  }

  static func frame(_ bytes: [UInt8], flags: UInt8 = 0, isLong: Bool = false) -> [UInt8] {
    guard isLong || bytes.count > 255 else { return [flags, UInt8(bytes.count)] + bytes }
    return [flags | 2] + (0..<8).reversed().map { UInt8(bytes.count >> ($0 * 8) & 0xFF) } + bytes
  }

  /// A message of frames of so many bytes.
  static func message(_ sizes: [Int]) -> [UInt8] {
    sizes.indices.flatMap {
      frame(Array(repeating: 7, count: sizes[$0]), flags: $0 == sizes.count - 1 ? 0 : 1)
    }
  }

  static func ready(_ properties: [(String, [UInt8])]) -> [UInt8] {
    var body = [5] + Array("READY".utf8)
    for (name, value) in properties {
      body += [UInt8(name.utf8.count)] + Array(name.utf8) + [0, 0, 0, UInt8(value.count)] + value
    }
    return frame(body, flags: 4)
  }

  /// The first command of CURVE.
  static let hello = frame([5] + Array("HELLO".utf8) + Array(repeating: 1, count: 194), flags: 4)

  /// What a sealed frame of a message looks like, from outside.
  static func sealed(_ size: Int) -> [UInt8] {
    frame([7] + Array("MESSAGE".utf8) + Array(repeating: 9, count: 8 + 16 + 1 + size))
  }
}

/// What a stream reads and says.
private struct Reading: Equatable {
  var cost = 0
  var offence: InboundStream.Offence?
  var unfinished = 0
}

@Suite struct InboundStreamTests {
  private static let limit = 10_000

  /// Reads bytes, cut into pieces of sizes that a generator gives.
  private func read(
    _ bytes: [UInt8], isSealed: Bool = false, second: UInt64 = 0,
    pieces: (() -> Int)? = nil
  ) -> Reading {
    var stream = InboundStream(isSealed: isSealed, messageByteLimit: Self.limit)
    var reading = Reading()
    var index = 0
    while index < bytes.count {
      let count = min(pieces?() ?? bytes.count, bytes.count - index)
      reading.offence = stream.read(
        bytes.span.extracting(index..<index + count), at: second, cost: &reading.cost)
      index += count
      if reading.offence != nil { break }
    }
    reading.unfinished = stream.unfinishedCost
    return reading
  }

  private let opening = Wire.greeting() + Wire.ready([("Socket-Type", Array("DEALER".utf8))])

  @Test(arguments: [[0], [1], [9, 120], [255], [256, 3], [0, 9, 5000], [1, 2, 3, 4, 5]])
  func `a message costs its bytes and what libzmq keeps of each frame`(sizes: [Int]) {
    let cost = sizes.reduce(0, +) + sizes.count * InboundStream.frameCost
    #expect(read(opening + Wire.message(sizes)) == Reading(cost: cost))
    let long: [UInt8] = sizes.indices.flatMap { (index: Int) -> [UInt8] in
      Wire.frame(
        Array(repeating: 7, count: sizes[index]), flags: index == sizes.count - 1 ? 0 : 1,
        isLong: true)
    }
    #expect(read(opening + long) == Reading(cost: cost), "with lengths of eight bytes")
  }

  @Test func `handshakes and commands cost nothing`() {
    #expect(read(opening + Wire.frame([4] + Array("PING".utf8) + [0, 9], flags: 4)) == Reading())
  }

  @Test func `what has come of a message without its end is unfinished`() {
    let begun = Wire.frame(Array(repeating: 1, count: 10), flags: 1)
    #expect(read(opening + Wire.message([5, 5]) + begun).unfinished == 10 + 64)
    #expect(read(opening + begun + [0, 100, 1, 2, 3]).unfinished == 10 + 64 + 64 + 3)
    #expect(read(opening + begun + Wire.frame([])).unfinished == 0)
  }

  @Test func `a message may cost its limit, and not one byte more`() {
    let body = Self.limit - 2 * 64 - 20
    #expect(read(opening + Wire.message([20, body])).offence == nil)
    #expect(read(opening + Wire.message([20, body + 1])).offence == .longMessage)
    let frames = Self.limit / 64
    #expect(read(opening + Wire.message(Array(repeating: 0, count: frames))).offence == nil)
    #expect(
      read(opening + Wire.message(Array(repeating: 0, count: frames + 1))).offence == .longMessage)
  }

  @Test func `a length that no machine has is no sum that overflows`() {
    let frame: [UInt8] = [2] + Array(repeating: 0xFF, count: 8) + Array(repeating: 0, count: 500)
    #expect(read(opening + frame) == Reading(cost: 564, unfinished: 564))
    #expect(
      read(opening + [6] + Array(repeating: 0xFF, count: 8))
        == Reading(offence: .command(name: "", bytes: .max)))
  }

  @Test(arguments: ["Identity", "identity", "IDENTITY"])
  func `a routing id is an offence`(name: String) {
    for value: [UInt8] in [[0], [0, 1, 2, 3, 4], [7], Array(repeating: 255, count: 200)] {
      for properties in [
        [(name, value)] as [(String, [UInt8])],
        [("Socket-Type", Array("DEALER".utf8)), (name, value)],
        [(name, []), (name, value)],
      ] {
        #expect(read(Wire.greeting() + Wire.ready(properties)) == Reading(offence: .routingID))
      }
    }
  }

  @Test func `an empty routing id is none, and other properties are none`() {
    for properties: [(String, [UInt8])] in [
      [], [("Identity", [])], [("Identity-", [1])], [("X", [1]), ("Resource", [0])],
    ] {
      #expect(read(Wire.greeting() + Wire.ready(properties)) == Reading())
    }
    // Cut short: libzmq refuses it.
    let short = Wire.ready([("Identity", [1])]).dropFirst(2).dropLast()
    #expect(read(Wire.greeting() + Wire.frame(Array(short), flags: 4)).offence != .version)
  }

  @Test func `a handshake must say that it is a command, come first and once`() {
    let ready = Array(Wire.ready([("Socket-Type", Array("DEALER".utf8))]).dropFirst(2))
    for flags: UInt8 in [0, 1, 5, 8, 12, 0x84] {
      #expect(
        read(Wire.greeting() + Wire.frame(ready, flags: flags))
          == Reading(offence: .command(name: "", bytes: ready.count)),
        "flags \(flags)")
    }
    let long = Wire.frame(ready, flags: 4, isLong: true)
    #expect(read(Wire.greeting() + long + Wire.message([3])) == Reading(cost: 67))
    #expect(
      read(Wire.greeting() + Wire.message([3])).offence == .command(name: "", bytes: 3))
    #expect(
      read(opening + Wire.message([3]) + Wire.frame(ready, flags: 4)).offence
        == .command(name: "READY", bytes: ready.count))
    #expect(
      read(Wire.greeting() + Wire.frame([5] + Array("HELLO".utf8), flags: 4)).offence
        == .command(name: "HELLO", bytes: 6))
  }

  // libzmq puts SUBSCRIBE and CANCEL among the messages, of any socket.
  @Test(arguments: ["SUBSCRIBE", "CANCEL", "ERROR", "JOIN", "X", ""])
  func `a command that no client sends is an offence, and named`(name: String) {
    let body = [UInt8(name.utf8.count)] + Array(name.utf8) + [1, 2, 3]
    let offence = InboundStream.Offence.command(name: name, bytes: body.count)
    #expect(read(opening + Wire.frame(body, flags: 4)).offence == offence)
    #expect(
      read(opening + Wire.frame(body, flags: 5)).offence
        == .command(name: "", bytes: body.count))
    let opening = Wire.greeting("CURVE") + Wire.hello
    #expect(read(opening + Wire.frame(body, flags: 4), isSealed: true).offence == offence)
  }

  @Test(arguments: [[], [0], [7], [200, 65], [17] + Array(repeating: 65, count: 17), [2, 65, 10]])
  func `what is no name of a command is not logged as one`(body: [UInt8]) {
    #expect(
      read(opening + Wire.frame(body, flags: 4)).offence == .command(name: "", bytes: body.count))
  }

  // In the form of RFC 26, as pyomq sends its PONG: 33 bytes around PONG and up to 16 of a context.
  @Test func `a sealed heartbeat may say that it is a command, and a longer message must not`() {
    func command(_ size: Int) -> [UInt8] {
      var sealed = Wire.sealed(size)
      sealed[0] |= 4
      return sealed
    }
    let opening = Wire.greeting("CURVE") + Wire.hello
    for size in [0, 5, 21, 23] {
      #expect(read(opening + command(size), isSealed: true) == Reading(), "\(size)")
      #expect(read(opening + command(size)).offence != nil, "\(size), not sealed")
    }
    for size in [24, 100, 200] {
      let offence = InboundStream.Offence.command(name: "MESSAGE", bytes: 33 + size)
      #expect(read(opening + command(size), isSealed: true) == Reading(offence: offence))
    }
  }

  @Test func `sealed heartbeats as commands share the budget of the others, and end with it`() {
    var command = Wire.sealed(5)
    command[0] |= 4
    var stream = InboundStream(isSealed: true, messageByteLimit: Self.limit)
    var cost = 0
    func read(_ bytes: [UInt8], at second: UInt64) -> InboundStream.Offence? {
      stream.read(bytes.span, at: second, cost: &cost)
    }
    #expect(read(Wire.greeting("CURVE") + Wire.hello, at: 100) == nil)
    for _ in 0..<32 { #expect(read(Wire.sealed(5) + command, at: 100) == nil) }
    #expect(cost == 0)
    #expect(read(Wire.sealed(5), at: 100) == nil && cost > 0)
    #expect(read(command + command, at: 101) == nil)
    #expect(read(command, at: 101) == .command(name: "MESSAGE", bytes: 38))
  }

  @Test func `earlier versions are an offence`() {
    #expect(read([1, 0]).offence == .version, "version 1")
    #expect(read(Wire.greeting(version: 1)).offence == .version, "version 2")
    #expect(read([0xFF] + Array(repeating: 0, count: 9)).offence == .version, "version 1, long")
    #expect(read(Array("GET / HTTP/1.1\r\n\r\n".utf8)).offence == .version)
    #expect(read(Wire.greeting(version: 4)).offence == nil, "later ones are libzmq's to judge")
  }

  @Test func `sealed frames cost what they hold`() {
    let opening = Wire.greeting("CURVE") + Wire.hello
    for size in [24, 100, 222, 223, 5000] {
      let reading = read(opening + Wire.sealed(size) + Wire.sealed(size), isSealed: true)
      #expect(reading == Reading(cost: 2 * (size + 64)), "\(size)")
    }
    // Nobody knows which of them are one message.
    let many = (0..<1000).flatMap { _ in Wire.sealed(24) }
    #expect(read(opening + many, isSealed: true) == Reading(cost: 1000 * (24 + 64)))
  }

  @Test func `two signs of life in a second are free`() {
    let sign = Wire.sealed(7 + 16)
    var stream = InboundStream(isSealed: true, messageByteLimit: Self.limit)
    var cost = 0
    func take(_ bytes: [UInt8], _ second: UInt64) {
      let offence = stream.read(bytes.span, at: second, cost: &cost)
      #expect(offence == nil)
    }
    take(Wire.greeting("CURVE"), 0)
    for second: UInt64 in 5..<1000 {
      for _ in 0..<2 { take(sign, second) }
    }
    #expect(cost == 0)
    // Two of this second, and ten that the first five left.
    for _ in 0..<20 { take(sign, 1000) }
    #expect(cost == 8 * (23 + 64))
    // What came while nobody read is read at once, up to half a minute of it.
    for _ in 0..<74 { take(sign, 2000) }
    #expect(cost == (8 + 10) * (23 + 64))
  }

  @Test func `signs of life without end are not free for ever, unless messages are taken`() {
    let sign = Wire.sealed(7)
    var stream = InboundStream(isSealed: true, messageByteLimit: Self.limit)
    var cost = 0
    func take(_ count: Int, from second: UInt64) {
      for index in 0..<UInt64(count) {
        _ = stream.read(sign.span, at: second + index, cost: &cost)
      }
    }
    _ = stream.read(Wire.greeting("CURVE").span, at: 0, cost: &cost)
    let most = InboundStream.maximumHeartbeatsInARow
    take(most, from: 1)
    #expect(cost == 0)
    stream.noteTaken()
    take(most, from: 100_000)
    #expect(cost == 0)
    take(10, from: 300_000)
    #expect(cost == 10 * (7 + 64))
  }

  @Test(arguments: 0..<200)
  func `how the bytes are cut changes nothing`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var bytes = opening
    for _ in 0..<Int.random(in: 0..<30, using: &random) {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        bytes += Wire.frame(
          [UInt8(Int.random(in: 3..<6, using: &random))] + Array("PONG".utf8), flags: 4)
      case 1: bytes += Wire.frame([4] + Array("PING".utf8) + [0, 9], flags: 4)
      case 2: bytes += Wire.sealed(Int.random(in: 0..<60, using: &random))
      default:
        bytes += Wire.message(
          (0...Int.random(in: 0..<5, using: &random)).map { _ in
            Int.random(in: 0..<900, using: &random)
          })
      }
    }
    for isSealed in [false, true] {
      let whole = read(bytes, isSealed: isSealed)
      let one = read(bytes, isSealed: isSealed) { 1 }
      let some = read(bytes, isSealed: isSealed) { 1 + Int.random(in: 0..<700, using: &random) }
      // Up to an offence each goes on to the end of its piece.
      #expect(one.offence == whole.offence && some.offence == whole.offence)
      if whole.offence == nil { #expect(one == whole && some == whole) }
    }
  }

  @Test(arguments: 0..<50)
  func `any bytes at all are read without a trap`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let noise = (0..<3000).map { _ in
      UInt8(Int.random(in: 0..<(Bool.random(using: &random) ? 8 : 256), using: &random))
    }
    for opening in [[], self.opening] as [[UInt8]] {
      let reading = read(opening + noise) { 1 + Int.random(in: 0..<50, using: &random) }
      #expect(reading.cost >= 0 && reading.unfinished >= 0)
      #expect(reading.cost <= 65 * noise.count)
    }
  }
}
