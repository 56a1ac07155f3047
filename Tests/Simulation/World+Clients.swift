import NavigationCore
import NavigationClient
import NavigationHub

// Client processes: birth and death, what they receive, and what they conclude from it.

extension World {
  mutating func makeClient() -> Client {
    let user: UInt32 = random.pick(1000, 1000, 1001, 0)
    let number = clients.count
    return Client(
      number: number, id: ClientID(high: random.next(), low: random.next()),
      peer: .local(user: user, group: user, process: Int32(100 + number)),
      window: scenario.window, seed: random.next())
  }

  mutating func replaceSomeClient() { replace(random.below(clients.count)) }

  /// The process ends, and another takes its place, perhaps with the mirrors it stored.
  mutating func replace(_ number: Int) {
    trace { _ in "c\(number) ends" }
    let old = clients[number]
    if let link = old.link { breakLink(link) }
    let user: UInt32 = random.pick(1000, 1000, 1001, 0)
    var client = Client(
      number: number, id: ClientID(high: random.next(), low: random.next()),
      peer: .local(user: user, group: user, process: Int32(200 + number)),
      window: scenario.window, seed: random.next())
    for nav in scenario.navs {
      guard var mirror = old.stored[nav], random.chance(700) else { continue }
      // A process that ends again before it resumed leaves the mirrors that it found.
      if old.corrupted.contains(nav) {
        client.corrupted.insert(nav)
      } else if isFaulty, random.chance(scenario.faults.corruptStored) {
        if sabotage == .resumeWrongDigest { count { $0.sabotages += 1 } }
        mirror.digest = mirror.digest.spoilt
        client.corrupted.insert(nav)
      }
      client.stored[nav] = mirror
      client.twin.restore(nav, NaiveMirrors.State(mirror))
      _ = client.session.watch(nav, mirror: mirror)
    }
    clients[number] = client
    if !isFaulty { watchEverything(number) }
  }

  /// Follows every nav that exists, for the time after the faults.
  mutating func watchEverything(_ client: Int) {
    for nav in scenario.navs
    where clients[client].session.replica(of: nav) == nil && facts.heads[nav] != nil {
      perform(clients[client].session.watch(nav), for: client)
    }
  }

  /// Does what the session of a client says.
  mutating func perform(_ outputs: [ClusterOutput], for client: Int) {
    for output in outputs {
      switch output {
      case .send(_, let verb, let body):
        if verb == .op {
          clients[client].noteSending(of: body.number(behind: "\"id\":"), among: shardCount)
        }
        send(verb, body, from: client)
      case .connect(_, _, at: let time):
        trace { _ in "c\(client) gives up until \(time)" }
        clients[client].twin.disconnect()
        clients[client].connectAt = time
        if let link = clients[client].link {
          clients[client].link = nil
          breakLink(link)
        }
      case .event(let event): react(to: event, client)
      // There is one daemon, and what its socket has not sent may arrive with the next connection.
      case .close, .dropUnsent: break
      }
    }
  }

  mutating func send(_ verb: ClientVerb, _ body: [UInt8], from client: Int) {
    var nav: String?
    if verb == .op || verb == .watch, let start = body.position(of: "\"nav\":\"") {
      nav = Facts.name(in: Array(body[(start - 1)...]))
    }
    clients[client].twin.sent(verb, body, nav: nav)
    noteSending(verb, body, nav, client)
    transmit(verb, body, changes: verb == .op ? nav : nil, from: client)
  }

  private mutating func noteSending(
    _ verb: ClientVerb, _ body: [UInt8], _ nav: String?, _ client: Int
  ) {
    switch verb {
    case .watch:
      guard let nav, body.position(of: "\"view\":") == nil else { return }
      clients[client].unwatching[nav] = nil
      clients[client].unwatched.remove(nav)
    case .unwatch:
      guard let start = body.position(of: "\"nav\":\""),
        let nav = Facts.name(in: Array(body[(start - 1)...]))
      else { return }
      clients[client].unwatching[nav] = body.number(behind: "\"id\":")
    case .get: noteReading(body, client)
    case .credit:
      guard let link = clients[client].link, let index = index(of: link) else { return }
      links[index].granted = body.number(behind: "\"upto\":") ?? 0
    default: break
    }
  }

