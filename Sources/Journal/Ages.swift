/// The ages of rows, by time that passed while a daemon had the journal open.
///
/// No wall clock counts: it can jump in both directions, and a machine without a battery starts in a
/// past year. Only time between two calls of `advance` in one process counts, as the boot clock measured
/// it. Time without a daemon does not count.
///
/// Law: no row is younger than its age. If `n` was the counted time at the first `advance` after the row,
/// its age is at least 8/9 of the time counted since `n`.
struct Ages: Hashable {
  /// A moment at which every row up to `lastSequence` was stored.
  struct Mark: Hashable {
    /// The counted time in milliseconds.
    var time: UInt64
    var lastSequence: UInt64
  }

  /// The counted time in milliseconds.
  private(set) var time: UInt64
  /// The marks in ascending order of both numbers.
  private(set) var marks: [Mark]
  /// The boot clock at the last `advance`; nil before the first one of this process.
  private var advancedAt: UInt64?

  init(time: UInt64 = 0, marks: [Mark] = []) {
    (self.time, self.marks) = (time, marks)
  }

  /// The sequence of the newest row that is at least `age` milliseconds old; 0 for none.
  ///
  /// All rows before it are that old too. O(marks).
  func newestSequence(ofAge age: UInt64) -> UInt64 {
    marks.last { time - min($0.time, time) >= age }?.lastSequence ?? 0
  }

  /// Counts the time until `now`, in milliseconds of the boot clock; `newest` is the newest row.
  mutating func advance(_ now: UInt64, newest: UInt64) {
    time += now - min(advancedAt ?? now, now)
    advancedAt = now
    if newest > marks.last?.lastSequence ?? 0 {
      marks.append(Mark(time: time, lastSequence: newest))
    }
    mergeMarks()
  }

  /// Removes marks, so that their number grows with the logarithm of the counted time.
  ///
  /// Rows of a removed mark get the next one's age, which is at most an eighth less.
  private mutating func mergeMarks() {
    var kept: [Mark] = []
    for (index, mark) in marks.enumerated() {
      if index + 1 < marks.count {
        let next = marks[index + 1].time
        if next - (kept.last?.time ?? 0) <= (time - next) / 8 { continue }
      }
      kept.append(mark)
    }
    marks = kept
  }

  /// Forgets marks that cover rows which the journal does not have, as after lost commits.
  mutating func removeMarks(through newest: UInt64) { marks.removeAll { $0.lastSequence > newest } }
}
