import NavigationCore
import NavigationClient

/// What a worker does next to a nav.
struct OperationChoice {
  var guards = Guards()
  var operations: [String] = []

  /// Chooses; `mirror` is nil for a nav that is not watched, or not known to be right.
  init(mirror: Mirror?, name: String, number: Int, using generator: inout SeededGenerator) {
    let dice = Int(generator.next() % 100)
    let fresh = #"{"id":"\#(name)-\#(number)","title":"T\#(number)","route":"r/\#(dice)"}"#
    let depth = mirror?.screens.count ?? 6
    let isDeep = depth > 12
    guard let mirror, let top = mirror.top else {
      unguarded(dice, fresh, isDeep: isDeep)
      return
    }
    let one = mirror.screens.randomElement(using: &generator)?.id ?? top
    switch dice {
    case 0..<(isDeep ? 5 : 35):
      if dice % 2 == 0 { guards.epoch = mirror.epoch }
      operations = [#"{"push":{"screen":\#(fresh)}}"#]
    case 0..<55:
      guards.top = .some(top)
      operations = ["{\"pop\":{}}"]
    case 55..<60:
      operations = [#"{"popTo":{"screen":"\#(one)"}}"#]
    case 60..<63: operations = ["{\"popToRoot\":{}}"]
    case 63..<73:
      guards.revision = mirror.revision
      let kept = mirror.screens.prefix(4).map { "\"\($0.id)\"" }
      let list = (kept.shuffled(using: &generator) + [fresh]).joined(separator: ",")
      operations = [#"{"setStack":{"screens":[\#(list)]}}"#]
    case 73..<85:
      operations = [#"{"item.set":{"screen":"\#(one)","title":"I\#(number)","prompt":null}}"#]
    case 85..<90: operations = [#"{"screen.set":{"screen":"\#(one)","title":"S\#(number)"}}"#]
    case 90..<95:
      guards.has = [one]
      operations = [
        #"{"popTo":{"screen":"\#(one)"}}"#, #"{"push":{"screen":\#(fresh)}}"#,
        #"{"item.set":{"screen":"\#(one)","title":"B\#(number)"}}"#,
      ]
    default: unguarded(dice, fresh, isDeep: isDeep)
    }
  }

  private mutating func unguarded(_ dice: Int, _ fresh: String, isDeep: Bool) {
    switch dice % 8 {
    case 0..<4 where !isDeep: operations = [#"{"push":{"screen":\#(fresh)}}"#]
    case 4..<7:
      guards.any = true
      operations = ["{\"pop\":{}}"]
    default: operations = ["{\"popToRoot\":{}}", #"{"push":{"screen":\#(fresh)}}"#]
    }
  }
}
