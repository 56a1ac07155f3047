// The tables of the messages that a client writes and the daemon reads.

extension Hello: TabledRecord {
  package static let table = MemberTable<Hello>(
    "hello",
    [
      Member("ver", \.versions).required("ver is the lowest and highest version, as [1,1]"),
      Member("client", \.client).required("client, 32 lower-case hex digits, is required"),
      Member("name", \.name, RecordReader.clientName).always,
      Member("nonce", \.nonce, RecordReader.nonce).required(RecordReader.nonceIsRequired),
      Member("window", \.window).always, Member("hb", \.heartbeat),
      Member("flow", \.isUncontrolled, on: "none", off: "credit"), Member("actor", \.actor),
    ])
}

extension WatchRequest: TabledRecord {
  package static let table = MemberTable<WatchRequest>(
    "watch",
    [
      Member("id", \.id, RecordReader.id).required(RecordReader.idIsRequired),
      Member("nav", \.nav, RecordReader.nav).required(RecordReader.navIsRequired),
      Member("view", \.view), Member("resolved", \.hasResolved), Member("wait", \.waits),
      Member("from", \.from, RecordReader.place), Member("bad", \.bad),
    ])
}

extension GetRequest: TabledRecord {
  package static let table = MemberTable<GetRequest>(
    "get",
    [
      Member("id", \.id, RecordReader.id).required(RecordReader.idIsRequired),
      Member("nav", \.nav, RecordReader.optionalNav), Member("what", \.what),
      Member("at", \.at), Member("screen", \.screen), Member("from", \.from),
      Member("limit", \.limit), Member("client", \.client), Member("on", \.isOn),
    ])
}

extension RecordReader {
  package static let idIsRequired =
    "id is a whole number from 0 to 9007199254740991, larger every time"
  package static let navIsRequired = "nav, the name of a nav, is required"
  static let nonceIsRequired = "nonce, a text of at most 64 octets, is required"

  package func id(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> UInt64 {
    guard let id = tape.integer(at) else { throw ReadFailure(Self.idIsRequired) }
    return id
  }

  package func nav(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> String {
    // Usual names need no string for the check.
    if tape.isPlain(at), Grammar.isNavName(tape.text(at)) { return tape.string(at) ?? "" }
    guard let nav = tape.string(at) else { throw ReadFailure("\(name) is a text") }
    guard NavName(nav) != nil || NavName.isVirtual(nav) || nav == NavName.appearance.text else {
      throw ReadFailure("a nav's name is a-z or 0-9, then up to 127 of a-z 0-9 . _ / -")
    }
    return nav
  }

  func optionalNav(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> String? { try nav(tape, at, name) }

  package func client(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> ClientID {
    guard let client = tape.string(at).flatMap({ ClientID($0) }) else {
      throw ReadFailure("client is 32 lower-case hex digits")
    }
    return client
  }

  package func clientName(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> String {
    let text = try string(tape, at, name)
    guard text.utf8.count <= 128 else { throw ReadFailure("name is at most 128 octets") }
    return text
  }

  fileprivate func nonce(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> String {
    guard let nonce = tape.string(at), nonce.utf8.count <= 64 else {
      throw ReadFailure(Self.nonceIsRequired)
    }
    return nonce
  }

  /// Reads the position from which a watch resumes.
  fileprivate func place(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> MirrorPosition? {
    let position = MirrorPosition(at, in: tape)
    guard position?.epoch != nil else {
      throw ReadFailure("\(name) has epoch (16 hex digits), rev and dig (24 hex digits)")
    }
    return position
  }
}

extension MirrorPosition: WireValue {
  fileprivate init?(_ at: Int, in tape: borrowing JSONTape) {
    guard let revision = tape.member("rev", of: at).flatMap({ tape.integer($0) }),
      let digest = tape.member("dig", of: at).flatMap({ tape.string($0) }).flatMap({ Digest($0) })
    else { return nil }
    let epoch = tape.member("epoch", of: at).flatMap { tape.string($0) }.flatMap { Epoch($0) }
    self.init(epoch: epoch, revision: Revision(revision), digest: digest)
  }

  package static func read(_ reader: RecordReader) -> ReadValue<MirrorPosition> {
    { tape, at, name throws(ReadFailure) in
      guard let position = MirrorPosition(at, in: tape) else {
        throw ReadFailure("\(name) has rev and dig (24 hex digits)")
      }
      return position
    }
  }

  package func write(_ json: inout JSONWriter) {
    json.beginObject()
    if let epoch { json.member("epoch", hex: epoch.bits) }
    json.member("rev", revision.number)
    json.member("dig", digest)
    json.endObject()
  }
}

extension ClientID: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<ClientID> { reader.client }
  package func write(_ json: inout JSONWriter) { json.string(text) }
}

extension Revision: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<Revision> {
    { tape, at, name throws(ReadFailure) in Revision(try reader.integer(tape, at, name)) }
  }
  package func write(_ json: inout JSONWriter) { json.integer(number) }
}

extension ClosedRange: WireValue where Bound == UInt64 {
  package static func read(_ reader: RecordReader) -> ReadValue<ClosedRange<UInt64>> {
    { tape, at, name throws(ReadFailure) in
      guard tape.kind(at) == .array, tape.count(at) == 2, let low = tape.integer(at + 1),
        let high = tape.integer(at + 2), low <= high
      else { throw ReadFailure("\(name) is the lowest and highest version, as [1,1]") }
      return low...high
    }
  }
  package func write(_ json: inout JSONWriter) {
    json.beginArray()
    json.integer(lowerBound)
    json.integer(upperBound)
    json.endArray()
  }
}

extension SessionActor: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<SessionActor> {
    { tape, at, _ throws(ReadFailure) in
      guard let name = tape.member("name", of: at).flatMap({ tape.string($0) }),
        let role = tape.member("role", of: at).flatMap({ tape.string($0) }),
        let navs = tape.member("navs", of: at).flatMap({ tape.strings($0) }),
        tape.count(at) == 3, !role.isEmpty
      else { throw ReadFailure("actor is {name,role,navs} and nothing else") }
      let patterns = navs.compactMap { NavGlob($0) }
      guard patterns.count == navs.count,
        let actor = SessionActor(name: name, role: Role(role), navs: patterns)
      else {
        throw ReadFailure(
          "actor has a name of 1 to 64 letters, digits, '.', '_' and '-', and 1 to 64 patterns of "
            + "navs")
      }
      return actor
    }
  }

  package func write(_ json: inout JSONWriter) {
    json.beginObject()
    json.member("name", name)
    json.member("role", role.name)
    json.list("navs", navs.map(\.text))
    json.endObject()
  }
}
