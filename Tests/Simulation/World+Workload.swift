import NavigationCore
import NavigationClient
import NavigationHub

// What clients do: watches, ops of every kind, reads, repetitions and nonsense.

extension World {
  /// One deed of a client.
  mutating func act(_ client: Int) {
    let nav = random.pick(scenario.navs) ?? "n0"
    if clients[client].session.replica(of: nav) == nil, random.chance(300) {
      return watch(client, nav)
    }
    if hasDuties, duties.chance(300) { return changeDuty(client, nav) }
    switch random.below(100) {
    case 0..<60: performOp(client, nav)
    case 60..<78: watch(client, nav)
    case 78..<81:
      if clients[client].session.replica(of: nav) != nil {
        perform(clients[client].session.unwatch(nav), for: client)
        clients[client].twin.forget(nav)
      }
    case 81..<89: read(client, nav)
    case 89..<98: if random.chance(scenario.faults.duplicate * 3) { repeatOp(client) }
    case 98: send(.ping, Array("{\"id\":1}".utf8), from: client)
    default: if random.chance(200) { sendNonsense(client) }
    }
  }

  private mutating func watch(_ client: Int, _ nav: String) {
    switch random.below(10) {
    case 0: perform(clients[client].session.watch(nav, view: .bar), for: client)
    case 1: perform(clients[client].session.watch(nav, view: .top), for: client)
    case 2:
      let name =
        clients[client].peer.principal == "uid:0" && random.chance(500) ? "$clients" : "$navs"
      clients[client].twin.forget(name)
      perform(clients[client].session.watch(name), for: client)
    default:
      let isThere = clients[client].session.replica(of: nav) != nil
      guard !isThere || random.chance(200) else { return }
      // A spoiled mirror must not come back after this watch, if that ends before its snapshot.
      if clients[client].corrupted.contains(nav) { clients[client].stored[nav] = nil }
      let mirror = clients[client].stored[nav]
      clients[client].twin.forget(nav)
      if let mirror { clients[client].twin.restore(nav, NaiveMirrors.State(mirror)) }
      clients[client].tampered.remove(nav)
      clients[client].corrupted.remove(nav)
      let waits = facts.heads[nav] == nil
      perform(clients[client].session.watch(nav, mirror: mirror, waits: waits), for: client)
    }
  }

  private mutating func read(_ client: Int, _ nav: String) {
    var request = GetRequest(id: 0, nav: nav)
    let known = facts.heads[nav]?.place.revision ?? 1
    switch random.below(6) {
    case 0: request.what = .state
    case 1, 2: request.at = Revision(1 + UInt64(random.below(Int(known) + 1)))
    case 3:
      // A page that ends at the newest revision or just before it.
      request.what = .log
      request.limit = max(1, known - min(known, now.boot % 3))
    case 4: request.what = .verify
    default:
      request.nav = nil
      request.what = .stats
    }
    let (id, outputs) = clients[client].session.get(request)
    clients[client].unanswered.insert(id)
    perform(outputs, for: client)
  }

  /// Sends an op again, or another under its id.
  private mutating func repeatOp(_ client: Int) {
    guard clients[client].session.phase == .open,
      let op = random.pick(Array(clients[client].sentOps.filter(\.isSent).suffix(12))),
      // The answer to it is not remembered.
      op.body.position(of: "gesture.update") == nil,
      // A client counts the refusals of what it has sent itself, to know whether an op may have run.
      shardCount == 1 || !clients[client].unanswered.contains(op.id)
    else { return }
    if random.chance(60) {
      // Other octets under a known id must never run; an id that was never decided may not be
      // used so, for the daemon cannot tell.
      let key = OpKey(client: clients[client].id.text, op: op.id)
      guard facts.rows[key] != nil, !scenario.forgets, !scenario.isRelaxed else { return }
      send(.op, op.body + [0x20], from: client)
    } else {
      let seen = op.seen
      send(.op, op.body.dropLast() + Array(",\"again\":\(seen)}".utf8), from: client)
    }
  }

