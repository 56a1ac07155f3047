/// An unreadable message from the daemon; the client must end the session.
package struct ServerMessageFailure: Error, Hashable, Sendable {
  package var text: String
}

/// Decodes the two frames of a daemon's message; reuses its buffers for the next message.
package struct ServerMessageReader: Sendable {
  private var tape = JSONTape()

  package init() {}

  /// Decodes a message; returns `unknown` for an unknown verb.
  package mutating func read(
    verb: [UInt8], body: [UInt8]
  ) throws(ServerMessageFailure) -> ServerMessage {
    guard case .current(let name) = VerbFrame(verb) else {
      throw ServerMessageFailure(text: "not a message of this protocol")
    }
    guard let verb = ServerVerb(word: name) else { return .unknown }
    do {
      // A report has a client's message inside, and one of those has up to 32 levels.
      try tape.read(body, maximumDepth: 40)
    } catch {
      throw ServerMessageFailure(
        text: "\(name): \(error.reason.rawValue) at octet \(error.offset)")
    }
    guard tape.kind(0) == .object, let message = message(verb) else {
      throw ServerMessageFailure(text: "\(name): a required member is missing or wrong")
    }
    return message
  }

  private func message(_ verb: ServerVerb) -> ServerMessage? {
    switch verb {
    case .welcome: welcome().map { .welcome($0) }
    case .ok: ok().map { .ok($0) }
    case .err: err().map { .err($0) }
    case .queued:
      integer("id").flatMap { id in integer("pos").map { .queued(id: id, position: $0) } }
    case .snap: snapshot().map { .snap($0) }
    case .diff: diff(0).map { .diffs([$0]) }
    case .diffs: list("list", diff).map { .diffs($0) }
    case .latest: latest().map { .latest($0) }
    case .event: event().map { .event($0) }
    case .mark: mark().map { .mark($0) }
    case .end: end().map { .end($0) }
    case .bye: .bye(why: text("why") ?? "", after: integer("after"))
    case .pong: pong()
    case .ask: ask().map { .ask($0) }
    case .settled: settled().map { .settled($0) }
    case .lost: loss().map { .lost($0) }
    case .traced:
      list("list") { OpaqueJSON(validated: tape.raw($0)) }.map { list in
        .traced(
          TracedMessages(
            list: list, dropped: integer("dropped") ?? 0, isTraceOver: text("end") != nil))
      }
    }
  }

  // The accessors below read members of the message, unless an index names another object.

  private func integer(_ name: String, of at: Int = 0) -> UInt64? { tape.integer(name, of: at) }

  private func text(_ name: String, of at: Int = 0) -> String? { tape.string(name, of: at) }

  private func epoch(_ name: String, of at: Int = 0) -> Epoch? {
    text(name, of: at).flatMap { Epoch($0) }
  }

  private func revision(_ name: String, of at: Int = 0) -> Revision? {
    integer(name, of: at).map { Revision($0) }
  }

  private func digest(_ name: String, of at: Int = 0) -> Digest? {
    text(name, of: at).flatMap { Digest($0) }
  }

  private func raw(_ name: String, of at: Int = 0) -> OpaqueJSON? {
    tape.member(name, of: at).map { OpaqueJSON(validated: tape.raw($0)) }
  }

  private func top() -> String?? {
    guard let index = tape.member("top", of: 0) else { return nil }
    return .some(tape.string(index))
  }

  private func welcome() -> Welcome? {
    guard let nonce = text("nonce"), let boot = epoch("boot"), let heartbeat = integer("hb") else {
      return nil
    }
    let you = tape.member("you", of: 0)
    let ops = tape.member("ops", of: 0)
    let limits = tape.member("limits", of: 0)
    return Welcome(
      nonce: nonce, boot: boot, server: text("server") ?? "",
      features: list("features") { tape.string($0) } ?? [],
      heartbeat: heartbeat,
      role: you.flatMap { text("role", of: $0) } ?? "",
      principal: you.flatMap { text("principal", of: $0) },
      lastOp: ops.flatMap { integer("last", of: $0) } ?? 0,
      newestRows: ops.map { newestRows(of: $0) } ?? [:],
      window: limits.flatMap { integer("window", of: $0) } ?? 65536,
      maximumBody: limits.flatMap { integer("message", of: $0) } ?? 65536,
      maximumRequests: limits.flatMap { integer("inflight", of: $0) } ?? 64)
  }

  private func ok() -> OkReply? {
    guard let id = integer("id") else { return nil }
    var reply = OkReply(id: id)
    reply.nav = text("nav")
    reply.epoch = epoch("epoch")
    reply.revision = revision("rev")
    reply.journalRow = integer("seq")
    reply.changed = tape.bool("changed", of: 0)
    reply.depth = integer("depth")
    reply.top = top()
    reply.digest = digest("dig")
    reply.results = raw("out")
    reply.watchMode = text("mode")
    reply.snapshotReason = text("why")
    reply.value = raw("value")
    reply.oldestReadable = revision("floor")
    reply.leaseOwner = text("owner")
    if tape.bool("dry", of: 0) == true { reply.dryRun = dryRun() }
    return reply
  }

  private func dryRun() -> OkReply.DryRun {
    OkReply.DryRun(
      delegates: list("delegates") { delegate in
        OkReply.Delegate(
          name: text("name", of: delegate) ?? "",
          roles: list("roles", of: delegate) { tape.string($0) } ?? [])
      } ?? [], queuePosition: integer("pos"),
      state: tape.member("state", of: 0).flatMap { snapshot($0) })
  }

  private func err() -> ErrReply? {
    guard let code = text("code") else { return nil }
    var reply = ErrReply(
      id: integer("id"), nonce: text("nonce"), code: code, message: text("msg") ?? "",
      effect: text("effect") ?? "unknown", retry: text("retry") ?? "no",
      body: OpaqueJSON(validated: tape.raw(0)))
    reply.reason = text("reason")
    reply.expected = raw("expected")
    reply.namesFutureRevision = tape.bool("future", of: 0) ?? false
    reply.hasVerb = tape.member("verb", of: 0) != nil
    reply.topChange = tape.member("since", of: 0).flatMap { topChange($0) }
    reply.after = integer("after")
    reply.index = integer("index")
    reply.nav = text("nav")
    reply.epoch = epoch("epoch")
    reply.revision = revision("rev")
    reply.digest = digest("dig")
    reply.depth = integer("depth")
    reply.top = top()
    reply.daemon = daemon()
    return reply
  }

  private func topChange(_ at: Int) -> ErrReply.TopChange? {
    guard let revision = revision("rev", of: at), let time = integer("t", of: at) else {
      return nil
    }
    var change = ErrReply.TopChange(
      revision: revision, time: time, cause: text("cause", of: at) ?? "api",
      popped: text("popped", of: at), covered: text("covered", of: at))
    if let by = tape.member("by", of: at), let principal = text("principal", of: by) {
      change.author = ErrReply.Author(
        name: text("name", of: by) ?? "", principal: principal, process: integer("pid", of: by))
    }
    return change
  }

  private func record(_ at: Int) -> MirrorRecord? {
    text("id", of: at).flatMap { part($0, at) }
  }

  private func part(_ name: String, _ at: Int) -> MirrorRecord? {
    guard let version = revision("ver", of: at) else { return nil }
    return MirrorRecord(id: name, version: version, json: OpaqueJSON(validated: tape.raw(at)))
  }

  private func list<Element>(
    _ name: String, of at: Int = 0, _ read: (Int) -> Element?
  ) -> [Element]? {
    guard let list = tape.member(name, of: at), tape.kind(list) == .array else { return nil }
    var elements: [Element] = []
    var element = list + 1
    while element < tape.next(list) {
      guard let value = read(element) else { return nil }
      elements.append(value)
      element = tape.next(element)
    }
    return elements
  }

  private func snapshot(_ at: Int = 0) -> SnapshotPart? {
    guard let nav = text("nav", of: at), let epoch = epoch("epoch", of: at),
      let revision = revision("rev", of: at), let first = integer("i", of: at),
      let last = tape.bool("last", of: at),
      let screens = list("screens", of: at, record)
    else { return nil }
    var snapshot = SnapshotPart(
      nav: nav, kind: text("kind", of: at) ?? "controller", epoch: epoch, revision: revision,
      first: first, isLast: last, why: text("why", of: at), screens: screens, parts: [])
    for name in PartName.allCases {
      guard let index = tape.member(name.text, of: at) else { continue }
      guard let part = part(name.text, index) else { return nil }
      snapshot.parts.append(part)
    }
    snapshot.resolved = raw("resolved", of: at)
    snapshot.digest = digest("dig", of: at)
    return last && snapshot.digest == nil ? nil : snapshot
  }

  private func diff(_ at: Int) -> Diff? {
    guard let nav = text("nav", of: at), let epoch = epoch("epoch", of: at),
      let base = revision("base", of: at), let revision = revision("rev", of: at),
      let changes = list("ch", of: at, change), let depth = integer("depth", of: at),
      let digest = digest("dig", of: at)
    else { return nil }
    let by = tape.member("by", of: at)
    return Diff(
      nav: nav, epoch: epoch, base: base, revision: revision,
      journalRow: integer("seq", of: at) ?? 0, cause: text("cause", of: at) ?? "api",
      byName: by.flatMap { text("name", of: $0) }, byOp: by.flatMap { integer("op", of: $0) },
      isAnimated: tape.bool("animated", of: at) ?? false,
      topRelation: text("relation", of: at), changes: changes, resolved: raw("resolved", of: at),
      events: raw("ev", of: at) ?? OpaqueJSON(validated: [0x5B, 0x5D]), depth: depth,
      digest: digest)
  }

  private func change(_ at: Int) -> Diff.Change? {
    if let index = integer("at", of: at) {
      guard let removed = list("del", of: at, { tape.string($0) }),
        let inserted = list("ins", of: at, record)
      else { return nil }
      return .splice(at: index, removed: removed, inserted: inserted)
    }
    guard let what = text("set", of: at), let to = tape.member("to", of: at) else { return nil }
    if what == "screen" { return record(to).map { .setScreen($0) } }
    return part(what, to).map { .setPart($0) }
  }

  private func latest() -> Latest? {
    guard let nav = text("nav"), let view = text("view"), let epoch = epoch("epoch"),
      let revision = revision("rev"), let value = raw("value")
    else { return nil }
    return Latest(nav: nav, view: view, epoch: epoch, revision: revision, value: value)
  }

  private func event() -> EphemeralEvent? {
    guard let nav = text("nav"), let epoch = epoch("epoch"), let revision = revision("rev"),
      let events = raw("ev")
    else { return nil }
    return EphemeralEvent(nav: nav, epoch: epoch, revision: revision, events: events)
  }

  private func ask() -> Ask? {
    guard let number = integer("ask"), let nav = text("nav"), let epoch = epoch("epoch"),
      let revision = revision("rev"), let within = integer("within"),
      let question = tape.member("q", of: 0).flatMap({ question($0) })
    else { return nil }
    return Ask(
      number: number, nav: nav, epoch: epoch, revision: revision, withinMilliseconds: within,
      question: question)
  }

  private func question(_ at: Int) -> Question? {
    guard tape.kind(at) == .object, tape.count(at) == 1, let name = tape.string(at + 1) else {
      return nil
    }
    let arguments = at + 2
    let screen = text("screen", of: arguments)
    let cause = text("cause", of: arguments) ?? "api"
    switch name {
    case "shouldPush": return screen.map { .shouldPush(screen: $0) }
    case "shouldPop": return screen.map { .shouldPop(screen: $0, cause: cause) }
    case "shouldDismiss": return screen.map { .shouldDismiss(screen: $0, cause: cause) }
    case "animatorFor":
      let (from, to) = (text("from", of: arguments), text("to", of: arguments))
      return text("op", of: arguments).map { .animatorFor(operation: $0, from: from, to: to) }
    case "interactionFor":
      return text("animator", of: arguments).map { .interactionFor(animator: $0) }
    default: return .unknown(name)
    }
  }

  private func settled() -> VetoSettlement? {
    guard let number = integer("ask"), let outcome = text("outcome") else { return nil }
    return VetoSettlement(number: number, outcome: outcome, deniedBy: text("by"))
  }

  private func loss() -> LeaseOrRoleLoss? {
    guard let nav = text("nav"), let lost = text("of"), let code = text("code") else { return nil }
    return LeaseOrRoleLoss(nav: nav, lost: lost, code: code, message: text("msg") ?? "")
  }

  private func mark() -> Mark? {
    guard let time = integer("t") else { return nil }
    let positions = list("at") { (at: Int) -> Mark.Position? in
      guard tape.kind(at) == .array, tape.count(at) >= 3, let nav = tape.string(at + 1),
        let revision = tape.integer(at + 2),
        let digest = tape.string(at + 3).flatMap({ Digest($0) })
      else { return nil }
      return Mark.Position(nav: nav, revision: Revision(revision), digest: digest)
    }
    return positions.map { Mark(time: time, positions: $0, newestRows: newestRows(of: 0)) }
  }

  /// Reads the numbers of the newest journal rows from the member `seq` of the object at `index`.
  private func newestRows(of index: Int) -> [Shard: UInt64] {
    let rows = list("seq", of: index) { (at: Int) -> (Shard, UInt64)? in
      guard tape.kind(at) == .array, tape.count(at) == 2, let shard = tape.integer(at + 1) else {
        return nil
      }
      return tape.integer(at + 2).map { (Shard(Int(shard)), $0) }
    }
    return Dictionary(rows ?? []) { $1 }
  }

  private func pong() -> ServerMessage? {
    guard let id = integer("id"), let boot = epoch("boot"), let time = integer("t") else {
      return nil
    }
    return .pong(id: id, boot: boot, time: time)
  }

  private func end() -> WatchEnd? {
    guard let nav = text("nav"), let why = text("why"), let epoch = epoch("epoch"),
      let revision = revision("rev")
    else { return nil }
    return WatchEnd(
      nav: nav, view: text("view") ?? "full", epoch: epoch, revision: revision, why: why,
      daemon: daemon())
  }

  private func daemon() -> DaemonAddress? {
    text("endpoint").map { DaemonAddress(endpoint: $0, key: text("key"), web: text("web")) }
  }
}
