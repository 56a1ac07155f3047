/// Computes how old rows are, by the time for which a daemon had the journal open.
///
/// The wall clock does not count: it can jump in both directions, and a machine without a battery
/// starts in a past year. Only the time between two calls of `advance` in one process counts, in
/// milliseconds of the boot clock. Time without a daemon does not count.
///
/// Law: the age that this type computes for a row is at most the time counted since the journal stored
/// it, and at least 8/9 of the time counted since the first `advance` after that.
struct RowAges: Hashable {
  /// A point of the counted time, and the newest row that the journal had then.
  struct Sample: Hashable {
    /// The milliseconds counted up to this sample.
    var countedMilliseconds: UInt64
    var newestSequence: UInt64
  }

  /// The milliseconds for which daemons have had the journal open.
  private(set) var countedMilliseconds: UInt64
  /// The samples in ascending order of both numbers.
  private(set) var samples: [Sample]
  /// The boot clock in milliseconds at the last `advance`; nil before the first one of this process.
  private var lastAdvance: UInt64?

  init(countedMilliseconds: UInt64 = 0, samples: [Sample] = []) {
    (self.countedMilliseconds, self.samples) = (countedMilliseconds, samples)
  }

  /// The sequence of the newest row that is at least so many milliseconds old; 0 for none.
  ///
  /// All rows before it are that old too. O(samples).
  func newestSequence(ofAge milliseconds: UInt64) -> UInt64 {
    let counted = countedMilliseconds
    return samples.last { counted - min($0.countedMilliseconds, counted) >= milliseconds }?
      .newestSequence ?? 0
  }

  /// Counts the time since the last call; `bootTime` is in milliseconds of the boot clock.
  mutating func advance(to bootTime: UInt64, newestSequence: UInt64) {
    countedMilliseconds += bootTime - min(lastAdvance ?? bootTime, bootTime)
    lastAdvance = bootTime
    if newestSequence > samples.last?.newestSequence ?? 0 {
      samples.append(
        Sample(countedMilliseconds: countedMilliseconds, newestSequence: newestSequence))
    }
    thinOutSamples()
  }

  /// Removes samples, so that their number grows with the logarithm of the counted time.
  ///
  /// Rows of a removed sample get the age of the next sample, which is at most an eighth less.
  private mutating func thinOutSamples() {
    var kept: [Sample] = []
    for (index, sample) in samples.enumerated() {
      if index + 1 < samples.count {
        let next = samples[index + 1].countedMilliseconds
        let former = kept.last?.countedMilliseconds ?? 0
        if next - former <= (countedMilliseconds - next) / 8 { continue }
      }
      kept.append(sample)
    }
    samples = kept
  }

  /// Removes samples with rows that the journal lacks, as after lost commits.
  mutating func removeSamples(above last: UInt64) { samples.removeAll { $0.newestSequence > last } }
}
