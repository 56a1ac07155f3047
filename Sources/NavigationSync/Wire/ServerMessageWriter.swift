import Navigation

/// Where a nav stands: what replies say of it.
struct NavStanding {
  var nav: String
  var epoch: Epoch
  var revision: Revision
  var digest: Digest
  var depth: Int
  var top: String?
}

/// An error on its way to a client.
struct OutgoingError {
  var id: UInt64?
  var nonce: String?
  var code: ErrorCode
  /// What happened to the state, if more is known than the code says.
  var effect: Effect?
  var text: String
  var reason: String?
  /// The value that a guard expected, as JSON.
  var expected: [UInt8]?
  /// Milliseconds to wait before the message is sent again.
  var after: UInt64?
  /// The operation that is refused.
  var index: Int?
  /// Whether a revision in a guard lies in the future.
  var isFuture = false
  /// More members, as JSON, in this order.
  var details: [(name: StaticString, json: [UInt8])] = []
  var standing: NavStanding?

  init(_ code: ErrorCode, id: UInt64? = nil, _ text: String) {
    self.code = code
    self.id = id
    self.text = text
  }
}

extension OutgoingError {
  /// The same for somebody who may not read the nav: the code, and what the operation itself said.
  var withoutState: OutgoingError {
    let tells: Set<ErrorCode> = [
      .desync, .compacted, .leaseLost, .transitionInProgress, .vetoed, .frozen, .restoreFailed,
    ]
    var error = self
    error.standing = nil
    guard tells.contains(code) else { return error }
    error.details = []
    error.isFuture = false
    error.text = "refused; what the nav is like is not told without the right read"
    return error
  }
}

