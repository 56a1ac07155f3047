@testable import NavigationCore
import NavigationClient
import Testing

@Suite struct DutyTests {
  private typealias Rig = SessionReplicaTests.Rig

  private static func registered(_ roles: DelegateRole...) -> DutyEvent {
    .registered(nav: "kiosk", roles: Set(roles))
  }

  private static func ask(_ number: UInt64, _ question: String, within: UInt64 = 2000) -> String {
    #"{"ask":\#(number),"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":22,"within":\#(within),"q":\#(question)}"#
  }

  private static let mayPop = #"{"shouldPop":{"screen":"wifi","cause":"backButton"}}"#

  private static func refusal(_ id: UInt64, _ code: String, _ retry: String, more: String = "")
    -> String
  {
    #"{"id":\#(id),"code":"\#(code)","msg":"","effect":"none","retry":"\#(retry)"\#(more)}"#
  }

  /// A session that plays a role.
  private func rig(_ roles: Set<DelegateRole> = [.veto]) throws -> Rig {
    var rig = Rig()
    _ = try rig.open()
    let sent = try #require(
      rig.session.delegate("kiosk", DelegateRegistration(roles: roles)).sent.first)
    _ = try rig.receive(.ok, #"{"id":\#(sent.id),"nav":"kiosk"}"#)
    return rig
  }

  private func asked(_ outputs: [SessionOutput]) throws -> (AskID, Ask) {
    guard case .asked(let id, let ask)? = outputs.duties.first else {
      throw Unexpected(what: "\(outputs)")
    }
    return (id, ask)
  }

  @Test func `roles are written in one order, orientations with their role`() throws {
    var rig = Rig()
    _ = try rig.open()
    let registration = DelegateRegistration(
      roles: [.orientation, .veto], supportedOrientations: ["portrait", "landscapeLeft"],
      preferredOrientation: "portrait")
    let sent = try #require(rig.session.delegate("kiosk", registration).sent.first)
    #expect(sent.verb == .delegate)
    #expect(
      sent.body
        == #"{"id":\#(sent.id),"nav":"kiosk","roles":["veto","orientation"],"orientations":{"supported":["portrait","landscapeLeft"],"preferred":"portrait"}}"#
    )
    let done = try rig.receive(.ok, #"{"id":\#(sent.id),"nav":"kiosk"}"#)
    #expect(done.duties == [Self.registered(.veto, .orientation)])
  }

