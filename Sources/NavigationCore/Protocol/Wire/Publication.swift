/// A place in the history of a nav: one state, for ever.
package struct NavPosition: Hashable, Sendable {
  /// The life of the nav.
  package var epoch: Epoch
  /// The revision within that life.
  package var revision: Revision

  /// Makes a position from its members.
  package init(epoch: Epoch, revision: Revision) {
    self.epoch = epoch
    self.revision = revision
  }
}

/// The message `publish`, by which a program carries a nav of a device to another daemon.
package struct PublishRequest: Hashable, Sendable {
  /// What the message is about.
  package enum Content: Hashable, Sendable {
    /// Asks for the position of the published nav.
    case position
    /// Continues the published nav.
    case rows([PublishedRow])
    /// The device has closed the nav.
    case closed
    /// To the device: the receiver has everything up to this position.
    case acknowledged(NavPosition)
  }

  /// The id of the message, which the answer repeats.
  package var id: UInt64
  /// The name of the nav at the daemon that gets the message.
  package var nav: String
  /// The position that the receiver must have; nil if it must not have the nav.
  package var from: NavPosition?
  /// What the message is about.
  package var content: Content

  /// Makes a request from its members.
  package init(id: UInt64, nav: String, from: NavPosition? = nil, content: Content) {
    self.id = id
    self.nav = nav
    self.from = from
    self.content = content
  }
}

/// A row of a journal on its way to another daemon, or a part of a row that exceeds a message.
package struct PublishedRow: Hashable, Sendable {
  /// The kinds of rows that are published.
  package enum Kind: String, Sendable {
    /// The creation of the nav, with its complete state.
    case created
    /// A change from one revision to the next.
    case changed
    /// A new epoch.
    case epoch
    /// A complete state, in place of rows that the device no longer has.
    case state
  }

  /// The body of the row, or a part of it.
  package enum Body: Hashable, Sendable {
    /// A JSON object.
    case whole([UInt8])
    /// The octets from `offset` on, of `count` in all.
    case piece([UInt8], offset: Int, count: Int)
  }

  /// The octets of the bodies in one message, except that one body can have more.
  package static let bytesPerMessage = 48 << 10
  /// The octets of a piece.
  ///
  /// Its text can take twice as many, because quotes are escaped.
  package static let bytesPerPiece = 24 << 10

  /// The revision after the row.
  package var revision: Revision
  /// Wall-clock time of the row in milliseconds since 1970.
  package var time: UInt64
  /// The kind of the row.
  package var kind: Kind
  /// The body.
  package var body: Body

  /// Makes a row from its members.
  package init(revision: Revision, time: UInt64, kind: Kind, body: Body) {
    self.revision = revision
    self.time = time
    self.kind = kind
    self.body = body
  }

  /// The row with the piece of its body that begins at `offset`, if the body exceeds a message.
  ///
  /// A piece ends between two characters, because it travels as a text.
  func piece(at offset: Int) -> PublishedRow {
    guard case .whole(let bytes) = body, bytes.count > Self.bytesPerMessage else { return self }
    let start = min(offset, bytes.count)
    var end = min(start + Self.bytesPerPiece, bytes.count)
    while end > start, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    var row = self
    row.body = .piece(Array(bytes[start..<end]), offset: start, count: bytes.count)
    return row
  }
}

extension JSONWriter {
  /// Writes a row, or a piece of one.
  mutating func publishedRow(_ row: PublishedRow) {
    beginObject()
    member("rev", row.revision.number)
    member("t", row.time)
    member("kind", row.kind.rawValue)
    switch row.body {
    case .whole(let bytes): member("body", raw: bytes)
    case .piece(let bytes, let offset, let count):
      member("size", UInt64(count))
      member("at", UInt64(offset))
      member("text", utf8: bytes.span)
    }
    endObject()
  }

  /// Writes a member with an epoch and a revision.
  package mutating func position(_ name: StaticString, _ position: NavPosition) {
    self.name(name)
    beginObject()
    place(position.epoch, position.revision)
    endObject()
  }
}

// Reading and writing `publish`.

extension ClientMessageReader {
  func publish() throws(MessageFailure) -> PublishRequest {
    let id = try requiredID()
    var request = PublishRequest(id: id, nav: try nav(id), content: .position)
    request.from = try navPosition("from", id)
    if let position = try navPosition("acknowledged", id) {
      request.content = .acknowledged(position)
    } else if try flag("closed", id) == true {
      request.content = .closed
    } else if let list = member("rows") {
      guard tape.kind(list) == .array, tape.count(list) > 0 else {
        throw MessageFailure(.invalidArgument, id: id, "rows is a list of rows")
      }
      var rows: [PublishedRow] = []
      var element = list + 1
      while element < tape.next(list) {
        rows.append(try publishedRow(element, id))
        element = tape.next(element)
      }
      request.content = .rows(rows)
    }
    return request
  }

  private func navPosition(_ name: String, _ id: UInt64) throws(MessageFailure) -> NavPosition? {
    guard let index = member(name) else { return nil }
    guard let epoch = tape.member("epoch", of: index).flatMap({ tape.hex64($0) }),
      let revision = tape.member("rev", of: index).flatMap({ tape.integer($0) })
    else {
      throw MessageFailure(.invalidArgument, id: id, "\(name) has epoch (16 hex digits) and rev")
    }
    return NavPosition(epoch: Epoch(bits: epoch), revision: Revision(revision))
  }

  private func publishedRow(_ at: Int, _ id: UInt64) throws(MessageFailure) -> PublishedRow {
    func integer(_ name: String) -> UInt64? {
      tape.member(name, of: at).flatMap { tape.integer($0) }
    }
    guard tape.kind(at) == .object, let revision = integer("rev"), let time = integer("t"),
      let kind = tape.member("kind", of: at).flatMap({ tape.string($0) })
        .flatMap({ PublishedRow.Kind(rawValue: $0) })
    else {
      throw MessageFailure(
        .invalidArgument, id: id, "a row has rev, t, and kind created, changed, epoch or state")
    }
    var row = PublishedRow(
      revision: Revision(revision), time: time, kind: kind, body: .whole([]))
    if let body = tape.member("body", of: at), tape.kind(body) == .object {
      row.body = .whole(tape.raw(body))
      return row
    }
    guard let count = integer("size"), let offset = integer("at"),
      let text = tape.member("text", of: at).flatMap({ tape.string($0) })
    else {
      throw MessageFailure(
        .invalidArgument, id: id, "a row has a body, or a piece of it: size, at and text")
    }
    row.body = .piece(Array(text.utf8), offset: Int(offset), count: Int(count))
    return row
  }
}
