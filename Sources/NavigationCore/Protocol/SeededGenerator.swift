/// A generator of 64-bit numbers whose whole state is its seed (SplitMix64).
///
/// Callers use it for ids, jitter and repeatable choices. Its numbers are predictable, so no secret
/// may depend on them.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Makes a generator; equal seeds give equal numbers.
  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
  }
}

extension ClosedRange<UInt64> {
  /// Returns the lower bound, doubled `doublings` times, but at most the upper bound.
  package func pause(after doublings: Int) -> UInt64 {
    Swift.min(upperBound, lowerBound << UInt64(Swift.min(doublings, 16)))
  }
}