/// The bodies of messages from the daemon.
enum ServerMessageWriter {
  static func error(_ error: OutgoingError) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.name("id")
    if let id = error.id { json.integer(id) } else { json.null() }
    json.optional("nonce", error.nonce)
    json.member("code", error.code.rawValue)
    json.optional("reason", error.reason)
    if let expected = error.expected {
      json.member("expected", raw: expected)
    }
    json.flag("future", error.isFuture)
    json.member("msg", error.text)
    json.member("effect", (error.effect ?? error.code.effect).rawValue)
    json.member("retry", error.code.retry.rawValue)
    if let after = error.after {
      json.member("after", after)
    }
    if let index = error.index {
      json.member("index", UInt64(index))
    }
    for detail in error.details {
      json.name(detail.name)
      json.raw(detail.json)
    }
    if error.code == .version {
      json.member("have", raw: Array("[1,1]".utf8))
    }
    if let standing = error.standing {
      json.member("nav", standing.nav)
      json.standing(standing)
    }
    json.endObject()
    return json.bytes
  }

  static func ok(id: UInt64) -> [UInt8] {
    JSONWriter.object(reserving: 32) { json in
      json.member("id", id)
    }
  }

  static func ok(
    id: UInt64, standing: NavStanding, changed: Bool, outputs: [OperationOutput], delivered: Int
  ) -> [UInt8] {
    var json = JSONWriter()
    return encodedOk(
      id: id, standing: standing, changed: changed, outputs: outputs, delivered: delivered, &json
    ).bytes
  }

  /// The same, made in the memory of `json`, and where in it stands what the operations gave.
  static func encodedOk(
    id: UInt64, standing: NavStanding, changed: Bool, outputs: [OperationOutput], delivered: Int,
    _ json: inout JSONWriter
  ) -> EncodedOk {
    json.removeAll()
    json.beginObject()
    json.member("id", id)
    json.place(standing.nav, standing.epoch, standing.revision)
    json.member("changed", changed)
    json.member("depth", UInt64(standing.depth))
    json.name("top")
    if let top = standing.top { json.string(top) } else { json.null() }
    json.member("dig", hex: standing.digest.bits)
    json.name("out")
    let start = json.count
    json.outputs(outputs, delivered: delivered)
    let end = json.count
    json.endObject()
    return EncodedOk(bytes: json.bytes, outputs: start..<end)
  }

  static func watching(
    id: UInt64, nav: String, mode: StaticString, why: String?, epoch: Epoch, revision: Revision
  ) -> [UInt8] {
    JSONWriter.object(reserving: 128) { json in
      json.member("id", id)
      json.member("nav", nav)
      json.member("mode", plain: mode)
      json.optional("why", why)
      json.place(epoch, revision)
    }
  }

  static func ok(id: UInt64, nav: String) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("id", id)
      json.member("nav", nav)
    }
  }

  static func value(
    id: UInt64, nav: String?, epoch: Epoch?, revision: Revision?, floor: Revision?, _ value: [UInt8]
  ) -> [UInt8] {
    JSONWriter.object(reserving: value.count + 128) { json in
      json.member("id", id)
      json.optional("nav", nav)
      if let epoch {
        json.member("epoch", hex: epoch.bits)
      }
      if let revision {
        json.member("rev", revision.number)
      }
      if let floor {
        json.member("floor", floor.number)
      }
      json.member("value", raw: value)
    }
  }

  static func latest(
    nav: String, view: View, epoch: Epoch, revision: Revision, value: [UInt8]
  ) -> [UInt8] {
    JSONWriter.object(reserving: value.count + 128) { json in
      json.member("nav", nav)
      json.member("view", plain: view.wireName)
      json.place(epoch, revision)
      json.member("value", raw: value)
    }
  }

  static func diffs(
    nav: String, _ diffs: ArraySlice<EncodedDiff>, hasResolved: Bool, byteCount: Int
  ) -> [UInt8] {
    JSONWriter.object(reserving: byteCount + 256) { json in
      json.member("nav", nav)
      json.name("list")
      json.beginArray()
      for diff in diffs { json.diff(diff, hasResolved: hasResolved) }
      json.endArray()
    }
  }

  static func event(
    nav: String, epoch: Epoch, revision: Revision, button: ButtonID, action: String?
  ) -> [UInt8] {
    JSONWriter.object(reserving: 128) { json in
      json.place(nav, epoch, revision)
      json.name("ev")
      json.beginArray()
      json.beginObject()
      json.name("buttonActivated")
      json.beginObject()
      json.member("button", button.text)
      json.optional("action", action)
      json.endObject()
      json.endObject()
      json.endArray()
    }
  }

  static func mark(time: UInt64, _ positions: [(nav: String, Revision, Digest)]) -> [UInt8] {
    JSONWriter.object(reserving: 64 + positions.count * 64) { json in
      json.member("t", time)
      json.name("at")
      json.beginArray()
      for (nav, revision, digest) in positions {
        json.beginArray()
        json.string(nav)
        json.integer(revision.number)
        json.hex(digest.bits)
        json.endArray()
      }
      json.endArray()
    }
  }

  static func end(
    nav: String, view: View, epoch: Epoch, revision: Revision, why: StaticString
  ) -> [UInt8] {
    JSONWriter.object(reserving: 128) { json in
      json.member("nav", nav)
      json.member("view", plain: view.wireName)
      json.place(epoch, revision)
      json.member("why", plain: why)
    }
  }

  static func bye(why: StaticString, after: UInt64?) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("why", plain: why)
      if let after {
        json.member("after", after)
      }
    }
  }

  static func ask(
    _ number: UInt64, nav: String, epoch: Epoch, revision: Revision, within: UInt64,
    _ question: (inout JSONWriter) -> Void
  ) -> [UInt8] {
    JSONWriter.object(reserving: 192) { json in
      json.member("ask", number)
      json.place(nav, epoch, revision)
      json.member("within", within)
      json.name("q")
      json.beginObject()
      question(&json)
      json.endObject()
    }
  }

  static func settled(_ ask: UInt64, _ outcome: StaticString, by name: String?) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("ask", ask)
      json.member("outcome", plain: outcome)
      json.optional("by", name)
    }
  }

  static func queued(id: UInt64, nav: String, position: Int) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("id", id)
      json.member("nav", nav)
      json.member("pos", UInt64(position))
    }
  }

  static func leased(id: UInt64, nav: String, owner: String?) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("id", id)
      json.member("nav", nav)
      json.name("owner")
      if let owner { json.string(owner) } else { json.null() }
    }
  }

  static func progress(
    nav: String, epoch: Epoch, revision: Revision, transition: Revision, value: [UInt8]
  ) -> [UInt8] {
    JSONWriter.object(reserving: 128) { json in
      json.place(nav, epoch, revision)
      json.name("ev")
      json.beginArray()
      json.beginObject()
      json.name("transitionProgress")
      json.beginObject()
      json.member("tid", transition.number)
      json.member("value", raw: value)
      json.endObject()
      json.endObject()
      json.endArray()
    }
  }

  static func pong(id: UInt64, boot: Epoch, time: UInt64) -> [UInt8] {
    JSONWriter.object(reserving: 80) { json in
      json.member("id", id)
      json.member("boot", hex: boot.bits)
      json.member("t", time)
    }
  }
}

