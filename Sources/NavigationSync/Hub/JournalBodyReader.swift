import Navigation

/// A row or snapshot whose body this version did not write, or that was damaged.
package struct JournalBodyError: Error, Hashable, Sendable {
  /// What is wrong.
  package var what: String
}

/// Reads the bodies of journal rows.
struct JournalBodyReader: Sendable {
  private var tape = JSONTape()
  private let reader = RecordReader(.journal)

  /// What a `created` row or a snapshot says.
  struct State {
    var nav: String
    var epoch: Epoch
    var owner: String
    var controller: NavigationController
    var digest: Digest
    var resolvedAt: Revision
  }

  mutating func load(_ body: [UInt8]) throws(JournalBodyError) {
    do {
      try tape.read(body, maximumDepth: 48)
    } catch {
      throw JournalBodyError(what: "\(error.reason.rawValue) at octet \(error.offset)")
    }
    guard tape.kind(0) == .object else { throw JournalBodyError(what: "not an object") }
  }

  /// How the op of the loaded row is remembered; nil if no client caused the row.
  func remembered() -> (key: RememberedOps.Key, entry: RememberedOps.Entry)? {
    guard let by = tape.member("by", of: 0),
      let principal = text("principal", of: by), let client = text("client", of: by),
      let id = ClientID(client), let op = integer("op", of: by),
      let octets = text("octets").flatMap({ Epoch($0) }), let reply = reply(to: op)
    else { return nil }
    return (
      RememberedOps.Key(principal: principal, client: id),
      RememberedOps.Entry(
        id: op, octets: OctetsHash(bits: octets.bits), isOk: true, reply: reply)
    )
  }

  /// The reply to the op of the loaded row, byte for byte as it was sent.
  private func reply(to op: UInt64) -> [UInt8]? {
    if let reply = tape.member("reply", of: 0) { return tape.raw(reply) }
    guard let diff = tape.member("diff", of: 0), let top = tape.member("top", of: 0),
      let outputs = tape.member("out", of: 0)
    else { return nil }
    var json = JSONWriter()
    json.beginObject()
    json.member("id", op)
    for member in ["nav", "epoch", "rev", "changed", "depth", "top", "dig"] {
      json.dynamicName(member)
      switch member {
      case "changed": json.bool(true)
      case "top": json.raw(tape.raw(top))
      default:
        guard let value = tape.member(member, of: diff) else { return nil }
        json.raw(tape.raw(value))
      }
    }
    json.member("out", raw: tape.raw(outputs))
    json.endObject()
    return json.bytes
  }

  /// The state in the loaded body.
  func state() throws(JournalBodyError) -> State {
    guard let nav = text("nav"), let epoch = text("epoch").flatMap({ Epoch($0) }),
      let owner = text("owner"), let revision = integer("rev"),
      let digest = text("dig").flatMap({ Digest($0) })
    else { throw JournalBodyError(what: "a state lacks nav, epoch, owner, rev or dig") }
    var versions: [PartName: Revision] = [:]
    for part in PartName.allCases {
      guard let index = tape.member(part.text, of: 0), let version = integer("ver", of: index)
      else { throw JournalBodyError(what: "a state lacks \(part.text)") }
      versions[part] = Revision(version)
    }
    let stack = try list("screens") { at throws(ReadFailure) in try reader.storedScreen(tape, at) }
    let records = try list("detached") { at throws(ReadFailure) in try record(at) }
    let kind = text("kind")
    guard kind == "controller" || kind == "bar" else {
      throw JournalBodyError(what: "a state of kind \(kind ?? "none")")
    }
    let controller = NavigationController(
      revision: Revision(revision), isStandalone: kind == "bar", stack: stack, versions: versions,
      parts: try parts(),
      detached: records)
    return State(
      nav: nav, epoch: epoch, owner: owner, controller: controller, digest: digest,
      resolvedAt: Revision(integer("resolvedAt") ?? revision))
  }

