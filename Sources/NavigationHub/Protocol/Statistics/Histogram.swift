package import NavigationCore

/// Counts of values in buckets by size; each bucket's upper bound is twice the one before.
package struct Histogram: Hashable, Sendable {
  /// The upper bounds of the buckets, ascending; a value counts in the first bucket that holds it.
  package let bounds: [UInt64]
  /// The number of values in each bucket, and last the number of values above all bounds.
  package let counts: [UInt64]
  package let sum: UInt64

  /// Makes a histogram; there is one count more than there are bounds.
  package init(bounds: [UInt64], counts: [UInt64], sum: UInt64) {
    precondition(counts.count == bounds.count + 1, "counts=\(counts.count)")
    self.bounds = bounds
    self.counts = counts
    self.sum = sum
  }

  /// Reads a histogram of the statistics; nil if there is none, or if it contradicts itself.
  package init?(_ value: JSONValue?) {
    let bounds = value?["bounds"]?.elements.map { $0.integer ?? 0 } ?? []
    let counts = value?["counts"]?.elements.map { $0.integer ?? 0 } ?? []
    guard counts.count == bounds.count + 1, zip(bounds, bounds.dropFirst()).allSatisfy(<) else {
      return nil
    }
    self.init(bounds: bounds, counts: counts, sum: value?.number("sum") ?? 0)
  }

  package var count: UInt64 { counts.reduce(0, &+) }

  /// The values counted after `earlier`; nil if that is not an earlier state of this histogram.
  package func increase(since earlier: Histogram) -> Histogram? {
    guard bounds == earlier.bounds, sum >= earlier.sum,
      zip(counts, earlier.counts).allSatisfy({ $0 >= $1 })
    else { return nil }
    return Histogram(
      bounds: bounds, counts: zip(counts, earlier.counts).map { $0 - $1 }, sum: sum - earlier.sum)
  }

  /// Estimates a quantile by linear interpolation within a bucket; `share` goes from 0 to 1.
  ///
  /// The result is the last bound for values above all bounds, and nil without values.
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