  private mutating func sendNonsense(_ client: Int) {
    // None is a watch that is understood: it would take the place of the session's own.
    let bodies = [
      "{", "[]", "{\"id\":9000000000,\"nav\":5}",
      "{\"id\":9000000000,\"nav\":\"n0\",\"view\":\"none\",\"do\":[]}", "",
    ]
    // One of these is a watch; the twin waits only for the answers to the session's own.
    transmit(
      random.pick(.op, .watch, .get), Array(random.pick(bodies)?.utf8 ?? "".utf8), from: client)
  }

  private mutating func performOp(_ client: Int, _ nav: String) {
    // Ids are remembered up to a limit; a client keeps fewer in flight.
    guard clients[client].unanswered.count < 12 else { return }
    let mirror = clients[client].session.replica(of: nav)?.mirror
    var request = OpRequest(id: 0, nav: nav)
    let isCreation = random.chance(facts.heads[nav] == nil ? 850 : 10)
    let isClosing = !isCreation && random.chance(20)
    var operations: [String] = []
    if isCreation {
      operations.append("{\"nav.create\":{\"root\":\(screen(mirror))}}")
      // Without this there is no transition, no gesture and no event.
      if random.chance(700) { operations.append("{\"attach\":{}}") }
    } else if isClosing {
      operations.append("{\"nav.close\":{}}")
    }
    let count = isClosing ? 0 : isCreation ? random.below(3) : random.pick(1, 1, 1, 2, 4)
    for _ in 0..<count { operations.append(operation(mirror)) }
    if !isCreation {
      guard let guards = guards(client, nav) else { return }
      request.guards = guards
    }
    if random.chance(300) { request.isAnimated = true }
    if random.chance(300) { request.onBusy = random.pick([.queue, .queue, .interrupt]) }
    if random.chance(20) { request.startDeadline = now.boot + UInt64(random.below(2000)) }
    let (id, outputs) = clients[client].session.perform(
      request, operations: operations.map { Array($0.utf8) })
    request.id = id
    let body = ClientMessageWriter.op(request, operations: operations.map { Array($0.utf8) })
    clients[client].sentOps.append(
      Client.SentOp(
        id: id, nav: nav, body: body,
        seen: clients[client].newestRow(of: nav, among: shardCount)))
    clients[client].unanswered.insert(id)
    perform(outputs, for: client)
    if random.chance(30) {
      // The user gives up; the op may have run.
      _ = clients[client].session.forget(id)
      clients[client].unanswered.remove(id)
    }
  }

  private mutating func guards(_ client: Int, _ nav: String) -> Guards? {
    var guards = Guards()
    switch random.below(10) {
    case 0..<3:
      guards.any = true
      return guards
    case 3: return guards
    default: break
    }
    let basis: GuardBasis = random.pick(.top, .top, .stack, .revision, .digest, .epoch)
    guard let replica = clients[client].session.replica(of: nav) else { return guards }
    // While the mirror is not in order, no guard is built from it.
    guard var made = replica.guards(for: basis), random.chance(300) else {
      return replica.guards(for: basis)
    }
    made.visible = .some(replica.mirror?.outermostPresented ?? replica.mirror?.top)
    return made
  }

  // Operations, as JSON.

