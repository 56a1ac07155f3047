package import NavigationCore

extension ClusterReplica {
  /// The replica of the full watch of a nav; nil without such a watch.
  package func replica(of nav: String) -> Replica? {
    guard let index = memberIndex(ofNav: nav) else { return pausedNavsSession.replica(of: nav) }
    return members[index].session.replica(of: nav)
  }

  /// The error for an op that needs a guard from the mirror of a nav; nil if the mirror is in sync.
  package func guardRefusal(for nav: String) -> ErrReply? {
    let session = memberIndex(ofNav: nav).map { members[$0].session }
    if session?.replica(of: nav)?.isSynced == true { return nil }
    let next = "decide again on the next state of \(nav)"
    var error = OutgoingError(.desync, "its watch is not in sync; \(next)")
    error.reason = "mirror"
    var doubt = ErrReply(byClient: error)
    guard let session, session.phase != .open else { return doubt }
    (doubt.code, doubt.reason) = ("unreachable", nil)
    doubt.body = OpaqueJSON(validated: Array("{}".utf8))
    doubt.message = "the connection is lost, and the client connects again; \(next)"
    return doubt
  }

  /// Whether this client holds the display lease of a nav.
  package func holdsLease(of nav: String) -> Bool {
    memberIndex(ofNav: nav).map { members[$0].session.holdsLease(of: nav) } ?? false
  }

  /// Watches a nav; see `SessionReplica.watch`.
  package mutating func watch(
    _ nav: String, view: View = .full, mirror: Mirror? = nil, start: MirrorPosition? = nil,
    waits: Bool = false
  ) -> [ClusterOutput] {
    request(memberIndex(ofNav: nav)) {
      $0.watch(nav, view: view, mirror: mirror, start: start, waits: waits)
    }
  }

  package mutating func unwatch(_ nav: String, view: View = .full) -> [ClusterOutput] {
    request(memberIndex(ofNav: nav)) { $0.unwatch(nav, view: view) }
  }

  /// Sends operations to the daemon of the nav; see `SessionReplica.perform`.
  package mutating func perform(
    _ request: OpRequest, operations: [[UInt8]], until: UInt64? = nil
  ) -> (id: UInt64, outputs: [ClusterOutput]) {
    ask(memberIndex(ofNav: request.nav)) {
      $0.perform(request, operations: operations, until: until)
    }
  }

  /// Requests a value; the seed answers for a value without a nav.
  package mutating func get(_ request: GetRequest) -> (id: UInt64, outputs: [ClusterOutput]) {
    ask(request.nav.map { memberIndex(ofNav: $0) } ?? 0) { $0.get(request) }
  }

  /// Drops a request; see `SessionReplica.forget`.
  package mutating func forget(_ id: UInt64) -> (mayHaveHappened: Bool, outputs: [ClusterOutput]) {
    ask(members.firstIndex { $0.session.hasRequest(id) }) { $0.forget(id) }
  }

  /// Registers delegate roles for a nav; see `SessionReplica.delegate`.
  package mutating func delegate(
    _ nav: String, _ registration: DelegateRegistration
  ) -> [ClusterOutput] {
    request(memberIndex(ofNav: nav)) { $0.delegate(nav, registration) }
  }

  /// Answers a question; an answer that comes too late is dropped.
  package mutating func answer(_ ask: AskID, value: [UInt8]) -> [ClusterOutput] {
    let index = members.firstIndex { $0.session.duties.sessionNumber == ask.session }
    return index.map { index in request(index) { $0.answer(ask, value: value) } } ?? []
  }

  /// Takes or releases the display lease of a nav; see `SessionReplica.lease`.
  package mutating func lease(
    _ nav: String, _ wish: LeaseAction, isKept: Bool = false
  ) -> [ClusterOutput] {
    request(memberIndex(ofNav: nav)) { $0.lease(nav, wish, isKept: isKept) }
  }

  /// Ends all sessions with `bye`; no message is expected afterwards.
  package mutating func leave() -> [ClusterOutput] {
    members.indices.flatMap { request($0) { $0.leave() } }
  }

  /// Grants the daemons more credit; see `SessionReplica.grantCredit`.
  package mutating func grantCredit() -> [ClusterOutput] {
    members.indices.flatMap { request($0) { $0.grantCredit() } }
  }

  /// Changes the session of a member, or with nil `pausedNavsSession`, for a caller's request.
  mutating func request(
    _ memberIndex: Int?, _ body: (inout SessionReplica) -> [SessionOutput]
  ) -> [ClusterOutput] {
    ask(memberIndex) { ((), body(&$0)) }.1
  }

  private mutating func ask<Value>(
    _ memberIndex: Int?, _ body: (inout SessionReplica) -> (Value, [SessionOutput])
  ) -> (Value, [ClusterOutput]) {
    let link = memberIndex.map { members[$0].link } ?? .first
    let (value, outputs) = withSession(memberIndex, body)
    return (value, outputs.map { ClusterOutput($0, on: link) })
  }
}

extension ClusterOutput {
  /// Converts the output of a request, which neither ends a session nor moves a nav.
  init(_ output: SessionOutput, on link: LinkID) {
    switch output {
    case .send(let verb, let body): self = .send(link, verb, body)
    case .event(let event): self = .event(event)
    case .reconnect, .navElsewhere, .handOverAll:
      preconditionFailure("output=\(output) of a request")
    }
  }
}
