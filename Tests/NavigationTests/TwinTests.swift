@testable import NavigationCore
@testable import NavigationHub
import Testing

/// SplitMix64: small, seeded, the same everywhere.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}

/// Makes messages over a few names, so that they meet.
struct Messages {
  var random: Seeded

  static let screens: [ScreenID] = ["A", "B", "C", "D", "E", "F", "G"]
  static let buttons: [ButtonID] = ["u", "v", "w", "x", "y", "z"]

  mutating func message() -> (operations: [Operation], animated: Bool?) {
    let count = random.below(3) > 0 ? 1 : 2 + random.below(random.below(4) == 0 ? 15 : 4)
    let operations = (0..<count).map { _ in operation() }
    return (operations, random.pick([nil, false, true]))
  }

  private mutating func operation() -> Operation {
    let id = random.pick(Self.screens)
    let button = random.pick(Self.buttons)
    switch random.below(36) {
    case 0, 1, 2: return .push(argument(), onDuplicate: random.pick([.error, .ignore]))
    case 3: return .show(argument(), onDuplicate: .ignore)
    case 4, 5: return .pop
    case 6: return .popTo(.screen(id))
    case 7: return .popToRoot
    case 27: return .popTo(.screen(id), inclusive: true)
    case 28:
      return .push(
        argument(), onDuplicate: random.pick([.popTo, .update, .moveToTop, .ignoreRoute]))
    case 29:
      return .replace(
        random.below(2) == 0 ? nil : id, with: argument(), isBack: random.below(2) == 0)
    case 32: return .swipeDown
    case 35: return .backKey
    case 34: return .backMenu(id)
    case 33:
      let removals: [Operation] = [.pop, .popTo(.screen(id)), .dismiss(from: presenter())]
      return .returning(random.pick(removals), result: OpaqueJSON(validated: [0x31]))
    case 30:
      return .insert(argument(), random.pick([.below(id), .above(id), .at(random.below(6))]))
    case 31:
      return .remove((0..<random.below(4)).map { _ in random.pick(Self.screens) })
    case 8, 9: return .setStack((0..<random.below(5)).map { _ in argument() })
    case 10: return .createScreen(record(), replaces: random.below(2) == 0)
    case 11, 12:
      let canPop = ScreenEdit.set(\.canPop, random.below(3) > 0)
      return .setScreen(id, random.pick([[.title(title())], [.toolbarItems(list())], [canPop]]))
    case 13, 14, 15: return .setItem(id, items(), requireOnStack: random.below(6) == 0)
    case 16: return .releaseScreen(id)
    case 17: return .createButton(newButton())
    case 18, 19: return .setButton(button, [.title(title() ?? "t")])
    case 20: return .releaseButton(button)
    case 21: return .activateButton(button)
    case 22: return .present(argument(), from: presenter(), style: nil)
    case 23: return .present(argument(), from: nil, style: nil)
    case 24: return .dismiss(from: presenter())
    case 25: return .configure([.set(\.waitingOpLimit, UInt64(random.below(3)))])
    default: return random.below(3) == 0 ? .detach : .attach
    }
  }

  private mutating func presenter() -> ScreenID? {
    random.below(2) == 0 ? nil : random.pick(Self.screens)
  }

  private mutating func argument() -> ScreenArgument {
    random.below(3) == 0 ? .record(record()) : .id(random.pick(Self.screens))
  }

  private mutating func record() -> ScreenRecord {
    ScreenRecord(
      id: random.below(6) == 0 ? nil : random.pick(Self.screens + ["s1.1"]),
      edits: random.below(2) == 0 ? [.title(title())] : [],
      item: random.below(3) == 0 ? items() : [])
  }

  private mutating func title() -> String? { random.pick([nil, "1", "2"]) }

  private mutating func items() -> [ItemEdit] {
    switch random.below(4) {
    case 0: [.leftItems(list())]
    case 1: [.rightItems(list())]
    case 2: [.backBarButtonItem(random.below(3) == 0 ? nil : button())]
    default: [.leftItems(list()), .rightItems(list())]
    }
  }

  private mutating func list() -> [ButtonArgument] { (0..<random.below(3)).map { _ in button() } }

  private mutating func button() -> ButtonArgument {
    random.below(2) == 0 ? .id(random.pick(Self.buttons)) : .record(newButton())
  }