  mutating func operation(_ mirror: Mirror?) -> String {
    let ids = mirror?.screens.map(\.id) ?? []
    let known = random.pick(ids) ?? "none"
    // In a part of the worlds, half of what happens is fingers.
    guard random.chance(scenario.payload == 0 ? 500 : 850) else {
      return random.chance(500) ? touch(known) : appearance()
    }
    switch random.below(46) {
    case 38: return "{\"present\":{\"screen\":\(screen(mirror))}}"
    case 39: return "{\"dismiss\":{\"result\":{\"n\":\(random.below(3))}}}"
    case 40: return "{\"ui.dismiss\":{}}"
    case 41: return "{\"ui.backMenu\":{\"screen\":\"\(known)\"}}"
    case 42: return "{\"ui.backTap\":{}}"
    case 43:
      return
        "{\"popTo\":{\"screen\":\"\(known)\",\"inclusive\":true,\"result\":[\(random.below(3))]}}"
    case 44:
      let member = random.pick("canPop", "modalInPresentation")
      return "{\"screen.set\":{\"screen\":\"\(known)\",\"\(member)\":\(random.chance(500))}}"
    case 45:
      return random.pick(
        "{\"env.set\":{\"animations\":\"reduced\"}}", "{\"env.set\":{\"animations\":\"on\"}}")
    case 34: return "{\"replace\":{\"with\":\(screen(mirror))}}"
    case 35: return "{\"insert\":{\"screen\":\(screen(mirror)),\"above\":\"\(known)\"}}"
    case 36: return "{\"remove\":{\"screens\":[\"\(known)\"]}}"
    case 37:
      let policy = random.pick("popTo", "update", "moveToTop")
      return
        "{\"push\":{\"screen\":{\"id\":\"\(known)\",\"title\":\"U\(random.below(3))\"},\"onDuplicate\":\"\(policy)\"}}"
    case 0..<9: return "{\"push\":{\"screen\":\(screen(mirror))}}"
    case 9: return "{\"push\":{\"screen\":\"\(known)\",\"onDuplicate\":\"ignore\"}}"
    case 10: return "{\"show\":{\"screen\":\(screen(mirror)),\"sender\":{\"row\":3}}}"
    case 11..<16: return "{\"pop\":{}}"
    case 16: return "{\"popTo\":{\"screen\":\"\(known)\"}}"
    case 17: return "{\"popTo\":{\"route\":\"\(route())\"}}"
    case 18: return "{\"popToRoot\":{}}"
    case 19, 20: return setStack(ids, mirror)
    case 21, 22:
      return "{\"screen.set\":{\"screen\":\"\(known)\",\"title\":\"t\(random.below(4))\"}}"
    case 23: return "{\"screen.create\":\(screen(mirror))}"
    case 24: return "{\"screen.release\":{\"screen\":\"x\(random.below(8))\"}}"
    case 25, 26, 27: return itemSet(known)
    case 28:
      let more = random.pick(
        "", "", ",\"badge\":\(random.below(3))", ",\"isHidden\":true",
        ",\"changesSelectionAsPrimaryAction\":true,\"menu\":[{\"id\":\"e0\",\"title\":\"E\"},{\"id\":\"e1\",\"title\":\"F\",\"action\":\"nav.pop\"}]"
      )
      return "{\"button.create\":{\"id\":\"b\(random.below(5))\",\"systemItem\":\"done\"\(more)}}"
    case 29:
      return
        "{\"button.set\":{\"button\":\"b\(random.below(5))\",\"title\":\"u\(random.below(3))\"}}"
    case 30:
      let element = random.pick("", "", ",\"element\":\"e\(random.below(3))\"")
      return "{\"button.activate\":{\"button\":\"b\(random.below(5))\"\(element)}}"
    case 31: return "{\"button.release\":{\"button\":\"b\(random.below(5))\"}}"
    case 32: return random.pick("{\"attach\":{}}", "{\"detach\":{}}")
    default:
      return random.pick(
        "{\"nav.configure\":{\"container\":{\"side\":\(random.below(3))}}}",
        "{\"nav.configure\":{\"guard\":\"none\"}}", "{\"nav.configure\":{\"guard\":\"all\"}}",
        "{\"nav.configure\":{\"guard\":null,\"queue\":4}}", "{\"warp\":{}}")
    }
  }

