import Testing
import ZeroMQ

/// Z85 and ZAP, against second implementations written from RFC 32 and RFC 27.
@Suite struct Z85Tests {
  private static let digits = Array(
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#")

  /// Bytes whose sequence depends on a seed alone.
  private static func noise(_ count: Int, _ seed: UInt64) -> [UInt8] {
    var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
  }

  private func encoded(_ bytes: [UInt8]) -> String {
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 4) {
      var value = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
      var group: [Character] = []
      for _ in 0..<5 {
        group.insert(Self.digits[value % 85], at: 0)
        value /= 85
      }
      text += String(group)
    }
    return text
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `bytes are written as the RFC says, and read back`(seed: UInt64) {
    for count in [0, 4, 8, 32, 100] {
      let bytes = Self.noise(count, seed)
      let text = encoded(bytes)
      #expect(Z85.encode(bytes) == text)
      #expect(Z85.decode(text) == bytes)
    }
    #expect(Z85.encode([0, 0, 0, 0]) == "00000")
    #expect(Z85.encode([255, 255, 255, 255]) == "%nSc0")
    for count in [1, 2, 3, 5, 31, 33] { #expect(Z85.encode(Self.noise(count, seed)) == nil) }
  }

  @Test func `five characters above four bytes, and all that are no digits, are nothing`() {
    // 85^5 is more than 2^32: what is above must not wrap around to some key.
    for text in ["%nSc1", "%nSd0", "#####", "%####"] { #expect(Z85.decode(text) == nil, "\(text)") }
    let digits = Set(Self.digits)
    for code in 1..<128 as Range<UInt8> {
      let character = Character(Unicode.Scalar(code))
      let isDigit = digits.contains(character)
      #expect((Z85.decode("0000\(character)") != nil) == isDigit, "\(code)")
      #expect((Z85.decode("0\(character)000") != nil) == isDigit, "\(code)")
    }
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `a key is 32 bytes or 40 characters, and no other number of them`(seed: UInt64) throws {
    let bytes = Self.noise(32, seed)
    let key = try #require(CurvePublicKey(bytes: bytes))
    #expect(key.description == encoded(bytes) && CurvePublicKey(z85: key.description) == key)
    let secret = try #require(CurveSecretKey(bytes: bytes))
    #expect(CurveSecretKey(z85: secret.z85) == secret && secret.bytes == bytes)
    for count in [0, 28, 36] {
      #expect(CurvePublicKey(bytes: Self.noise(count, seed)) == nil)
      #expect(CurveSecretKey(bytes: Self.noise(count, seed)) == nil)
      let text = encoded(Self.noise(count, seed))
      #expect(CurvePublicKey(z85: text) == nil && CurveSecretKey(z85: text) == nil)
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `with one frame more, less or changed it is no request for that key`(
    seed: UInt64
  ) throws {
    let head = ["id", "", "1.0", "7", "navd.tcp", "192.0.2.7", "", "CURVE"].map { Array($0.utf8) }
    let frames = head + [Self.noise(32, seed)]
    let request = try #require(ZAPRequest(frames: frames))
    for index in frames.indices {
      var fewer = frames
      fewer.remove(at: index)
      var more = frames
      more.insert(Self.noise(Int(seed) % 40, seed), at: index)
      for other in [fewer, more].compactMap({ ZAPRequest(frames: $0) }) {
        // What stands in the place of the mechanism is none that anybody supports.
        guard case .unsupported = other.mechanism else {
          Issue.record("frame \(index): \(other.mechanism)")
          continue
        }
      }
      var changed = frames
      changed[index] = Self.noise(Int(seed), seed + 1)
      let other = ZAPRequest(frames: changed)
      // Only these two frames have a form.
      if index == 2 { #expect(other == nil) }
      if index == 8 { #expect((other != nil) == (seed == 32)) }
      // The routing id of the own socket says nothing.
      if let other { #expect((other == request) == (index == 6 || changed == frames)) }
    }
  }

  @Test func `a reply leads back by its envelope and id, whatever these are`() throws {
    for seed in 0..<20 as Range<UInt64> {
      let (route, id) = (Self.noise(5, seed), Self.noise(Int(seed), seed + 7))
      let tail = ["navd.ipc", "localhost:1:2:3", "", "NULL"].map { Array($0.utf8) }
      let request = try #require(
        ZAPRequest(frames: [route, [], Array("1.0".utf8), id] + tail))
      for answer in [ZAPAnswer.allow(userID: "1 uid:1"), .refuse(reason: "r"), .fail(reason: "f")] {
        let reply = request.reply(answer)
        #expect(reply.count == 8 && reply[0] == route && reply[1].isEmpty && reply[3] == id)
        #expect(
          reply[6].isEmpty == (reply[4] != Array("200".utf8)), "a user id for the admitted alone")
      }
    }
  }
}
