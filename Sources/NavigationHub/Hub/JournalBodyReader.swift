import NavigationCore

/// Reads the bodies of journal rows.
struct JournalBodyReader: Sendable {
  private(set) var tape = JSONTape()
  /// The indices on the tape of the loaded body's members `diff`, `by`, `det` and `gone`; nil for
  /// a member that the body does not have.
  private(set) var diffIndex: Int?
  private var authorIndex: Int?
  private var detachedIndex: Int?
  private var releasedIndex: Int?

  /// The contents of a `created` row or of a snapshot.
  struct State {
    var nav: String
    var epoch: Epoch
    var owner: String
    var controller: NavigationController
    var digest: Digest
    /// The last change of the top; nil if the body does not record it.
    var topChange: TopChange?
  }

  mutating func load(_ row: JournalRow) throws(StoredDataError) {
    try load(row.json())
  }

  /// Loads JSON: a state, an epoch, or what `JournalRow.json` returns.
  mutating func load(_ body: [UInt8]) throws(StoredDataError) {
    do {
      try tape.read(body, maximumDepth: 48)
    } catch {
      throw StoredDataError(what: "\(error.reason.rawValue) at octet \(error.offset)")
    }
    guard tape.kind(0) == .object else { throw StoredDataError(what: "not an object") }
    (diffIndex, authorIndex, detachedIndex, releasedIndex) = (nil, nil, nil, nil)
    let end = tape.next(0)
    var key = 1
    while key < end {
      switch tape.shortName(key) {
      case "diff": diffIndex = key + 1
      case "by": authorIndex = key + 1
      case "det": detachedIndex = key + 1
      case "gone": releasedIndex = key + 1
      default: break
      }
      key = tape.next(key + 1)
    }
    assert(key == end, "a member goes beyond its object")
  }

  /// Loads an entry of `get` `diffs`, which has the members of a diff beside its own.
  mutating func loadEntry(_ entry: [UInt8]) throws(StoredDataError) {
    try load(entry)
    (diffIndex, detachedIndex, releasedIndex) = (0, nil, nil)
  }

  /// The 7 bytes of `,"rev":` as one number.
  private static let revisionMark: UInt64 = 0x2C22_7265_7622_3A
  private static let revisionMask: UInt64 = 0xFF_FFFF_FFFF_FFFF

  /// Reads the members before `rev` in a body with the state of nav `number`.
  ///
  /// `needsRecovery` is `NavigationController.needsRecovery` of the state.
  mutating func head(
    of body: [UInt8], number: UInt64
  ) throws(StoredDataError) -> (nav: DormantNav, depth: Int, top: ScreenID?, needsRecovery: Bool) {
    // These bytes cannot be part of a text, where a backslash precedes each quote.
    var window: UInt64 = 0
    var end = 0
    while end < body.count, window & Self.revisionMask != Self.revisionMark {
      window = window << 8 | UInt64(body[end])
      end += 1
    }
    guard window & Self.revisionMask == Self.revisionMark else {
      throw StoredDataError(what: "a state without rev")
    }
    assert(end >= 7)
    end -= 7
    var head = Array(body[..<end])
    head.append(0x7D)
    try load(head)
    let kind = text("kind")
    guard let name = text("nav"),
      let epoch = tape.member(short: "epoch", of: 0).flatMap({ tape.hex64($0) }),
      let owner = text("owner"), kind == "controller" || kind == "bar",
      let depth = integer("depth").flatMap({ Int32(exactly: $0) })
    else { throw StoredDataError(what: "a state lacks nav, kind, epoch, owner or depth") }
    let top = text("top").flatMap { ScreenID($0) }
    guard (depth == 0) == (top == nil) else {
      throw StoredDataError(what: "a state of depth \(depth) with the top \(top?.text ?? "none")")
    }
    let nav = DormantNav(
      number: number, name: name, owner: owner, isStandalone: kind == "bar",
      epoch: Epoch(bits: epoch))
    return (nav, Int(depth), top, flag("open"))
  }

  /// The remembered op that a row records; nil if it records none.
  mutating func entry(of row: JournalRow) -> RememberedOps.Entry? {
    guard (try? load(row)) != nil, let by = authorIndex, let op = integer("op", of: by),
      let octets = tape.member(short: "octets", of: 0).flatMap({ tape.hex64($0) }),
      op == row.author?.op, let reply = reply(to: op, top: row.top)
    else { return nil }
    return RememberedOps.Entry(id: op, octets: BodyHash(bits: octets), isOk: true, reply: reply)
  }

  /// The reply to the op of the loaded row, byte for byte as it was sent.
  private func reply(to op: UInt64, top: ScreenID?) -> [UInt8]? {
    if let reply = tape.member(short: "reply", of: 0) { return tape.raw(reply) }
    guard let diff = diffIndex, let outputs = tape.member(short: "out", of: 0) else { return nil }
    var json = JSONWriter()
    json.beginObject()
    json.member("id", op)
    for member in ["nav", "epoch", "rev", "changed", "seq", "depth", "top", "dig"] {
      json.dynamicName(member)
      switch member {
      case "changed": json.bool(true)
      case "top": if let top { json.string(top.text) } else { json.null() }
      default:
        guard let value = tape.member(member, of: diff) else { return nil }
        json.raw(tape.raw(value))
      }
    }
    json.member("out", raw: tape.raw(outputs))
    json.endObject()
    return json.bytes
  }

