import NavigationCore

/// Chances that repeat themselves.
struct Dice {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// A number below `bound`.
  mutating func roll(_ bound: Int) -> Int { Int(generator.next() % UInt64(bound)) }

  mutating func pick<Element>(_ list: [Element]) -> Element { list[roll(list.count)] }
  mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }
}

/// Ops at random, sensible and not.
struct RandomOps {
  var dice: Dice
  /// The stack, bottom first, as it was after the last op.
  var stack: [String] = []
  var revision = 1
  var tid: Int?

  private static let buttons = ["x", "y", "z", "flex"]

  private mutating func screen() -> String { "S\(dice.roll(12))" }
  private mutating func quoted() -> String { "\"\(screen())\"" }
  private mutating func record() -> String {
    dice.chance(30)
      ? quoted()
      : #"{"id":"\#(screen())","title":"t\#(dice.roll(4))","item":{"title":"i\#(dice.roll(3))"}}"#
  }
  private mutating func onStack() -> String {
    stack.isEmpty || dice.chance(10) ? screen() : dice.pick(stack)
  }
  private mutating func flag() -> String { dice.chance(50) ? "true" : "false" }

  /// The members of an op message behind `nav`.
  mutating func message() -> String {
    var text = ""
    if dice.chance(30) { text += #","animated":true"# }
    if dice.chance(10) { text += #","onBusy":"queue""# }
    switch dice.roll(10) {
    case 0: break
    case 1: text += #","if":{"rev":\#(revision)}"#
    case 2: text += #","if":{"top":"\#(onStack())"}"#
    case 3: text += #","if":{"stack":[\#(stack.map { "\"\($0)\"" }.joined(separator: ","))]}"#
    case 4: text += #","if":{"rev":\#(max(1, revision - 1))}"#
    case 5: text += #","if":{"depth":\#(stack.count)}"#
    default: text += #","if":{"any":true,"rev":\#(revision)}"#
    }
    let count = dice.chance(15) ? 2 + dice.roll(3) : 1
    let ops = (0..<count).map { _ in operation() }
    return text + #","do":[\#(ops.joined(separator: ","))]"#
  }

  private mutating func operation() -> String {
    switch dice.roll(4) {
    case 0: record0()
    case 1: surface()
    default: move()
    }
  }

  /// An op on the stack, the presentations or the transition.
  private mutating func move() -> String {
    switch dice.roll(22) {
    case 0...2: #"{"push":{"screen":\#(record())}}"#
    case 3: #"{"show":{"screen":\#(record())}}"#
    case 4, 5: #"{"pop":{}}"#
    case 6: #"{"popTo":{"screen":"\#(onStack())"}}"#
    case 7: dice.chance(30) ? #"{"popToRoot":{}}"# : #"{"pop":{}}"#
    case 8, 9: setStack()
    case 10: #"{"present":{"screen":\#(record())}}"#
    case 11: #"{"dismiss":{}}"#
    case 12: #"{"transition.complete":{"tid":\#(tid ?? dice.roll(20))}}"#
    case 13: #"{"gesture.begin":{"kind":"edge","translation":\#(dice.roll(5) - 1)}}"#
    case 14: dice.pick([#"{"gesture.finish":{}}"#, #"{"gesture.cancel":{}}"#])
    case 15: dice.pick([#"{"ui.backTap":{}}"#, #"{"ui.backMenu":{"screen":"\#(onStack())"}}"#])
    case 16: #"{"replace":{"with":\#(record()),"screen":"\#(onStack())"}}"#
    case 17: #"{"insert":{"screen":\#(record()),"below":"\#(onStack())"}}"#
    case 20: #"{"ui.dismiss":{}}"#
    case 18: #"{"remove":{"screens":["\#(onStack())"]}}"#
    case 19:
      #"{"push":{"screen":"\#(onStack())","onDuplicate":"\#(dice.pick(["popTo", "moveToTop"]))"}}"#
    default: #"{"revert":{"rev":\#(1 + dice.roll(max(1, revision)))}}"#
    }
  }

  private mutating func setStack() -> String {
    let kept = stack.filter { _ in dice.chance(60) }.map { "\"\($0)\"" }
    let more = (0..<dice.roll(3)).map { _ in record() }
    return #"{"setStack":{"screens":[\#((kept + more).joined(separator: ","))]}}"#
  }

  /// An op on a record.
  private mutating func record0() -> String {
    let button = dice.pick(Self.buttons)
    return switch dice.roll(9) {
    case 0, 1: #"{"item.set":{"screen":"\#(onStack())","title":"i\#(dice.roll(3))"}}"#
    case 2: #"{"item.set":{"screen":"\#(onStack())","leftItems":["\#(button)"]}}"#
    case 3: #"{"item.set":{"screen":"\#(onStack())","rightItems":["\#(button)"]}}"#
    case 4: #"{"item.set":{"screen":"\#(onStack())","hidesBackButton":\#(flag())}}"#
    case 5: #"{"screen.set":{"screen":"\#(onStack())","title":"t\#(dice.roll(4))"}}"#
    case 6: #"{"screen.release":{"screen":\#(quoted())}}"#
    case 7: #"{"button.create":{"id":"\#(button)","title":"b"}}"#
    default: #"{"button.activate":{"button":"\#(button)"}}"#
    }
  }

  /// An op on the bars, the environment or the settings.
  private mutating func surface() -> String {
    switch dice.roll(11) {
    case 0: #"{"bar.setHidden":{"hidden":\#(flag())}}"#
    case 1: #"{"toolbar.setHidden":{"hidden":\#(flag())}}"#
    case 2: #"{"bar.set":{"prefersLargeTitles":\#(flag())}}"#
    case 3: #"{"bar.set":{"barTintColor":"\#(dice.pick(["red", "teal"]))"}}"#
    case 4: #"{"env.set":{"vCompact":\#(flag()),"keyboard":\#(flag())}}"#
    case 5: #"{"env.set":{"backTitleBudget":\#(dice.roll(6))}}"#
    case 6: #"{"nav.configure":{"hidesBarsOnTap":\#(flag())}}"#
    case 7: #"{"nav.configure":{"hidesBarsWhenVerticallyCompact":\#(flag())}}"#
    case 8: #"{"ui.tap":{}}"#
    case 9: #"{"ui.swipe":{"dir":"\#(dice.pick(["up", "down"]))"}}"#
    default: #"{"appearance.set":{"slot":"standard","object":{"background":"\#(dice.roll(3))"}}}"#
    }
  }
}
