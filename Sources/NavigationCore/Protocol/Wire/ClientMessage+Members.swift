// The tables of the messages that a client writes and the daemon reads.

extension Hello: TabledRecord {
  package static let table = MemberTable<Hello>(
    "hello",
    [
      Member("ver", \.versions).required("ver is the lowest and highest version, as [1,1]"),
      Member("client", \.client).required("client, 32 lower-case hex digits, is required"),
      Member("name", \.name, JSONTape.clientName).alwaysWritten,
      Member("nonce", \.nonce, JSONTape.nonce).required(JSONTape.nonceIsRequired),
      Member("window", \.window).alwaysWritten, Member("hb", \.heartbeat),
      Member("flow", \.hasNoFlowControl, on: "none", off: "credit"), Member("actor", \.actor),
    ])
}

extension WatchRequest: TabledRecord {
  package static let table = MemberTable<WatchRequest>(
    "watch",
    [
      Member("id", \.id, JSONTape.id).required(JSONTape.idIsRequired),
      Member("nav", \.nav, JSONTape.nav).required(JSONTape.navIsRequired),
      Member("view", \.view), Member("resolved", \.deliversResolvedBar),
      Member("wait", \.waitsForNav), Member("from", \.from, JSONTape.position),
      Member("bad", \.divergence),
    ])
}

extension GetRequest: TabledRecord {
  package static let table = MemberTable<GetRequest>(
    "get",
    [
      Member("id", \.id, JSONTape.id).required(JSONTape.idIsRequired),
      Member("nav", \.nav, JSONTape.optionalNav), Member("what", \.what),
      Member("at", \.at), Member("screen", \.screen), Member("from", \.from),
      Member("limit", \.limit), Member("client", \.client), Member("on", \.isTraceOn),
    ])
}

extension JSONTape {
  package static let idIsRequired =
    "id is a whole number from 0 to 9007199254740991, larger every time"
  package static let navIsRequired = "nav, the name of a nav, is required"
  static let nonceIsRequired = "nonce, a text of at most 64 octets, is required"

  package func id(_ at: Int, _ name: String) throws(ReadFailure) -> UInt64 {
    try need(integer(at), Self.idIsRequired)
  }

  package func nav(_ at: Int, _ name: String) throws(ReadFailure) -> String {
    // Usual names need no string for the check.
    if isUnescapedString(at), Grammar.isNavName(text(at)) { return string(at) ?? "" }
    let nav = try need(string(at), "\(name) is a text")
    try need(
      NavName(nav) != nil || NavName.isVirtualName(nav) || nav == NavName.appearance.text,
      "a nav's name is a-z or 0-9, then up to 127 of a-z 0-9 . _ / -")
    return nav
  }

  func optionalNav(_ at: Int, _ name: String) throws(ReadFailure) -> String? { try nav(at, name) }

  package func client(_ at: Int, _ name: String) throws(ReadFailure) -> ClientID {
    try need(string(at).flatMap { ClientID($0) }, "client is 32 lower-case hex digits")
  }

  package func clientName(_ at: Int, _ name: String) throws(ReadFailure) -> String {
    let text = try string(at, name)
    try need(text.utf8.count <= 128, "name is at most 128 octets")
    return text
  }

  fileprivate func nonce(_ at: Int, _ name: String) throws(ReadFailure) -> String {
    try need(string(at).flatMap { $0.utf8.count <= 64 ? $0 : nil }, Self.nonceIsRequired)
  }

  /// Reads the position from which a watch resumes.
  fileprivate func position(_ at: Int, _ name: String) throws(ReadFailure) -> MirrorPosition? {
    let position = MirrorPosition(at, in: self)
    try need(
      position?.epoch != nil, "\(name) has epoch (16 hex digits), rev and dig (24 hex digits)")
    return position
  }
}

extension MirrorPosition: WireValue {
  fileprivate init?(_ at: Int, in tape: borrowing JSONTape) {
    guard let revision = tape.integer("rev", of: at),
      let digest = tape.string("dig", of: at).flatMap({ Digest($0) })
    else { return nil }
    let epoch = tape.string("epoch", of: at).flatMap { Epoch($0) }
    self.init(epoch: epoch, revision: Revision(revision), digest: digest)
  }

  package static func read(_ tape: JSONTape) -> ReadValue<MirrorPosition> {
    { at, name throws(ReadFailure) in
      try need(MirrorPosition(at, in: tape), "\(name) has rev and dig (24 hex digits)")
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
  package static func read(_ tape: JSONTape) -> ReadValue<ClientID> { tape.client }
  package func write(_ json: inout JSONWriter) { json.string(text) }
}

extension Revision: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<Revision> {
    { at, name throws(ReadFailure) in Revision(try tape.integer(at, name)) }
  }
  package func write(_ json: inout JSONWriter) { json.integer(number) }
}

extension ClosedRange: WireValue where Bound == UInt64 {
  package static func read(_ tape: JSONTape) -> ReadValue<ClosedRange<UInt64>> {
    { at, name throws(ReadFailure) in
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
  package static func read(_ tape: JSONTape) -> ReadValue<SessionActor> {
    { at, _ throws(ReadFailure) in
      guard let name = tape.string("name", of: at), let role = tape.string("role", of: at),
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
    json.strings("navs", navs.map(\.text))
    json.endObject()
  }
}
