/// The one source of chance of a run: SplitMix64, whose whole state is its seed.
package struct Randomness: Sendable {
  private var state: UInt64

  /// Makes a source; equal seeds give equal numbers.
  package init(seed: UInt64) { state = seed }

  /// The next 64 bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
  }

  /// A number in `0 ..< bound`.
  mutating func below(_ bound: Int) -> Int {
    precondition(bound > 0, "nothing is below \(bound)")
    return Int(next() % UInt64(bound))
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
