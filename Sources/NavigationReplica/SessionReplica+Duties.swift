import Navigation
package import NavigationProtocol

/// What the user of a session is told about its roles as a delegate and its display leases.
package enum DutyEvent: Hashable, Sendable {
  /// The daemon knows these roles from now on; none when they are given up.
  case registered(nav: String, roles: Set<DelegateRole>)
  /// The daemon refused the roles; the session plays none for the nav.
  case registrationRefused(nav: String, ErrReply)
  /// The daemon asks; the answer goes to `answer`.
  case asked(AskID, Ask)
  /// The round to which a question belonged has ended; an answer is not listened to.
  case settled(AskID, nav: String, Settlement)
  /// An answer is not listened to: the session ended, the roles were given up, or time is up.
  case voided(AskID, nav: String)
  /// The session holds the display; the owner is the name under which others see it.
  case leaseTaken(nav: String, owner: String?)
  /// The daemon refused the lease, at first or when it was to be taken again.
  case leaseRefused(nav: String, ErrReply)
  /// The lease is held no longer, without having been given back.
  case leaseLost(nav: String, isTakenAgain: Bool)
  /// The lease was given back.
  case leaseReleased(nav: String)
}

/// The roles and leases of a session, and the questions that are open.
struct Duties: Sendable {
  struct Registration {
    var wanted: DelegateRegistration
    /// Place among the registrations, in order of their first request.
    var order: UInt64
    var retryAt: UInt64?
    var faults = 0
  }

  struct Lease {
    var wish: LeaseWish
    /// Whether it is taken again in the next session.
    var isKept: Bool
    var order: UInt64
    var isHeld = false
    var retryAt: UInt64?
    var faults = 0
  }

  struct OpenAsk {
    var nav: String
    var isVeto: Bool
    var isAnswered = false
    /// When nobody listens any more.
    var expiresAt: UInt64
  }

  enum Request {
    case register(String)
    case resign(String)
    case lease(String)
    case release(String)
  }

  var registrations: [String: Registration] = [:]
  var leases: [String: Lease] = [:]
  /// The questions of this session, by their numbers.
  var asks: [UInt64: OpenAsk] = [:]
  var requests: [UInt64: Request] = [:]
  /// How many sessions there have been.
  var session: UInt64 = 0

  /// The first time at which something must be done.
  var wakeAt: UInt64? {
    let times = [
      registrations.values.lazy.compactMap(\.retryAt).min(),
      leases.values.lazy.compactMap(\.retryAt).min(), asks.values.lazy.map(\.expiresAt).min(),
    ]
    return times.compactMap { $0 }.min()
  }
}

extension SessionReplica {
  /// Plays roles for a nav: those before are replaced, and played again in every later session.
  ///
  /// - Parameters:
  ///   - nav: the name of the nav.
  ///   - registration: the roles; none gives them up, and voids the questions that are open.
  /// - Returns: what must follow; nothing while the session is not open, when it will be asked.
  package mutating func delegate(
    _ nav: String, _ registration: DelegateRegistration
  ) -> [SessionOutput] {
    duties.requests = duties.requests.filter {
      if case .register(nav) = $0.value { false } else { true }
    }
    guard registration.roles.isEmpty else {
      let order = duties.registrations[nav]?.order ?? takeID()
      duties.registrations[nav] = Duties.Registration(wanted: registration, order: order)
      return phase == .open ? register(nav) : []
    }
    duties.registrations[nav] = nil
    let voided = void { $0.nav == nav }
    guard phase == .open else {
      return voided + [.duty(.registered(nav: nav, roles: []))]
    }
    let id = takeID()
    duties.requests[id] = .resign(nav)
    return voided + [
      .send(.delegate, ClientMessageWriter.delegate(id: id, nav: nav, registration))
    ]
  }

