package import NavigationCore

/// An event of a session's delegate roles or display leases.
package enum DutyEvent: Hashable, Sendable {
  /// The daemon has registered these roles; an empty set ends the registration.
  case registered(nav: String, roles: Set<DelegateRole>)
  /// The daemon has refused or ended the roles, so the session has none for the nav.
  case registrationRefused(nav: String, ErrReply)
  /// The roles have ended with the session or a move of the nav; the client registers them again.
  case interrupted(nav: String)
  /// The daemon asks a delegate a question; the program answers with `answer`.
  case asked(AskID, Ask)
  /// All delegates have answered a veto question, or its time is up; later answers have no effect.
  case settled(AskID, nav: String, VetoSettlement)
  /// The question has ended with the session, the roles or its time; an answer has no effect.
  case voided(AskID, nav: String)
  /// The session holds the display lease; `owner` is its name for other clients.
  case leaseTaken(nav: String, owner: String?)
  /// The daemon has refused the display lease, or ended it with the nav or with the client's right.
  case leaseRefused(nav: String, ErrReply)
  /// The session has lost the lease; with `isTakenAgain`, the client tries to take it again.
  case leaseLost(nav: String, isTakenAgain: Bool)
  /// The session has released the lease.
  case leaseReleased(nav: String)
}

/// The delegate roles and leases of a session, and its open questions.
struct Duties: Sendable {
  enum Kind: Int {
    case roles, lease
  }

  /// Names the roles of a session for a nav, or its display lease.
  struct Key: Hashable {
    var nav: String
    var kind: Kind

    /// The event after the program itself has ended the roles or released the lease.
    var endEvent: SessionOutput {
      .duty(kind == .roles ? .registered(nav: nav, roles: []) : .leaseReleased(nav: nav))
    }
  }

  /// The roles of a nav, or its display lease.
  struct Duty {
    var registration = DelegateRegistration(roles: [])
    /// Whether the next request takes the lease by force.
    var wish = LeaseAction.take
    /// Whether the client takes a lost lease again in the next session.
    var isRetaken = false
    /// The id of the first request; a new session requests its duties in this order.
    var order: UInt64 = 0
    var isHeld = false
    var retryAt: UInt64?
    var faults = 0
  }

  /// A question of the daemon to this session that has not ended.
  struct OpenQuestion {
    var nav: String
    var isAnswered = false
    var expiresAt: UInt64
  }

  /// A request of the session for roles or a lease, or for their end.
  struct Request {
    var dutyKey: Key
    var isEnd: Bool
  }

  var all: [Key: Duty] = [:]
  /// The open questions of this session, by their numbers.
  var asks: [UInt64: OpenQuestion] = [:]
  var requests: [UInt64: Request] = [:]
  /// The number of this session, counted over all sessions of the client.
  var sessionNumber: UInt64 = 0

  static func keys(of nav: String) -> (roles: Key, lease: Key) {
    (Key(nav: nav, kind: .roles), Key(nav: nav, kind: .lease))
  }

  /// Whether a request for these roles or this lease has no answer yet.
  func isPending(_ key: Key) -> Bool {
    requests.values.contains { $0.dutyKey == key && !$0.isEnd }
  }

  /// Whether the daemon has granted roles or a lease of a nav, and no newer request is open.
  func hasConfirmedDuty(for nav: String) -> Bool {
    all.contains { key, duty in
      key.nav == nav && (key.kind == .roles ? duty.retryAt == nil : duty.isHeld) && !isPending(key)
    }
  }

  /// When the session must repeat a request or a question expires; nil for never.
  var wakeAt: UInt64? {
    let retries = all.values.lazy.compactMap(\.retryAt)
    return [retries.min(), asks.values.lazy.map(\.expiresAt).min()].compactMap { $0 }.min()
  }
}

extension SessionReplica {
  /// Registers delegate roles for a nav, in this session and in all later ones.
  ///
  /// They replace earlier roles for the nav and void its open questions; an empty set ends the
  /// registration. A session that is not open sends the registration when it opens.
  package mutating func delegate(
    _ nav: String, _ registration: DelegateRegistration
  ) -> [SessionOutput] {
    let duty = Duties.Duty(registration: registration)
    return voidQuestions { $0.nav == nav }
      + setDuty(duty, .roles, nav, isEnd: registration.roles.isEmpty)
  }

  /// Answers a question; drops an answer that comes too late, or is larger than the daemon accepts.
  package mutating func answer(_ ask: AskID, value: [UInt8]) -> [SessionOutput] {
    guard phase == .open, ask.session == duties.sessionNumber,
      duties.asks[ask.number]?.isAnswered == false
    else { return [] }
    let body = ClientMessageWriter.answer(ask.number, value: value)
    guard body.count <= maximumBody else { return [] }
    duties.asks[ask.number]?.isAnswered = true
    return [.send(.answer, body)]
  }

