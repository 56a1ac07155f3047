/// Counts of values by size, between bounds that double.
package struct Histogram: Hashable, Sendable {
  /// The bounds, ascending; a value belongs to the first that is not below it.
  package let bounds: [UInt64]
  /// How many values belong to each bound, and at the end those beyond the last.
  package let counts: [UInt64]
  /// The sum of the values.
  package let sum: UInt64

  /// Makes a histogram; there is one count more than there are bounds.
  package init(bounds: [UInt64], counts: [UInt64], sum: UInt64) {
    precondition(counts.count == bounds.count + 1, "counts=\(counts.count)")
    self.bounds = bounds
    self.counts = counts
    self.sum = sum
  }

  /// How many values were counted.
  package var count: UInt64 { counts.reduce(0, &+) }

  /// What was counted since an earlier state of the same histogram; nil if it is no earlier one.
  package func since(_ earlier: Histogram) -> Histogram? {
    guard bounds == earlier.bounds, sum >= earlier.sum,
      zip(counts, earlier.counts).allSatisfy({ $0 >= $1 })
    else { return nil }
    return Histogram(
      bounds: bounds, counts: zip(counts, earlier.counts).map { $0 - $1 }, sum: sum - earlier.sum)
  }

  /// The value that a share of all values does not exceed, as far as the bounds tell.
  ///
  /// - Parameter share: from 0 to 1.
  /// - Returns: a value between two bounds, in proportion; the last bound for one beyond it; nil
  ///   while nothing was counted.
  package func quantile(_ share: Double) -> Double? {
    let count = count
    guard count > 0 else { return nil }
    let rank = max(share * Double(count), Double.leastNonzeroMagnitude)
    var below: UInt64 = 0
    for (index, bound) in bounds.enumerated() {
      let here = counts[index]
      if Double(below + here) >= rank {
        let lower = index == 0 ? 0 : Double(bounds[index - 1])
        return lower + (Double(bound) - lower) * (rank - Double(below)) / Double(here)
      }
      below += here
    }
    return bounds.last.map { Double($0) }
  }
}