  /// Notes which ops must be answered before a read.
  private mutating func noteReading(_ body: [UInt8], _ client: Int) {
    guard !hasDuties, body.position(of: "\"what\":") == nil, body.position(of: "\"at\":") == nil,
      let id = body.number(behind: "\"id\":"), clients[client].reads[id] == nil,
      let start = body.position(of: "\"nav\":\""),
      let nav = Facts.name(in: Array(body[(start - 1)...]))
    else { return }
    let mayWait = ["\"queue\"", "\"revert\""]
    let sender = clients[client]
    clients[client].reads[id] = sender.sentOps.filter { op in
      op.nav == nav && op.link != nil && op.link == sender.link && sender.unanswered.contains(op.id)
        && !mayWait.contains { op.body.text.contains($0) }
    }
    .map(\.id)
  }

  /// Puts a message on the wire, of which the twin need not know.
  mutating func transmit(
    _ verb: ClientVerb, _ body: [UInt8], changes nav: String? = nil, from client: Int
  ) {
    guard let link = clients[client].link, let index = index(of: link) else { return }
    links[index].requests.append(Request(verb, body, changes: nav))
  }

  // Receiving.

  mutating func receive(_ delivery: Delivery, _ client: Int) {
    let message: ServerMessage
    do {
      message = try clients[client].reader.read(verb: delivery.verb.frame, body: delivery.body)
    } catch {
      return violation("c\(client) cannot read \(delivery.verb): \(error.text)")
    }
    let read = tampered(message, client)
    clients[client].note(read, among: shardCount)
    check(read, delivery, client)
    if clients[client].session.phase == .open, let wrong = clients[client].twin.receive(read) {
      demand(
        !clients[client].tampered.isEmpty || !clients[client].corrupted.isEmpty,
        "c\(client): \(wrong)")
    }
    let outputs = clients[client].session.receive(
      read, verb: delivery.verb, octets: delivery.body.count, at: now.boot)
    perform(outputs, for: client)
    if !isFaulty || !random.chance(scenario.faults.withholdCredit) {
      perform(clients[client].session.grantCredit(), for: client)
      checkGrant(client)
    }
  }

  /// A client that has received half of its window grants more.
  private mutating func checkGrant(_ client: Int) {
    guard clients[client].session.phase == .open, let link = clients[client].link,
      let index = index(of: link)
    else { return }
    let (received, granted) = (links[index].received, links[index].granted)
    demand(
      received + scenario.window / 2 <= granted,
      "c\(client) has received \(received), and has granted \(granted)")
  }

  /// The client's memory fails now and then: it must notice and ask again.
  private mutating func tampered(_ message: ServerMessage, _ client: Int) -> ServerMessage {
    guard isFaulty, case .diffs(var diffs) = message, random.chance(scenario.faults.tamper) else {
      return message
    }
    let last = diffs.count - 1
    trace { _ in "tamper with \(diffs[last].nav)" }
    diffs[last].digest = diffs[last].digest.spoilt
    clients[client].tampered.insert(diffs[last].nav)
    return .diffs(diffs)
  }

  private mutating func check(_ message: ServerMessage, _ delivery: Delivery, _ client: Int) {
    switch message {
    case .welcome: (clients[client].unwatching, clients[client].unwatched) = ([:], [])
    case .snap(let part): checkWatched(part.nav, client)
    case .diffs(let diffs): for diff in diffs { checkWatched(diff.nav, client) }
    case .ok(let reply):
      if let nav = clients[client].unwatching.first(where: { $0.value == reply.id })?.key {
        clients[client].unwatched.insert(nav)
      }
      if let nav = reply.nav, let mode = reply.watchMode, mode != "latest" {
        // With an older journal, a mirror from the middle of a resume may be at its newest revision.
        let former = facts.hasGoneBack ? clients[client].barIsRightFrom[nav, default: 0] : 0
        clients[client].barIsRightFrom[nav] =
          mode == "resume" ? max(reply.revision?.number ?? 0, former) : nil
      }
      checkReply(reply, delivery, client)
      checkOrder(reply, delivery, client)
    case .err(let refusal):
      clients[client].noteAnswer(to: refusal.id)
      if let id = refusal.id { checkRefusal(refusal, id, delivery, client) }
    case .latest(let latest): check(latest)
    default: break
    }
  }

  private mutating func checkWatched(_ nav: String, _ client: Int) {
    demand(
      !clients[client].unwatched.contains(nav),
      "c\(client) still gets \(nav) after the end of its watch"
    )
  }