  /// Answers a question; an answer that nobody listens to any more is dropped.
  ///
  /// - Parameters:
  ///   - ask: which question.
  ///   - value: a JSON value; one that is larger than the daemon takes is dropped.
  /// - Returns: what must follow.
  package mutating func answer(_ ask: AskID, value: [UInt8]) -> [SessionOutput] {
    guard phase == .open, ask.session == duties.session, var open = duties.asks[ask.number],
      !open.isAnswered
    else { return [] }
    let body = ClientMessageWriter.answer(ask.number, value: value)
    guard body.count <= maximumBody else { return [] }
    open.isAnswered = true
    // Of data nobody is told what became of it.
    duties.asks[ask.number] = open.isVeto ? open : nil
    return [.send(.answer, body)]
  }

  /// Takes the display lease of a nav, or gives it back.
  ///
  /// - Parameters:
  ///   - nav: the name of the nav.
  ///   - wish: what to do.
  ///   - isKept: whether to take it again, without force, in each session that follows a loss.
  /// - Returns: what must follow; nothing while the session is not open, when it will be asked.
  package mutating func lease(
    _ nav: String, _ wish: LeaseWish, isKept: Bool = false
  ) -> [SessionOutput] {
    duties.requests = duties.requests.filter {
      if case .lease(nav) = $0.value { false } else { true }
    }
    guard wish == .release else {
      let before = duties.leases[nav]
      let lease = Duties.Lease(
        wish: wish, isKept: isKept, order: before?.order ?? takeID(),
        isHeld: before?.isHeld ?? false)
      duties.leases[nav] = lease
      return phase == .open ? take(nav) : []
    }
    duties.leases[nav] = nil
    // The end of a session has given it back already.
    guard phase == .open else { return [.duty(.leaseReleased(nav: nav))] }
    let id = takeID()
    duties.requests[id] = .release(nav)
    return [.send(.lease, ClientMessageWriter.lease(id: id, nav: nav, .release))]
  }

  /// Whether the display lease of a nav is held, as far as is known.
  package func holdsLease(of nav: String) -> Bool { duties.leases[nav]?.isHeld ?? false }

  /// A session is open: registers and takes again what was there before.
  mutating func resumeDuties() -> [SessionOutput] {
    duties.session += 1
    let registrations = duties.registrations.sorted { $0.value.order < $1.value.order }
    let leases = duties.leases.sorted { $0.value.order < $1.value.order }
    return registrations.flatMap { register($0.key) } + leases.flatMap { take($0.key) }
  }

  /// The session is over, or none was open.
  mutating func loseDuties(forGood isOver: Bool = false) -> [SessionOutput] {
    var outputs = void { _ in true }
    let requests = duties.requests.sorted { $0.key < $1.key }
    duties.requests = [:]
    for (_, request) in requests {
      switch request {
      // What was to be given up has gone with the session.
      case .resign(let nav) where duties.registrations[nav] == nil:
        outputs.append(.duty(.registered(nav: nav, roles: [])))
      case .release(let nav) where duties.leases[nav] == nil:
        outputs.append(.duty(.leaseReleased(nav: nav)))
      case .register, .resign, .lease, .release: break
      }
    }
    for nav in duties.registrations.keys { duties.registrations[nav]?.retryAt = nil }
    for nav in duties.leases.keys.sorted() {
      duties.leases[nav]?.retryAt = nil
      if isOver { duties.leases[nav]?.isKept = false }
      outputs.append(contentsOf: loseLease(nav))
    }
    return outputs
  }

  /// Does what time brings.
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

  /// The daemon asks something.
  mutating func receive(_ ask: Ask, at now: UInt64) -> [SessionOutput] {
    // Who plays no role any more has said so, and the daemon learns of it.
    guard duties.registrations[ask.nav] != nil, duties.asks[ask.number] == nil else { return [] }
    // The daemon's word about the end of the round may come a little after it.
    let expiresAt = now.addingReportingOverflow(ask.within)
    let end = expiresAt.overflow ? UInt64.max - heartbeat : expiresAt.partialValue
    duties.asks[ask.number] = Duties.OpenAsk(
      nav: ask.nav, isVeto: ask.question.isVeto, expiresAt: end + heartbeat)
    return [.duty(.asked(AskID(session: duties.session, number: ask.number), ask))]
  }