  /// Takes or releases the display lease of a nav.
  ///
  /// With `isKept`, the client takes a lost lease again in each new session, without force. A session
  /// that is not open requests the lease when it opens.
  package mutating func lease(
    _ nav: String, _ wish: LeaseAction, isKept isRetaken: Bool = false
  ) -> [SessionOutput] {
    setDuty(Duties.Duty(wish: wish, isRetaken: isRetaken), .lease, nav, isEnd: wish == .release)
  }

  /// Replaces the roles or the lease of a nav by `duty`, or with `isEnd` ends them.
  private mutating func setDuty(
    _ duty: Duties.Duty, _ kind: Duties.Kind, _ nav: String, isEnd: Bool
  ) -> [SessionOutput] {
    let key = Duties.Key(nav: nav, kind: kind)
    duties.requests = duties.requests.filter { $0.value.dutyKey != key || $0.value.isEnd }
    guard !isEnd else {
      duties.all[key] = nil
      // The end of the session has ended it already.
      return phase == .open ? [send(duty, key, isEnd: true)] : [key.endEvent]
    }
    let before = duties.all[key]
    var duty = duty
    (duty.order, duty.isHeld) = (before?.order ?? takeID(), before?.isHeld ?? false)
    duties.all[key] = duty
    return phase == .open ? requestDuty(key) : []
  }

  private mutating func send(
    _ duty: Duties.Duty, _ key: Duties.Key, isEnd: Bool = false
  ) -> SessionOutput {
    let id = takeID()
    duties.requests[id] = Duties.Request(dutyKey: key, isEnd: isEnd)
    return switch key.kind {
    case .roles:
      .send(.delegate, ClientMessageWriter.delegate(id: id, nav: key.nav, duty.registration))
    case .lease: .send(.lease, ClientMessageWriter.lease(id: id, nav: key.nav, duty.wish))
    }
  }

  /// Requests the roles or the lease of `key`, if the program wants them.
  mutating func requestDuty(_ key: Duties.Key) -> [SessionOutput] {
    guard let duty = duties.all[key] else { return [] }
    duties.all[key]?.retryAt = nil
    return [send(duty, key)]
  }

  /// Requests the due duties: first roles, then leases, the oldest first.
  private mutating func requestDuties(where isDue: (Duties.Duty) -> Bool) -> [SessionOutput] {
    let due = duties.all.filter { isDue($0.value) }.sorted {
      ($0.key.kind.rawValue, $0.value.order) < ($1.key.kind.rawValue, $1.value.order)
    }
    return due.flatMap { requestDuty($0.key) }
  }

  /// Whether this session holds the display lease of a nav.
  package func holdsLease(of nav: String) -> Bool {
    duties.all[Duties.Key(nav: nav, kind: .lease)]?.isHeld ?? false
  }

  /// Requests all roles and leases in a session that has just opened.
  mutating func resumeDuties() -> [SessionOutput] {
    counters.sessionCount += 1
    duties.sessionNumber = counters.sessionCount
    return requestDuties { _ in true }
  }

  /// Handles the end of a session or of an attempt to open one; `isOver` if no session follows.
  mutating func loseDuties(forGood isOver: Bool = false) -> [SessionOutput] {
    var outputs = voidQuestions { _ in true }
    let requests = duties.requests.sorted { $0.key < $1.key }.map(\.value)
    duties.requests = [:]
    for request in requests {
      if !request.isEnd {
        // Force counts once, also if its answer was lost: another client may have the display since.
        duties.all[request.dutyKey]?.wish = .take
      } else if duties.all[request.dutyKey] == nil {
        // What was to be released has ended with the session.
        outputs.append(request.dutyKey.endEvent)
      }
    }
    let keys = duties.all.keys.sorted {
      $0.kind == $1.kind ? $0.nav < $1.nav : $0.kind.rawValue < $1.kind.rawValue
    }
    for key in keys {
      duties.all[key]?.retryAt = nil
      if isOver { duties.all[key]?.isRetaken = false }
      switch key.kind {
      case .roles where isOver: break
      case .roles: outputs.append(.duty(.interrupted(nav: key.nav)))
      case .lease: outputs.append(contentsOf: loseLease(key))
      }
    }
    return outputs
  }

  mutating func tickDuties(at now: UInt64) -> [SessionOutput] {
    voidQuestions { $0.expiresAt <= now } + requestDuties { $0.retryAt ?? .max <= now }
  }

