import NavigationCore
import NavigationClient
import NavigationHub

// Planted bugs, between the hub and everything else.

extension World {
  /// Changes a message on its way to the hub.
  mutating func prepare(_ request: inout Request, _ index: Int) {
    if sabotage == .resumeLostFuture { return resumeLostFuture(&request, index) }
    if sabotage == .unmarkAgain, let at = request.body.position(of: ",\"again\":") {
      request.body.replaceSubrange(at..., with: [0x7D])
      count { $0.sabotages += 1 }
    }
    guard sabotage == .resumeWrongDigest || sabotage == .forgetReply else { return }
    if sabotage == .resumeWrongDigest, request.verb.text == "nsp1.watch" {
      // The hub is led to believe that the checksum is right.
      for (nav, mirror) in clients[links[index].client].stored
      where clients[links[index].client].corrupted.contains(nav) {
        let wrong = "\"dig\":\"\(mirror.digest.text)\""
        guard let at = request.body.position(of: Array(wrong.utf8)) else { continue }
        let right = mirror.digest.spoilt.text
        request.body.replaceSubrange((at + 7)..<(at + 31), with: right.utf8)
      }
    }
  }

  /// Leads the hub to believe that a position of the lost future is one of its own.
  private mutating func resumeLostFuture(_ request: inout Request, _ index: Int) {
    guard request.verb.text == "nsp1.watch" else { return }
    let name = Array("\"dig\":\"".utf8)
    for mirror in clients[links[index].client].stored.values {
      let place = Place(epoch: mirror.epoch, revision: mirror.revision.number)
      let state = Array((facts.states[place] ?? "").utf8)
      guard let start = state.position(of: name),
        let at = request.body.position(of: name + Array(mirror.digest.text.utf8)),
        let ours = Digest(Array(state[(start + 7)..<(start + 31)]).text),
        ours != mirror.digest
      else { continue }
      request.body.replaceSubrange((at + 7)..<(at + 31), with: ours.text.utf8)
      count { $0.sabotages += 1 }
    }
  }

  /// Lets an op run again under a principal of its own, whom nobody remembers.
  mutating func runTwice(_ request: Request, _ index: Int) {
    guard sabotage == .runTwice, request.changes != nil, random.chance(100) else { return }
    guard case .op = clientVerb(request) else { return }
    var body = request.body
    guard let end = body.popLast(), end == 0x7D else { return }
    let client = clients[links[index].client].id.text
    body.append(contentsOf: ",\"client\":\"\(client)\"}".utf8)
    count { $0.sabotages += 1 }
    var again = request
    again.body = body
    receive(again, from: ConnectionID(9_000_000), .local(user: 7777, group: 0, process: 0))
  }

  private func clientVerb(_ request: Request) -> ClientVerb? {
    request.verb.text == "nsp1.op" ? .op : nil
  }

  /// Changes what the hub wants to be sent.
  mutating func sabotaged(_ messages: [Outgoing]) -> [Outgoing] {
    guard let sabotage, !messages.isEmpty else { return messages }
    switch sabotage {
    case .resumeLostFuture, .runTwice, .unmarkAgain, .acknowledgeEarly, .loseRow,
      .resumeWrongDigest,
      .keepEpochs:
      return messages
    case .dropDiff, .muteClient: return without(messages)
    case .doubleDiff:
      return messages.flatMap { message in
        message.verb == .diff && strike() ? [message, message] : [message]
      }
    case .reorder: return reordered(messages) { _, _ in true }
    case .answerFirst: return reordered(messages) { $0.verb == .diff && $1.verb == .ok }
    case .forgetReply: return messages.map { changed($0, .ok, "\"depth\":", "\"depth\": ") }
    case .rewriteDiff: return messages.map { changed($0, .diff, "\"ev\":", "\"ev\": ") }
    case .changeSilently:
      return messages.map { changed($0, .diff, "\"title\":\"T", "\"title\":\"X") }
    case .unlabelledSnapshot: return messages.map { changed($0, .snap, "\"why\":", "\"whi\":") }
    case .ignoreCredit:
      for index in links.indices where links[index].sent > 2000 && !links[index].hasCredit {
        let limit = links[index].upTo + 5000
        let time = daemonNow
        hub.handle(
          .message(links[index].id, links[index].peer, .credit(upTo: limit)), at: time)
        count { $0.sabotages += 1 }
      }
      return messages
    case .markAhead: return messages.map { markAhead($0) }
    }
  }

  private mutating func strike() -> Bool {
    guard random.chance(200) else { return false }
    count { $0.sabotages += 1 }
    return true
  }

  private mutating func without(_ messages: [Outgoing]) -> [Outgoing] {
    if sabotage == .muteClient {
      let victim = links.filter { $0.client == 0 }.map(\.id)
      count { $0.sabotages += 1 }
      return messages.filter { !victim.contains($0.connection) }
    }
    return messages.filter { !($0.verb == .diff && strike()) }
  }

  private mutating func reordered(
    _ messages: [Outgoing], _ isWanted: (Outgoing, Outgoing) -> Bool
  ) -> [Outgoing] {
    var messages = messages
    for index in messages.indices.dropLast()
    where messages[index].connection == messages[index + 1].connection
      && isWanted(messages[index], messages[index + 1]) && strike()
    {
      messages.swapAt(index, index + 1)
    }
    return messages
  }

  private mutating func changed(
    _ message: Outgoing, _ verb: ServerVerb, _ before: StaticString, _ after: String
  ) -> Outgoing {
    guard message.verb == verb, let at = message.body.position(of: before), strike() else {
      return message
    }
    var message = message
    message.body.replaceSubrange(at..<at + before.utf8CodeUnitCount, with: after.utf8)
    return message
  }

  private mutating func markAhead(_ message: Outgoing) -> Outgoing {
    guard message.verb == .mark, let at = message.body.position(of: "\"at\":[[") else {
      return message
    }
    count { $0.sabotages += 1 }
    var message = message
    // One digit more makes any revision one of the future.
    if let comma = message.body.position(of: "\",", from: at) {
      message.body.insert(0x39, at: comma + 2)
    }
    return message
  }
}