  private mutating func checkReply(_ reply: OkReply, _ delivery: Delivery, _ client: Int) {
    guard let op = clients[client].sentOps.last(where: { $0.id == reply.id }) else {
      let overtaken = clients[client].reads.removeValue(forKey: reply.id) ?? []
      demand(
        overtaken.isEmpty, "read \(reply.id) of c\(client) is answered before ops \(overtaken)")
      return checkRead(reply)
    }
    guard let changed = reply.changed, reply.epoch != nil, reply.revision != nil else {
      return violation("the answer to op \(op.id) lacks members")
    }
    clients[client].noteAnswer(to: op.id)
    let key = OpKey(client: clients[client].id.text, op: op.id)
    if let turn = facts.lossTurns[key], delivery.turn <= turn { return }
    compareReplies(key, delivery, isLasting: changed)
    guard changed else { return }
    if facts.acknowledged.updateValue(delivery.turn, forKey: key) == nil {
      count { $0.accepted += 1 }
    }
    let row = facts.rows[key]
    demand(
      row.map { $0 <= delivery.turn } ?? false,
      "op \(op.id) of c\(client) is acknowledged before it is stored")
  }

  /// R1: the requester's own mirror is as new as the revision that an answer tells.
  private mutating func checkOrder(_ reply: OkReply, _ delivery: Delivery, _ client: Int) {
    guard delivery.wasServed, let nav = reply.nav, let epoch = reply.epoch,
      let revision = reply.revision, let replica = clients[client].session.replica(of: nav),
      replica.phase == .following, let mirror = replica.mirror, mirror.epoch == epoch
    else { return }
    demand(
      mirror.revision >= revision,
      "R1: c\(client) is told of \(nav)@\(revision.number), its mirror is at "
        + "\(mirror.revision.number)")
  }

  private mutating func checkRefusal(
    _ refusal: ErrReply, _ id: UInt64, _ delivery: Delivery, _ client: Int
  ) {
    guard clients[client].sentOps.contains(where: { $0.id == id }) else { return }
    switch refusal.knownCode {
    // Not decided, or about the id and not the op.
    case .opReused, .fenced, .busy, .noSession, .badJSON: return
    case .opTooOld: return checkDoubt(id, client)
    default: break
    }
    guard refusal.retryPolicy == .no || refusal.retryPolicy == .resync else { return }
    let isExpected = refusal.knownCode != .internal || report.load.unsoundBatches > 0
    demand(isExpected, "internal: \(refusal.message)")
    compareReplies(
      OpKey(client: clients[client].id.text, op: id), delivery, isLasting: false)
  }

  /// Only what may have been forgotten is refused: rows show every change, but no event.
  ///
  /// After a loss of rows, nobody knows whether retention deleted those that are missing.
  private mutating func checkDoubt(_ id: UInt64, _ client: Int) {
    count { $0.doubts += 1 }
    let op = clients[client].sentOps.last { $0.id == id }
    let isEvent =
      op?.body.position(of: "button.activate") != nil || op?.body.position(of: "ui.back") != nil
    demand(
      scenario.forgets || isEvent || journal.hasGaps,
      "op \(id) of c\(client) is too old, and nothing is forgotten")
  }

  private mutating func compareReplies(_ key: OpKey, _ delivery: Delivery, isLasting: Bool) {
    let text = delivery.body.text
    if let known = facts.replies[key], known.isLasting || known.boot == delivery.boot {
      count { $0.repetitions += 1 }
      demand(
        known.text == text || (scenario.forgets && !known.isLasting),
        "op \(key.op): first \(known.text), then \(text)")
    }
    facts.replies[key] = Facts.Reply(text: text, isLasting: isLasting, boot: delivery.boot)
  }

  private mutating func checkRead(_ reply: OkReply) {
    guard let value = reply.value?.bytes, value.starts(with: Array("{\"nav\":".utf8)),
      let epoch = value.epoch, let revision = value.number(behind: "\"rev\":"),
      facts.epochs.contains(epoch)
    else { return }
    count { $0.histories += 1 }
    let place = Place(epoch: epoch, revision: revision)
    let known = facts.states[place]
    // One event may make several revisions, of which only the last was looked at.
    guard known != nil || facts.diffs[place] == nil else { return }
    // A new epoch begins with the state of the one before, and a chain of its own. If something was open, only the revision
    // that ended it was looked at.
    let isFormer =
      known == nil
      && facts.states.contains { former, state in
        former.revision == revision
          && state.replacing(former.epoch.text, with: epoch.text).withoutChain
            == value.text.withoutChain
      }
    demand(
      isFormer || known == value.text,
      "what was read of \(epoch.text)/\(revision) is not what it was")
  }

