@testable import NavigationCore
@testable import NavigationHub
import Testing

/// What a nav holds, without versions: what two ways that lead to the same must agree on.
private struct Content: Equatable {
  struct Link: Equatable {
    var screen: Screen
    var from: ScreenID?
    var style: String?
  }

  var stack: [Screen]
  var chain: [Link]
  var detached: [String: DetachedRecords.Record]
  var settings: Settings
  var isAttached: Bool
  var resolved: ResolvedBar

  init(_ nav: NavigationController) {
    func bare(_ screen: Screen) -> Screen {
      var copy = screen
      copy.version = Revision(0)
      return copy
    }
    stack = nav.stack.map(bare)
    chain = nav.presented.content.chain.map {
      Link(screen: bare($0.screen), from: $0.from, style: $0.style)
    }
    detached = [:]
    for record in nav.detached.all {
      switch record {
      case .screen(let screen): detached["screen \(screen.id.text)"] = .screen(bare(screen))
      case .button(let button): detached["button \(button.id.text)"] = record
      }
    }
    (settings, isAttached) = (nav.settings.content, nav.isAttached)
    resolved = nav.resolvedBar()
  }
}

/// A message on a copy of a nav: the nav after it, and what it said.
private struct Trial {
  var nav: NavigationController
  var outputs: [OperationOutput] = []
  var events: [NavigationEvent] = []
  var relation: TopRelation?
  var refusal: Refusal?

  init(_ operations: [Operation], animated: Bool? = false, on nav: NavigationController) {
    self.nav = nav
    do {
      let done = try self.nav.perform(operations, isAnimated: animated, in: NavigationContext())
      (outputs, events) = (Array(done.outputs), done.commit?.events ?? [])
      relation = done.commit?.topRelation
    } catch {
      refusal = error
    }
  }

  var content: Content { Content(nav) }

  /// The events without what an animation adds to them.
  var plainEvents: [NavigationEvent] {
    events.filter { !$0.isOfTransition }.map { event in
      switch event {
      case .willShow(let id, _): .willShow(id, animated: false)
      case .didShow(let id, _): .didShow(id, animated: false)
      case .willHide(let id, _): .willHide(id, animated: false)
      case .didHide(let id, _): .didHide(id, animated: false)
      default: event
      }
    }
  }

  var tellsOfPresentations: Bool {
    events.contains {
      switch $0 {
      case .didPresent, .didDismiss: true
      default: false
      }
    }
  }

  /// The same with its transition completed, or ended in another way.
  func ended(by end: Operation? = nil) -> Trial {
    guard let id = nav.transition.content.running?.id else { return self }
    var whole = Trial([end ?? .completeTransition(id)], animated: nil, on: nav)
    (whole.events, whole.outputs) = (events + whole.events, outputs)
    return whole
  }
}

/// Two ways to one end: they must agree in all that a client can see of the end.
@Suite struct EquivalenceTests {
  /// States that random messages lead to, without a transition in them.
  private static func states(_ seed: UInt64, _ count: Int) -> [NavigationController] {
    var messages = Messages(random: Seeded(seed: seed))
    var trial = Trial([], on: NavigationController(revision: Revision(1)))
    return (0..<count).map { _ in
      let (operations, animated) = messages.message()
      let next = Trial(operations, animated: animated, on: trial.nav).ended()
      if next.refusal == nil { trial = next }
      return trial.nav
    }
  }

  private static let seeds = 300...307 as ClosedRange<UInt64>

  @Test(arguments: seeds)
  func `C-035 C-043 C-048 pop and popToRoot are popTo with a target`(seed: UInt64) {
    for nav in Self.states(seed, 60) where nav.stack.count > 1 {
      let ids = nav.stack.map(\.id)
      for animated in [false, true] {
        let root = Trial([.popToRoot], animated: animated, on: nav)
        let target = Trial([.popTo(ids[0])], animated: animated, on: nav)
        #expect(root.nav == target.nav && root.events == target.events)
        #expect(root.outputs == target.outputs)
        let one = Trial([.pop], animated: animated, on: nav)
        let below = Trial([.popTo(ids[ids.count - 2])], animated: animated, on: nav)
        #expect(one.nav == below.nav && one.events == below.events)
        for place in ids.indices {
          let count = ids.count - 1 - place
          let pops = Trial(
            Array(repeating: .pop, count: count), animated: animated, on: nav)
          let whole = Trial([.popTo(ids[place])], animated: animated, on: nav)
          #expect(pops.nav == whole.nav && pops.events == whole.events, "\(count) of \(ids)")
          #expect(whole.outputs == [.poppedAll(Array(ids[(place + 1)...]))])
          #expect(pops.outputs == ids[(place + 1)...].reversed().map { .popped($0) })
        }
      }
    }
  }

  @Test(arguments: seeds)
  func `C-061 C-063 a replacement by a part of the stack removes what popTo removes`(
    seed: UInt64
  ) {
    for nav in Self.states(seed, 60) where nav.stack.count > 1 {
      let ids = nav.stack.map(\.id)
      for place in ids.indices.dropLast() {
        let set = Trial([.setStack(ids[...place].map { .id($0) })], on: nav)
        let pop = Trial([.popTo(ids[place])], on: nav)
        #expect(set.content == pop.content)
        #expect(set.relation == .back && pop.relation == nil)
        let quiet = pop.events.filter { if case .didPop = $0 { false } else { true } }
        #expect(set.events == quiet)
      }
    }
  }

