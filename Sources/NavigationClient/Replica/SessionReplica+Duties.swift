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
  struct Registration {
    var wanted: DelegateRegistration
    /// The place among the registrations, in the order of their first request.
    var order: UInt64
    var retryAt: UInt64?
    var faults = 0
  }

  struct Lease {
    var wish: LeaseWish
    /// Whether the next session takes the lease again.
    var isKept: Bool
    var order: UInt64
    var isHeld = false
    var retryAt: UInt64?
    var faults = 0
  }

  struct OpenAsk {
    var nav: String
    var isAnswered = false
    /// The time at which the question is voided.
    var expiresAt: UInt64
  }

  enum Request {
    case register(String)
    case resign(String)
    case lease(String)
    case release(String)

    var nav: String {
      switch self {
      case .register(let nav), .resign(let nav), .lease(let nav), .release(let nav): nav
      }
    }

    /// Whether its answer says that the session holds the display of the nav.
    func isLease(of nav: String) -> Bool {
      if case .lease(nav) = self { true } else { false }
    }

    /// Whether its answer says that the session has roles for the nav.
    func isRegistration(of nav: String) -> Bool {
      if case .register(nav) = self { true } else { false }
    }
  }

  var registrations: [String: Registration] = [:]
  var leases: [String: Lease] = [:]
  /// The open questions of this session, by their numbers.
  var asks: [UInt64: OpenAsk] = [:]
  var requests: [UInt64: Request] = [:]
  /// The number of this session among those of the client.
  var session: UInt64 = 0

  /// Whether the daemon has confirmed roles or a lease of a nav, and is not being asked again.
  func areConfirmed(of nav: String) -> Bool {
    let asks = requests.values
    return registrations[nav].map {
      $0.retryAt == nil && !asks.contains { $0.isRegistration(of: nav) }
    }
      ?? false
      || leases[nav].map { $0.isHeld && !asks.contains { $0.isLease(of: nav) } } ?? false
  }

  /// The earliest time at which a request must be repeated or a question expires.
  var wakeAt: UInt64? {
    let times = [
      registrations.values.lazy.compactMap(\.retryAt).min(),
      leases.values.lazy.compactMap(\.retryAt).min(), asks.values.lazy.map(\.expiresAt).min(),
    ]
    return times.compactMap { $0 }.min()
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
    duties.requests = duties.requests.filter { !$0.value.isRegistration(of: nav) }
    let voided = void { $0.nav == nav }
    guard registration.roles.isEmpty else {
      let order = duties.registrations[nav]?.order ?? takeID()
      duties.registrations[nav] = Duties.Registration(wanted: registration, order: order)
      return voided + (phase == .open ? register(nav) : [])
    }
    duties.registrations[nav] = nil
    guard phase == .open else {
      return voided + [.duty(.registered(nav: nav, roles: []))]
    }
    let id = takeID()
    duties.requests[id] = .resign(nav)
    return voided + [
      .send(.delegate, ClientMessageWriter.delegate(id: id, nav: nav, registration))
    ]
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
    _ nav: String, _ wish: LeaseWish, isKept: Bool = false
  ) -> [SessionOutput] {
    duties.requests = duties.requests.filter { !$0.value.isLease(of: nav) }
    guard wish == .release else {
      let before = duties.leases[nav]
      let lease = Duties.Lease(
        wish: wish, isKept: isKept, order: before?.order ?? takeID(),
        isHeld: before?.isHeld ?? false)
      duties.leases[nav] = lease
      return phase == .open ? take(nav) : []
    }
    duties.leases[nav] = nil
    // The end of the session has released it already.
    guard phase == .open else { return [.duty(.leaseReleased(nav: nav))] }
    let id = takeID()
    duties.requests[id] = .release(nav)
    return [.send(.lease, ClientMessageWriter.lease(id: id, nav: nav, .release))]
  }

  /// Whether this session holds the display lease of a nav, by the messages received so far.
  package func holdsLease(of nav: String) -> Bool { duties.leases[nav]?.isHeld ?? false }

  /// Registers the roles again and takes the leases again, when a session has opened.
  mutating func resumeDuties() -> [SessionOutput] {
    numbers.session += 1
    duties.session = numbers.session
    let registrations = duties.registrations.sorted { $0.value.order < $1.value.order }
    let leases = duties.leases.sorted { $0.value.order < $1.value.order }
    return registrations.flatMap { register($0.key) } + leases.flatMap { take($0.key) }
  }

  /// Handles the end of a session, or the end of the attempt to open one; `isOver` if none will
  /// follow.
  mutating func loseDuties(forGood isOver: Bool = false) -> [SessionOutput] {
    var outputs = void { _ in true }
    let requests = duties.requests.sorted { $0.key < $1.key }
    duties.requests = [:]
    for (_, request) in requests {
      switch request {
      // The roles and leases that were to be released have ended with the session.
      case .resign(let nav) where duties.registrations[nav] == nil:
        outputs.append(.duty(.registered(nav: nav, roles: [])))
      case .release(let nav) where duties.leases[nav] == nil:
        outputs.append(.duty(.leaseReleased(nav: nav)))
      // Force counts once, also if its answer was lost: another client may have the display since.
      case .lease(let nav): duties.leases[nav]?.wish = .take
      case .register, .resign, .release: break
      }
    }
    for nav in duties.registrations.keys.sorted() {
      duties.registrations[nav]?.retryAt = nil
      if !isOver { outputs.append(.duty(.interrupted(nav: nav))) }
    }
    for nav in duties.leases.keys.sorted() {
      duties.leases[nav]?.retryAt = nil
      if isOver { duties.leases[nav]?.isKept = false }
      outputs.append(contentsOf: loseLease(nav))
    }
    return outputs
  }

  /// Handles deadlines: repeats postponed requests, and expires questions.
  mutating func tickDuties(at now: UInt64) -> [SessionOutput] {
    var outputs = void { $0.expiresAt <= now }
    for (nav, registration) in duties.registrations.sorted(by: { $0.value.order < $1.value.order })
    where registration.retryAt.map({ $0 <= now }) ?? false {
      outputs.append(contentsOf: register(nav))
    }
    for (nav, lease) in duties.leases.sorted(by: { $0.value.order < $1.value.order })
    where lease.retryAt.map({ $0 <= now }) ?? false {
      outputs.append(contentsOf: take(nav))
    }
    return outputs
  }

  mutating func receive(_ ask: Ask, at now: UInt64) -> [SessionOutput] {
    // The client has ended its roles for this nav, and the daemon will receive that.
    guard duties.registrations[ask.nav] != nil, duties.asks[ask.number] == nil else { return [] }
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

  /// Handles the `ok` to a request about roles or leases.
  mutating func finish(_ request: Duties.Request, _ reply: OkReply) -> [SessionOutput] {
    switch request {
    case .register(let nav):
      guard let registration = duties.registrations[nav] else { return [] }
      duties.registrations[nav]?.faults = 0
      return [.duty(.registered(nav: nav, roles: registration.wanted.roles))]
    case .resign(let nav): return [.duty(.registered(nav: nav, roles: []))]
    case .lease(let nav):
      guard duties.leases[nav] != nil else { return [] }
      duties.leases[nav]?.isHeld = true
      duties.leases[nav]?.faults = 0
      // Force counts once: a reconnect must not displace a client that has taken the display since.
      duties.leases[nav]?.wish = .take
      return [.duty(.leaseTaken(nav: nav, owner: reply.owner))]
    case .release(let nav): return [.duty(.leaseReleased(nav: nav))]
    }
  }

  /// Handles the `err` to a request about roles or leases.
  mutating func finish(
    _ request: Duties.Request, _ refusal: ErrReply, at now: UInt64
  ) -> [SessionOutput] {
    let isPostponed = refusal.retryPolicy == .later || refusal.retryPolicy == .same
    switch request {
    case .register(let nav):
      guard isPostponed, let faults = duties.registrations[nav]?.faults else {
        duties.registrations[nav] = nil
        return void { $0.nav == nav } + [.duty(.registrationRefused(nav: nav, refusal))]
      }
      duties.registrations[nav]?.faults = faults + 1
      let wait = max(refusal.after ?? 0, backOff(faults))
      duties.registrations[nav]?.retryAt = now + wait
    case .lease(let nav):
      guard isPostponed, let faults = duties.leases[nav]?.faults else {
        duties.leases[nav] = nil
        return [.duty(.leaseRefused(nav: nav, refusal))]
      }
      duties.leases[nav]?.faults = faults + 1
      let wait = max(refusal.after ?? 0, backOff(faults))
      duties.leases[nav]?.retryAt = now + wait
    // The nav no longer exists, so the roles and the lease have ended with it.
    case .resign(let nav): return [.duty(.registered(nav: nav, roles: []))]
    case .release(let nav): return [.duty(.leaseReleased(nav: nav))]
    }
    return []
  }

  /// Handles the end of roles or a lease in a session that goes on.
  ///
  /// If a request about them is under way, its answer decides.
  mutating func receive(_ loss: DutyLoss) -> [SessionOutput] {
    let nav = loss.nav
    switch loss.what {
    case "lease":
      guard holdsLease(of: nav) else { return [] }
      duties.leases[nav]?.isHeld = false
      guard !duties.requests.values.contains(where: { $0.isLease(of: nav) }) else { return [] }
      duties.leases[nav] = nil
      let isTaken = loss.code == ErrorCode.leaseLost.rawValue
      let lost = DutyEvent.leaseLost(nav: nav, isTakenAgain: false)
      return [.duty(isTaken ? lost : .leaseRefused(nav: nav, Self.error(loss)))]
    case "delegate":
      guard duties.registrations[nav] != nil,
        !duties.requests.values.contains(where: { $0.isRegistration(of: nav) })
      else { return [] }
      duties.registrations[nav] = nil
      let refused = DutyEvent.registrationRefused(nav: nav, Self.error(loss))
      return void { $0.nav == nav } + [.duty(refused)]
    default: return []
    }
  }

  private static func error(_ loss: DutyLoss) -> ErrReply {
    ErrReply(byClient: OutgoingError(ErrorCode(rawValue: loss.code) ?? .forbidden, loss.message))
  }

  mutating func loseLease(_ nav: String) -> [SessionOutput] {
    // A lease that was only requested is requested again, because a caller waits for the answer.
    guard let lease = duties.leases[nav], lease.isHeld else { return [] }
    duties.leases[nav]?.isHeld = false
    if !lease.isKept { duties.leases[nav] = nil }
    return [.duty(.leaseLost(nav: nav, isTakenAgain: lease.isKept))]
  }

  mutating func void(_ isMeant: (Duties.OpenAsk) -> Bool) -> [SessionOutput] {
    let asks = duties.asks.filter { isMeant($0.value) }.sorted { $0.key < $1.key }
    for (number, _) in asks { duties.asks[number] = nil }
    return asks.map { number, ask in
      .duty(.voided(AskID(session: duties.session, number: number), nav: ask.nav))
    }
  }

  mutating func register(_ nav: String) -> [SessionOutput] {
    guard let registration = duties.registrations[nav] else { return [] }
    duties.registrations[nav]?.retryAt = nil
    let id = takeID()
    duties.requests[id] = .register(nav)
    let body = ClientMessageWriter.delegate(id: id, nav: nav, registration.wanted)
    return [.send(.delegate, body)]
  }

  mutating func take(_ nav: String) -> [SessionOutput] {
    guard let lease = duties.leases[nav] else { return [] }
    duties.leases[nav]?.retryAt = nil
    let id = takeID()
    duties.requests[id] = .lease(nav)
    return [.send(.lease, ClientMessageWriter.lease(id: id, nav: nav, lease.wish))]
  }
}
