/// Counts the turns to skip after an attempt without success.
///
/// A turn is what the owner counts, such as a commit or a wait; it is not a turn of the loop.
///
/// Law: after a failure, at least `shortest` turns pass without an attempt. Each further failure
/// doubles that number, up to `longest`; successes reduce it.
struct BackOff {
  private let shortest: Int
  private let longest: Int
  private var turnsToSkip = 0
  private var nextPause: Int

  init(from shortest: Int, to longest: Int) {
    assert(0 < shortest && shortest <= longest, "\(shortest) turns, and \(longest) at most")
    (self.shortest, self.longest, nextPause) = (shortest, longest, shortest)
  }

  var isOver: Bool { turnsToSkip == 0 }

  mutating func noteTurn() { if turnsToSkip > 0 { turnsToSkip -= 1 } }

  mutating func noteFailure() {
    turnsToSkip = nextPause
    nextPause = min(nextPause * 2, longest)
  }

  /// Notes an attempt that was useful: the next pause is shorter by one part in `divisor`.
  mutating func noteSuccess(divisor: Int) {
    nextPause = max(shortest, nextPause - nextPause / divisor)
  }
}
