import CommandLineOptions
import NavigationClient
import NavigationCore

enum GestureStep: Hashable, Sendable {
  case begin
  /// The finger has moved by this part of the width: a JSON number from 0 to 1.
  case update(String)
  /// The finger lifts, and the pop happens.
  case finish
  /// The finger lifts, and the screen stays.
  case cancel

  var isLast: Bool { self == .finish || self == .cancel }

  /// Reads steps: `begin`, `update VALUE` or just `VALUE`, `finish` and `cancel`.
  static func steps(_ words: [String]) throws(UsageError) -> [GestureStep] {
    let usage = "for example begin update 0.4 finish"
    var steps: [GestureStep] = []
    var isValue = false
    for word in words {
      try require(steps.last?.isLast != true, "no step can follow finish or cancel", remedy: usage)
      switch word {
      case _ where isValue || word.first?.isNumber == true:
        steps.append(.update(try fraction(word)))
        isValue = false
      case "update": isValue = true
      case "begin":
        try require(steps.isEmpty, "a gesture begins once", remedy: usage)
        steps.append(.begin)
      case "finish": steps.append(.finish)
      case "cancel": steps.append(.cancel)
      default:
        throw UsageError(
          "'\(TerminalText.visible(word))' is not a step of a gesture", remedy: usage)
      }
    }
    try require(!isValue, "gesture update needs a number from 0 to 1", remedy: usage)
    return steps
  }

  private static func fraction(_ text: String) throws(UsageError) -> String {
    // `Double` accepts .5 and 0x1, which are not JSON numbers; both checks are needed.
    guard let value = Double(text), value >= 0, value <= 1,
      try Quantities.json(text, what: "the value of update").bytes.first != UInt8(ascii: "\"")
    else {
      throw UsageError("update takes a number from 0 to 1, not '\(TerminalText.visible(text))'")
    }
    return text
  }
}

extension Operations {
  static func gesture(_ step: GestureStep, _ line: Line) throws(UsageError) -> NavigationOperation {
    switch step {
    case .begin:
      let kind = try line.choice(of: "kind", ["edge", "fullScreen"])
      var arguments: JSONObject = ["kind": .string(kind)]
      if let text = line.value(of: "translation") {
        let value = try Quantities.json(text, what: "--translation")
        try require(Double(text) != nil, "--translation takes a number")
        arguments.add("translation", value)
      }
      return NavigationOperation(.gestureBegin, arguments)
    case .update(let value):
      return NavigationOperation(
        .gestureUpdate, ["value": OpaqueJSON(validated: Array(value.utf8))])
    case .finish: return .finishGesture()
    case .cancel: return .cancelGesture()
    }
  }

  static func completeTransition(_ text: String) throws(UsageError) -> NavigationOperation {
    let tid = try require(
      Quantities.integer(text), "'\(TerminalText.visible(text))' is not the number of a transition",
      remedy: "navctl transition NAV, which prints the running one with its number")
    return .completeTransition(tid)
  }

  static func swipe(_ direction: String) throws(UsageError) -> NavigationOperation {
    let direction = try require(
      NavigationOperation.SwipeDirection(rawValue: direction),
      "swipe takes up or down, not '\(TerminalText.visible(direction))'",
      remedy: "navctl swipe NAV up")
    return .swipe(direction)
  }
}
