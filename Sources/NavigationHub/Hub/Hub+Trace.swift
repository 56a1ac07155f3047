import NavigationCore

// `get` `trace`: an administrator sees the messages of other clients, as navd receives and sends them.
// Without a trace it costs one comparison for each message received and one for each batch.

extension Hub {
  /// Whether a session wants to see messages, so that the shell must pass each to `traceReceived`.
  package var isTracing: Bool { mutating get { !trace.isEmpty } }

  /// Begins or ends the trace of a session.
  mutating func changeTrace(_ request: GetRequest, for sender: Sender, at now: Instant) {
    guard administers(sender, request.id, to: "see the messages of other clients") else { return }
    guard let slot = sessions.slot(of: sender.connection) else {
      return refuse(sender, .noSession(request.id))
    }
    let session = sessions.reference(to: slot)
    if request.isTraceOn {
      trace.begin(
        session, on: sender.connection, Trace.Filter(nav: request.nav, client: request.client),
        at: now.boot)
      for slot in sessions.indices {
        guard let client = correspondent(sessions[slot].connection) else { continue }
        trace.note(client, at: sessions[slot].connection)
      }
      let name = sessions[slot].name
      batches.append(
        .notice(
          Notice(
            .overridden, .info, "\(name) sees the messages of other clients", nav: request.nav,
            client: name, principal: sender.peer.principal, code: "trace")))
    } else {
      trace.end(session)
    }
    send(sender.connection, .ok, ServerMessageWriter.ok(id: request.id))
  }

  /// Reports a message that the shell has just received, and that has become `event`; nothing is
  /// decided yet.
  package mutating func traceReceived(_ event: HubEvent, body: [UInt8], at now: Instant) {
    switch event {
    case .message(let connection, let peer, let content):
      trace.note(
        Trace.Message(
          connection: connection, correspondent: sender(connection, peer, of: content),
          isIncoming: true, verb: content.verb.rawValue, body: body, byteCount: body.count,
          nav: content.nav, id: content.id), at: now.boot, time: now.wall)
    case .unreadable(let connection, let peer, let failure):
      trace.note(
        Trace.Message(
          connection: connection, correspondent: sender(connection, peer, of: nil),
          isIncoming: true, verb: failure.verb?.rawValue, byteCount: body.count),
        at: now.boot, time: now.wall)
    default: return
    }
  }

  /// The sender of a message: the client of the session, or the client that the message names.
  private mutating func sender(
    _ connection: ConnectionID, _ peer: Peer, of message: ClientMessage?
  ) -> Trace.Correspondent {
    var sender =
      correspondent(connection) ?? trace.correspondents[connection]
      ?? Trace.Correspondent(peer: peer)
    switch message {
    case .hello(let hello)?: sender.client = (hello.client, hello.name)
    case .op(let request)?:
      if let client = request.client { sender.client = (client, request.clientName ?? "") }
    default: break
    }
    trace.note(sender, at: connection)
    return sender
  }

  /// The client of a session.
  private func correspondent(_ connection: ConnectionID) -> Trace.Correspondent? {
    sessions.slot(of: connection).map { slot in
      let session = sessions[slot]
      return Trace.Correspondent(peer: session.peer, client: (session.client, session.name))
    }
  }

  /// Reports the messages in the output to the traces, and adds the traces' `traced` messages to
  /// the output.
  mutating func traceSent(at now: Instant) {
    for delivery in output.deliveries {
      guard
        let receiver =
          correspondent(delivery.connection) ?? trace.correspondents[delivery.connection]
      else { continue }
      let body = output.bodies[delivery.bodyIndex]
      trace.note(
        Trace.Message(
          connection: delivery.connection, correspondent: receiver, isIncoming: false,
          verb: delivery.verb.word, body: body, byteCount: body.count),
        at: now.boot, time: now.wall)
    }
    for session in trace.sessions {
      guard sessions.isLive(session) else {
        trace.end(session)
        continue
      }
      sendTraceReports(to: session, at: now)
    }
  }

  /// Adds the `traced` messages to one session to the output.
  private mutating func sendTraceReports(to session: SessionRef, at now: Instant) {
    let (connection, peer) = (sessions[session.slot].connection, sessions[session.slot].peer)
    guard access.administers(peer) else {
      trace.end(session)
      let body = ServerMessageWriter.traced([], dropped: 0, end: "revoked")
      return output.append(.traced, at: output.add(body), to: connection)
    }
    // A report is dropped rather than kept, or a slow terminal would take the memory of navd.
    while sessions[session.slot].hasCredit, let report = trace.takeReport(to: session) {
      let body = ServerMessageWriter.traced(report.list, dropped: report.dropped)
      noteSent(.traced, body.count, to: session.slot, at: now)
      output.append(.traced, at: output.add(body), to: connection)
    }
    trace.dropReports(to: session)
  }
}

extension ServerMessageWriter {
  /// Encodes `traced`.
  ///
  /// `list` has reports, joined by commas; `dropped` counts the messages that are missing since the
  /// last `traced`; `end` says why the trace is over, nil if it goes on.
  static func traced(_ list: [UInt8], dropped: UInt64, end: String? = nil) -> [UInt8] {
    JSONWriter.object { json in
      json.array("list", list.isEmpty ? [] : [list]) { $0.raw($1) }
      if dropped > 0 { json.member("dropped", dropped) }
      json.optional("end", end)
    }
  }
}
