import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// One error code: what a client may conclude from it, and a way to get it.
struct Provocation: Sendable, CustomTestStringConvertible {
  var code: ErrorCode
  var effect: String
  var retry: String
  var exit: Int32
  var provoke: @Sendable () throws -> Sent?

  init(
    _ code: ErrorCode, _ retry: String, _ exit: Int32, effect: String = "none",
    _ provoke: @escaping @Sendable () throws -> Sent?
  ) {
    (self.code, self.effect, self.retry, self.exit) = (code, effect, retry, exit)
    self.provoke = provoke
  }

  var testDescription: String { code.rawValue }

  /// A code that an op on a nav with A and B gets, behind ops that prepare for it.
  init(
    _ code: ErrorCode, _ retry: String, _ exit: Int32, _ op: String, _ more: String = Stage.any,
    after: [String] = [], settings: String = "", nav: String = "kiosk"
  ) {
    self.init(code, retry, exit) {
      let stage = try Stage(["A", "B"], settings, world: Self.world())
      for op in after { try stage.owner.must(op, Stage.any) }
      return try stage.owner.op(op, nav: nav, more)
    }
  }

  static func world() -> World {
    World {
      $0.isBarByClass = ["MyTool": false]
      $0.nav.stackDepth = 4
    }
  }

  private static let presented = [Stage.present("M")]
  private static let hud = #"{"nav.create":{"kind":"bar"}},{"pushItem":{"item":"zoo"}}"#

  static let all = messages + loads + rules

