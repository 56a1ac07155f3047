import class Foundation.ProcessInfo
import Testing

@testable import NavigationCore
@testable import NavigationHub

/// Any sequence of interruptions leaves the stack that the same operations without animation leave, and
/// each transition that began ends once.
@Suite struct InterruptionLawTests {
  /// A person's swipe, besides the operations of programs.
  private enum Step {
    case operation(Operation)
    case beginGesture, finishGesture, cancelGesture, complete
  }

  private struct Course {
    var random: Seeded
    var animated: Nav
    var plain: Nav
    /// The transitions that have begun and not ended.
    var open: [Revision] = []
    /// The screens that are about to show, and do not show yet.
    var arriving: [ScreenID] = []
    var interruptions = 0

    init(seed: UInt64) throws {
      random = Seeded(seed: seed)
      animated = try Nav("A", "B")
      plain = try Nav("A", "B")
    }

    private mutating func step() -> Step {
      let id = random.pick(Messages.screens)
      switch random.below(12) {
      case 0...2: return .operation(.push(ScreenRecord(id: id)))
      case 3: return .operation(.pop)
      case 4: return .operation(.popTo(id))
      case 5: return .operation(.replace(random.pick([nil, id]), with: .id(id), isBack: false))
      case 6: return .operation(.setStack([.id("A"), .id(id)]))
      case 7: return .operation(.popToRoot)
      case 8: return .beginGesture
      case 9: return .finishGesture
      case 10: return .cancelGesture
      default: return .complete
      }
    }

    /// Notes the events of the last message of the animated nav.
    private mutating func note() {
      for event in animated.events {
        switch event {
        case .willShow(let id, _): arriving.append(id)
        case .didShow(let id, _):
          #expect(arriving == [id], "\(id.text) shows")
          arriving = []
        case .transitionBegan(let running):
          #expect(open.isEmpty, "two transitions")
          open.append(running.id)
        case .transitionEnded(let id, let outcome, _):
          #expect(open == [id])
          open = []
          // A gesture that did not finish showed nothing.
          if outcome == .cancelled || outcome == .interrupted { arriving = [] }
        default: break
        }
      }
    }

    private mutating func end(_ operation: Operation) throws {
      try animated.run(operation)
      note()
    }

    mutating func go() throws {
      let isGesture = animated.running?.isInteractive == true
      switch step() {
      case .operation(let operation):
        // What the hub does for `onBusy` `interrupt`: an operation that fails interrupts nothing.
        var trial = animated
        if animated.running != nil { try trial.run(.interruptTransition(progress: 0.5)) }
        let isAnimated = random.below(4) > 0
        do {
          try trial.send([operation], animated: isAnimated)
        } catch let refusal as Refusal {
          #expect(throws: refusal) { try plain.send([operation]) }
          return
        }
        if trial.commit != nil, animated.running != nil {
          interruptions += 1
          try end(.interruptTransition(progress: 0.5))
        }
        if animated.running == nil {
          try animated.send([operation], animated: isAnimated)
          note()
        }
        try plain.send([operation], animated: false)
      case .beginGesture:
        if animated.running != nil, animated.ids.count > 1 {
          interruptions += 1
          try end(.interruptTransition(progress: 0.5))
        }
        guard animated.running == nil, animated.ids.count > 1 else { return }
        try end(.beginGesture(isFullScreen: false, translation: 1, owner: "d"))
      case .finishGesture:
        guard isGesture else { return }
        try end(.finishGesture)
        try plain.run(.pop)
      case .cancelGesture: if isGesture { try end(.cancelGesture) }
      case .complete:
        guard !isGesture, let running = animated.running else { return }
        try end(.completeTransition(running.id))
      }
      #expect(animated.ids == plain.ids)
      #expect(open.isEmpty == (animated.running == nil))
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `interruptions leave the stack of the same operations without animation`(
    seed: UInt64
  ) throws {
    let isLong = ProcessInfo.processInfo.environment["NAVD_TEST_LONG"] != nil
    var course = try Course(seed: seed)
    for _ in 0..<(isLong ? 250_000 : 1000) { try course.go() }
    #expect(course.interruptions > 100)
  }
}