  @Test(arguments: seeds)
  func `C-064 a replacement with one screen more is a push`(seed: UInt64) {
    for nav in Self.states(seed, 60) where nav.stack.count < 64 {
      for screen in nav.detachedScreens where screen.kind == .content {
        let push = Trial([.push(screen.id)], on: nav)
        let more: [ScreenArgument] = nav.stack.map { .id($0.id) } + [.id(screen.id)]
        let set = Trial([.setStack(more)], on: nav)
        #expect(push.nav == set.nav && set.relation == .new)
        let shown = Trial([.show(.id(screen.id), onDuplicate: .error)], animated: false, on: nav)
        #expect(shown.nav == push.nav && shown.events == push.events)
        let ignoring = Trial([.push(.id(screen.id), onDuplicate: .ignore)], on: nav)
        #expect(ignoring.nav == push.nav && ignoring.outputs == push.outputs)
        let quiet = push.events.filter { if case .didPush = $0 { false } else { true } }
        #expect(set.events == quiet)
      }
    }
  }

  @Test(arguments: seeds)
  func `a revert sets the stack that was`(seed: UInt64) {
    let states = Self.states(seed, 60)
    for (before, nav) in zip(states, states.dropFirst(7)) {
      let ids = before.stack.map(\.id)
      let revert = Trial([.revert(to: before.revision, stack: ids)], on: nav)
      let isKnown = ids.allSatisfy { nav.screen($0) != nil }
      guard revert.refusal == nil, isKnown else {
        #expect(revert.nav == nav)
        #expect(revert.refusal != nil || ids.isEmpty)
        continue
      }
      #expect(revert.nav.stack.map(\.id) == ids)
      let set = Trial([.setStack(ids.map { .id($0) })], on: nav)
      #expect(revert.nav == set.nav && revert.events == set.events, "\(ids)")
    }
  }

  @Test(arguments: seeds)
  func `a list does what its operations do one by one, or refuses at the same one`(
    seed: UInt64
  ) {
    var messages = Messages(random: Seeded(seed: seed &* 31))
    for nav in Self.states(seed, 80) {
      // Ids that the daemon assigns have the revision in them, so they differ.
      let operations = messages.message().operations
      let whole = Trial(operations, on: nav)
      var step = Trial([], on: nav)
      var refused: Refusal?
      for (index, operation) in operations.enumerated() {
        step = Trial([operation], on: step.nav)
        guard let refusal = step.refusal else { continue }
        refused = Refusal(operationIndex: index, error: refusal.error)
        break
      }
      let assigns = "\(operations)\(step.nav.stack)".contains("id: nil")
      guard !assigns else { continue }
      #expect(whole.refusal == refused, "\(operations)")
      if refused == nil { #expect(whole.content == step.content, "\(operations)") }
      if refused != nil { #expect(whole.nav == nav) }
    }
  }

  @Test(arguments: seeds)
  func `C-013 C-014 C-015 an animation ends where no animation leads at once`(seed: UInt64) {
    var messages = Messages(random: Seeded(seed: seed &* 17))
    for nav in Self.states(seed, 80) {
      let operations = messages.message().operations
      let plain = Trial(operations, animated: false, on: nav)
      let begun = Trial(operations, animated: true, on: nav)
      #expect(begun.refusal == plain.refusal && begun.outputs == plain.outputs)
      // The stack changes at once, not at the end.
      #expect(begun.nav.stack.map(\.id) == plain.nav.stack.map(\.id))
      let whole = begun.ended()
      #expect(whole.content == plain.content, "\(operations)")
      if whole.tellsOfPresentations {
        // Their events come with the end, after those of the stack.
        #expect(Set(whole.plainEvents) == Set(plain.plainEvents), "\(operations)")
        #expect(whole.plainEvents.count == plain.plainEvents.count)
      } else {
        #expect(whole.plainEvents == plain.plainEvents, "\(operations)")
      }
      let late = begun.ended(by: .expireTransition)
      #expect(late.content == whole.content && late.plainEvents == whole.plainEvents)
    }
  }

  @Test(arguments: seeds)
  func `C-298 C-299 a gesture ends as a pop, or as nothing`(seed: UInt64) throws {
    var pops = 0
    let begin = Operation.beginGesture(isFullScreen: false, translation: 1, owner: "o")
    let more = ["h", "i"].map { Operation.push(ScreenRecord(id: $0)) }
    for (step, state) in Self.states(seed, 80).enumerated() {
      let ready = [.dismiss(from: nil)] + (step % 2 == 0 ? more : []) + [.attach]
      let nav = Trial(ready, on: state).nav
      let gesture = Trial([begin], animated: nil, on: nav)
      guard gesture.refusal == nil else {
        #expect(
          nav.stack.count < 2 || !nav.isAttached || nav.isCovered || !nav.showsBackButton
            || nav.bar.content.isHidden)
        continue
      }
      #expect(gesture.nav.stack == nav.stack)
      let pop = Trial([.pop], on: nav)
      let finished = gesture.ended(by: .finishGesture)
      #expect(finished.content == pop.content && finished.plainEvents == pop.plainEvents)
      for end in [Operation.cancelGesture, .expireTransition, .recoverAfterRestart] {
        let cancelled = gesture.ended(by: end)
        #expect(cancelled.content == Content(nav))
        #expect(cancelled.plainEvents.count <= gesture.plainEvents.count, "\(end)")
      }
      pops += 1
    }
    #expect(pops > 10)
  }
}