  /// The daemon tells the end of a round of questions.
  mutating func receive(_ settlement: Settlement) -> [SessionOutput] {
    guard let ask = duties.asks.removeValue(forKey: settlement.number) else { return [] }
    let id = AskID(session: duties.session, number: settlement.number)
    return [.duty(.settled(id, nav: ask.nav, settlement))]
  }

  /// A request about roles or leases was answered.
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
      // Force is for once: who is displaced later is not displaced by a mere reconnect.
      duties.leases[nav]?.wish = .take
      return [.duty(.leaseTaken(nav: nav, owner: reply.owner))]
    case .release(let nav): return [.duty(.leaseReleased(nav: nav))]
    }
  }

  /// A request about roles or leases was refused.
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
    // The nav is gone, and what was to be given up with it.
    case .resign(let nav): return [.duty(.registered(nav: nav, roles: []))]
    case .release(let nav): return [.duty(.leaseReleased(nav: nav))]
    }
    return []
  }

  /// Looks whether somebody else holds a display that was held here.
  mutating func checkLease(after diff: Diff) -> [SessionOutput] {
    guard diff.cause == Cause.lease.wireName.description, holdsLease(of: diff.nav) else {
      return []
    }
    let environments = diff.changes.compactMap { change -> MirrorRecord? in
      guard case .setPart(let record) = change else { return nil }
      return record.id == PartName.environment.text ? record : nil
    }
    guard let environment = environments.last, (Self.owner(environment) ?? "") != name else {
      return []
    }
    return forgetLease(diff.nav)
  }

  /// An op was refused because the display lease is somebody else's.
  mutating func forgetLease(_ nav: String) -> [SessionOutput] {
    guard holdsLease(of: nav) else { return [] }
    duties.leases[nav] = nil
    return [.duty(.leaseLost(nav: nav, isTakenAgain: false))]
  }

  private static func owner(_ environment: MirrorRecord) -> String? {
    var tape = JSONTape()
    do { try tape.read(environment.json.bytes, maximumDepth: 40) } catch { return nil }
    return tape.member("owner", of: tape.root).flatMap { tape.string($0) }
  }

  private mutating func loseLease(_ nav: String) -> [SessionOutput] {
    // One that was only asked for is asked for again: somebody waits for the answer.
    guard let lease = duties.leases[nav], lease.isHeld else { return [] }
    duties.leases[nav]?.isHeld = false
    if !lease.isKept { duties.leases[nav] = nil }
    return [.duty(.leaseLost(nav: nav, isTakenAgain: lease.isKept))]
  }

  private mutating func void(_ isMeant: (Duties.OpenAsk) -> Bool) -> [SessionOutput] {
    let asks = duties.asks.filter { isMeant($0.value) }.sorted { $0.key < $1.key }
    for (number, _) in asks { duties.asks[number] = nil }
    return asks.map { number, ask in
      .duty(.voided(AskID(session: duties.session, number: number), nav: ask.nav))
    }
  }

  private mutating func register(_ nav: String) -> [SessionOutput] {
    guard let registration = duties.registrations[nav] else { return [] }
    duties.registrations[nav]?.retryAt = nil
    let id = takeID()
    duties.requests[id] = .register(nav)
    let body = ClientMessageWriter.delegate(id: id, nav: nav, registration.wanted)
    return [.send(.delegate, body)]
  }

  private mutating func take(_ nav: String) -> [SessionOutput] {
    guard let lease = duties.leases[nav] else { return [] }
    duties.leases[nav]?.retryAt = nil
    let id = takeID()
    duties.requests[id] = .lease(nav)
    return [.send(.lease, ClientMessageWriter.lease(id: id, nav: nav, lease.wish))]
  }
}
