import FuzzSupport
import Foundation
import NavigationClient
import NavigationCore
import NavigationHub

/// Reads a client's message: the first octet selects its verb, the others are its body.
///
/// With 0xFF as the first octet, the others are a first frame.
///
/// Laws:
/// - What the reader of JSON accepts, Foundation accepts with the same values, and what one refuses,
///   the other does, but for the differences that `foundationMayAccept` and `foundationMayRefuse` name.
/// - What was read and is written again reads as the same.
struct DecoderTarget: FuzzTarget {
  private var tape = JSONTape()
  private var second = JSONTape()
  private var reader = ClientMessageReader()

  mutating func run(_ input: Span<UInt8>) {
    guard input.count > 0 else { return }
    let body = input.extracting(droppingFirst: 1)
    guard input[0] < 0xFF else { return checkFrame(body) }
    checkJSON(body)
    checkMessage(input[0], body)
  }

  // JSON.

  private mutating func checkJSON(_ body: Span<UInt8>) {
    let theirs = unsafe body.withUnsafeBytes { bytes in
      unsafe bytes.baseAddress.map { base in
        unsafe Data(
          bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count,
          deallocator: .none)
      }
    }.flatMap { try? JSONSerialization.jsonObject(with: $0, options: .fragmentsAllowed) }
    do throws(JSONError) {
      try tape.read(body)
    } catch {
      demand(
        theirs == nil || Self.foundationMayAccept(body, error) || hasEqualMembers(body, error),
        "Foundation accepts what is refused: \(error.reason.rawValue) at \(error.offset)")
      demand(error.offset >= 0 && error.offset <= body.count, "an error at \(error.offset)")
      return
    }
    guard let theirs else {
      return demand(Self.foundationMayRefuse(tape), "Foundation refuses what is accepted")
    }
    demand(isEqual(tape.root, theirs), "Foundation reads another value")
    let written = JSONWriter.value { Self.write(tape, tape.root, &$0) }
    do throws(JSONError) {
      try second.read(written)
    } catch {
      fail("what was written cannot be read: \(error.reason.rawValue)")
    }
    let again = JSONWriter.value { Self.write(second, second.root, &$0) }
    demand(again == written, "what was read again is written as another text")
    observe(written.count)
  }

  /// Whether docs/protocol.md, §2, refuses what the grammar of JSON allows, or Foundation takes
  /// what it does not allow.
  private static func foundationMayAccept(_ body: Span<UInt8>, _ error: JSONError) -> Bool {
    switch error.reason {
    // §2: no member twice, at most 32 levels, no lone surrogates.
    case .duplicateMember, .tooDeep, .loneSurrogate: return true
    case .numberOutOfRange: return false
    case .unexpectedByte, .trailingBytes, .controlCharacter, .unexpectedEnd, .invalidUTF8,
      .invalidEscape, .invalidNumber:
      if isBehindComma(error.offset, body) { return true }
      // §2 has UTF-8 only. Foundation guesses other encodings by a mark of the byte order or by zeros.
      let isMarked = body.count > 1 && body[0] >= 0xEF
      return isMarked || (0..<min(body.count, 4)).contains { body[$0] == 0 }
    }
  }

  /// Whether a text has equal members beside numbers out of range; Foundation converts the last of
  /// equal members only.
  private mutating func hasEqualMembers(_ body: Span<UInt8>, _ error: JSONError) -> Bool {
    var (octets, found) = (body.octets, error)
    while true {
      if found.reason == .numberOutOfRange {
        let end = octets[found.offset...].firstIndex { !"+-.eE0123456789".utf8.contains($0) }
        octets.replaceSubrange(found.offset..<(end ?? octets.endIndex), with: [0x30])
      } else if Self.isBehindComma(found.offset, octets.span) {
        octets[octets[..<found.offset].lastIndex(of: 0x2C) ?? 0] = 0x20
      } else {
        return found.reason == .duplicateMember
      }
      do throws(JSONError) {
        try second.read(octets)
        return false
      } catch {
        found = error
      }
    }
  }