  static let messages: [Provocation] = [
    Provocation(.badFrame, "no", 7) {
      let client = try World().client()
      return try client.world.turn([client.withWrongFrames]).first
    },
    Provocation(.badJSON, "no", 7) { try World().client().ask("op", "{") },
    Provocation(.badVerb, "no", 7) { try World().client().ask("fly", #"{"id":1}"#) },
    Provocation(.version, "no", 7) {
      try Client(World()).ask(
        "hello", #"{"ver":[9,9],"client":"\#(Client(World()).client)","nonce":"n"}"#)
    },
    Provocation(.noSession, "same", 7) { try Client(World()).ask("watch", #"{"id":1,"nav":"x"}"#) },
    Provocation(.fenced, "no", 5) {
      let world = World()
      let client = try world.kiosk()
      try Client(world, 2, client: client.client).hello()
      return try client.op(#"{"attach":{}}"#)
    },
    Provocation(.unsupported, "no", 2, #"{"nav.fly":{}}"#),
    Provocation(.forbidden, "no", 5) {
      let stage = try Stage()
      return try stage.world.client(7, user: 2000).op(#"{"nav.close":{}}"#, Stage.any)
    },
    Provocation(.leaseLost, "resync", 5) {
      let stage = try Stage()
      try stage.lease(stage.owner)
      return try stage.viewer.op(#"{"env.set":{"scale":3}}"#)
    },
    Provocation(.expired, "no", 4, Stage.push("C"), #""due":1"#),
    Provocation(.opReused, "no", 2) {
      let stage = try Stage()
      try stage.done(Stage.push("C"))
      stage.owner.id -= 1
      return try stage.owner.op(Stage.push("D"))
    },
    Provocation(.opTooOld, "resync", 3, effect: "unknown") {
      let stage = try Stage()
      stage.owner.id = 1000
      for _ in 0..<65 { try stage.owner.must(#"{"attach":{}}"#) }
      stage.owner.id = 900
      return try stage.owner.op(#"{"attach":{}}"#)
    },
    Provocation(.noNav, "no", 6, #"{"attach":{}}"#, nav: "zoo"),
    Provocation(.navExists, "no", 1, #"{"nav.create":{"root":{"id":"A"}}}"#),
    // Reserved: a client understands it, and no daemon sends it yet.
    Provocation(.moved, "same", 7) { nil },
  ]

  static let loads: [Provocation] = [
    Provocation(.busy, "later", 4) {
      let client = try World { $0.opsPerSecond = 1 }.kiosk()
      return try client.op(#"{"attach":{}}"#)
    },
    Provocation(
      .limit, "no", 1, [Stage.push("C"), Stage.push("D"), Stage.push("E")].joined(separator: ",")),
    Provocation(.frozen, "later", 8) {
      let stage = try Stage(world: World(inspections: planted))
      try stage.send(stage.owner, Stage.push("bug"))
      return try stage.owner.op(Stage.push("C"))
    },
    Provocation(.shuttingDown, "later", 4) {
      let stage = try Stage()
      try stage.world.turn([.stop])
      return try stage.owner.op(Stage.push("C"), #""client":"\#(stage.owner.client)""#)
    },
    Provocation(.storage, "later", 8) {
      let stage = try Stage()
      stage.world.journal.isFailing = true
      return try stage.owner.op(Stage.push("C"))
    },
    // What is thrown away for certain is known to have had no effect.
    Provocation(.internal, "resync", 8) {
      let stage = try Stage(world: World(inspections: planted))
      return try stage.owner.op(Stage.push("bug"))
    },
    Provocation(.queueFull, "later", 4) {
      let stage = try Stage(["A", "B"], #""queue":1"#)
      try stage.animate("C")
      try stage.send(stage.owner, Stage.push("D"), Stage.queued)
      return try stage.owner.op(Stage.push("E"), Stage.queued)
    },
    Provocation(.transitionInProgress, "later", 4) {
      let stage = try Stage()
      try stage.animate("C")
      return try stage.owner.op(Stage.push("D"))
    },
    Provocation(.vetoed, "no", 1) {
      let stage = try Stage()
      try stage.delegate(stage.viewer, "veto")
      try stage.send(stage.owner, Stage.push("C"))
      return try stage.answer(stage.viewer, "false").to(stage.owner).last
    },
    Provocation(.delegateTimeout, "same", 4, Stage.pop, settings: #""veto":{"required":true}"#),
    Provocation(.gestureRefused, "no", 1, Stage.begin, after: [Stage.pop]),
    Provocation(.gestureOwner, "no", 5) {
      let stage = try Stage()
      try stage.done(Stage.begin)
      return try stage.viewer.op(Stage.cancel)
    },
  ]

  static let rules: [Provocation] = [
    Provocation(.desync, "resync", 3, Stage.pop, Stage.guarded(top: "A")),
    Provocation(.guardRequired, "no", 2, Stage.pop, #""animated":false"#),
    Provocation(.barManaged, "no", 1, #"{"popItem":{}}"#),
    Provocation(.barDelegateManaged, "no", 1, #"{"bar.set":{"delegate":"x"}}"#),
    Provocation(.readonly, "no", 1, #"{"bar.set":{"frame":[0]}}"#),
    Provocation(.nilScreen, "no", 2, #"{"push":{}}"#),
    Provocation(.unknownScreen, "no", 6, #"{"push":{"screen":"zoo"}}"#),
    Provocation(.unknownItem, "no", 6, hud, nav: "hud"),
    Provocation(.unknownButton, "no", 6, #"{"button.activate":{"button":"zoo"}}"#),
    Provocation(.forbiddenKind, "no", 1, #"{"push":{"screen":{"kind":"tabBar"}}}"#),
    Provocation(.ownedElsewhere, "no", 1, #"{"push":{"screen":"M"}}"#, after: presented),
    Provocation(.duplicateScreen, "no", 1, #"{"push":{"screen":"A"}}"#),
    Provocation(.duplicateInSet, "no", 1, Stage.setStack("A", "A")),
    Provocation(
      .duplicateItem, "no", 1, #"{"item.set":{"screen":"A","leftItems":["x","x"]}}"#,
      after: [#"{"button.create":{"id":"x","title":"X"}}"#]),
    Provocation(
      .itemBothSides, "no", 1, #"{"item.set":{"screen":"A","leftItems":["x"],"rightItems":["x"]}}"#,
      after: [#"{"button.create":{"id":"x","title":"X"}}"#]),
    Provocation(.notInStack, "resync", 6, #"{"popTo":{"screen":"B"}}"#, after: [Stage.pop]),
    Provocation(.noRoot, "no", 1, Stage.setStack()),
    Provocation(
      .covered, "resync", 1, #"{"ui.backTap":{}}"#,
      after: [#"{"present":{"screen":{"id":"M"}}}"#]),
    Provocation(.noBackButton, "no", 1, #"{"ui.backTap":{}}"#, after: [Stage.pop]),
    Provocation(
      .popBlocked, "no", 1, #"{"ui.backTap":{}}"#,
      after: [#"{"screen.set":{"screen":"B","canPop":false}}"#]),
    Provocation(
      .dismissBlocked, "no", 1, #"{"ui.dismiss":{}}"#, Stage.any,
      after: [#"{"present":{"screen":{"id":"F"},"style":"fullScreen"}}"#]),
    Provocation(
      .alreadyPresenting, "no", 1, #"{"present":{"screen":{"id":"N"},"from":"B"}}"#,
      after: presented),
    Provocation(.alreadyActive, "no", 1, #"{"present":{"screen":"A"}}"#),
    Provocation(
      .classUnknown, "no", 2, #"{"nav.create":{"classes":{"bar":"Zoo"}}}"#, nav: "zoo"),
    Provocation(
      .classInvalid, "no", 2, #"{"nav.create":{"classes":{"bar":"MyTool"}}}"#, nav: "zoo"),
    Provocation(.invalidArgument, "no", 2, #"{"push":{"screen":{"id":"-"}}}"#),
    Provocation(.noRoute, "no", 6, #"{"open":{"route":"zoo"}}"#),
    Provocation(.restoreFailed, "no", 1, #"{"restore":{"payload":{"v":2}}}"#),
    Provocation(.compacted, "no", 6, #"{"revert":{"rev":99}}"#),
  ]

  private static var planted: Inspections {
    var inspections = Inspections()
    inspections.stateInspection = { $0.stack.contains { $0.id.text == "bug" } ? ["planted"] : [] }
    return inspections
  }
}

@Suite struct ErrorCodeTests {
  @Test(arguments: Provocation.all)
  func `each error can be provoked, and says what may be done`(row: Provocation) throws {
    #expect(row.code.retry.rawValue == row.retry)
    #expect(row.code.exitStatus == row.exit)
    guard let sent = try row.provoke() else {
      #expect(row.code == .moved)
      return try readsMoved()
    }
    #expect(sent.verb == .err)
    #expect(sent.code == row.code.rawValue, "\(sent.text)")
    #expect(sent.json["effect"] as? String == row.effect)
    #expect(row.code.effect.rawValue == row.effect, "what `navctl explain` prints")
    #expect(sent.json["retry"] as? String == row.retry)
    #expect((sent.json["msg"] as? String)?.isEmpty == false)
    // Whoever shall come later is told when.
    if row.retry == "later" { #expect(sent.json["after"] is Int, "\(sent.text)") }
  }

  @Test func `no error is without a way to provoke it`() {
    #expect(
      Provocation.all.map(\.code.rawValue).sorted() == ErrorCode.allCases.map(\.rawValue).sorted())
  }

  private func readsMoved() throws {
    var reader = ServerMessageReader()
    let body =
      #"{"id":3,"code":"moved","msg":"m","effect":"none","retry":"same","endpoint":"ipc:///x"}"#
    guard
      case .err(let error) = try reader.read(
        verb: ServerVerb.err.frame, body: Array(body.utf8))
    else {
      Issue.record("not read")
      return
    }
    #expect(error.knownCode == .moved)
  }
}
