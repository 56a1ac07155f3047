package import CommandLineOptions
import NavigationSync

/// One step of a gesture.
package enum GestureStep: Hashable, Sendable {
  /// It begins.
  case begin
  /// It has come so far, a JSON number from 0 to 1.
  case update(String)
  /// The finger is lifted behind the middle.
  case finish
  /// The finger goes back.
  case cancel

  /// Whether nothing may follow.
  package var isLast: Bool { self == .finish || self == .cancel }

  /// Reads the words of a gesture: `begin`, `update VALUE` or the value alone, `finish`, `cancel`.
  package static func steps(_ words: [String]) throws(UsageError) -> [GestureStep] {
    let usage = "as in begin update 0.4 finish"
    var steps: [GestureStep] = []
    var isValue = false
    for word in words {
      if steps.last?.isLast == true {
        throw UsageError("nothing follows on finish or cancel", remedy: usage)
      }
      switch word {
      case _ where isValue || word.first?.isNumber == true:
        steps.append(.update(try fraction(word)))
        isValue = false
      case "update": isValue = true
      case "begin":
        guard steps.isEmpty else { throw UsageError("a gesture begins once", remedy: usage) }
        steps.append(.begin)
      case "finish": steps.append(.finish)
      case "cancel": steps.append(.cancel)
      default:
        throw UsageError(
          "'\(TerminalText.visible(word))' is no step of a gesture", remedy: usage)
      }
    }
    if isValue { throw UsageError("gesture update needs a number from 0 to 1", remedy: usage) }
    return steps
  }

  private static func fraction(_ text: String) throws(UsageError) -> String {
    // What Swift reads and JSON does not, as .5 or 0x1, is refused too.
    guard let value = Double(text), value >= 0, value <= 1,
      try Quantities.json(text, what: "the value of update").first != UInt8(ascii: "\"")
    else {
      throw UsageError("update takes a number from 0 to 1, not '\(TerminalText.visible(text))'")
    }
    return text
  }
}

extension Operations {
  /// `gesture`: the operation for one step.
  package static func gesture(
    _ step: GestureStep, _ line: ParsedCommandLine
  ) throws(UsageError) -> OperationText {
    switch step {
    case .begin:
      var arguments: [(String, [UInt8])] = []
      let kind = line.value(of: "kind") ?? "edge"
      guard kind == "edge" || kind == "fullScreen" else {
        throw UsageError("--kind takes edge or fullScreen, not '\(kind)'")
      }
      arguments.append(("kind", OperationText.string(kind)))
      if let text = line.value(of: "translation") {
        let bytes = try Quantities.json(text, what: "--translation")
        guard Double(text) != nil else { throw UsageError("--translation takes a number") }
        arguments.append(("translation", bytes))
      }
      return OperationText(.gestureBegin, arguments)
    case .update(let value):
      return OperationText(.gestureUpdate, [("value", Array(value.utf8))])
    case .finish: return OperationText(.gestureFinish)
    case .cancel: return OperationText(.gestureCancel)
    }
  }

  /// `transition complete`: says that the animation has been shown.
  package static func completeTransition(_ text: String) throws(UsageError) -> OperationText {
    guard let tid = UInt64(text), tid < 1 << 53 else {
      throw UsageError(
        "'\(TerminalText.visible(text))' is no transition",
        remedy: "navctl transition NAV shows the running one and its number")
    }
    return OperationText(.transitionComplete, [("tid", Array("\(tid)".utf8))])
  }

  /// `swipe`: a swipe on the content, up or down.
  package static func swipe(_ direction: String) throws(UsageError) -> OperationText {
    guard direction == "up" || direction == "down" else {
      throw UsageError(
        "a swipe goes up or down, not '\(TerminalText.visible(direction))'",
        remedy: "navctl swipe NAV up")
    }
    return OperationText(.uiSwipe, [("dir", OperationText.string(direction))])
  }
}
