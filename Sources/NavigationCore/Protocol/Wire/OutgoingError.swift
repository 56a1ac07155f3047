/// The summary of a nav's state in the messages `ok` and `err`.
package struct NavStanding {
  package var nav: String
  package var epoch: Epoch
  package var revision: Revision
  package var digest: Digest
  package var depth: Int
  /// The id of the top screen; nil for an empty stack.
  package var top: String?

  package init(
    nav: String, epoch: Epoch, revision: Revision, digest: Digest, depth: Int, top: String?
  ) {
    (self.nav, self.epoch, self.revision) = (nav, epoch, revision)
    (self.digest, self.depth, self.top) = (digest, depth, top)
  }
}

/// The contents of a message `err` before its encoding.
package struct OutgoingError {
  /// The id of the refused request; nil if the request has none.
  package var id: UInt64?
  /// The nonce of the `hello` that the error answers; nil for other requests.
  package var nonce: String?
  package var code: ErrorCode
  package var text: String
  /// The reason in one word, for codes that have several; nil for others.
  package var reason: String?
  /// The value of the guard that failed, as JSON; for `no-route`, the roles or screens that the
  /// route wants.
  package var expected: [UInt8]?
  /// The time in milliseconds after which the client can send the request again.
  package var after: UInt64?
  /// The index of the refused operation within the op.
  package var index: Int?
  /// Whether a guard or a get names a revision that is newer than the nav's.
  package var namesFutureRevision = false
  /// More members with their values as JSON, in the order in which they are written.
  package var details: [(name: StaticString, json: [UInt8])] = []
  /// The state of the nav, if the client may read it.
  package var standing: NavStanding?

  package init(
    _ code: ErrorCode, id: UInt64? = nil, _ text: String, reason: String? = nil,
    after: UInt64? = nil, index: Int? = nil
  ) {
    (self.code, self.id, self.text) = (code, id, text)
    (self.reason, self.after, self.index) = (reason, after, index)
  }

  /// Adds the verb of the refused message if it is `answer` or `credit`, which have no id.
  package mutating func addVerb(_ verb: ClientVerb) {
    guard verb == .answer || verb == .credit else { return }
    details.append(("verb", Array("\"\(verb.rawValue)\"".utf8)))
  }
}

extension OutgoingError {
  /// The error for a client that may not read the nav.
  ///
  /// Errors whose details reveal state lose their details and their text. All errors lose
  /// `standing`.
  package var withoutState: OutgoingError {
    let revealing: Set<ErrorCode> = [
      .desync, .compacted, .leaseLost, .transitionInProgress, .vetoed, .frozen, .restoreFailed,
      .popBlocked, .dismissBlocked,
    ]
    var error = self
    error.standing = nil
    guard revealing.contains(code) else { return error }
    error.details = []
    error.namesFutureRevision = false
    error.text = "refused; what the nav is like is not told without the right read"
    return error
  }
}

/// Encoders for messages of the daemon; clients use the encoder of errors too.
package enum ServerMessageWriter {
  package static func error(_ error: OutgoingError) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.name("id")
    if let id = error.id { json.integer(id) } else { json.null() }
    json.optional("nonce", error.nonce)
    json.member("code", error.code.rawValue)
    json.optional("reason", error.reason)
    if let expected = error.expected { json.member("expected", raw: expected) }
    json.memberIfTrue("future", error.namesFutureRevision)
    json.member("msg", error.text)
    json.member("effect", error.code.effect.rawValue)
    json.member("retry", error.code.retry.rawValue)
    if let after = error.after { json.member("after", after) }
    if let index = error.index { json.member("index", UInt64(index)) }
    for detail in error.details { json.member(detail.name, raw: detail.json) }
    if error.code == .version { json.member("have", raw: Array("[1,1]".utf8)) }
    if let standing = error.standing {
      json.member("nav", standing.nav)
      json.standing(standing)
    }
    json.endObject()
    return json.bytes
  }
}

extension JSONWriter {
  package mutating func standing(_ standing: NavStanding) {
    member("epoch", hex: standing.epoch.bits)
    member("rev", standing.revision.number)
    member("dig", standing.digest)
    member("depth", UInt64(standing.depth))
    name("top")
    if let top = standing.top { string(top) } else { null() }
  }
}
