package import NavigationCore

// Readers of transitions and gestures, in messages and in journal rows.

extension OperationReader {
  func transitionOperation(
    _ kind: OperationKind, _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    switch kind {
    case .transitionComplete:
      guard let value = tape.member("tid", of: at), let id = tape.integer(value) else {
        throw ReadFailure(.invalidArgument, "transition.complete needs tid, a whole number")
      }
      return .completeTransition(Revision(id))
    case .gestureBegin:
      return try beginning(tape, at)
    case .gestureUpdate:
      guard let value = tape.member("value", of: at).flatMap({ tape.number($0) }) else {
        throw ReadFailure(.invalidArgument, "gesture.update needs value, a number from 0 to 1")
      }
      return .updateGesture(value)
    case .gestureFinish:
      return .finishGesture
    default:
      return .cancelGesture
    }
  }

  private func beginning(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    guard let kind = tape.member("kind", of: at).flatMap({ tape.string($0) }),
      kind == "edge" || kind == "fullScreen"
    else {
      throw ReadFailure(.invalidArgument, "kind is edge or fullScreen")
    }
    var translation = 1.0
    if let value = tape.member("translation", of: at) {
      guard let number = tape.number(value) else {
        throw ReadFailure(.invalidArgument, "translation is a number, positive to the right")
      }
      translation = number
    }
    // The hub fills in the owner, because it knows the sender.
    return .beginGesture(isFullScreen: kind == "fullScreen", translation: translation, owner: "")
  }
}

extension RecordReader {
  /// Reads the orientations of a delegate, in its registration or a journal row.
  func delegateOrientations(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> DelegateOrientations {
    guard let list = tape.member("supported", of: at), tape.kind(list) == .array,
      tape.count(list) > 0
    else { throw ReadFailure(.invalidArgument, "supported is a list of orientations") }
    var value = DelegateOrientations(supported: [], preferred: nil)
    try tape.forEachElement(of: list) { element throws(ReadFailure) in
      guard let orientation: Orientation = try choice(tape, element, "supported") else {
        throw ReadFailure(.invalidArgument, "supported is a list of orientations")
      }
      if !value.supported.contains(orientation) { value.supported.append(orientation) }
    }
    if let preferred = tape.member("preferred", of: at) {
      value.preferred = try choice(tape, preferred, "preferred")
      if let preferred = value.preferred, !value.supported.contains(preferred) {
        throw ReadFailure(.invalidArgument, "the preferred orientation is not supported")
      }
    }
    return value
  }

  /// Reads the transition from a journal row, except the events of its completion.
  package func storedTransition(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure)
    -> Transition
  {
    var transition = Transition()
    guard let id = tape.member("tid", of: at).flatMap({ tape.integer($0) }),
      let word = tape.member("op", of: at).flatMap({ tape.string($0) }),
      let kind = RunningTransition.Kind(word: word),
      let deadline = tape.member("deadline", of: at).flatMap({ tape.integer($0) })
    else { return transition }
    func text(_ name: String) -> String? { tape.member(name, of: at).flatMap { tape.string($0) } }
    var running = RunningTransition(
      id: Revision(id), kind: kind, from: text("from").flatMap { ScreenID($0) },
      to: text("to").flatMap { ScreenID($0) }, deadline: deadline)
    running.isInteractive = text("phase") == "interactive"
    running.owner = text("owner")
    running.animator = text("animator")
    running.driver = text("driver")
    running.duration = tape.member("duration", of: at).flatMap { tape.integer($0) }
    running.isReduced = text("style") == "fade"
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
    var events: [NavigationEvent] = []
    var element = at + 1
    while element < tape.next(at) {
      guard tape.kind(element) == .object, let name = tape.string(element + 1),
        let screen = tape.member("screen", of: element + 2)
      else { throw ReadFailure(.invalidArgument, "an event of a transition's end cannot be read") }
      let id = try screenID(tape, screen)
      let result = tape.member("result", of: element + 2).map {
        OpaqueJSON(validated: tape.raw($0))
      }
      switch name {
      case "didPush": events.append(.didPush(id))
      case "didPop": events.append(.didPop(id, result: result))
      case "didPresent": events.append(.didPresent(id))
      case "didDismiss": events.append(.didDismiss(id, result: result))
      case "didHide": events.append(.didHide(id, animated: true))
      case "didShow": events.append(.didShow(id, animated: true))
      default: throw ReadFailure(.invalidArgument, "a transition's end tells \(name)")
      }
      element = tape.next(element)
    }
    return events
  }
}