  @Test func `roles are registered again in every session, behind watches and before ops`() throws {
    var rig = try rig([.veto, .animator])
    _ = rig.session.watch("kiosk")
    _ = rig.perform()
    _ = rig.session.disconnected()
    let sent = try rig.open().sent
    #expect(sent.map(\.verb) == [.watch, .delegate, .op])
    #expect(sent[1].body.contains(#""roles":["veto","animator"]"#))
    let done = try rig.receive(.ok, #"{"id":\#(sent[1].id),"nav":"kiosk"}"#)
    #expect(done.duties == [Self.registered(.veto, .animator)])
  }

  @Test func `roles given up are not registered again`() throws {
    var rig = try rig()
    let question = try asked(rig.receive(.ask, Self.ask(7, Self.mayPop)))
    let outputs = rig.session.delegate("kiosk", DelegateRegistration(roles: []))
    #expect(outputs.duties == [.voided(question.0, nav: "kiosk")])
    let sent = try #require(outputs.sent.first)
    #expect(sent.body.contains(#""roles":[]"#))
    #expect(try rig.receive(.ask, Self.ask(8, Self.mayPop)).isEmpty)
    #expect(
      try rig.receive(.ok, #"{"id":\#(sent.id),"nav":"kiosk"}"#).duties == [Self.registered()])
    _ = rig.session.disconnected()
    #expect(try rig.open().sent.isEmpty)
  }

  @Test func `roles given up as the session is lost are given up`() throws {
    var rig = try rig()
    _ = rig.session.delegate("kiosk", DelegateRegistration(roles: []))
    #expect(rig.session.disconnected().duties == [Self.registered()])
    #expect(
      rig.session.delegate("kiosk", DelegateRegistration(roles: [])).duties
        == [Self.registered()])
  }

  @Test func `refused roles are told once, postponed ones asked for again`() throws {
    var rig = Rig()
    _ = try rig.open()
    let registration = DelegateRegistration(roles: [.veto])
    let first = try #require(rig.session.delegate("kiosk", registration).sent.first)
    let busy = Self.refusal(first.id, "busy", "later", more: #","after":300"#)
    #expect(try rig.receive(.err, busy).isEmpty)
    #expect(rig.session.tick(at: rig.now + 299).isEmpty)
    #expect((rig.session.wakeAt ?? 0) <= rig.now + 400)
    let again = try #require(rig.session.tick(at: rig.now + 400).sent.first)
    #expect(again.verb == .delegate)
    let refused = try rig.receive(.err, Self.refusal(again.id, "no-nav", "no"))
    guard case .registrationRefused("kiosk", let refusal)? = refused.duties.first else {
      Issue.record("told \(refused)")
      return
    }
    #expect(refusal.knownCode == .noNav)
    _ = rig.session.disconnected()
    #expect(try rig.open().sent.isEmpty)
  }

  @Test func `an answer to roles that were replaced says nothing`() throws {
    var rig = Rig()
    _ = try rig.open()
    let old = try #require(
      rig.session.delegate("kiosk", DelegateRegistration(roles: [.veto])).sent.first)
    let new = try #require(
      rig.session.delegate("kiosk", DelegateRegistration(roles: [.animator])).sent.first)
    #expect(try rig.receive(.err, Self.refusal(old.id, "no-nav", "no")).isEmpty)
    let done = try rig.receive(.ok, #"{"id":\#(new.id),"nav":"kiosk"}"#)
    #expect(done.duties == [Self.registered(.animator)])
  }

  @Test(arguments: [
    (mayPop, Question.shouldPop(screen: "wifi", cause: "backButton")),
    (#"{"shouldPush":{"screen":"dns"}}"#, .shouldPush(screen: "dns")),
    (
      #"{"animatorFor":{"op":"push","from":"wifi","to":"dns"}}"#,
      .animatorFor(operation: "push", from: "wifi", to: "dns")
    ),
    (
      #"{"animatorFor":{"op":"pop","from":"wifi","to":null}}"#,
      .animatorFor(operation: "pop", from: "wifi", to: nil)
    ),
    (#"{"interactionFor":{"animator":"fade"}}"#, .interactionFor(animator: "fade")),
    (#"{"shouldDance":{"tune":"waltz"}}"#, .unknown("shouldDance")),
  ])
  func `a question is typed, and says what it is about and how long there is`(
    json: String, question: Question
  ) throws {
    var rig = try rig()
    let (id, ask) = try asked(rig.receive(.ask, Self.ask(7, json)))
    #expect(id == AskID(session: 1, number: 7))
    #expect(
      ask
        == Ask(
          number: 7, nav: "kiosk", epoch: Epoch(bits: 0xc0ff_ee12_c0ff_ee12),
          revision: Revision(22), withinMilliseconds: 2000, question: question))
  }

  @Test(arguments: [
    #"{"shouldPop":{}}"#, "{}", "7", #"{"shouldPush":{"screen":"a"},"shouldPop":{"screen":"a"}}"#,
    #"{"animatorFor":{}}"#, #"{"interactionFor":{"animator":3}}"#,
  ])
  func `a question that is none cannot be read`(json: String) {
    #expect(throws: ServerMessageFailure.self) { try read(.ask, Self.ask(7, json)) }
  }

  @Test func `a question is answered once, and its end told`() throws {
    var rig = try rig()
    let (id, _) = try asked(rig.receive(.ask, Self.ask(7, Self.mayPop)))
    #expect(try rig.receive(.ask, Self.ask(7, Self.mayPop)).isEmpty)
    let sent = rig.session.answer(id, value: Array("false".utf8)).sent
    #expect(sent.map(\.verb) == [.answer])
    #expect(sent.map(\.body) == [#"{"ask":7,"value":false}"#])
    #expect(rig.session.answer(id, value: Array("true".utf8)).isEmpty)
    let end = try rig.receive(.settled, #"{"ask":7,"outcome":"denied","by":"shell"}"#)
    let settlement = VetoSettlement(number: 7, outcome: "denied", deniedBy: "shell")
    #expect(end.duties == [.settled(id, nav: "kiosk", settlement)])
    #expect(try rig.receive(.settled, #"{"ask":7,"outcome":"denied"}"#).isEmpty)
  }

  @Test func `after its end a question is not answered any more`() throws {
    var rig = try rig()
    let (id, _) = try asked(rig.receive(.ask, Self.ask(7, Self.mayPop)))
    _ = try rig.receive(.settled, #"{"ask":7,"outcome":"timeout"}"#)
    #expect(rig.session.answer(id, value: Array("true".utf8)).isEmpty)
  }

  @Test func `the answer to a question of an earlier session is dropped`() throws {
    var rig = try rig()
    let (old, _) = try asked(rig.receive(.ask, Self.ask(7, Self.mayPop)))
    #expect(
      rig.session.disconnected().duties == [.voided(old, nav: "kiosk"), .interrupted(nav: "kiosk")])
    #expect(rig.session.answer(old, value: Array("true".utf8)).isEmpty)
    _ = try rig.open()
    let (new, _) = try asked(rig.receive(.ask, Self.ask(7, Self.mayPop)))
    #expect(new != old)
    #expect(rig.session.answer(old, value: Array("true".utf8)).isEmpty)
    #expect(rig.session.answer(new, value: Array("true".utf8)).sent.count == 1)
  }

  @Test func `a question that the daemon forgot is void some time after its time is up`() throws {
    var rig = try rig()
    let (id, _) = try asked(rig.receive(.ask, Self.ask(7, Self.mayPop)))
    let end = rig.now + 2000 + 5000
    #expect(rig.session.wakeAt == end)
    #expect(rig.session.tick(at: end - 1).isEmpty)
    #expect(rig.session.tick(at: end).duties == [.voided(id, nav: "kiosk")])
    #expect(rig.session.answer(id, value: Array("true".utf8)).isEmpty)
    #expect(try !rig.receive(.ask, Self.ask(8, Self.mayPop, within: .max >> 11)).isEmpty)
  }

  @Test func `questions cost no credit`() throws {
    var rig = try rig()
    for number in 0..<1000 as Range<UInt64> {
      _ = try rig.receive(.ask, Self.ask(number, Self.mayPop))
    }
    #expect(rig.session.grantCredit().isEmpty)
  }
}

extension DutyTests {
  private func held(isKept: Bool = false, _ wish: LeaseAction = .take) throws -> Rig {
    var rig = Rig()
    _ = try rig.open()
    let sent = try #require(rig.session.lease("kiosk", wish, isKept: isKept).sent.first)
    let taken = try rig.receive(.ok, #"{"id":\#(sent.id),"nav":"kiosk","owner":"t"}"#)
    #expect(taken.duties == [.leaseTaken(nav: "kiosk", owner: "t")])
    #expect(rig.session.holdsLease(of: "kiosk"))
    return rig
  }

  @Test func `a lease is taken, by force only if that is said, and given back`() throws {
    var rig = Rig()
    _ = try rig.open()
    let take = try #require(rig.session.lease("kiosk", .take).sent.first)
    #expect(take.verb == .lease)
    #expect(take.body == #"{"id":\#(take.id),"nav":"kiosk","take":true}"#)
    let force = try #require(rig.session.lease("kiosk", .force).sent.first)
    #expect(force.body == #"{"id":\#(force.id),"nav":"kiosk","take":true,"force":true}"#)
    let release = try #require(rig.session.lease("kiosk", .release).sent.first)
    #expect(release.body == #"{"id":\#(release.id),"nav":"kiosk","take":false}"#)
    let done = try rig.receive(.ok, #"{"id":\#(release.id),"nav":"kiosk"}"#)
    #expect(done.duties == [.leaseReleased(nav: "kiosk")])
    #expect(!rig.session.holdsLease(of: "kiosk"))
  }

  @Test func `a lost session loses the lease, and says so`() throws {
    var rig = try held()
    let lost = rig.session.disconnected().duties
    #expect(lost == [.leaseLost(nav: "kiosk", isTakenAgain: false)])
    #expect(!rig.session.holdsLease(of: "kiosk"))
    #expect(try rig.open().sent.isEmpty)
  }

  @Test func `a lease that is kept is taken again, without force`() throws {
    var rig = try held(isKept: true, .force)
    let lost = rig.session.disconnected().duties
    #expect(lost == [.leaseLost(nav: "kiosk", isTakenAgain: true)])
    let sent = try #require(try rig.open().sent.first)
    #expect(sent.body == #"{"id":\#(sent.id),"nav":"kiosk","take":true}"#)
    let refused = try rig.receive(.err, Self.refusal(sent.id, "lease-lost", "resync"))
    guard case .leaseRefused("kiosk", let refusal)? = refused.duties.first else {
      Issue.record("told \(refused)")
      return
    }
    #expect(refusal.knownCode == .leaseLost)
    _ = rig.session.disconnected()
    #expect(try rig.open().sent.isEmpty)
  }

  @Test func `a lease that was asked for at a loss is asked for again, without force`() throws {
    var rig = Rig()
    #expect(rig.session.lease("kiosk", .force).isEmpty)
    #expect(try rig.open().sent.map(\.verb) == [.lease])
    #expect(rig.session.disconnected().duties.isEmpty)
    let again = try #require(try rig.open().sent.first)
    #expect(again.body == #"{"id":\#(again.id),"nav":"kiosk","take":true}"#)
  }

  @Test func `a lease that the daemon ends is lost, and not taken again`() throws {
    for code in ["lease-lost", "forbidden", "no-nav"] {
      var rig = try held(isKept: true)
      let outputs = try rig.receive(.lost, Self.loss("lease", code))
      switch outputs.duties.first {
      case .leaseLost("kiosk", isTakenAgain: false)?: #expect(code == "lease-lost")
      case .leaseRefused("kiosk", let error)?: #expect(error.code == code && code != "lease-lost")
      default: Issue.record("\(code): \(outputs)")
      }
      #expect(!rig.session.holdsLease(of: "kiosk") && outputs.sent.isEmpty)
      #expect(try rig.receive(.lost, Self.loss("lease", code)).isEmpty)
      _ = rig.session.disconnected()
      #expect(try rig.open().sent.isEmpty)
    }
  }

  @Test func `the answer to a lease decides if the loss of an earlier one comes before it`() throws
  {
    for isRefused in [false, true] {
      var rig = try held()
      let again = try #require(rig.session.lease("kiosk", .force).sent.first)
      #expect(try rig.receive(.lost, Self.loss("lease", "lease-lost")).isEmpty)
      #expect(!rig.session.holdsLease(of: "kiosk"))
      if isRefused {
        let refused = try rig.receive(.err, Self.refusal(again.id, "lease-lost", "resync"))
        guard case .leaseRefused("kiosk", _)? = refused.duties.first else {
          Issue.record("told \(refused)")
          continue
        }
      } else {
        let taken = try rig.receive(.ok, #"{"id":\#(again.id),"nav":"kiosk","owner":"t"}"#)
        #expect(taken.duties == [.leaseTaken(nav: "kiosk", owner: "t")])
      }
      #expect(rig.session.holdsLease(of: "kiosk") == !isRefused)
    }
  }

  @Test func `roles that the daemon ends are refused, and their questions are void`() throws {
    var rig = Rig()
    _ = try rig.open()
    let roles = DelegateRegistration(roles: [.veto])
    let sent = try #require(rig.session.delegate("kiosk", roles).sent.first)
    let loss = Self.loss("delegate", "forbidden")
    #expect(try rig.receive(.lost, loss).isEmpty, "the answer decides")
    _ = try rig.receive(.ok, #"{"id":\#(sent.id),"nav":"kiosk"}"#)
    #expect(try rig.receive(.ask, Self.ask(1, Self.mayPop)).duties.count == 1)
    let ended = try rig.receive(.lost, loss).duties
    guard case .voided(_, "kiosk")? = ended.first,
      case .registrationRefused("kiosk", let refusal)? = ended.last
    else {
      Issue.record("told \(ended)")
      return
    }
    #expect(refusal.knownCode == .forbidden && ended.count == 2)
    _ = rig.session.disconnected()
    #expect(try rig.open().sent.isEmpty)
  }

  private static func loss(_ what: String, _ code: String) -> String {
    #"{"nav":"kiosk","of":"\#(what)","code":"\#(code)","msg":"why"}"#
  }

  @Test func `a session that is over for good loses everything`() throws {
    var rig = try held(isKept: true)
    let end = try rig.receive(.bye, #"{"why":"revoked"}"#)
    #expect(end.duties == [.leaseLost(nav: "kiosk", isTakenAgain: false)])
    #expect(rig.session.connected(at: 0).isEmpty)
  }
}

extension [SessionOutput] {
  var duties: [DutyEvent] {
    compactMap { if case .event(.duty(let event)) = $0 { event } else { nil } }
  }
}