  /// Whether an array or object ends behind a comma, which Foundation takes.
  private static func isBehindComma(_ offset: Int, _ body: Span<UInt8>) -> Bool {
    guard offset < body.count, body[offset] == 0x7D || body[offset] == 0x5D else { return false }
    var index = offset - 1
    while index >= 0, [0x20, 0x09, 0x0A, 0x0D].contains(body[index]) { index -= 1 }
    return index >= 0 && body[index] == 0x2C
  }

  /// Whether a text has a number that Foundation has no type for.
  private static func foundationMayRefuse(_ tape: borrowing JSONTape) -> Bool {
    (0..<tape.next(tape.root)).contains { index in
      guard tape.kind(index) == .number, let value = tape.number(index) else { return false }
      return abs(value) > 1e300 || value == 0 || abs(value) < 1e-300
    }
  }

  private func isEqual(_ index: Int, _ value: Any) -> Bool {
    switch tape.kind(index) {
    case .null: return value is NSNull
    case .no, .yes: return (value as? NSNumber)?.boolValue == tape.bool(index)
    case .integer:
      return (value as? NSNumber)?.uint64Value == tape.integer(index)
    case .number:
      guard let own = tape.number(index), let other = (value as? NSNumber)?.doubleValue else {
        return false
      }
      // Foundation computes a number with an exponent by way of decimal fractions.
      return own == other || abs(own - other) <= abs(own) * 1e-14
    case .string:
      guard let own = tape.string(index), let other = value as? String else { return false }
      return own.utf8.elementsEqual(other.utf8)
    case .array:
      guard let list = value as? [Any], list.count == tape.count(index) else { return false }
      var place = index + 1
      for element in list {
        guard isEqual(place, element) else { return false }
        place = tape.next(place)
      }
      return true
    case .object:
      guard let members = value as? [String: Any] else { return false }
      // For Foundation, texts of other octets that Unicode calls equal are one name.
      guard members.count == tape.count(index) else { return members.count < tape.count(index) }
      var key = index + 1
      while key < tape.next(index) {
        guard let name = tape.string(key), let member = members[name], isEqual(key + 1, member)
        else { return false }
        key = tape.next(key + 1)
      }
      return true
    }
  }

  /// Writes a value with the texts as they were read, and without white space.
  private static func write(
    _ tape: borrowing JSONTape, _ index: Int, _ json: inout JSONWriter
  ) {
    switch tape.kind(index) {
    case .null: json.null()
    case .no, .yes: json.bool(tape.bool(index) ?? false)
    case .integer: json.integer(tape.integer(index) ?? 0)
    case .number: json.raw(tape.raw(index))
    case .string: json.string(tape.string(index) ?? "")
    case .array:
      json.beginArray()
      var element = index + 1
      while element < tape.next(index) {
        write(tape, element, &json)
        element = tape.next(element)
      }
      json.endArray()
    case .object:
      json.beginObject()
      var key = index + 1
      while key < tape.next(index) {
        json.dynamicName(tape.string(key) ?? "")
        write(tape, key + 1, &json)
        key = tape.next(key + 1)
      }
      json.endObject()
    }
  }

  // Messages.

