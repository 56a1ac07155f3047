package import NavigationCore

/// An event of a session's delegate roles or display leases.
package enum DutyEvent: Hashable, Sendable {
  /// The daemon has registered these roles; an empty set ends the registration.
  case registered(nav: String, roles: Set<DelegateRole>)
  /// The daemon refused the roles or has ended them, so the session has none for the nav.
  case registrationRefused(nav: String, ErrReply)
  /// The roles have ended with the session, or because the nav moved; they are requested again.
  case interrupted(nav: String)
  /// The daemon asks a question; the user passes the answer to `answer`.
  case asked(AskID, Ask)
  /// The veto round of a question has ended; the daemon ignores later answers.
  case settled(AskID, nav: String, Settlement)
  /// The daemon ignores answers to this question: the session ended, the roles ended, or time is
  /// up.
  case voided(AskID, nav: String)
  /// The session holds the display; the owner is its name for other clients.
  case leaseTaken(nav: String, owner: String?)
  /// The daemon refused the lease, at first or when the session tried to take it again; or it has
  /// ended the lease with the nav or with the right to it.
  case leaseRefused(nav: String, ErrReply)
  /// The session has lost the lease without releasing it; `isTakenAgain` if it will try to take it
  /// again.
  case leaseLost(nav: String, isTakenAgain: Bool)
  /// The session has released the lease.
  case leaseReleased(nav: String)
}

/// The delegate roles and leases of a session, and its open questions.
struct Duties: Sendable {
  enum Kind: Int {
    case roles, lease
  }

  struct Key: Hashable {
    var nav: String
    var kind: Kind

    /// The event of an end that the caller asked for.
    var ended: SessionOutput {
      .duty(kind == .roles ? .registered(nav: nav, roles: []) : .leaseReleased(nav: nav))
    }
  }

  /// The roles of a nav, or its display lease.
  struct Duty {
    var registration = DelegateRegistration(roles: [])
    /// What is asked for a lease.
    var wish = LeaseAction.take
    /// Whether the next session takes the lease again.
    var isKept = false
    /// The place among the others, in the order of their first request.
    var order: UInt64 = 0
    var isHeld = false
    var retryAt: UInt64?
    var faults = 0
  }

  struct OpenAsk {
    var nav: String
    var isAnswered = false
    var expiresAt: UInt64
  }

  struct Request {
    var key: Key
    var isEnd: Bool
  }

  var all: [Key: Duty] = [:]
  /// The open questions of this session, by their numbers.
  var asks: [UInt64: OpenAsk] = [:]
  var requests: [UInt64: Request] = [:]
  /// The number of this session among those of the client.
  var session: UInt64 = 0

  static func keys(of nav: String) -> (roles: Key, lease: Key) {
    (Key(nav: nav, kind: .roles), Key(nav: nav, kind: .lease))
  }

  /// Whether the daemon is being asked for these roles or this lease.
  func areAsked(_ key: Key) -> Bool {
    requests.values.contains { $0.key == key && !$0.isEnd }
  }

  /// Whether the daemon has confirmed roles or a lease of a nav, and is not being asked again.
  func areConfirmed(of nav: String) -> Bool {
    all.contains { key, duty in
      key.nav == nav && (key.kind == .roles ? duty.retryAt == nil : duty.isHeld) && !areAsked(key)
    }
  }