  mutating func receive(_ ask: Ask, at now: UInt64) -> [SessionOutput] {
    // The client has ended its roles for this nav, and the daemon will receive that.
    guard duties.all[Duties.keys(of: ask.nav).roles] != nil, duties.asks[ask.number] == nil else {
      return []
    }
    // The `settled` may come a little after the deadline, so the question stays for another
    // heartbeat interval.
    let expiresAt = now.addingReportingOverflow(ask.withinMilliseconds)
    let end = expiresAt.overflow ? UInt64.max - heartbeat : expiresAt.partialValue
    duties.asks[ask.number] = Duties.OpenQuestion(nav: ask.nav, expiresAt: end + heartbeat)
    return [.duty(.asked(AskID(session: duties.sessionNumber, number: ask.number), ask))]
  }

  mutating func receive(_ settlement: VetoSettlement) -> [SessionOutput] {
    guard let ask = duties.asks.removeValue(forKey: settlement.number) else { return [] }
    let id = AskID(session: duties.sessionNumber, number: settlement.number)
    return [.duty(.settled(id, nav: ask.nav, settlement))]
  }

  mutating func receive(_ reply: OkReply, to request: Duties.Request) -> [SessionOutput] {
    let key = request.dutyKey
    guard !request.isEnd else { return [key.endEvent] }
    guard let duty = duties.all[key] else { return [] }
    duties.all[key]?.faults = 0
    guard key.kind == .lease else {
      return [.duty(.registered(nav: key.nav, roles: duty.registration.roles))]
    }
    duties.all[key]?.isHeld = true
    // Force counts once: a reconnect must not displace a client that has taken the display since.
    duties.all[key]?.wish = .take
    return [.duty(.leaseTaken(nav: key.nav, owner: reply.leaseOwner))]
  }

  mutating func receive(
    _ refusal: ErrReply, to request: Duties.Request, at now: UInt64
  ) -> [SessionOutput] {
    let key = request.dutyKey
    // The nav no longer exists, so the roles and the lease have ended with it.
    guard !request.isEnd else { return [key.endEvent] }
    guard refusal.isRetryable, let faults = duties.all[key]?.faults else {
      return endDuty(key, refusal)
    }
    duties.all[key]?.faults = faults + 1
    let wait = max(refusal.after ?? 0, backOff(faults))
    duties.all[key]?.retryAt = now + wait
    return []
  }

  /// Ends roles or a lease that the daemon has refused or ended.
  private mutating func endDuty(_ key: Duties.Key, _ refusal: ErrReply) -> [SessionOutput] {
    duties.all[key] = nil
    guard key.kind == .roles else { return [.duty(.leaseRefused(nav: key.nav, refusal))] }
    return voidQuestions { $0.nav == key.nav } + [
      .duty(.registrationRefused(nav: key.nav, refusal))
    ]
  }

  /// Handles the daemon's message that roles or a lease have ended.
  ///
  /// If a request about them has no answer yet, that answer decides.
  mutating func receive(_ loss: LeaseOrRoleLoss) -> [SessionOutput] {
    let kinds: [String: Duties.Kind] = ["delegate": .roles, "lease": .lease]
    guard let kind = kinds[loss.lost] else { return [] }
    let key = Duties.Key(nav: loss.nav, kind: kind)
    guard let duty = duties.all[key], duty.isHeld || kind == .roles else { return [] }
    duties.all[key]?.isHeld = false
    guard !duties.isPending(key) else { return [] }
    let refusal = ErrReply(
      byClient: OutgoingError(ErrorCode(rawValue: loss.code) ?? .forbidden, loss.message))
    let outputs = endDuty(key, refusal)
    guard kind == .lease, loss.code == ErrorCode.leaseLost.rawValue else { return outputs }
    return [.duty(.leaseLost(nav: loss.nav, isTakenAgain: false))]
  }

  mutating func loseLease(_ key: Duties.Key) -> [SessionOutput] {
    // A lease that was only requested is requested again, because a caller waits for the answer.
    guard let lease = duties.all[key], lease.isHeld else { return [] }
    duties.all[key]?.isHeld = false
    if !lease.isRetaken { duties.all[key] = nil }
    return [.duty(.leaseLost(nav: key.nav, isTakenAgain: lease.isRetaken))]
  }

  /// Ends the open questions that meet a condition.
  mutating func voidQuestions(where isMeant: (Duties.OpenQuestion) -> Bool) -> [SessionOutput] {
    let asks = duties.asks.filter { isMeant($0.value) }.sorted { $0.key < $1.key }
    for (number, _) in asks { duties.asks[number] = nil }
    return asks.map { number, ask in
      .duty(.voided(AskID(session: duties.sessionNumber, number: number), nav: ask.nav))
    }
  }
}