  /// Fingers on the display, and the ends of animations.
  private mutating func touch(_ known: String) -> String {
    random.pick(
      "{\"gesture.begin\":{\"kind\":\"edge\"}}", "{\"gesture.begin\":{\"kind\":\"edge\"}}",
      dragging, "{\"gesture.finish\":{}}", "{\"gesture.cancel\":{}}",
      "{\"transition.complete\":{\"tid\":\(1 + random.below(20))}}", "{\"ui.tap\":{}}",
      "{\"ui.swipe\":{\"dir\":\"up\"}}", "{\"ui.back\":{}}", "{\"ui.backTap\":{}}",
      "{\"popTo\":{\"screen\":\"\(known)\",\"inclusive\":true}}",
      "{\"revert\":{\"rev\":\(1 + random.below(8))}}")
  }

  /// A gesture's updates, each of which is an event.
  private var dragging: String {
    (10...69).map { "{\"gesture.update\":{\"value\":0.\($0)}}" }.joined(separator: ",")
  }

  /// What the bars and the surroundings look like.
  private mutating func appearance() -> String {
    random.pick(
      "{\"bar.setHidden\":{\"hidden\":\(random.chance(500))}}",
      "{\"toolbar.setHidden\":{\"hidden\":\(random.chance(500))}}",
      "{\"bar.set\":{\"prefersLargeTitles\":\(random.chance(500))}}",
      "{\"nav.configure\":{\"hidesBarsOnTap\":\(random.chance(500))}}",
      "{\"nav.configure\":{\"hidesBarsWhenVerticallyCompact\":\(random.chance(500))}}",
      "{\"env.set\":{\"vCompact\":\(random.chance(500))}}")
  }

  private mutating func setStack(_ ids: [String], _ mirror: Mirror?) -> String {
    var screens = ids.filter { _ in random.chance(600) }.map { "\"\($0)\"" }
    if random.chance(500), screens.count > 1 { screens.swapAt(0, screens.count - 1) }
    if random.chance(500) || screens.isEmpty {
      screens.insert(screen(mirror), at: random.below(screens.count + 1))
    }
    if random.chance(200) { screens.append("\"x\(random.below(8))\"") }
    return "{\"setStack\":{\"screens\":[\(screens.joined(separator: ","))]}}"
  }

  private mutating func itemSet(_ screen: String) -> String {
    let list = random.pick("leftItems", "rightItems")
    var buttons: [String] = []
    for _ in 0..<random.below(3) {
      buttons.append(
        random.chance(500)
          ? "\"b\(random.below(5))\""
          : "{\"id\":\"b\(random.below(5))\",\"title\":\"v\",\"action\":\"go\"}")
    }
    if random.chance(250) {
      let member = random.pick(
        "\"backAction\":\"b\(random.below(5))\"", "\"backAction\":null", "\"subtitle\":\"s\"",
        "\"titleMenu\":[{\"id\":\"e0\",\"title\":\"E\"}]")
      return "{\"item.set\":{\"screen\":\"\(screen)\",\(member)}}"
    }
    return "{\"item.set\":{\"screen\":\"\(screen)\",\"prompt\":\"p\(random.below(3))\","
      + "\"\(list)\":[\(buttons.joined(separator: ","))]}}"
  }

  /// Two of the routes have the same letters, in two normal forms of Unicode.
  private mutating func route() -> String { random.pick("r0", "r1", "r\u{E9}", "re\u{301}") }

  private mutating func screen(_ mirror: Mirror?) -> String {
    var members: [String] = []
    if random.chance(500) { members.append("\"id\":\"x\(random.below(8))\"") }
    members.append("\"title\":\"T\(random.below(5))\"")
    if random.chance(500) { members.append("\"route\":\"\(route())\"") }
    if scenario.payload > 0, random.chance(600) {
      let text = String(repeating: "é", count: random.below(scenario.payload) / 2)
      members.append("\"args\":{\"text\":\"\(text)\"}")
    }
    if random.chance(100) {
      members.append("\"item\":{\"rightItems\":[{\"title\":\"w\",\"action\":\"act\"}]}")
    }
    return "{\(members.joined(separator: ","))}"
  }
}