  func state() throws(StoredDataError) -> State {
    guard let nav = text("nav"), let epoch = text("epoch").flatMap({ Epoch($0) }),
      let owner = text("owner"), let revision = integer("rev"),
      let digest = text("dig").flatMap({ Digest($0) })
    else { throw StoredDataError(what: "a state lacks nav, epoch, owner, rev or dig") }
    var versions: [PartName: Revision] = [:]
    for part in PartName.allCases {
      guard let index = tape.member(part.text, of: 0), let version = integer("ver", of: index)
      else { throw StoredDataError(what: "a state lacks \(part.text)") }
      versions[part] = Revision(version)
    }
    let stack = try list("screens") { at throws(ReadFailure) in try tape.storedScreen(at) }
    let records = try list("detached") { at throws(ReadFailure) in try record(at) }
    let kind = text("kind")
    guard kind == "controller" || kind == "bar" else {
      throw StoredDataError(what: "a state of kind \(kind ?? "none")")
    }
    let controller = NavigationController(
      revision: Revision(revision), isStandalone: kind == "bar", stack: stack, versions: versions,
      parts: try parts(), detached: records)
    return State(
      nav: nav, epoch: epoch, owner: owner, controller: controller, digest: digest,
      topChange: topChange())
  }

  /// The author of the loaded row; nil if it names none.
  func author() -> Author? { authorIndex.flatMap { author($0) } }

  /// The cause of the revision in the loaded `changed` row.
  func cause() -> Cause {
    diffIndex.flatMap { text("cause", of: $0) }.flatMap { Cause(word: $0) } ?? .api
  }

  private func author(_ at: Int) -> Author? {
    guard let principal = tape.member("principal", of: at).flatMap({ tape.string($0) }) else {
      return nil
    }
    let process = integer("pid", of: at).flatMap { Int32(exactly: $0) }
    return Author(name: text("name", of: at) ?? "", principal: principal, pid: process)
  }

  private func topChange() -> TopChange? {
    guard let since = tape.member(short: "since", of: 0), let revision = integer("rev", of: since),
      let time = integer("t", of: since),
      let cause = text("cause", of: since).flatMap({ Cause(word: $0) })
    else { return nil }
    var change = TopChange(revision: Revision(revision), time: time, cause: cause)
    change.author = tape.member(short: "by", of: since).flatMap { author($0) }
    let popped = text("popped", of: since).flatMap { ScreenID($0) }
    let covered = text("covered", of: since).flatMap { ScreenID($0) }
    change.former = (popped ?? covered).map { FormerTop(id: $0, isPopped: popped != nil) }
    return change
  }

  /// The change in the loaded `changed` row, with its digest.
  func change() throws(StoredDataError) -> (change: RecordedChange, digest: Digest) {
    guard let diff = diffIndex, tape.kind(diff) == .object else {
      throw StoredDataError(what: "a change lacks its diff")
    }
    var change = RecordedChange(revision: Revision(0))
    var digest: Digest?
    let end = tape.next(diff)
    var name = diff + 1
    do throws(ReadFailure) {
      while name < end {
        let at = name + 1
        switch tape.shortName(name) {
        case "rev": change.revision = Revision(tape.integer(at) ?? 0)
        case "dig": digest = tape.digest(at)
        case "ch": try read(at, into: &change)
        default: break
        }
        name = tape.next(at)
      }
      assert(name == end, "a member goes beyond its object")
    } catch {
      throw StoredDataError(what: "ch: \(error.text)")
    }
    guard let digest else { throw StoredDataError(what: "a change lacks its digest") }
    if detachedIndex != nil {
      change.changedDetached = try list("det") { at throws(ReadFailure) in try record(at) }
    }
    if releasedIndex != nil {
      change.released = try list("gone") { at throws(ReadFailure) in try key(at) }
    }
    return (change, digest)
  }

  /// The digest before the loaded `changed` row.
  func digestBefore() -> Digest? { tape.member(short: "before", of: 0).flatMap { tape.digest($0) } }

  /// The loaded row's diff, byte for byte as it was sent without `resolved`.
  func diff() throws(StoredDataError) -> EncodedDiff {
    guard let diff = diffIndex, let changes = tape.member(short: "ch", of: diff) else {
      throw StoredDataError(what: "a change lacks its diff")
    }
    let place = tape.offset(of: changes, in: diff) + tape.rawByteCount(changes)
    return EncodedDiff(bytes: tape.raw(diff), resolved: place..<place)
  }