  /// The earliest time at which a request must be repeated or a question expires.
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
    return void { $0.nav == nav } + assume(duty, .roles, nav, isEnd: registration.roles.isEmpty)
  }

  /// Answers a question; drops an answer that comes too late, or is larger than the daemon accepts.
  package mutating func answer(_ ask: AskID, value: [UInt8]) -> [SessionOutput] {
    guard phase == .open, ask.session == duties.session,
      duties.asks[ask.number]?.isAnswered == false
    else { return [] }
    let body = ClientMessageWriter.answer(ask.number, value: value)
    guard body.count <= maximumBody else { return [] }
    duties.asks[ask.number]?.isAnswered = true
    return [.send(.answer, body)]
  }

  /// Takes or releases the display lease of a nav.
  ///
  /// With `isKept` the session takes it again, without force, in each session after a loss. A
  /// session that is not open requests the lease when it opens.
  package mutating func lease(
    _ nav: String, _ wish: LeaseAction, isKept: Bool = false
  ) -> [SessionOutput] {
    assume(Duties.Duty(wish: wish, isKept: isKept), .lease, nav, isEnd: wish == .release)
  }

  private mutating func assume(
    _ duty: Duties.Duty, _ kind: Duties.Kind, _ nav: String, isEnd: Bool
  ) -> [SessionOutput] {
    let key = Duties.Key(nav: nav, kind: kind)
    duties.requests = duties.requests.filter { $0.value.key != key || $0.value.isEnd }
    guard !isEnd else {
      duties.all[key] = nil
      // The end of the session has ended it already.
      return phase == .open ? [send(duty, key, isEnd: true)] : [key.ended]
    }
    let before = duties.all[key]
    var duty = duty
    (duty.order, duty.isHeld) = (before?.order ?? takeID(), before?.isHeld ?? false)
    duties.all[key] = duty
    return phase == .open ? request(key) : []
  }

  private mutating func send(
    _ duty: Duties.Duty, _ key: Duties.Key, isEnd: Bool = false
  ) -> SessionOutput {
    let id = takeID()
    duties.requests[id] = Duties.Request(key: key, isEnd: isEnd)
    return switch key.kind {
    case .roles:
      .send(.delegate, ClientMessageWriter.delegate(id: id, nav: key.nav, duty.registration))
    case .lease: .send(.lease, ClientMessageWriter.lease(id: id, nav: key.nav, duty.wish))
    }
  }

  /// Requests the roles or the lease that the session is to have.
  mutating func request(_ key: Duties.Key) -> [SessionOutput] {
    guard let duty = duties.all[key] else { return [] }
    duties.all[key]?.retryAt = nil
    return [send(duty, key)]
  }

  /// Requests those that are due: first roles, then leases, the oldest first.
  private mutating func request(where isDue: (Duties.Duty) -> Bool) -> [SessionOutput] {
    let due = duties.all.filter { isDue($0.value) }.sorted {
      ($0.key.kind.rawValue, $0.value.order) < ($1.key.kind.rawValue, $1.value.order)
    }
    return due.flatMap { request($0.key) }
  }

  /// Whether this session holds the display lease of a nav, by the messages received so far.
  package func holdsLease(of nav: String) -> Bool {
    duties.all[Duties.Key(nav: nav, kind: .lease)]?.isHeld ?? false
  }

  /// Registers the roles again and takes the leases again, when a session has opened.
  mutating func resumeDuties() -> [SessionOutput] {
    numbers.session += 1
    duties.session = numbers.session
    return request { _ in true }
  }

  /// Handles the end of a session, or the end of the attempt to open one; `isOver` if none will
  /// follow.
  mutating func loseDuties(forGood isOver: Bool = false) -> [SessionOutput] {
    var outputs = void { _ in true }
    let requests = duties.requests.sorted { $0.key < $1.key }.map(\.value)
    duties.requests = [:]
    for request in requests {
      if !request.isEnd {
        // Force counts once, also if its answer was lost: another client may have the display since.
        duties.all[request.key]?.wish = .take
      } else if duties.all[request.key] == nil {
        // What was to be released has ended with the session.
        outputs.append(request.key.ended)
      }
    }
    let keys = duties.all.keys.sorted {
      $0.kind == $1.kind ? $0.nav < $1.nav : $0.kind.rawValue < $1.kind.rawValue
    }
    for key in keys {
      duties.all[key]?.retryAt = nil
      if isOver { duties.all[key]?.isKept = false }
      switch key.kind {
      case .roles where isOver: break
      case .roles: outputs.append(.duty(.interrupted(nav: key.nav)))
      case .lease: outputs.append(contentsOf: loseLease(key))
      }
    }
    return outputs
  }

  mutating func tickDuties(at now: UInt64) -> [SessionOutput] {
    void { $0.expiresAt <= now } + request { $0.retryAt ?? .max <= now }
  }

  mutating func receive(_ ask: Ask, at now: UInt64) -> [SessionOutput] {
    // The client has ended its roles for this nav, and the daemon will receive that.
    guard duties.all[Duties.keys(of: ask.nav).roles] != nil, duties.asks[ask.number] == nil else {
      return []
    }
    // The `settled` may come a little after the deadline, so the question stays for another
    // heartbeat interval.
    let expiresAt = now.addingReportingOverflow(ask.within)
    let end = expiresAt.overflow ? UInt64.max - heartbeat : expiresAt.partialValue
    duties.asks[ask.number] = Duties.OpenAsk(nav: ask.nav, expiresAt: end + heartbeat)
    return [.duty(.asked(AskID(session: duties.session, number: ask.number), ask))]
  }

  mutating func receive(_ settlement: Settlement) -> [SessionOutput] {
    guard let ask = duties.asks.removeValue(forKey: settlement.number) else { return [] }
    let id = AskID(session: duties.session, number: settlement.number)
    return [.duty(.settled(id, nav: ask.nav, settlement))]
  }

  mutating func finish(_ request: Duties.Request, _ reply: OkReply) -> [SessionOutput] {
    let key = request.key
    guard !request.isEnd else { return [key.ended] }
    guard let duty = duties.all[key] else { return [] }
    duties.all[key]?.faults = 0
    guard key.kind == .lease else {
      return [.duty(.registered(nav: key.nav, roles: duty.registration.roles))]
    }
    duties.all[key]?.isHeld = true
    // Force counts once: a reconnect must not displace a client that has taken the display since.
    duties.all[key]?.wish = .take
    return [.duty(.leaseTaken(nav: key.nav, owner: reply.owner))]
  }

  mutating func finish(
    _ request: Duties.Request, _ refusal: ErrReply, at now: UInt64
  ) -> [SessionOutput] {
    let key = request.key
    // The nav no longer exists, so the roles and the lease have ended with it.
    guard !request.isEnd else { return [key.ended] }
    guard refusal.isPostponing, let faults = duties.all[key]?.faults else {
      return drop(key, refusal)
    }
    duties.all[key]?.faults = faults + 1
    let wait = max(refusal.after ?? 0, backOff(faults))
    duties.all[key]?.retryAt = now + wait
    return []
  }

  /// Ends roles or a lease that the daemon has refused or ended.
  private mutating func drop(_ key: Duties.Key, _ refusal: ErrReply) -> [SessionOutput] {
    duties.all[key] = nil
    guard key.kind == .roles else { return [.duty(.leaseRefused(nav: key.nav, refusal))] }
    return void { $0.nav == key.nav } + [.duty(.registrationRefused(nav: key.nav, refusal))]
  }

  /// Handles the end of roles or a lease in a session that goes on.
  ///
  /// If a request about them is under way, its answer decides.
  mutating func receive(_ loss: DutyLoss) -> [SessionOutput] {
    let kinds: [String: Duties.Kind] = ["delegate": .roles, "lease": .lease]
    guard let kind = kinds[loss.what] else { return [] }
    let key = Duties.Key(nav: loss.nav, kind: kind)
    guard let duty = duties.all[key], duty.isHeld || kind == .roles else { return [] }
    duties.all[key]?.isHeld = false
    guard !duties.areAsked(key) else { return [] }
    let refusal = ErrReply(
      byClient: OutgoingError(ErrorCode(rawValue: loss.code) ?? .forbidden, loss.message))
    let outputs = drop(key, refusal)
    guard kind == .lease, loss.code == ErrorCode.leaseLost.rawValue else { return outputs }
    return [.duty(.leaseLost(nav: loss.nav, isTakenAgain: false))]
  }

  mutating func loseLease(_ key: Duties.Key) -> [SessionOutput] {
    // A lease that was only requested is requested again, because a caller waits for the answer.
    guard let lease = duties.all[key], lease.isHeld else { return [] }
    duties.all[key]?.isHeld = false
    if !lease.isKept { duties.all[key] = nil }
    return [.duty(.leaseLost(nav: key.nav, isTakenAgain: lease.isKept))]
  }

  mutating func void(_ isMeant: (Duties.OpenAsk) -> Bool) -> [SessionOutput] {
    let asks = duties.asks.filter { isMeant($0.value) }.sorted { $0.key < $1.key }
    for (number, _) in asks { duties.asks[number] = nil }
    return asks.map { number, ask in
      .duty(.voided(AskID(session: duties.session, number: number), nav: ask.nav))
    }
  }
}