  private mutating func checkMessage(_ selector: UInt8, _ body: Span<UInt8>) {
    let verbs = ClientVerb.allCases
    let verb = verbs[Int(selector) % verbs.count]
    guard let message = read(verb, body) else { return }
    demand(message.verb == verb, "\(verb) is read as \(message.verb)")
    switch message {
    case .hello(let hello):
      let text = ClientMessageWriter.message(hello)
      guard case .hello(let again)? = read(verb, text.span), again == hello else {
        fail("hello \(text.decoded)")
      }
    case .watch(let watch):
      let text = ClientMessageWriter.message(watch)
      guard case .watch(let again)? = read(verb, text.span), again == watch else {
        fail("watch \(text.decoded)")
      }
    case .get(let get):
      let text = ClientMessageWriter.message(get)
      guard case .get(let again)? = read(verb, text.span), again == get else {
        fail("get \(text.decoded)")
      }
    case .cluster(let cluster):
      let text = ClientMessageWriter.cluster(cluster)
      guard case .cluster(let again)? = read(verb, text.span), again == cluster else {
        fail("cluster \(text.decoded)")
      }
    case .op(let op): checkOp(op, body)
    case .unwatch, .delegate, .answer, .lease, .credit, .ping, .bye: observe(body.count)
    }
  }

  /// A first frame is what the parts that were read of it spell.
  private mutating func checkFrame(_ frame: Span<UInt8>) {
    let spelled: String
    switch VerbFrame(frame.octets) {
    case .current(let verb): spelled = "nsp1.\(verb)"
    case .otherVersion(let verb, let version):
      demand(version != 1, "this version is another one")
      spelled = "nsp\(version).\(verb)"
    case .malformed: spelled = ""
    }
    // What is not UTF-8 stands in the text as a replacement.
    demand(
      spelled.isEmpty || spelled == frame.octets.decoded, "\(frame.octets) is read as \(spelled)")
    let verb = ClientVerb(frame)
    demand(verb == nil || frame.octets == verb?.frame, "\(frame.octets) is read as \(spelled)")
    observe((try? reader.read(frame: frame, body: Array("{}".utf8).span)) == nil ? 0 : 1)
  }

  private mutating func read(_ verb: ClientVerb, _ body: Span<UInt8>) -> ClientMessage? {
    try? reader.read(frame: verb.frame.span, body: body)
  }

  /// Writes an op as a client does, with the operations of the text, and reads it again.
  private mutating func checkOp(_ op: OpMessage, _ body: Span<UInt8>) {
    guard (try? tape.read(body)) != nil, let list = tape.member("do", of: tape.root) else {
      fail("an op without operations")
    }
    var request = OpRequest(
      id: op.id, nav: op.nav, guards: op.guards, isAnimated: op.isAnimated,
      onBusy: op.onBusy)
    (request.client, request.name) = (op.client, op.clientName)
    (request.startDeadline, request.isDry) = (op.dueBootMilliseconds, op.isDry)
    if op.dueBootMilliseconds != nil { request.deadlineBootID = op.dueClockID }
    let text = ClientMessageWriter.op(
      request, operations: tape.elements(of: list) { tape.raw($0) })
    guard case .op(let again)? = read(.op, text.span) else { fail("op \(text.decoded)") }
    demand(
      (again.id, again.client, again.nav, again.guards)
        == (op.id, op.client, op.nav, op.guards) && again.clientName == op.clientName,
      "another op: \(text.decoded)")
    demand(
      (again.isAnimated, again.onBusy, again.dueBootMilliseconds, again.isDry)
        == (op.isAnimated, op.onBusy, op.dueBootMilliseconds, op.isDry),
      "other members: \(text.decoded)")
    demand(
      again.decoded == op.decoded && again.kinds.elementsEqual(op.kinds),
      "other operations: \(text.decoded)")
    let body = body.octets
    demand(op.bodyHash == BodyHash(body.span) || op.newestRowAtFirstSend != nil, "another hash")
    let marked = ClientMessageWriter.repeated(.op, text, seenRow: 7)
    guard case .op(let repeated)? = read(.op, marked.span) else { fail("again \(marked.decoded)") }
    demand(repeated.bodyHash == again.bodyHash, "the hash of a repetition: \(marked.decoded)")
  }
}

extension [UInt8] {
  /// The octets as text, for messages.
  fileprivate var decoded: String { String(decoding: self, as: UTF8.self) }
}
