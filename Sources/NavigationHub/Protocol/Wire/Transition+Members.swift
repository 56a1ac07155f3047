package import NavigationCore

// The transition in flight, in messages and in journal rows.

extension JSONWriter {
  mutating func transition(_ running: RunningTransition) {
    member("tid", running.id.number)
    member("op", word: running.kind.word)
    optional("from", running.from?.text)
    optional("to", running.to?.text)
    name("phase")
    if running.isInteractive { word("interactive") } else { word("animating") }
    optional("owner", running.owner)
    optional("animator", running.animator)
    optional("driver", running.driver)
    if let duration = running.duration {
      member("duration", duration)
    }
    if running.isReduced { member("style", word: "fade") }
    member("deadline", running.deadline)
    if let change = running.barChange {
      name("barChange")
      beginObject()
      member("before", change.wasHidden)
      visibility(change)
      if let hid = change.hid {
        name("hid")
        hid.write(&self)
      }
      endObject()
    }
  }

  /// Writes what becomes of the bar's visibility: `hidden`, `animated`, `jump`.
  mutating func visibility(_ change: BarChange) {
    member("hidden", change.isHidden)
    member("animated", change.isAnimated)
    member("jump", change.isJump)
  }
}

extension RecordReader {
  /// Reads the transition from a journal row, except the events of its completion.
  package func storedTransition(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure)
    -> Transition
  {
    var transition = Transition()
    guard let id = tape.integer("tid", of: at),
      let word = tape.string("op", of: at),
      let kind = RunningTransition.Kind(word: word),
      let deadline = tape.integer("deadline", of: at)
    else { return transition }
    var running = RunningTransition(
      id: Revision(id), kind: kind, from: tape.string("from", of: at).flatMap { ScreenID($0) },
      to: tape.string("to", of: at).flatMap { ScreenID($0) }, deadline: deadline)
    running.isInteractive = tape.string("phase", of: at) == "interactive"
    running.owner = tape.string("owner", of: at)
    running.animator = tape.string("animator", of: at)
    running.driver = tape.string("driver", of: at)
    running.duration = tape.integer("duration", of: at)
    running.isReduced = tape.string("style", of: at) == "fade"
    if let change = tape.member("barChange", of: at) {
      func flag(_ name: String) -> Bool {
        tape.member(name, of: change).flatMap { tape.bool($0) } ?? false
      }
      running.barChange = BarChange(
        wasHidden: flag("before"), isHidden: flag("hidden"), isAnimated: flag("animated"),
        isJump: flag("jump"))
      if let hid = tape.member("hid", of: change) {
        running.barChange?.hid = try AutomaticHiding.read(self)(tape, hid, "hid")
      }
    }
    transition.running = running
    return transition
  }

  /// Reads from a journal row the events that the completion of a transition will produce.
  package func storedEvents(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> [NavigationEvent] {
    try require(tape.kind(at) == .array, "the events of a transition's end are no list")
    return try tape.elements(of: at) { element throws(ReadFailure) in
      guard tape.kind(element) == .object, let name = tape.string(element + 1),
        let screen = tape.member("screen", of: element + 2)
      else { throw ReadFailure(.invalidArgument, "an event of a transition's end cannot be read") }
      let id = try screenID(tape, screen)
      let result = tape.member("result", of: element + 2).map {
        OpaqueJSON(validated: tape.raw($0))
      }
      switch name {
      case "didPush": return .didPush(id)
      case "didPop": return .didPop(id, result: result)
      case "didPresent": return .didPresent(id)
      case "didDismiss": return .didDismiss(id, result: result)
      case "didHide": return .didHide(id, animated: true)
      case "didShow": return .didShow(id, animated: true)
      default: throw ReadFailure(.invalidArgument, "a transition's end tells \(name)")
      }
    }
  }
}
