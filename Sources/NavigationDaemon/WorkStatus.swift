import CommandLineOptions
import RuntimePaths

/// Decides what the service manager shows while the daemon does long work: a backup, or pruning.
///
/// Laws: at most one text a second about each piece of work, and one at its end; none about work
/// without a report. Times are in milliseconds of a monotonic clock.
struct WorkStatus {
  /// Milliseconds between two texts about the same work.
  static let textInterval: UInt64 = 1000

  private var works: [(subject: ProgressSubject, estimate: ProgressEstimate, shownAt: UInt64?)] = []

  /// The progress of a piece of work; nil if it is not running.
  subscript(_ subject: ProgressSubject) -> ProgressEstimate? {
    works.first { $0.subject == subject }?.estimate
  }

  /// Takes a report of a piece of work; returns the text about all work, if it is to be shown now.
  mutating func note(
    _ subject: ProgressSubject, _ done: UInt64, of total: UInt64, at now: UInt64
  ) -> String? {
    let index = works.firstIndex { $0.subject == subject } ?? works.count
    if index == works.count { works.append((subject, ProgressEstimate(at: now), nil)) }
    works[index].estimate.update(done, of: total, at: now)
    if let shownAt = works[index].shownAt, now < shownAt + Self.textInterval { return nil }
    works[index].shownAt = now
    return works.map { $0.estimate.text($0.subject) }.joined(separator: "; ")
  }

  /// Takes a report of the work that is left; the total is the largest sum of done and left so far.
  mutating func note(_ subject: ProgressSubject, left: UInt64, at now: UInt64) -> String? {
    let before = self[subject]
    let done = before?.done ?? 0
    let total = max(before?.total ?? 0, done + left)
    return note(subject, total - left, of: total, at: now)
  }

  /// Notes that a piece of work has ended; returns whether it was shown.
  mutating func end(_ subject: ProgressSubject) -> Bool {
    let isShown = works.contains { $0.subject == subject && $0.shownAt != nil }
    works.removeAll { $0.subject == subject }
    return isShown
  }
}
