package import NavigationCore

// The transition in flight, in messages and in journal rows.

extension JSONWriter {
  mutating func transition(_ running: RunningTransition) {
    member("tid", running.id.number)
    member("op", word: running.kind.word)
    optional("from", running.from?.text)
    optional("to", running.to?.text)
    member("phase", word: running.isInteractive ? "interactive" : "animating")
    optional("owner", running.gestureOwner)
    optional("animator", running.animator)
    optional("driver", running.driver)
    if let duration = running.durationMilliseconds { member("duration", duration) }
    if running.isReduced { member("style", word: "fade") }
    member("deadline", running.timeLimitMilliseconds)
    if let change = running.barChange {
      object("barChange") { $0.visibilityMembers(change) }
    }
  }

  /// Writes the members `hidden`, `animated` and `jump` of a change of the bar's visibility.
  mutating func visibilityMembers(_ change: BarChange) {
    member("hidden", change.isHidden)
    member("animated", change.isAnimated)
    member("jump", change.isJump)
  }
}

extension JSONTape {
  /// Reads the transition from a journal row, except the events of its completion.
  package func storedTransition(_ at: Int) throws(ReadFailure) -> Transition {
    var transition = Transition()
    guard let id = integer("tid", of: at), let word = string("op", of: at),
      let kind = RunningTransition.Kind(word: word),
      let limit = integer("deadline", of: at)
    else { return transition }
    var running = RunningTransition(
      id: Revision(id), kind: kind, from: string("from", of: at).flatMap { ScreenID($0) },
      to: string("to", of: at).flatMap { ScreenID($0) }, timeLimitMilliseconds: limit)
    running.isInteractive = string("phase", of: at) == "interactive"
    running.gestureOwner = string("owner", of: at)
    running.animator = string("animator", of: at)
    running.driver = string("driver", of: at)
    running.durationMilliseconds = integer("duration", of: at)
    running.isReduced = string("style", of: at) == "fade"
    if let change = member("barChange", of: at) {
      func flag(_ name: String) -> Bool {
        bool(name, of: change) ?? false
      }
      running.barChange = BarChange(
        isHidden: flag("hidden"), isAnimated: flag("animated"), isJump: flag("jump"))
    }
    transition.running = running
    return transition
  }

  /// Reads from a journal row the events that the completion of a transition will produce.
  package func storedEvents(_ at: Int) throws(ReadFailure) -> [NavigationEvent] {
    try need(kind(at) == .array, "the events of a transition's end are no list")
    return try elements(of: at) { element throws(ReadFailure) in
      guard kind(element) == .object, let name = string(element + 1),
        let screen = member("screen", of: element + 2)
      else { throw ReadFailure("an event of a transition's end cannot be read") }
      let id = try screenID(screen)
      let result = member("result", of: element + 2).map { OpaqueJSON(validated: raw($0)) }
      switch name {
      case "didPush": return .didPush(id)
      case "didPop": return .didPop(id, result: result)
      case "didPresent": return .didPresent(id)
      case "didDismiss": return .didDismiss(id, result: result)
      case "didHide": return .didHide(id, animated: true)
      case "didShow": return .didShow(id, animated: true)
      default: throw ReadFailure("a transition's end tells \(name)")
      }
    }
  }
}