  /// The epoch in the loaded `epoch` row.
  func epoch() throws(StoredDataError) -> Epoch {
    guard let epoch = text("epoch").flatMap({ Epoch($0) }) else {
      throw StoredDataError(what: "no epoch")
    }
    return epoch
  }

  private func read(_ list: Int, into change: inout RecordedChange) throws(ReadFailure) {
    guard tape.kind(list) == .array else {
      throw ReadFailure("the changes are no list")
    }
    let end = tape.next(list)
    var at = list + 1
    while at < end {
      guard tape.kind(at) == .object else {
        throw ReadFailure("a change is no record")
      }
      // A change whose first member is `at` is a splice; any other one sets a record or part.
      if tape.next(at) > at + 1, tape.shortName(at + 1) == "at" {
        try readSplice(at, into: &change)
      } else {
        try readSet(at, into: &change)
      }
      at = tape.next(at)
    }
    assert(at == end, "a change goes beyond its list")
  }

  private func readSplice(_ at: Int, into change: inout RecordedChange) throws(ReadFailure) {
    var splice = RecordedSplice(at: 0, removed: [], inserted: [])
    let end = tape.next(at)
    var key = at + 1
    while key < end {
      let value = key + 1
      switch tape.shortName(key) {
      case "at": splice.at = Int(tape.integer(value) ?? 0)
      case "del" where tape.kind(value) == .array:
        splice.removed = try tape.elements(of: value) { at throws(ReadFailure) in
          try tape.screenID(at)
        }
      case "ins" where tape.kind(value) == .array:
        splice.inserted = try tape.elements(of: value) { at throws(ReadFailure) in
          try tape.storedScreen(at)
        }
      default: break
      }
      key = tape.next(value)
    }
    assert(key == end, "a member goes beyond its object")
    change.splices.append(splice)
  }

  private func readSet(_ at: Int, into change: inout RecordedChange) throws(ReadFailure) {
    guard let what = text("set", of: at), let to = tape.member(short: "to", of: at) else {
      throw ReadFailure("a change is neither splice nor set")
    }
    if what == "screen" {
      change.changedScreens.append(try tape.storedScreen(to))
    } else {
      try read(what, to, into: &change.parts)
    }
  }

  private func read(
    _ part: String, _ at: Int, into parts: inout RecordedParts
  ) throws(ReadFailure) {
    switch part {
    case "settings": parts.settings = try tape.storedSettings(at)
    case "bar": parts.bar = try tape.storedRecord(at)
    case "toolbar": parts.toolbar = try tape.storedRecord(at)
    case "presented": parts.presented = try tape.storedPresentation(at)
    case "transition":
      var transition = try tape.storedTransition(at)
      if let ends = tape.member(short: "ends", of: 0) {
        transition.running?.completionEvents = try tape.storedEvents(ends)
      }
      parts.transition = transition
    case "environment": parts.environment = try tape.storedRecord(at)
    default: throw ReadFailure("a change sets \(part)")
    }
  }

  private func record(_ at: Int) throws(ReadFailure) -> DetachedRecords.Record {
    if let screen = tape.member(short: "screen", of: at) {
      return .screen(try tape.storedScreen(screen))
    }
    guard let button = tape.member(short: "button", of: at) else {
      throw ReadFailure("a detached record is neither screen nor button")
    }
    return .button(try tape.storedButton(button))
  }

  private func key(_ at: Int) throws(ReadFailure) -> DetachedRecords.Key {
    if let screen = tape.member(short: "screen", of: at) {
      return .screen(try tape.screenID(screen))
    }
    guard let button = tape.member(short: "button", of: at) else {
      throw ReadFailure("a released record is neither screen nor button")
    }
    return .button(try tape.buttonID(button))
  }

  private func parts() throws(StoredDataError) -> RecordedParts {
    var parts = RecordedParts()
    do throws(ReadFailure) {
      for part in PartName.allCases {
        // A part at its default has the member `ver` only.
        guard let at = tape.member(part.text, of: 0), tape.next(at) > at + 3 else { continue }
        try read(part.text, at, into: &parts)
      }
    } catch {
      throw StoredDataError(what: error.text)
    }
    return parts
  }

  private func list<Element>(
    _ name: ShortName, of at: Int = 0, _ read: (Int) throws(ReadFailure) -> Element
  ) throws(StoredDataError) -> [Element] {
    guard let list = tape.member(short: name, of: at), tape.kind(list) == .array else {
      throw StoredDataError(what: "a body lacks \(name.text)")
    }
    do throws(ReadFailure) {
      return try tape.elements(of: list, read)
    } catch {
      throw StoredDataError(what: "\(name.text): \(error.text)")
    }
  }

  func flag(_ name: String) -> Bool {
    tape.member(name, of: 0).flatMap { tape.bool($0) } ?? false
  }

  func text(_ name: ShortName, of at: Int = 0) -> String? {
    tape.member(short: name, of: at).flatMap { tape.string($0) }
  }

  func integer(_ name: ShortName, of at: Int = 0) -> UInt64? {
    tape.member(short: name, of: at).flatMap { tape.integer($0) }
  }
}
