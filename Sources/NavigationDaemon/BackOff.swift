/// Counts the turns for which an attempt that did not pay is not made again.
///
/// Law: behind each failure come `shortest` turns or more without an attempt, twice as many as behind
/// the one before, up to `longest`; successes make them fewer again.
struct BackOff {
  private let shortest: Int
  private let longest: Int
  private var remaining = 0
  private var next: Int

  init(from shortest: Int, to longest: Int) {
    assert(0 < shortest && shortest <= longest, "\(shortest) turns, and \(longest) at most")
    (self.shortest, self.longest, next) = (shortest, longest, shortest)
  }

  /// Whether an attempt may be made.
  var isOver: Bool { remaining == 0 }

  /// Notes that a turn has passed.
  mutating func noteTurn() { if remaining > 0 { remaining -= 1 } }

  /// Notes an attempt that did not pay.
  mutating func noteFailure() {
    remaining = next
    next = min(next * 2, longest)
  }

  /// Notes an attempt that paid: the next pause is shorter by a part of it, one in `divisor`.
  mutating func noteSuccess(_ divisor: Int) { next = max(shortest, next - next / divisor) }
}