  private mutating func newButton() -> ButtonRecord {
    ButtonRecord(
      id: random.below(8) == 0 ? nil : random.pick(Self.buttons),
      edits: [.title(title() ?? "t"), .action(random.pick([nil, nil, "nav.pop"]))])
  }
}

@Suite struct TwinTests {
  @Test(arguments: UInt64(0)..<250)
  func `the nav does what the obvious model does, message by message`(seed: UInt64) throws {
    var messages = Messages(random: Seeded(seed: seed))
    var limits = NavigationLimits()
    limits.detachedRecords = seed % 3 == 0 ? 4 : 256
    limits.stackDepth = seed % 2 == 0 ? 5 : 64
    let context = NavigationContext(limits: limits)
    var real = NavigationController(revision: Revision(1))
    var twin = Twin(limits: limits)
    var contents: [String: Screen] = [:]
    for step in 0..<200 {
      let (operations, animated) = messages.message()
      let before = real
      let expected = Result { () throws(Refusal) in
        try twin.run(operations, animated: animated)
      }
      let found = Result { () throws(Refusal) in
        try real.perform(operations, isAnimated: animated, in: context)
      }
      var problem = brokenLaw(before, real, found)
      var answer = found.map { Twin.Answer($0) }
      if let running = real.transition.content.running {
        // The model knows no time: what begins ends at once, and the events of both revisions are
        // those of the message.
        let begun = real
        let end = Result { () throws(Refusal) in
          try real.perform([.completeTransition(running.id)], isAnimated: nil, in: context)
        }
        problem = problem ?? brokenLaw(begun, real, end)
        answer = answer.map { begun in
          var whole = begun
          whole.events += (try? end.get()).map { Twin.Answer($0).events } ?? []
          return whole
        }
        twin.revision += 1
      }
      try #require(
        describe(answer) == describe(expected),
        "seed \(seed), step \(step): \(operations) on \(describe(before))")
      try #require(
        describe(real) == describe(twin),
        "seed \(seed), step \(step): \(operations) on \(describe(before))")
      for screen in real.stack + real.presentedScreens + real.detachedScreens {
        let name = "\(screen.id.text)@\(screen.version.number)"
        let first = contents[name, default: screen]
        contents[name] = first
        #expect(first.hasSameContent(as: screen), "seed \(seed), step \(step): two of \(name)")
      }
      guard let problem else { continue }
      Issue.record("seed \(seed), step \(step): \(problem): \(operations) on \(describe(before))")
      return
    }
  }

  @Test(arguments: UInt64(0)..<60)
  func `the laws hold when bytes are short, and the bytes stay within the limit`(
    seed: UInt64
  ) throws {
    var messages = Messages(random: Seeded(seed: seed))
    var limits = NavigationLimits()
    limits.stateBytes = 400 + Int(seed) * 20
    let context = NavigationContext(limits: limits)
    var real = NavigationController(revision: Revision(1))
    for step in 0..<200 {
      let (operations, animated) = messages.message()
      let before = real
      let found = Result { () throws(Refusal) in
        try real.perform(operations, isAnimated: animated, in: context)
      }
      let problem = brokenLaw(before, real, found)
      try #require(
        problem == nil, "seed \(seed), step \(step): \(operations) on \(describe(before))")
      try #require(real.byteCount <= limits.stateBytes, "seed \(seed), step \(step)")
    }
  }

  private func brokenLaw(
    _ before: NavigationController, _ after: NavigationController,
    _ result: Result<OperationResult, Refusal>
  ) -> String? {
    if !after.violatedInvariants().isEmpty { return "\(after.violatedInvariants())" }
    guard case .success(let performance) = result, let commit = performance.commit else {
      return before == after ? nil : "SAME does not hold"
    }
    guard after.revision == before.revision.next else { return "revision" }
    var replayed = before
    do {
      try replayed.replay(recorded(commit, in: after))
    } catch {
      return "replay: \(error)"
    }
    if replayed != after { return "replay gives \(describe(replayed)), \(describe(after)) is live" }
    if !replayed.violatedInvariants().isEmpty { return "replay: \(replayed.violatedInvariants())" }
    let copy = rebuilt(after)
    if copy != after || !copy.violatedInvariants().isEmpty { return "snapshot" }
    let changed = after.stack.indices.filter {
      commit.splice?.inserts($0) != true && after.stack[$0].version == after.revision
    }
    return commit.changedScreenIndexes == changed
      ? nil : "changed \(commit.changedScreenIndexes) ≠ \(changed)"
  }
}
