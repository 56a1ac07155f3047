internal import CNavd
import NavigationClient
import NavigationCore

/// The state of a client of C beside its connection: the events for navd_next, the watched navs, the
/// submitted changes and the open questions.
struct ClientState {
  /// Why the client has ended; nil while it works.
  private(set) var end: Failure?
  private var events: [Event] = []
  private var hasReturnedEnd = false
  /// The watched navs, and whether the watch of each waits for the next nav of that name.
  var watchWaitsForNext: [String: Bool] = [:]
  /// The submitted changes without an answer.
  var submitted: Set<UInt64> = []
  /// The open questions by their numbers for C; one for a veto stays until the daemon settles it.
  private var questions: [UInt64: (ask: AskID, isVeto: Bool)] = [:]
  private var questionCount: UInt64 = 0
  var results = AwaitedResults()

  var hasEvents: Bool { !events.isEmpty || (end != nil && !hasReturnedEnd) }

  /// Takes the oldest event; the last event reports the end of the client.
  mutating func takeEvent() -> Event? {
    if !events.isEmpty { return events.removeFirst() }
    guard let end, !hasReturnedEnd else { return nil }
    hasReturnedEnd = true
    return Event(NAVD_EVENT_CLOSED, error: end)
  }

  /// Ends the client; each submitted change gets an answer with the failure.
  mutating func finish(_ failure: Failure) {
    guard end == nil else { return }
    var answer = failure
    answer.mayHaveHappened = true
    for id in submitted.sorted() {
      events.append(Event(NAVD_EVENT_ANSWER, id: id, error: answer))
    }
    submitted = []
    end = failure
  }

  /// The id of the question that a program answers; nil if the question has ended.
  mutating func takeQuestion(_ id: UInt64) -> AskID? {
    guard let question = questions[id] else { return nil }
    if !question.isVeto { questions[id] = nil }
    return question.ask
  }

  mutating func handle(_ event: SessionEvent) {
    switch event {
    case .opened(let welcome):
      events.append(
        Event(
          NAVD_EVENT_CONNECTED,
          [
            "server": .string(welcome.server), "boot": .string(welcome.boot.text),
            "role": .string(welcome.role),
            "features": .array(welcome.features.map { .string($0) }),
          ]))
    case .lost: events.append(Event(NAVD_EVENT_DISCONNECTED))
    case .answered(let id, let result):
      guard submitted.remove(id) != nil else { return }
      switch result {
      case .success(let reply):
        events.append(Event(NAVD_EVENT_ANSWER, nav: reply.nav, id: id, reply.members))
      case .failure(let refusal):
        events.append(
          Event(NAVD_EVENT_ANSWER, nav: refusal.nav, id: id, error: Failure(refusal)))
      }
    case .queued(let id, let position) where submitted.contains(id):
      events.append(Event(NAVD_EVENT_QUEUED, id: id, ["pos": .integer(position)]))
    case .changed(let nav, let change): handle(change, of: nav)
    case .ephemeral(let event):
      events.append(
        Event(
          NAVD_EVENT_ACTIVITY, nav: event.nav,
          [
            "epoch": .string(event.epoch.text), "rev": .integer(event.revision.number),
            "ev": event.events,
          ]))
    case .watchEnded(let nav, .full, let outcome):
      let isClosed = if case .ended("closed", _) = outcome { true } else { false }
      if !isClosed || watchWaitsForNext[nav] != true { watchWaitsForNext[nav] = nil }
      events += results.endWatch(of: nav)
      events.append(Event(NAVD_EVENT_ENDED, nav: nav, error: Failure(outcome)))
    case .duty(let event): handle(event)
    // The client watches no other view, and the connection throws its end.
    case .watchEnded, .latest, .traced, .closed, .queued: break
    }
  }