  /// The change in the loaded `changed` row, with its digest.
  func change() throws(JournalBodyError) -> (change: RecordedChange, digest: Digest) {
    guard let diff = tape.member("diff", of: 0), let revision = integer("rev", of: diff),
      let digest = text("dig", of: diff).flatMap({ Digest($0) })
    else { throw JournalBodyError(what: "a change lacks its diff") }
    var change = RecordedChange(revision: Revision(revision))
    if tape.member("ch", of: diff) != nil {
      for entry in try list("ch", of: diff, { at throws(ReadFailure) in try entry(at) }) {
        switch entry {
        case .splice(let splice): change.splices.append(splice)
        case .screen(let screen): change.screens.append(screen)
        case .settings(let settings): change.settings = settings
        case .bar(let bar): change.bar = bar
        case .toolbar(let toolbar): change.toolbar = toolbar
        case .presented(let presented): change.presented = presented
        case .transition(let transition): change.transition = transition
        case .environment(let environment): change.environment = environment
        }
      }
    }
    if tape.member("det", of: 0) != nil {
      change.detached = try list("det") { at throws(ReadFailure) in try record(at) }
    }
    if tape.member("gone", of: 0) != nil {
      change.released = try list("gone") { at throws(ReadFailure) in try key(at) }
    }
    return (change, digest)
  }

  /// The octets of the loaded row's diff as they were sent; nil if it tells what the bar showed by
  /// other rules than this version's, so that they cannot be had any more.
  func diff(resolved: [UInt8]) -> [UInt8]? {
    guard let diff = tape.member("diff", of: 0) else { return nil }
    guard let place = tape.member("resolved", of: diff), tape.kind(place) == .null else {
      return tape.raw(diff)
    }
    guard integer("rv") == JournalBody.resolution else { return nil }
    return tape.raw(diff, replacing: place, by: resolved)
  }

  /// Whether the loaded row's diff changed what the bar shows.
  func changesResolved() -> Bool {
    tape.member("diff", of: 0).map { tape.member("resolved", of: $0) != nil } ?? false
  }

  /// The epoch in the loaded `epoch` row.
  func epoch() -> Epoch? { text("epoch").flatMap { Epoch($0) } }

  private enum Entry {
    case splice(RecordedSplice)
    case screen(Screen)
    case settings(RecordedSettings)
    case bar(Bar)
    case toolbar(Toolbar)
    case presented(Presentation)
    case transition(Transition)
    case environment(Environment)
  }

  private func entry(_ at: Int) throws(ReadFailure) -> Entry {
    if let index = integer("at", of: at) {
      var splice = RecordedSplice(at: Int(index), removed: [], inserted: [])
      if let list = tape.member("del", of: at), tape.kind(list) == .array {
        var element = list + 1
        while element < tape.next(list) {
          splice.removed.append(try reader.screenID(tape, element))
          element = tape.next(element)
        }
      }
      if let list = tape.member("ins", of: at), tape.kind(list) == .array {
        var element = list + 1
        while element < tape.next(list) {
          splice.inserted.append(try reader.storedScreen(tape, element))
          element = tape.next(element)
        }
      }
      return .splice(splice)
    }
    guard let what = text("set", of: at), let to = tape.member("to", of: at) else {
      throw ReadFailure(.invalidArgument, "a change is neither splice nor set")
    }
    switch what {
    case "screen": return .screen(try reader.storedScreen(tape, to))
    case "settings": return .settings(try SettingsReader(reader).stored(tape, to))
    case "bar": return .bar(try reader.storedBar(tape, to))
    case "toolbar": return .toolbar(try reader.storedToolbar(tape, to))
    case "presented": return .presented(try reader.storedPresentation(tape, to))
    case "transition": return .transition(try transition(to))
    case "environment": return .environment(try reader.storedEnvironment(tape, to))
    default: throw ReadFailure(.invalidArgument, "a change sets \(what)")
    }
  }

  private func record(_ at: Int) throws(ReadFailure) -> DetachedRecords.Record {
    if let screen = tape.member("screen", of: at) {
      return .screen(try reader.storedScreen(tape, screen))
    }
    guard let button = tape.member("button", of: at) else {
      throw ReadFailure(.invalidArgument, "a detached record is neither screen nor button")
    }
    return .button(try reader.storedButton(tape, button))
  }

