import NavigationCore
import NavigationClient
import NavigationHub

// Connections, what is sent through them, and what the daemon may send.

extension World {
  func index(of id: ConnectionID) -> Int? { links.firstIndex { $0.id == id } }

  /// Makes a connection for a client.
  ///
  /// The socket may deliver again what it had not got rid of.
  mutating func connect(_ client: Int) {
    lastConnection += 1
    var link = Link(
      id: ConnectionID(lastConnection), client: client, peer: clients[client].peer)
    link.requests = clients[client].leftOver
    clients[client].leftOver = []
    // What is sent again is in another order.
    clients[client].reads = clients[client].reads.mapValues { _ in [] }
    clients[client].link = link.id
    links.append(link)
    trace { _ in "c\(client) connects as \(link.id.number)" }
    perform(clients[client].session.connected(.first, at: now.boot), for: client)
  }

  /// The client's end is gone; the daemon learns of it later.
  mutating func breakLink(_ id: ConnectionID) {
    guard let index = index(of: id) else { return }
    let link = links[index]
    links[index].isOpen = false
    links[index].deliveries = []
    links[index].kept = []
    // Some of what was on its way arrives still, the rest is lost or sent again.
    let arrived = random.below(link.requests.count + 1)
    links[index].requests = Array(link.requests.prefix(isUp ? arrived : 0))
    if clients.indices.contains(link.client), clients[link.client].link == id {
      if random.chance(scenario.faults.duplicate * 2) {
        clients[link.client].leftOver = Array(link.requests.dropFirst(arrived))
      }
      clients[link.client].link = nil
      perform(clients[link.client].session.disconnected(.first, at: now.boot), for: link.client)
    }
    if !isUp { links.removeAll { $0.id == id } }
  }

  mutating func loseSomeConnection() {
    guard let link = random.pick(links.filter(\.isOpen)) else { return }
    trace { _ in "lose \(link.id.number)" }
    count { $0.lostConnections += 1 }
    breakLink(link.id)
  }

  mutating func reconnectClients() {
    for client in clients.indices {
      if clients[client].session.phase == .closed { replace(client) }
      guard isUp, clients[client].link == nil, clients[client].connectAt <= now.boot,
        !isFaulty || random.chance(300)
      else { continue }
      connect(client)
    }
  }

  /// Puts what the hub says into the connection, or keeps it while the socket is full.
  mutating func send(_ message: Outgoing) {
    hash.add(message.connection.number, message.body)
    checkSend(message)
    guard let index = index(of: message.connection) else { return }
    trace { world in
      "← \(message.connection.number) \(message.verb) \(message.body.text)"
        + (world.links[index].isOpen ? "" : " (lost)")
    }
    if !links[index].hasCredit {
      links[index].isBehind = true
    } else if message.verb.usesCredit {
      links[index].isBehind = false
    }
    let delivery = Delivery(
      verb: message.verb, body: message.body, turn: turn, boot: boot,
      wasServed: links[index].hasCredit && !links[index].isBehind && !links[index].isDismissed)
    if message.verb.usesCredit { links[index].sent += UInt64(message.body.count) }
    guard links[index].isOpen else { return }
    if !links[index].kept.isEmpty || links[index].deliveries.count >= scenario.capacity {
      if !links[index].isBlocked {
        links[index].isBlocked = true
        events.append(.blocked(message.connection))
      }
      links[index].kept.append(delivery)
    } else {
      links[index].deliveries.append(delivery)
    }
  }

  /// Moves what was kept into the socket once it has room.
  mutating func drain(_ index: Int) {
    while !links[index].kept.isEmpty, links[index].deliveries.count < scenario.capacity {
      links[index].deliveries.append(links[index].kept.removeFirst())
    }
    if links[index].isBlocked, links[index].kept.isEmpty {
      links[index].isBlocked = false
      events.append(.unblocked(links[index].id))
    }
  }

  /// Gives a client the next message; returns whether there was one.
  @discardableResult
  mutating func deliver(_ id: ConnectionID) -> Bool {
    guard let index = index(of: id), links[index].isOpen, !links[index].deliveries.isEmpty else {
      return false
    }
    let delivery = links[index].deliveries.removeFirst()
    let client = links[index].client
    if delivery.verb == .welcome {
      (links[index].received, links[index].granted) = (0, scenario.window)
    }
    if delivery.verb.usesCredit { links[index].received += UInt64(delivery.body.count) }
    drain(index)
    count { $0.deliveries += 1 }
    receive(delivery, client)
    return true
  }

  // What the daemon must not do.

  /// A session without credit ends if its client is silent for `stall`, and no other session does so.
  private mutating func checkStall(_ message: Outgoing, _ link: Link) {
    let hasCredit = link.sent < link.upTo
    if message.verb == .bye {
      let isStalled = message.body.position(of: "\"stalled\"") != nil
      return demand(!isStalled || !hasCredit, "c\(link.client) is stalled, and has credit")
    }
    guard !hasCredit, link.upTo > 0 else { return }
    // The daemon looks at its timers once a turn, behind the messages, or in the next one.
    let end = link.heardAt + scenario.configuration.stall + 4 * UInt64(scenario.clockStep)
    demand(decidedAt <= end, "c\(link.client) is silent and without credit, and not stalled")
  }

  private mutating func checkSend(_ message: Outgoing) {
    if let index = index(of: message.connection) { checkStall(message, links[index]) }
    if message.verb.usesCredit, let index = index(of: message.connection) {
      let link = links[index]
      demand(
        link.sent < link.upTo,
        "\(message.verb) beyond the credit: \(link.sent) sent, \(link.upTo) allowed")
      if link.sent + UInt64(message.body.count) >= link.upTo { count { $0.starvations += 1 } }
    }
    switch message.verb {
    case .diff: checkDiffs(message.body, from: 0)
    case .diffs:
      guard let start = message.body.position(of: "\"list\":[") else {
        return violation("diffs without a list")
      }
      checkDiffs(message.body, from: start + 8)
    default: break
    }
  }

  /// Holds the diffs in a message against what was stored, byte by byte.
  private mutating func checkDiffs(_ body: [UInt8], from start: Int) {
    guard let epoch = Array(body[start...].prefix(256)).epoch,
      var revision = body.number(behind: "\"rev\":", from: start)
    else { return violation("a diff without a place: \(body.text)") }
    // Virtual navs are not stored; the mirrors check them.
    guard facts.epochs.contains(epoch) else { return }
    var at = start
    while at < body.count, body[at] == 0x7B {
      guard let known = facts.diffs[Place(epoch: epoch, revision: revision)] else {
        return violation("the diff of \(epoch.text)/\(revision) is sent before it is stored")
      }
      guard let end = body.end(ofDiff: known.bytes, from: at) else {
        return demand(
          start == 0
            && body.withoutSequence.end(ofDiff: known.bytes.withoutSequence, from: 0)
              == body.withoutSequence.count,
          "the diff of \(epoch.text)/\(revision) is not what was stored")
      }
      at = end
      if at < body.count, body[at] == 0x2C { at += 1 }
      revision += 1
    }
  }
}
