import Foundation
@testable import NavigationCore

/// Makes messages of every kind that there is, for a nav and a standalone bar.
struct LawGenerator {
  var simple: OperationGenerator
  /// The transition that is open, or was last.
  var transition = 1
  /// The ids on the stack.
  var stack: [String] = []
  /// The buttons that the bar shows.
  var shown: [String] = []

  init(seed: UInt64) { simple = OperationGenerator(seed: seed) }

  mutating func below(_ bound: UInt64) -> UInt64 { simple.below(bound) }
  mutating func pick<Element>(_ list: [Element]) -> Element { simple.pick(list) }
  private mutating func flag() -> String { below(2) == 0 ? "true" : "false" }

  /// The ops of one message for a controller.
  mutating func ops() -> String {
    let count = below(5) == 0 ? 2 + below(3) : 1
    return (0..<count).map { _ in op() }.joined(separator: ",")
  }

  private mutating func op() -> String {
    switch below(10) {
    case 0...3: simple.op()
    case 4, 5: touch()
    case 6: simple.barOp()
    case 7: settings()
    case 8: buttons()
    default:
      pick([
        simple.revert(), simple.replacement(), simple.presentation(), simple.stackEdit(),
        #"{"remove":{"screens":["\#(stack.last ?? "s0")"]}}"#,
      ])
    }
  }

  /// What a finger on the screen leads to.
  mutating func touch() -> String {
    pick([
      #"{"transition.complete":{"tid":\#(transition)}}"#,
      #"{"transition.complete":{"tid":\#(transition)}}"#,
      #"{"gesture.begin":{"kind":"edge"}}"#, #"{"gesture.begin":{"kind":"edge"}}"#,
      #"{"gesture.begin":{"kind":"fullScreen","translation":\#(below(3))}}"#,
      #"{"gesture.update":{"value":0.\#(below(10))}}"#, #"{"gesture.finish":{}}"#,
      #"{"gesture.update":{"value":0.\#(below(10))}}"#, #"{"gesture.finish":{}}"#,
      #"{"gesture.cancel":{}}"#, #"{"ui.backTap":{}}"#, #"{"ui.tap":{}}"#, #"{"ui.back":{}}"#,
      #"{"ui.dismiss":{}}"#, #"{"ui.backMenu":{"screen":"\#(pick(stack + ["s0"]))"}}"#,
    ])
  }

  private mutating func settings() -> String {
    pick([
      #"{"attach":{}}"#, #"{"attach":{}}"#, #"{"detach":{}}"#,
      #"{"nav.configure":{"interactivePop":{"enabled":\#(flag()),"mode":"edge"}}}"#,
      #"{"nav.configure":{"interactivePopWithoutBackButton":\#(flag())}}"#,
      #"{"nav.configure":{"veto":{"deadline":\#(50 + below(300)),"policy":"\#(pick(["deny", "allow"]))","required":false}}}"#,
      #"{"nav.configure":{"vetoScope":"\#(pick(["pushpop", "all"]))","restorationID":"n"}}"#,
      #"{"nav.configure":{"transitionDeadline":\#(100 + below(900)),"gestureDeadline":\#(100 + below(900))}}"#,
      #"{"nav.configure":{"profile":{"os":\#(13 + below(5)),"shadowNeedsBackground":\#(flag())}}}"#,
      #"{"env.set":{"scrollEdge":\#(flag()),"backTitleBudget":\#(below(9)),"idiom":"\#(pick(["phone", "pad"]))"\#(simple.ofEnvironment())}}"#,
      #"{"env.set":{"animations":"\#(pick(["on", "on", "reduced", "off"]))"}}"#,
      #"{"env.set":{"orientation":"landscapeLeft","barPosition":"topAttached","statusBar":\#(below(40))}}"#,
      #"{"bar.set":{"prefersLargeTitles":\#(flag()),"barStyle":"\#(pick(["black", "default"]))"}}"#,
      #"{"bar.set":{"shadowImage":\#(pick(["null", "\"s\"", #"{"ref":"e","empty":true}"#])),"tintColor":"red"}}"#,
      #"{"bar.set":{"backIndicatorImage":"a","backIndicatorMask":\#(pick(["null", "\"m\""]))}}"#,
    ])
  }

  private mutating func buttons() -> String {
    let (id, button) = (simple.screen(), simple.button())
    if !shown.isEmpty, below(2) == 0 {
      return #"{"button.activate":{"button":"\#(pick(shown))"}}"#
    }
    return pick([
      #"{"button.activate":{"button":"\#(button)"}}"#,
      #"{"button.create":{"id":"\#(button)","title":"T","action":"\#(pick(["a", "nav.pop"]))"\#(simple.ofButton())}}"#,
      #"{"button.set":{"button":"\#(button)","image":"i","action":"nav.pop"\#(simple.ofButton())}}"#,
      #"{"button.release":{"button":"\#(button)"}}"#,
      #"{"item.set":{"screen":"\#(id)","leftItems":["\#(button)"]}}"#,
      #"{"item.set":{"screen":"\#(id)","backBarButtonItem":"\#(button)"}}"#,
      #"{"screen.set":{"screen":"\#(id)","toolbarItems":["\#(button)"],"prefersBarHidden":\#(pick(["null", flag()]))}}"#,
      #"{"screen.set":{"screen":"\#(id)","restorationID":"\#(below(3))","title":null\#(simple.ofTitle())}}"#,
      #"{"screen.release":{"screen":"\#(id)"}}"#,
      #"{"appearance.set":{"slot":"scrollEdge","object":{"shadow":"none"},"screen":"\#(id)"}}"#,
    ])
  }

  /// The ops of one message for a standalone bar.
  mutating func itemOps() -> String {
    switch below(5) {
    case 0: simple.barOp()
    case 1: touch()
    case 2: settings()
    default: simple.itemOps()
    }
  }

  /// What stands beside the ops of a message.
  mutating func more() -> String {
    var more = pick([Stage.any, Stage.any, Stage.any, "\(Stage.any),\(Stage.animated)"])
    if below(6) == 0 { more += ",\(Stage.queued)" }
    return more
  }

  /// The roles that a delegate takes.
  mutating func roles() -> String {
    let list = ["veto", "animator", "interaction"].filter { _ in below(2) == 0 }
    let orientation = below(3) == 0
    let names = (list + (orientation ? ["orientation"] : [])).map { "\"\($0)\"" }
    let value = #","orientations":{"supported":["portrait"],"preferred":"portrait"}"#
    return #""roles":[\#(names.joined(separator: ","))]\#(orientation ? value : "")"#
  }

  /// An answer to a question.
  mutating func answer(to question: String) -> String {
    switch question {
    case "animatorFor": pick(["null", #"{"animator":"fade","duration":\#(below(900))}"#])
    case "interactionFor": pick(["null", #"{"driver":"d"}"#])
    default: pick(["true", "true", "true", "false"])
    }
  }
}
