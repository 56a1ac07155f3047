import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

// What is under way: animations, gestures, questions.

extension DesyncRow {
  static let transitions: [DesyncRow] = [
    DesyncRow("no push during a push, unless it waits") {
      let stage = try Stage()
      let id = try stage.animate("C")
      for more in [Stage.any, Stage.animated] {
        let error = try stage.refused(.transitionInProgress, Stage.push("D"), more)
        #expect(error["tid"] as? Int == id)
        #expect(error["after"] as? Int == 1000)
      }
      try stage.same { () throws in
        let sent = try stage.send(stage.owner, Stage.push("D"), Stage.queued)
        #expect(sent.map(\.verb) == [.queued])
        #expect(sent[0].json["pos"] as? Int == 1)
      }
      let sent = try stage.send(stage.viewer, Stage.complete(id))
      #expect(sent.to(stage.owner).map(\.verb) == [.ok])
      #expect(stage.stack == ["A", "B", "C", "D"])
    },
    DesyncRow("no pop of any kind while a push animates") {
      let stage = try Stage()
      let id = try stage.animate("C")
      for ops in [
        Stage.pop, #"{"popToRoot":{}}"#, #"{"popTo":{"screen":"A"}}"#, #"{"ui.backTap":{}}"#,
      ] {
        let error = try stage.refused(.transitionInProgress, ops)
        #expect(error["tid"] as? Int == id)
        #expect(error["after"] is Int)
      }
    },
    DesyncRow("no replacement while it animates, animated or not") {
      let stage = try Stage()
      let id = try stage.animate("C")
      for more in [Stage.any, "\(Stage.any),\(Stage.animated)"] {
        let error = try stage.refused(.transitionInProgress, Stage.setStack("A"), more)
        #expect(error["tid"] as? Int == id)
        #expect(error["after"] is Int)
      }
      try stage.done(Stage.complete(id))
      try stage.done(Stage.setStack("A"))
    },
    DesyncRow("what waited is checked again when it runs, and what waits behind it runs") {
      let stage = try Stage()
      let id = try stage.animate("C")
      let wrong = "\(Stage.queued),\(Stage.guarded(top: "C"))"
      try stage.send(stage.owner, Stage.pop, wrong)
      try stage.send(stage.owner, Stage.pop, wrong)
      try stage.send(stage.owner, #"{"popTo":{"screen":"C"}}"#, Stage.queued)
      try stage.send(stage.owner, Stage.push("D"), Stage.queued)
      let sent = try stage.send(stage.viewer, Stage.complete(id)).to(stage.owner)
      #expect(sent.map(\.verb) == [.ok, .err, .err, .ok])
      #expect(sent.codes == ["desync", "not-in-stack"])
      #expect(sent[1].json["expected"] as? String == "C")
      #expect(stage.stack == ["A", "B", "D"])
    },
    DesyncRow("nothing touches stack or presentation during an interactive pop") {
      let stage = try Stage(["A", "B", "C"])
      try stage.done(Stage.begin)
      for ops in [
        Stage.push("D"), Stage.pop, Stage.setStack("A"), Stage.present("M"), #"{"dismiss":{}}"#,
        #"{"popToRoot":{}}"#, #"{"show":{"screen":{"id":"D"}}}"#,
      ] {
        try stage.refused(.transitionInProgress, ops)
      }
      try stage.done(#"{"item.set":{"screen":"B","title":"T"}}"#)
    },
    DesyncRow("a cancelled gesture clears the transition and nothing else") {
      let stage = try Stage(["A", "B"])
      let begun = try stage.done(Stage.begin)
      #expect(
        begun.story == [["willHide(B,1)", "willShow(A,1)", "transitionBegan(pop,B,A,interactive)"]])
      let ended = try stage.done(Stage.cancel)
      #expect(ended.story == [["transitionEnded(cancelled)"]])
      let changes = try #require(ended.diffs[0]["ch"] as? [[String: Any]])
      #expect(changes.count == 1)
      #expect(changes[0]["set"] as? String == "transition")
      #expect((changes[0]["to"] as? [String: Any])?.keys.sorted() == ["ver"])
      #expect(stage.stack == ["A", "B"])
      // A bar that a program hid on the way stays hidden.
      try stage.done(Stage.begin)
      try stage.done(#"{"bar.setHidden":{"hidden":true}}"#, Stage.animated)
      let undone = try stage.done(Stage.cancel)
      #expect(try stage.world.entry("kiosk").controller.bar.content.isHidden)
      #expect(undone.story.count == 1)
      #expect(undone.story[0].first == "transitionEnded(cancelled)")
      #expect(!undone.story[0].contains { $0.hasPrefix("didPop") || $0.hasPrefix("didShow") })
    },
    DesyncRow("a gesture whose owner dies is cancelled") {
      let stage = try Stage(["A", "B"])
      let other = try stage.world.client(2)
      try stage.done(Stage.begin, by: other)
      let sent = try stage.world.turn([.closed(other.connection)]).to(stage.viewer)
      #expect(sent.story == [["transitionEnded(cancelled)"]])
      #expect(sent.causes == ["cancel"])
      #expect(stage.stack == ["A", "B"])
      #expect(stage.isIdle)
    },
    DesyncRow("a gesture is its owner's, and there is one at a time") {
      let stage = try Stage(["A", "B"])
      let other = try stage.world.client(2)
      try stage.done(Stage.begin)
      try stage.refused(.gestureRefused, Stage.begin, reason: "active", by: other)
      for ops in [Stage.update("0.5"), Stage.finish, Stage.cancel] {
        try stage.refused(.gestureOwner, ops, by: other)
      }
      try stage.done(Stage.finish)
      #expect(stage.stack == ["A"])
    },
    DesyncRow("a transition that nobody completes is completed at its deadline, once") {
      let stage = try Stage(["A"])
      let id = try stage.animate("B")
      #expect(try stage.world.wait(999).isEmpty)
      let sent = try stage.world.wait(1).to(stage.viewer)
      #expect(
        sent.story == [["didPush(B)", "didHide(A,1)", "didShow(B,1)", "transitionEnded(timedOut)"]])
      #expect(sent.causes == ["timeout"])
      try stage.same { () throws in
        try stage.world.wait(100_000)
        #expect(try stage.owner.must(Stage.complete(id)).json["changed"] as? Bool == false)
      }
    },
    DesyncRow("a completion that comes twice or late does nothing") {
      let stage = try Stage(["A"])
      let id = try stage.animate("B")
      let sent = try stage.done(Stage.complete(id))
      #expect(
        sent.story == [
          ["didPush(B)", "didHide(A,1)", "didShow(B,1)", "transitionEnded(completed)"]
        ])
      try stage.same { () throws in
        let again = try stage.send(stage.viewer, Stage.complete(id))
        #expect(again.map(\.verb) == [.ok])
        #expect(again[0].json["changed"] as? Bool == false)
      }
      try stage.refused(.invalidArgument, Stage.complete(id + 100))
    },
    DesyncRow("nothing is presented or dismissed while a transition runs") {
      let stage = try Stage(["A", "B"])
      try stage.done(Stage.present("M"))
      let id = try stage.animate("C")
      for ops in [Stage.present("N"), #"{"dismiss":{}}"#] {
        let error = try stage.refused(.transitionInProgress, ops)
        #expect(error["tid"] as? Int == id)
      }
      try stage.done(Stage.complete(id))
      // An animated presentation is a transition as well.
      try stage.done(#"{"dismiss":{}}"#, Stage.animated)
      try stage.refused(.transitionInProgress, Stage.push("D"))
    },
    DesyncRow("a bar that jumps inside an animated transition is told as jumping") {
      let stage = try Stage(["A"])
      let id = try stage.animate("B")
      for (more, jumps) in [("\"animated\":false", true), (Stage.animated, false)] {
        let sent = try stage.done(#"{"bar.setHidden":{"hidden":\#(jumps)}}"#, more)
        let events = sent.diffs[0]["ev"] as? [[String: [String: Any]]]
        let change = try #require(events?.last?["barChange"])
        #expect(change["jump"] as? Bool == jumps)
        #expect(change["animated"] as? Bool == !jumps)
        #expect(change["hidden"] as? Bool == jumps)
        #expect(change["tid"] as? Int == id)
        #expect(events?.count == 1)
      }
    },
  ]

  static let delegates: [DesyncRow] = [
    DesyncRow("the first no in the order of registration counts") {
      let stage = try Stage(["A", "B"])
      let judges = try [3, 4, 5].map { try stage.world.client($0) }
      for judge in judges { try stage.delegate(judge, "veto") }
      try stage.same { () throws in
        #expect(try stage.send(stage.owner, Stage.pop).to(judges[0]).asked == ["shouldPop(B)"])
        #expect(try stage.answer(judges[0], "true").to(judges[1]).asked == ["shouldPop(B)"])
        let sent = try stage.answer(judges[1], "false")
        #expect(sent.to(stage.owner).codes == ["vetoed"])
        #expect(sent.to(stage.owner)[0].json["by"] as? String == "c4")
        #expect(sent.to(stage.owner)[0].json["screen"] as? String == "B")
        #expect(sent.to(judges[0]).settled == ["denied"])
        #expect(sent.to(judges[1]).settled == ["denied"])
        #expect(sent.to(judges[2]).isEmpty)
        #expect(sent.to(stage.viewer).isEmpty)
      }
    },
    DesyncRow("silence of a delegate is what the policy says, at the deadline or its death") {
      for (policy, dies) in [("deny", false), ("deny", true), ("allow", false), ("allow", true)] {
        let stage = try Stage(
          ["A", "B"], #""veto":{"deadline":300,"policy":"\#(policy)"}"#)
        let judge = try stage.world.client(3)
        try stage.delegate(judge, "veto")
        let before = try stage.world.standing("kiosk")
        let body = stage.owner.opBody(Stage.pop, Stage.any)
        try stage.owner.send("op", body)
        let sent =
          dies ? try stage.world.turn([.closed(judge.connection)]) : try stage.world.wait(300)
        if policy == "deny" {
          #expect(sent.to(stage.owner).codes == ["delegate-timeout"])
          #expect(sent.to(stage.owner)[0].json["retry"] as? String == "same")
          #expect(try stage.world.standing("kiosk") == before)
          // The same octets ask again, or run if nobody is there to be asked.
          let again = try stage.world.turn([stage.owner.message("op", body)])
          #expect(again.to(stage.owner).map(\.verb) == (dies ? [.ok] : []))
        } else {
          #expect(sent.to(stage.owner).map(\.verb) == [.ok])
          #expect(stage.stack == ["A"])
          #expect(try stage.owner.get("log").text.contains(#""vetoSkipped":true"#))
        }
      }
    },
    DesyncRow("an answer after the end of its question is ignored") {
      let stage = try Stage(["A", "B"], #""veto":{"deadline":300,"policy":"deny"}"#)
      let judge = try stage.world.client(3)
      try stage.delegate(judge, "veto")
      try stage.send(stage.owner, Stage.pop)
      let sent = try stage.world.wait(300)
      #expect(sent.to(judge).settled == ["timeout"])
      try stage.same { () throws in
        for value in ["true", "false"] {
          #expect(try stage.answer(judge, value).isEmpty)
        }
      }
    },
    DesyncRow("who is asked cannot change the stack before he answers") {
      let stage = try Stage(["A", "B"])
      let judge = try stage.world.client(3)
      try stage.delegate(judge, "veto")
      try stage.send(stage.owner, Stage.pop)
      for ops in [Stage.pop, Stage.push("C"), Stage.present("M"), Stage.setStack("A")] {
        try stage.refused(.transitionInProgress, ops, by: judge)
      }
      #expect(try stage.answer(judge, "true").to(stage.owner).map(\.verb) == [.ok])
      #expect(stage.stack == ["A"])
    },
    DesyncRow("one no in the middle keeps every screen") {
      let stage = try Stage(["A", "B", "C", "D"])
      let judge = try stage.world.client(3)
      try stage.delegate(judge, "veto")
      try stage.same { () throws in
        let asked = try stage.send(stage.owner, #"{"popToRoot":{}}"#)
        #expect(asked.asked == ["shouldPop(D)"])
        #expect(try stage.answer(judge, "true").asked == ["shouldPop(C)"])
        let sent = try stage.answer(judge, "false")
        #expect(sent.to(stage.owner).codes == ["vetoed"])
        #expect(sent.to(stage.owner)[0].json["screen"] as? String == "C")
      }
      #expect(stage.stack == ["A", "B", "C", "D"])
    },
  ]
}
