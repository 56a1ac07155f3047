import NavigationCore

/// The source of all random choices of a run: a seed, or octets that a fuzzer chose.
package struct Randomness: Sendable {
  private var generator: SeededGenerator
  /// What a fuzzer has chosen and nobody has taken, the next octet last.
  private var choices: [UInt8] = []

  /// Makes a source; equal seeds give equal numbers.
  package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Makes a source of choices, two octets for each; those behind them are always the same.
  init(choices: [UInt8]) {
    self.init(seed: 1)
    self.choices = choices.reversed()
  }

  /// Whether there are choices that nobody has taken.
  var hasChoices: Bool { choices.count > 1 }

  /// The next 64 bits, which nobody chooses: ids must differ.
  package mutating func next() -> UInt64 { generator.next() }

  /// A number in `0 ..< bound`.
  mutating func below(_ bound: Int) -> Int {
    precondition(bound > 0, "nothing is below \(bound)")
    guard hasChoices else { return Int(next() % UInt64(bound)) }
    return (Int(choices.removeLast()) << 8 | Int(choices.removeLast())) % bound
  }

  /// True so many times in a thousand.
  mutating func chance(_ perMille: Int) -> Bool { below(1000) < perMille }

  /// One of the values, nil of none.
  mutating func pick<Value>(_ values: [Value]) -> Value? {
    values.isEmpty ? nil : values[below(values.count)]
  }

  /// One of the values, the first of which stands in for none.
  mutating func pick<Value>(_ first: Value, _ others: Value...) -> Value {
    let index = below(others.count + 1)
    return index == 0 ? first : others[index - 1]
  }
}