  private func key(_ at: Int) throws(ReadFailure) -> DetachedRecords.Key {
    if let screen = tape.member("screen", of: at) {
      return .screen(try reader.screenID(tape, screen))
    }
    guard let button = tape.member("button", of: at) else {
      throw ReadFailure(.invalidArgument, "a released record is neither screen nor button")
    }
    return .button(try reader.buttonID(tape, button))
  }

  private func parts() throws(JournalBodyError) -> RecordedParts {
    func at(_ part: PartName) throws(JournalBodyError) -> Int {
      guard let index = tape.member(part.text, of: 0) else {
        throw JournalBodyError(what: "a state lacks \(part.text)")
      }
      return index
    }
    let places = (
      bar: try at(.bar), toolbar: try at(.toolbar), presented: try at(.presented),
      transition: try at(.transition), environment: try at(.environment),
      settings: try at(.settings)
    )
    do {
      return RecordedParts(
        bar: try reader.storedBar(tape, places.bar),
        toolbar: try reader.storedToolbar(tape, places.toolbar),
        presented: try reader.storedPresentation(tape, places.presented),
        transition: try transition(places.transition),
        environment: try reader.storedEnvironment(tape, places.environment),
        settings: try SettingsReader(reader).stored(tape, places.settings))
    } catch {
      throw JournalBodyError(what: error.text)
    }
  }

  private func transition(_ at: Int) throws(ReadFailure) -> Transition {
    var transition = try reader.storedTransition(tape, at)
    if let ends = tape.member("ends", of: 0) {
      transition.running?.completion = try reader.storedEvents(tape, ends)
    }
    return transition
  }

  private func list<Element>(
    _ name: String, of at: Int = 0, _ read: (Int) throws(ReadFailure) -> Element
  ) throws(JournalBodyError) -> [Element] {
    guard let list = tape.member(name, of: at), tape.kind(list) == .array else {
      throw JournalBodyError(what: "a body lacks \(name)")
    }
    var elements: [Element] = []
    var element = list + 1
    do {
      while element < tape.next(list) {
        elements.append(try read(element))
        element = tape.next(element)
      }
    } catch {
      throw JournalBodyError(what: "\(name): \(error.text)")
    }
    return elements
  }

  private func text(_ name: String, of at: Int = 0) -> String? {
    tape.member(name, of: at).flatMap { tape.string($0) }
  }

  private func integer(_ name: String, of at: Int = 0) -> UInt64? {
    tape.member(name, of: at).flatMap { tape.integer($0) }
  }

  /// The log entry of the loaded row, as `get log` shows it.
  func logEntry(_ row: JournalRow) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.member("rev", row.revision)
    json.member("t", row.time)
    if let bad = tape.member("bad", of: 0) {
      json.member("bad", raw: tape.raw(bad))
    }
    let diff = tape.member("diff", of: 0)
    if row.kind == .changed || row.kind == .created {
      json.optional("cause", diff.flatMap { text("cause", of: $0) } ?? "api")
    }
    if let by = tape.member("by", of: 0) { json.author(by, tape) }
    if let ops = tape.member("ops", of: 0) {
      json.member("do", raw: tape.raw(ops))
    }
    if let sender = tape.member("sender", of: 0) {
      json.member("sender", raw: tape.raw(sender))
    }
    json.flag("override", tape.member("override", of: 0).flatMap { tape.bool($0) } ?? false)
    json.flag("vetoSkipped", tape.member("vetoSkipped", of: 0).flatMap { tape.bool($0) } ?? false)
    json.optional("before", text("before"))
    json.optional("dig", diff.flatMap { text("dig", of: $0) } ?? text("dig"))
    if row.kind == .epoch { json.optional("epoch", text("epoch")) }
    json.endObject()
    return json.bytes
  }
}

extension JSONWriter {
  /// Writes who did it, without the client's identity, which is for repetitions only.
  fileprivate mutating func author(_ by: Int, _ tape: borrowing JSONTape) {
    name("by")
    beginObject()
    for member in ["name", "op", "principal", "pid"] {
      guard let index = tape.member(member, of: by) else { continue }
      dynamicName(member)
      raw(tape.raw(index))
    }
    endObject()
  }
}
