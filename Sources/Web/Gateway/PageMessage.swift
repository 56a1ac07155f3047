import NavigationCore

/// A message of a page on its way to navd, as the two frames of NSP/1.
struct PageMessage: Hashable, Sendable {
  /// The first frame, such as `nsp1.op`.
  var frame: [UInt8]
  /// The JSON of the message, which the gateway does not parse.
  var body: [UInt8]

  /// The largest line of a post, in octets.
  static let maximumLineBytes = 65_536
  /// The most octets of one HTTP POST of a page, which has a message in each line.
  static let maximumPostBytes = 131_072

  /// What the message counts against the outbox: its octets, and 64 for the memory of two arrays.
  var outboxCost: Int { frame.count + body.count + 64 }

  var isHello: Bool { frame == Self.helloFrame }

  static let helloFrame = Array("nsp1.hello".utf8)

  var isBye: Bool { frame == Self.byeFrame }

  private static let byeFrame = Array("nsp1.bye".utf8)

  /// Reads a post: lines of `["verb",BODY]`, of which the last may lack its LF.
  static func read(_ post: [UInt8]) throws(RequestGate.Refusal) -> [PageMessage] {
    var messages: [PageMessage] = []
    let lines = post.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      // Behind the last LF there is nothing.
      if index > 0, index == lines.count - 1, line.isEmpty { break }
      let line = trimmed(line)
      guard line.count <= maximumLineBytes else {
        throw .init(413, "line \(index + 1) has more than \(maximumLineBytes) octets")
      }
      guard let message = PageMessage(line: line) else {
        throw .init(400, "line \(index + 1) is not [\"verb\",BODY] with an object as BODY")
      }
      messages.append(message)
    }
    return messages
  }

  /// Reads a line; nil if it is not `["verb",{…}]`.
  ///
  /// The initializer parses the verb only; navd rejects a body that is no JSON object.
  private init?(line: ArraySlice<UInt8>) {
    let (quote, comma) = (UInt8(ascii: "\""), UInt8(ascii: ","))
    guard line.first == UInt8(ascii: "["), line.last == UInt8(ascii: "]") else { return nil }
    var rest = Self.trimmed(line.dropFirst().dropLast())
    guard rest.first == quote, let end = rest.dropFirst().firstIndex(of: quote) else { return nil }
    let verb = rest[rest.index(after: rest.startIndex)..<end]
    guard (1...19).contains(verb.count),
      verb.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
    else { return nil }
    rest = Self.trimmed(rest[rest.index(after: end)...])
    guard rest.first == comma else { return nil }
    rest = Self.trimmed(rest.dropFirst())
    guard rest.first == UInt8(ascii: "{"), rest.last == UInt8(ascii: "}") else { return nil }
    frame = Array("nsp1.".utf8) + verb
    body = Array(rest)
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
    guard let first = bytes.firstIndex(where: { !isBlank($0) }),
      let last = bytes.lastIndex(where: { !isBlank($0) })
    else { return [] }
    return bytes[first...last]
  }

  /// The line of a message from navd; `[]` if its first frame is not of NSP/1.
  static func streamLine(frame: Span<UInt8>, body: Span<UInt8>) -> [UInt8] {
    guard frame.count > 5 else { return [] }
    var line: [UInt8] = []
    line.reserveCapacity(frame.count + body.count + 8)
    line += [0x5B, 0x22]
    for index in 5..<frame.count { line.append(frame[index]) }
    line += [0x22, 0x2C]
    let start = line.count
    unsafe body.withUnsafeBufferPointer { unsafe line.append(contentsOf: $0) }
    // Between the tokens of an opaque value, a client may have sent line feeds. Strings have none.
    for index in start..<line.count where line[index] == 0x0A { line[index] = 0x20 }
    line += [0x5D, 0x0A]
    return line
  }
}