extension JSONWriter {
  mutating func standing(_ standing: NavStanding) {
    name("epoch")
    hex(standing.epoch.bits)
    name("rev")
    integer(standing.revision.number)
    name("dig")
    hex(standing.digest.bits)
    name("depth")
    integer(UInt64(standing.depth))
    name("top")
    if let top = standing.top { string(top) } else { null() }
  }
}

/// The answer to an op, and where in it stands what the operations gave.
struct EncodedOk {
  var bytes: [UInt8]
  var outputs: Range<Int>
}

/// A diff as it is sent, and where in it stands what the bar shows.
struct EncodedDiff: Sendable {
  private(set) var bytes: [UInt8]
  // A ring keeps hundreds of these.
  private let start: Int32
  private let end: Int32

  init(bytes: [UInt8], resolved: Range<Int>? = nil) {
    self.bytes = bytes
    start = Int32(resolved?.lowerBound ?? 0)
    end = Int32(resolved?.upperBound ?? 0)
  }

  /// The value of `resolved`, if the diff has one.
  var resolved: Range<Int>? { end > 0 ? Int(start)..<Int(end) : nil }

  /// The member, with the comma before it, which is never the first.
  private var member: Range<Int>? {
    resolved.map { ($0.lowerBound - Self.name.utf8CodeUnitCount)..<$0.upperBound }
  }

  private static let name: StaticString = ",\"resolved\":"

  /// How many bytes it has.
  func count(hasResolved: Bool) -> Int {
    hasResolved ? bytes.count : bytes.count - (member?.count ?? 0)
  }

  /// What is before and behind the member; all, if there is none.
  func parts(hasResolved: Bool) -> (head: Range<Int>, tail: Range<Int>) {
    guard !hasResolved, let member else { return (0..<bytes.count, bytes.count..<bytes.count) }
    return (0..<member.lowerBound, member.upperBound..<bytes.count)
  }

  /// The diff as somebody gets it.
  func body(hasResolved: Bool) -> [UInt8] {
    guard !hasResolved, let member else { return bytes }
    return Array(bytes[..<member.lowerBound]) + bytes[member.upperBound...]
  }

  /// Forgets the bytes.
  mutating func clear() { bytes = [] }
}

extension JSONWriter {
  fileprivate mutating func diff(_ diff: EncodedDiff, hasResolved: Bool) {
    let parts = diff.parts(hasResolved: hasResolved)
    let bytes = diff.bytes.span
    raw(bytes.extracting(parts.head), and: bytes.extracting(parts.tail))
  }
}

/// One revision as everybody sees it.
struct DiffFrame {
  var nav: String
  var epoch: Epoch
  var base: Revision
  var revision: Revision
  var sequence: UInt64
  var cause: Cause
  var by: (name: String, op: UInt64)?

  /// Encodes the diff in the memory of `json`; what the bar shows is given if it changed.
  func encode(
    _ commit: Commit, of controller: borrowing NavigationController, shown: ShownBar?,
    digest: Digest, _ json: inout JSONWriter
  ) -> EncodedDiff {
    json.removeAll()
    var place: Range<Int>?
    begin(&json)
    json.flag("animated", commit.isAnimated)
    if let relation = commit.relation {
      json.member("relation", plain: relation.wireName)
    }
    json.name("ch")
    json.changes(commit, of: controller)
    if let shown {
      json.name("resolved")
      let start = json.count
      json.shown(shown)
      place = start..<json.count
    }
    json.name("ev")
    json.events(commit.events)
    end(&json, depth: controller.stack.count, digest)
    return EncodedDiff(bytes: json.bytes, resolved: place)
  }

  func begin(_ json: inout JSONWriter) {
    json.beginObject()
    json.member("nav", word: nav)
    json.member("epoch", hex: epoch.bits)
    json.member("base", base.number)
    json.member("rev", revision.number)
    json.member("seq", sequence)
    json.member("cause", plain: cause.wireName)
    if let by {
      json.name("by")
      json.beginObject()
      json.member("name", by.name)
      json.member("op", by.op)
      json.endObject()
    }
  }

  func end(_ json: inout JSONWriter, depth: Int, _ digest: Digest) {
    json.member("depth", UInt64(depth))
    json.member("dig", hex: digest.bits)
    json.endObject()
  }
}
