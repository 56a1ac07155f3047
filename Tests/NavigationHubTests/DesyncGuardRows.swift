import Foundation
import Testing

@testable import NavigationCore
@testable import NavigationClient
@testable import NavigationHub

// Stale views of the stack, and touching what belongs to the controller.

extension DesyncRow {
  static let guards: [DesyncRow] = [
    DesyncRow("an op planned on an older revision is refused, and works when planned anew") {
      let stage = try Stage()
      let follower = try Follower.synced(stage.world)
      try stage.done(Stage.push("C"))
      let stale = try #require(try follower.operate(Stage.push("D"), .revision))
      try follower.sync()
      guard case .failure(let error)? = follower.answer(to: stale) else {
        Issue.record("not refused")
        return
      }
      #expect(error.knownCode == .desync)
      try stage.refused(.desync, Stage.push("D"), Stage.guarded("rev", "1"), reason: "rev")
      #expect(try follower.agrees())
      let fresh = try #require(try follower.operate(Stage.push("D"), .revision))
      try follower.sync()
      #expect(fresh > stale)
      #expect(stage.stack == ["A", "B", "C", "D"])
      #expect(try follower.agrees())
    },
    DesyncRow("a revision that is not there yet is refused as one of the future") {
      let stage = try Stage()
      let ahead = "\(stage.revision + 3)"
      let error = try stage.refused(
        .desync, Stage.push("C"), Stage.guarded("rev", ahead), reason: "rev")
      #expect(error["future"] as? Bool == true)
      #expect(error["expected"] as? Int == stage.revision + 3)
      let past = try stage.refused(
        .desync, Stage.push("C"), Stage.guarded("rev", "0"), reason: "rev")
      #expect(past["future"] == nil)
      // Who stands there gets a snapshot.
      let from =
        #""from":{"epoch":"\#(stage.epoch)","rev":\#(ahead),"dig":"000000000000000000000000"}"#
      let replies = try stage.owner.watch(from)
      #expect(replies.map(\.verb) == [.ok, .snap])
      #expect(replies[0].json["why"] as? String == "ahead")
    },
    DesyncRow("a pop of another top than the one seen pops nothing") {
      let stage = try Stage(["A", "B", "C"])
      try stage.done(Stage.push("D"), by: stage.viewer)
      let pushed = try stage.refused(
        .desync, Stage.pop, Stage.guarded(top: "C"), reason: "top")
      #expect(pushed["expected"] as? String == "C")
      #expect(pushed["top"] as? String == "D")
      try stage.done(#"{"popTo":{"screen":"B"}}"#, by: stage.viewer)
      let popped = try stage.refused(
        .desync, Stage.pop, Stage.guarded(top: "C"), reason: "top")
      #expect(popped["expected"] as? String == "C")
      #expect(popped["retry"] as? String == "resync")
    },
    DesyncRow("of two that pop the same screen in one turn one pops it") {
      for isReversed in [false, true] {
        let stage = try Stage(["A", "B", "C"])
        let other = try stage.world.client(2)
        let pair = isReversed ? [other, stage.owner] : [stage.owner, other]
        let sent = try stage.world.turn(
          pair.map { $0.message("op", $0.opBody(Stage.pop, Stage.guarded(top: "C"))) })
        #expect(sent.to(pair[0]).map(\.verb) == [.ok])
        #expect(sent.to(pair[1]).codes == ["desync"])
        #expect(sent.to(pair[1])[0].json["reason"] as? String == "top")
        #expect(sent.to(stage.viewer).diffs.count == 1)
        #expect(stage.stack == ["A", "B"])
      }
    },
    DesyncRow("a pop without a guard is refused; the override pops, and the log names it") {
      let stage = try Stage(["A", "B"])
      try stage.refused(.guardRequired, Stage.pop, #""animated":false"#)
      try stage.refused(.guardRequired, Stage.pop, Stage.guarded("depth", "2"))
      try stage.refused(.guardRequired, #"{"ui.backTap":{}}"#, #""animated":false"#)
      try stage.done(Stage.pop)
      #expect(stage.stack == ["A"])
      #expect(try stage.owner.get("log").text.contains(#""override":true"#))
      // At the root there is nothing to pop.
      try stage.same { () throws in
        let reply = try stage.owner.must(Stage.pop, Stage.any)
        #expect(reply.json["changed"] as? Bool == false)
        #expect(reply.text.contains(#""out":[{"popped":null}]"#))
      }
    },
    DesyncRow("the items of the managed bar cannot be pushed, popped or set") {
      let stage = try Stage()
      for ops in [
        #"{"popItem":{}}"#, #"{"pushItem":{"item":{"id":"j"}}}"#, #"{"setItems":{"items":[]}}"#,
        #"{"setItems":{"items":["B"]}}"#,
      ] {
        try stage.refused(.barManaged, ops)
        // Not even behind an op that is right.
        let error = try stage.refused(.barManaged, Stage.push("C") + "," + ops)
        #expect(error["index"] as? Int == 1)
      }
      try stage.done(Stage.pop)
      #expect(stage.stack == ["A"])
    },
    DesyncRow("the managed bar keeps its delegate; others register with the controller") {
      let stage = try Stage()
      for value in ["\"me\"", "null"] {
        try stage.refused(.barDelegateManaged, #"{"bar.set":{"delegate":\#(value)}}"#)
      }
      try stage.same { () throws in try stage.delegate(stage.viewer, "veto") }
      #expect(try stage.send(stage.owner, Stage.pop).to(stage.viewer).asked == ["shouldPop(B)"])
    },
    DesyncRow("nothing that is derived or fixed can be written") {
      let stage = try Stage()
      for member in ["frame", "bounds", "alpha", "subviews", "items", "class"] {
        try stage.refused(.readonly, #"{"bar.set":{"\#(member)":1}}"#)
      }
      for member in ["root", "top", "visible"] {
        try stage.refused(.readonly, #"{"nav.configure":{"\#(member)":"A"}}"#)
      }
      try stage.refused(.readonly, #"{"screen.set":{"screen":"A","item":{}}}"#)
      try stage.refused(.readonly, #"{"toolbar.set":{"class":"Toolbar"}}"#)
    },
  ]

  static let repeats: [DesyncRow] = [
    DesyncRow("a screen is on the stack once: a second push is refused, or told apart") {
      let stage = try Stage(["A", "B", "C"])
      for id in stage.stack {
        try stage.refused(.duplicateScreen, #"{"push":{"screen":"\#(id)"}}"#)
        try stage.same { () throws in
          let reply = try stage.owner.must(#"{"push":{"screen":"\#(id)","onDuplicate":"ignore"}}"#)
          #expect(reply.json["changed"] as? Bool == false)
          #expect(reply.text.contains("alreadyInStack"), "\(reply.text)")
        }
      }
    },
    DesyncRow("the same octets twice are one op with one reply") {
      let stage = try Stage(["A", "B", "C"])
      let body = stage.owner.opBody(Stage.pop, Stage.any)
      let first = try stage.owner.ask("op", body)
      try stage.same { () throws in
        let sent = try stage.world.turn([stage.owner.message("op", body)])
        #expect(sent.map(\.body) == [first.body])
      }
      #expect(stage.stack == ["A", "B"])
      // After a lost connection too, and in one turn.
      try stage.world.turn([.closed(stage.owner.connection)])
      try stage.owner.hello()
      try stage.same { () throws in
        let twice = try stage.world.turn(
          Array(repeating: stage.owner.message("op", body), count: 2))
        #expect(twice.map(\.body) == [first.body, first.body])
      }
    },
    DesyncRow("an op id stands for one op") {
      let stage = try Stage(["A", "B", "C"])
      try stage.done(Stage.pop)
      stage.owner.id -= 1
      try stage.refused(.opReused, Stage.push("D"))
      stage.owner.id -= 1
      // Another guard is another op.
      try stage.refused(.opReused, Stage.pop, Stage.guarded(top: "B"))
      try stage.done(Stage.push("D"))
    },
    DesyncRow("a pop asked again under a new id is caught by its guard") {
      let stage = try Stage(["A", "B", "C"])
      try stage.done(Stage.pop, Stage.guarded(top: "C"))
      let error = try stage.refused(
        .desync, Stage.pop, Stage.guarded(top: "C"), reason: "top")
      #expect(error["top"] as? String == "B")
    },
  ]
}