  private mutating func handle(_ change: MirrorChange, of nav: String) {
    switch change {
    case .applied(let mirror, let diff):
      let event = Event(nav, mirror, [diff])
      // States that wait join, so that a slow program is not behind for long.
      if let joined = events.last?.joined(with: event) {
        events[events.count - 1] = joined
      } else {
        events.append(event)
      }
      events += results.handle(nav, mirror, diff)
    case .replaced(let mirror, let why):
      events.append(Event(nav, mirror, why: why ?? "join"))
      events += results.handle(nav, mirror, nil)
    case .resumed(let mirror): events.append(Event(nav, mirror))
    case .suspect: events.append(Event(NAVD_EVENT_SUSPECT, nav: nav))
    case .proven: break
    }
  }

  private mutating func handle(_ event: DutyEvent) {
    switch event {
    case .registered(let nav, let roles):
      let names = DelegateRole.allCases.filter { roles.contains($0) }.map(\.rawValue)
      events.append(
        Event(
          NAVD_EVENT_ROLES, nav: nav,
          [
            "status": .string(roles.isEmpty ? "ended" : "active"),
            "roles": .array(names.map { .string($0) }),
          ]))
    case .registrationRefused(let nav, let refusal): append(NAVD_EVENT_ROLES, nav, "ended", refusal)
    case .interrupted(let nav): append(NAVD_EVENT_ROLES, nav, "interrupted")
    case .leaseTaken(let nav, let owner):
      events.append(
        Event(
          NAVD_EVENT_DISPLAY, nav: nav,
          ["status": .string("active"), "owner": owner.map { .string($0) }]))
    case .leaseRefused(let nav, let refusal): append(NAVD_EVENT_DISPLAY, nav, "ended", refusal)
    case .leaseLost(let nav, isTakenAgain: true): append(NAVD_EVENT_DISPLAY, nav, "interrupted")
    case .leaseLost(let nav, isTakenAgain: false):
      let refusal = ErrReply(
        byClient: OutgoingError(.leaseLost, "the display of \(nav) was lost"))
      append(NAVD_EVENT_DISPLAY, nav, "ended", refusal)
    case .leaseReleased(let nav): append(NAVD_EVENT_DISPLAY, nav, "ended")
    case .asked(let id, let ask):
      questionCount += 1
      questions[questionCount] = (id, ask.question.isVeto)
      events.append(
        Event(NAVD_EVENT_QUESTION, nav: ask.nav, id: questionCount, ask.members))
    case .settled(let id, let nav, let settlement):
      endQuestion(id, nav, settlement.outcome, by: settlement.deniedBy)
    case .voided(let id, let nav): endQuestion(id, nav, "void", by: nil)
    }
  }

  private mutating func append(
    _ kind: navd_kind, _ nav: String, _ status: String, _ refusal: ErrReply? = nil
  ) {
    events.append(
      Event(kind, nav: nav, ["status": .string(status)], error: refusal.map { Failure($0) }))
  }

  private mutating func endQuestion(_ ask: AskID, _ nav: String, _ outcome: String, by: String?) {
    guard let id = questions.first(where: { $0.value.ask == ask })?.key else { return }
    questions[id] = nil
    events.append(
      Event(
        NAVD_EVENT_SETTLED, nav: nav, id: id,
        ["outcome": .string(outcome), "by": by.map { .string($0) }]))
  }
}

extension Failure {
  fileprivate init(_ outcome: WatchOutcome) {
    switch outcome {
    case .refused(let refusal): self.init(refusal)
    case .ended("closed", _):
      self.init(
        NAVD_REFUSED, "closed", "the nav was closed",
        advice: "stop showing it; a watch with wait goes on when it exists again")
    case .ended("forbidden", _):
      self.init(
        NAVD_REFUSED, "forbidden", "the right to read the nav has ended",
        advice: ErrorCode.forbidden.row.developerAdvice)
    case .ended(let why, let endpoint):
      self.init(
        NAVD_REFUSED, why, endpoint.map { "the nav is at \($0)" } ?? "the watch is over",
        advice: "watch the nav again")
    }
  }
}
