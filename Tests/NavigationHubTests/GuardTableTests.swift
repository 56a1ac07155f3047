import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// The guards that operations require, and the order in which guards fail, by protocol.md §9.2.
@Suite struct GuardTableTests {
  /// Each operation with arguments, and the guards that the policy `removal` requires of it.
  private static let operations: [(op: String, needs: [String])] = {
    let position = ["top", "rev", "dig", "stack"]
    let whole = ["rev", "dig", "stack"]
    let none: [String] = []
    return [
      (#"{"pop":{}}"#, position), (#"{"ui.backTap":{}}"#, position),
      (#"{"gesture.begin":{"kind":"edge"}}"#, position),
      (#"{"setStack":{"screens":["A"]}}"#, whole), (#"{"open":{"route":"r"}}"#, whole),
      (#"{"restore":{"payload":{}}}"#, whole), (#"{"revert":{"rev":1}}"#, whole),
      (#"{"nav.close":{}}"#, whole), (#"{"popTo":{"screen":"A"}}"#, none),
      (#"{"popToRoot":{}}"#, none), (#"{"push":{"screen":"A"}}"#, none),
      (#"{"replace":{"with":{"id":"n"}}}"#, position),
      (#"{"replace":{"with":{"id":"n"},"screen":"A"}}"#, none),
      (#"{"insert":{"screen":{"id":"n"},"at":0}}"#, whole),
      (#"{"insert":{"screen":{"id":"n"},"below":"A"}}"#, none),
      (#"{"insert":{"screen":{"id":"n"},"above":"A"}}"#, none),
      (#"{"remove":{"screens":["A"]}}"#, none),
      (#"{"popTo":{"screen":"B","inclusive":true}}"#, none),
      (#"{"push":{"screen":"A","onDuplicate":"popTo"}}"#, none),
      (#"{"show":{"screen":"A"}}"#, none), (#"{"segue":{"kind":"show","screen":"A"}}"#, none),
      (#"{"present":{"screen":"A"}}"#, none), (#"{"dismiss":{}}"#, none),
      (#"{"nav.configure":{"queue":1}}"#, none), (#"{"attach":{}}"#, none),
      (#"{"detach":{}}"#, none), (#"{"screen.create":{"id":"n"}}"#, none),
      (#"{"screen.set":{"screen":"A","title":"t"}}"#, none),
      (#"{"screen.release":{"screen":"A"}}"#, none),
      (#"{"item.set":{"screen":"A","title":"t"}}"#, none),
      (#"{"button.create":{"id":"b","title":"t"}}"#, none),
      (#"{"button.set":{"button":"b","title":"t"}}"#, none),
      (#"{"button.release":{"button":"b"}}"#, none),
      (#"{"button.activate":{"button":"b"}}"#, none),
      (#"{"bar.set":{"tintColor":"red"}}"#, none),
      (#"{"toolbar.set":{"tintColor":"red"}}"#, none),
      (#"{"bar.setHidden":{"hidden":true}}"#, none),
      (#"{"toolbar.setHidden":{"hidden":true}}"#, none),
      (#"{"appearance.set":{"slot":"compact","object":{}}}"#, none),
      (#"{"ui.tap":{}}"#, none),
      (#"{"ui.swipe":{"dir":"up"}}"#, none), (#"{"gesture.update":{"value":0}}"#, none),
      (#"{"gesture.finish":{}}"#, none), (#"{"gesture.cancel":{}}"#, none),
      (#"{"transition.complete":{"tid":1}}"#, none), (#"{"env.set":{"keyboard":true}}"#, none),
      (#"{"ui.backMenu":{"screen":"A"}}"#, none),
    ]
  }()

  /// The operations on items, which only a nav of kind `bar` takes.
  private static let items: [(op: String, needs: [String])] = [
    (#"{"popItem":{}}"#, ["top", "rev", "dig", "stack"]),
    (#"{"setItems":{"items":null}}"#, ["rev", "dig", "stack"]),
    (#"{"pushItem":{"item":{}}}"#, []),
  ]

  /// Each guard with a value that holds of no nav here, and no guard.
  private static let guards: [(name: String, member: String)] = [
    ("", ""), ("any", #""any":true"#), ("epoch", #""epoch":"0000000000000000""#),
    ("rev", #""rev":999"#), ("dig", #""dig":"000000000000000000000000""#), ("top", #""top":"zoo""#),
    ("stack", #""stack":["zoo"]"#), ("has", #""has":["zoo"]"#),
  ]

  @Test(arguments: ["none", "removal", "all"])
  func `an operation requires the guards of the table, or that they are overridden`(
    policy: String
  ) throws {
    let stage = try Stage(["A", "B"])
    try stage.owner.must(
      #"{"nav.create":{"kind":"bar","settings":{"guard":"\#(policy)"}}}"#, nav: "bar")
    try stage.owner.must(#"{"nav.configure":{"guard":"\#(policy)"}}"#, Stage.any)
    let before = try stage.world.standing("kiosk")
    for (name, member) in Self.guards {
      // The depth is no guard of the table: it only keeps what is allowed from being done.
      let more = #""if":{\#(member.isEmpty ? "" : "\(member),")"depth":99}"#
      for (nav, list) in [("kiosk", Self.operations), ("bar", Self.items)] {
        let events = list.map {
          stage.owner.message("op", stage.owner.opBody($0.op, nav: nav, more))
        }
        let replies = try stage.world.turn(events).to(stage.owner)
        #expect(replies.count == list.count)
        for ((op, needs), reply) in zip(list, replies) {
          let sufficing =
            needs.isEmpty && policy == "all" ? ["top", "rev", "dig", "stack"] : needs
          let isFree = policy == "none" || sufficing.isEmpty || name == "any"
          let isRequired = !isFree && !sufficing.contains(name)
          #expect(reply.code == (isRequired ? "guard-required" : "desync"), "\(op) \(more)")
        }
      }
    }
    #expect(try stage.world.standing("kiosk") == before)
  }

  @Test func `a list needs what any of its operations needs`() throws {
    let stage = try Stage(["A", "B"])
    let (quiet, pop, set) = (
      #"{"attach":{}}"#, #"{"pop":{}}"#, #"{"setStack":{"screens":["A"]}}"#
    )
    for (ops, guardName, isRequired) in [
      ([quiet, pop], #""depth":99"#, true), ([pop, quiet], #""top":"zoo""#, false),
      ([pop, set], #""top":"zoo""#, true), ([set, pop], #""top":"zoo""#, true),
      ([set, pop, quiet], #""stack":[]"#, false), ([quiet], #""depth":99"#, false),
    ] {
      let error = try stage.owner.op(ops.joined(separator: ","), #""if":{\#(guardName)}"#)
      #expect(error.code == (isRequired ? "guard-required" : "desync"), "\(ops) \(guardName)")
    }
    #expect(stage.stack == ["A", "B"])
  }

  /// A guard of a nav: its right value, and a wrong one.
  private struct Choice {
    var name: String
    var reason: String
    var (right, wrong): (String, String)
    /// What the error says was expected; nil for the wrong value itself.
    var expected: String?
  }

  private static func choices(_ stage: Stage) throws -> [Choice] {
    let entry = try stage.world.entry("kiosk")
    let ids = entry.controller.stack.map { "\"\($0.id.text)\"" }
    let revision = entry.revision.number
    return [
      Choice(
        name: "epoch", reason: "epoch", right: "\"\(entry.epoch.text)\"",
        wrong: "\"0000000000000001\""),
      Choice(name: "rev", reason: "rev", right: "\(revision)", wrong: "\(revision + 1)"),
      Choice(
        name: "dig", reason: "digest", right: "\"\(entry.digest.text)\"",
        wrong: "\"000000010000000000000000\""),
      Choice(name: "top", reason: "top", right: ids.last ?? "null", wrong: "null"),
      Choice(name: "depth", reason: "depth", right: "\(ids.count)", wrong: "0"),
      Choice(
        name: "stack", reason: "stack", right: "[\(ids.joined(separator: ","))]",
        wrong: "[\(ids.reversed().joined(separator: ","))]"),
      Choice(
        name: "has", reason: "has", right: "[\(ids[0])]", wrong: #"[\#(ids[0]),"zoo"]"#,
        expected: #""zoo""#),
    ]
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `the first guard that does not hold is the reason, whatever their order`(
    seed: UInt64
  ) throws {
    let stage = try Stage(["A", "B", "C"])
    var random = SeededGenerator(seed: seed)
    for round in 0..<60 {
      if round % 20 == 19 { try stage.owner.must(Stage.push("n\(round)")) }
      let choices = try Self.choices(stage)
      var used: [(choice: Choice, isRight: Bool)] = []
      for choice in choices where random.next() % 2 == 0 {
        used.append((choice, random.next() % 4 != 0))
      }
      let members = used.shuffled(using: &random).map {
        #""\#($0.choice.name)":\#($0.isRight ? $0.choice.right : $0.choice.wrong)"#
      }
      let body = stage.owner.opBody(
        #"{"attach":{}}"#, #""if":{\#(members.joined(separator: ","))}"#)
      let reply = try stage.owner.ask("op", body)
      let wrong = used.first { !$0.isRight }?.choice
      #expect(reply.json["reason"] as? String == wrong?.reason, "\(body)")
      guard let wrong else {
        #expect(reply.verb == .ok && reply.json["changed"] as? Bool == false)
        continue
      }
      #expect(reply.code == "desync")
      #expect(
        reply.text.contains(#""expected":\#(wrong.expected ?? wrong.wrong)"#), "\(reply.text)")
      #expect((reply.json["future"] as? Bool == true) == (wrong.name == "rev"))
      // The refusal is final: the same octets get the same answer.
      #expect(try stage.owner.ask("op", body).text == reply.text)
    }
  }
}
