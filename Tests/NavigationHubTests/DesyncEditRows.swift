import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

// Single changes of the stack and dismissals, planned on another picture of the nav.

extension DesyncRow {
  static let edits: [DesyncRow] = [
    DesyncRow("a replacement of another top than the one seen replaces nothing") {
      let stage = try Stage(["A", "B"])
      let replace = #"{"replace":{"with":{"id":"Z"}}}"#
      try stage.done(Stage.push("C"), by: stage.viewer)
      let error = try stage.refused(.desync, replace, Stage.guarded(top: "B"), reason: "top")
      #expect(error["expected"] as? String == "B")
      try stage.refused(.guardRequired, replace, #""animated":false"#)
      // An operation that names its screen needs no guard.
      let named = #"{"replace":{"with":{"id":"Z"},"screen":"B"}}"#
      try stage.done(named, #""animated":false"#)
      #expect(stage.stack == ["A", "Z", "C"])
      try stage.refused(.notInStack, named.replacing("\"Z\"", with: "\"Y\""))
    },
    DesyncRow("an insertion at an index of an older stack inserts nothing") {
      let stage = try Stage(["A", "B"])
      let seen = "\(stage.revision)"
      let insert = #"{"insert":{"screen":{"id":"Z"},"at":1}}"#
      try stage.done(#"{"remove":{"screens":["A"]}}"#, by: stage.viewer)
      try stage.refused(.desync, insert, Stage.guarded("rev", seen), reason: "rev")
      try stage.refused(
        .desync, insert, Stage.guarded("stack", #"["A","B"]"#), reason: "stack")
      for guards in [#""animated":false"#, Stage.guarded(top: "B")] {
        try stage.refused(.guardRequired, insert, guards)
      }
      try stage.refused(
        .notInStack, #"{"insert":{"screen":{"id":"Z"},"above":"A"}}"#, #""animated":false"#)
      #expect(stage.stack == ["B"])
    },
    DesyncRow("a removal of which one screen is gone removes none") {
      let stage = try Stage(["A", "B", "C", "D"])
      try stage.done(#"{"remove":{"screens":["B"]}}"#, by: stage.viewer)
      try stage.refused(
        .notInStack, #"{"remove":{"screens":["D","B"]}}"#, #""animated":false"#)
      try stage.refused(.unknownScreen, #"{"remove":{"screens":["D","Q"]}}"#)
      try stage.refused(.noRoot, #"{"remove":{"screens":["A","C","D"]}}"#)
      #expect(stage.stack == ["A", "C", "D"])
    },
    DesyncRow("a swipe down on another screen than the one seen dismisses nothing") {
      let stage = try Stage(["A"])
      try stage.done(Stage.present("M"))
      try stage.done(Stage.present("N"), by: stage.viewer)
      let swipe = #"{"ui.dismiss":{}}"#
      let error = try stage.refused(
        .desync, swipe, Stage.guarded("visible", "\"M\""), reason: "visible")
      #expect(error["expected"] as? String == "M")
      // The stack says nothing about presentations.
      for guards in [
        #""animated":false"#, Stage.guarded(top: "A"), Stage.guarded("stack", #"["A"]"#),
      ] {
        try stage.refused(.guardRequired, swipe, guards)
      }
      try stage.done(swipe, Stage.guarded("visible", "\"N\""))
      try stage.done(swipe, Stage.guarded("visible", "\"M\""))
      #expect(try stage.world.entry("kiosk").controller.presentedScreens.isEmpty)
    },
    DesyncRow("a pop planned before a presentation came is refused") {
      let stage = try Stage(["A", "B"])
      try stage.done(Stage.present("M"), by: stage.viewer)
      let seen = #""if":{"top":"B","visible":"B"}"#
      try stage.refused(.desync, Stage.pop, seen, reason: "visible")
      try stage.refused(.guardRequired, Stage.pop, Stage.guarded("visible", "\"M\""))
      try stage.done(#"{"dismiss":{}}"#)
      try stage.done(Stage.pop, seen)
      #expect(stage.stack == ["A"])
    },
    DesyncRow("a choice in an old menu leads to its screen or nowhere") {
      let stage = try Stage(["A", "B", "C"])
      let choose = #"{"ui.backMenu":{"screen":"B"}}"#
      // Somebody else went there already: the person is where the menu would have led.
      try stage.done(Stage.pop, by: stage.viewer)
      try stage.same { try stage.done(choose, #""animated":false"#) }
      #expect(stage.stack == ["A", "B"])
      // Somebody else took the screen away.
      try stage.done(#"{"setStack":{"screens":["A",{"id":"D"},{"id":"E"}]}}"#, by: stage.viewer)
      try stage.refused(.notInStack, choose, #""animated":false"#)
      // Under a presentation that came since, nobody sees the menu.
      try stage.done(Stage.present("M"), by: stage.viewer)
      try stage.refused(.covered, #"{"ui.backMenu":{"screen":"A"}}"#, #""animated":false"#)
      #expect(stage.stack == ["A", "D", "E"])
    },
  ]
}