  private mutating func check(_ latest: Latest) {
    let place = Place(epoch: latest.epoch, revision: latest.revision.number)
    guard facts.epochs.contains(latest.epoch) else { return }
    guard let known = facts.states[place] else {
      // One event may make several revisions, of which only the last was looked at.
      guard facts.diffs[place] == nil else { return }
      return violation("latest of \(latest.nav)@\(place.revision), which is not stored")
    }
    let state = Array(known.utf8)
    let shown = latest.value.bytes
    let isThere =
      latest.view == "bar"
      ? state.position(of: Array("\"resolved\":".utf8) + shown + Array(",\"dig\"".utf8)) != nil
      : shown == Array("null".utf8)
        ? state.position(of: "\"screens\":[],") != nil
        : state.position(of: shown + Array("],\"bar\":".utf8)) != nil
    demand(isThere, "latest \(latest.view) of \(latest.nav)@\(place.revision) is not the state's")
  }

  // What the session tells its user.

  private mutating func react(to event: SessionEvent, _ client: Int) {
    switch event {
    case .answered(let id, _): clients[client].unanswered.remove(id)
    case .lost: clients[client].twin.disconnect()
    case .changed(let nav, let change): compare(nav, change, client)
    case .watchEnded(let nav, let view, _):
      guard view == .full else { return }
      clients[client].twin.forget(nav)
      clients[client].stored[nav] = nil
    case .closed(let end): trace { _ in "c\(client) is closed: \(end)" }
    case .duty(let event): note(event, client)
    case .opened, .queued, .latest, .ephemeral, .traced: break
    }
  }

  private mutating func compare(_ nav: String, _ change: MirrorChange, _ client: Int) {
    switch change {
    case .proven(let mirror): compare(nav, mirror, client)
    case .suspect:
      let isExpected =
        clients[client].tampered.contains(nav) || clients[client].corrupted.contains(nav)
        // The watch goes with the shard.
        || shardCount > 1
      demand(isExpected, "c\(client) finds its mirror of \(nav) wrong")
    case .resumed(let mirror):
      count { $0.resumptions += 1 }
      demand(
        !clients[client].corrupted.contains(nav), "c\(client) resumed \(nav) with a wrong digest")
      compare(nav, mirror, client)
    case .replaced(let mirror, let why):
      demand(
        why != "ahead" || facts.hasGoneBack, "c\(client)'s mirror of \(nav) was ahead of the daemon"
      )
      let wasWrong =
        clients[client].tampered.contains(nav) || clients[client].corrupted.contains(nav)
      demand(
        why != "digest" || wasWrong || facts.hasGoneBack,
        "c\(client) could not resume \(nav) with a right digest")
      clients[client].tampered.remove(nav)
      clients[client].corrupted.remove(nav)
      compare(nav, mirror, client)
    case .applied(let mirror, _): compare(nav, mirror, client)
    }
  }

  /// Holds a mirror against the state of the hub at its revision.
  private mutating func compare(_ nav: String, _ mirror: Mirror, _ client: Int) {
    count { $0.comparisons += 1 }
    clients[client].stored[nav] = mirror
    let place = Place(epoch: mirror.epoch, revision: mirror.revision.number)
    let text = NaiveMirrors.State(mirror).text(nav: nav)
    guard let known = facts.state(of: nav, at: place) else {
      if facts.diffs[place] != nil {
        // One event may make several revisions, of which only the last was looked at. In the middle of
        // a resume, the bar is still an older one.
        if place.revision >= clients[client].barIsRightFrom[nav, default: 0] {
          facts.states[place] = text
        }
        return
      }
      // The list of sessions changes within turns, where nobody looks.
      return demand(nav.hasPrefix("$"), "c\(client) shows \(nav)@\(place.revision), never stored")
    }
    let showsOldBar = place.revision < clients[client].barIsRightFrom[nav, default: 0]
    demand(
      text == known || showsOldBar && text.withoutBar == known.withoutBar,
      "c\(client) shows \(nav)@\(place.revision) as \(text), it is \(known)")
    if let twin = clients[client].twin.state(of: nav), twin.revision == mirror.revision {
      demand(twin == NaiveMirrors.State(mirror), "c\(client) and its twin differ on \(nav)")
    }
  }
}

extension NaiveMirrors.State {
  init(_ mirror: Mirror) {
    self.init(
      kind: mirror.kind, epoch: mirror.epoch, revision: mirror.revision, digest: mirror.digest,
      screens: mirror.screens, parts: mirror.parts, resolved: mirror.resolved?.bytes)
  }
}
