@testable import NavigationCore
@testable import NavigationHub
import Testing

/// A mistake in what a commit touched.
enum Corruption: CaseIterable, Sendable {
  case screenTwice, screenDetachedToo, removedScreenStays, rootIsGone, otherKind, futureVersion
  case bothSides, barShows, otherPresenter, standaloneIsAttached
  case tooManyBytes, tooFewBytes
  case otherButton, unknownButton, buttonDetachedToo, tooManyPlaces
  case detachedScreenIsActive, detachedFutureVersion

  /// Makes the mistake; false if the commit touched nothing that it could be made in.
  func corrupt(
    _ nav: inout NavigationController, _ commit: inout Commit, removed: [Screen]
  ) -> Bool {
    let inserted = commit.splice.map { Array($0.at..<$0.at + $0.insertedCount) } ?? []
    let touched = inserted + commit.changedScreenIndexes
    switch self {
    case .screenTwice:
      guard let index = inserted.first else { return false }
      count(nav.stack[index].byteCount, &nav, &commit)
      nav.stack.append(nav.stack[index])
    case .screenDetachedToo:
      guard let index = inserted.last else { return false }
      count(nav.stack[index].byteCount, &nav, &commit)
      nav.detached.makeYoungest(.screen(nav.stack[index]))
    case .removedScreenStays:
      guard let screen = removed.first, nav.detached.screen(screen.id) != nil else { return false }
      count(screen.byteCount, &nav, &commit)
      nav.stack.append(screen)
    case .rootIsGone:
      guard nav.isAttached, commit.splice != nil else { return false }
      nav.stack = []
      return commit.splice?.insertedCount == 0
    case .otherKind:
      guard let index = touched.first else { return false }
      nav.stack[index].details.kind = .tabBar
    case .futureVersion:
      guard let index = touched.last else { return false }
      nav.stack[index].version = nav.revision.next
    case .bothSides:
      guard let index = touched.first(where: { !nav.stack[$0].item.leftItems.isEmpty }) else {
        return false
      }
      let button = nav.stack[index].item.leftItems[0]
      nav.stack[index].item.rightItems.append(button)
      nav.shownButtons[button.id]?.placeCount += 1
      count(button.byteCount, &nav, &commit)
    case .barShows:
      guard commit.parts.contains(.bar) else { return false }
      nav.bar.content.isHidden = false
      nav.bar.content.automaticHiding = AutomaticHiding(cause: .tap, includesToolbar: false)
    case .otherPresenter:
      guard commit.parts.contains(.presented), nav.presented.content.chain.count > 1 else {
        return false
      }
      nav.presented.content.chain[1].from = "nobody"
    case .standaloneIsAttached:
      guard nav.isAttached else { return false }
      nav.isStandalone = true
    case .tooManyBytes: nav.recordBytes += 1
    case .tooFewBytes: nav.recordBytes -= 1
    case .otherButton, .unknownButton, .buttonDetachedToo, .tooManyPlaces:
      guard let index = touched.first(where: { !nav.stack[$0].buttons.isEmpty }) else {
        return false
      }
      corruptRegistry(&nav, nav.stack[index].buttons[0])
    case .detachedScreenIsActive:
      guard case .screen(let screen)? = commit.changedDetached.first else { return false }
      nav.stack.append(screen)
      count(screen.byteCount, &nav, &commit)
    case .detachedFutureVersion:
      guard case .screen(let screen)? = commit.changedDetached.first else { return false }
      nav.detached.setVersion(of: screen.id, to: nav.revision.next)
    }
    return true
  }

  /// Keeps the bytes right, so that nothing but the mistake itself can be found.
  private func count(_ bytes: Int, _ nav: inout NavigationController, _ commit: inout Commit) {
    nav.recordBytes += bytes
    commit.recomputedRecordBytes += bytes
  }

  private func corruptRegistry(_ nav: inout NavigationController, _ button: Button) {
    switch self {
    case .otherButton:
      nav.shownButtons[button.id]?.button = Button(
        id: button.id, content: ButtonContent([.set(\.title, "other")]))
    case .unknownButton: nav.shownButtons[button.id] = nil
    case .buttonDetachedToo: nav.detached.makeYoungest(.button(button))
    default: nav.shownButtons[button.id]?.placeCount += 1
    }
  }
}

@Suite struct TouchedInvariantTests {
  /// Runs random messages on a nav whose bars hide; `body` gets each commit with the states around it.
  private func run(
    seed: UInt64, steps: Int = 200,
    _ body: (NavigationController, NavigationController, Commit, String) throws -> Void
  ) throws {
    var messages = Messages(random: Seeded(seed: seed))
    var limits = NavigationLimits()
    limits.detachedRecords = seed % 3 == 0 ? 4 : 256
    limits.stackDepth = seed % 2 == 0 ? 5 : 64
    if seed % 5 == 0 { limits.stateBytes = 600 }
    let context = NavigationContext(limits: limits)
    var nav = NavigationController(revision: Revision(1))
    for step in 0..<steps {
      var (operations, animated) = messages.message()
      switch step % 7 {
      case 0: operations = [.configure([.set(\.hidesBarsOnTap, true)]), .setToolbarHidden(false)]
      case 3: operations = [.attach, .tapContent]
      case 5: animated = nil
      default: break
      }
      let before = nav
      guard
        let result = try? nav.perform(operations, isAnimated: animated, in: context),
        let commit = result.commit
      else { continue }
      try body(before, nav, commit, "seed \(seed), step \(step): \(operations)")
      guard let running = nav.transition.content.running else { continue }
      _ = try? nav.perform([.completeTransition(running.id)], isAnimated: nil, in: context)
    }
  }

  @Test(arguments: UInt64(0)..<30)
  func `what operations make of a sound state is found sound`(seed: UInt64) throws {
    try run(seed: seed) { _, after, commit, note in
      var after = after
      let isSound = after.isSound(after: commit)
      try #require(isSound, "\(note)")
      try #require(after.violatedInvariants() == [], "\(note)")
    }
  }

  @Test func `a mistake in what a commit touched is found as in the whole state`() throws {
    var found: [Corruption: Int] = [:]
    var names: Set<String> = []
    for seed in UInt64(0)..<150 {
      // Most seeds break all; the rarest corruption needs more of them.
      if seed >= 45, Corruption.allCases.allSatisfy({ found[$0, default: 0] >= 3 }) { break }
      try run(seed: seed, steps: 80) { before, after, commit, note in
        let removed = (commit.splice?.removed ?? []).compactMap { before.screen($0) }
        // Often enough broken, a whole state is not looked at once more.
        for corruption in Corruption.allCases where found[corruption, default: 0] < 40 {
          var (wrong, commit) = (after, commit)
          guard corruption.corrupt(&wrong, &commit, removed: removed) else { continue }
          let all = wrong.violatedInvariants()
          let touched = wrong.violatedInvariants(touchedBy: commit)
          try #require(touched == all, "\(corruption), \(note)")
          if !all.isEmpty { found[corruption, default: 0] += 1 }
          names.formUnion(all.map { String($0.prefix(18)) })
        }
      }
    }
    for corruption in Corruption.allCases {
      #expect(found[corruption, default: 0] >= 3, "\(corruption) broke nothing")
    }
    #expect(names.count >= 11, "\(names.sorted())")
  }
}
