/// Connections over a network that have said nothing yet, and until when they may.
///
/// A key's connections are known by what they say, so who says nothing must not stay.
struct Newcomers {
  /// How long somebody may be connected and say nothing, in milliseconds.
  static let patience: UInt64 = 10_000

  /// How often somebody may be granted as much again.
  static let grants = 3

  private var dueAt: [Int32: UInt64] = [:]
  private var granted: [Int32: Int] = [:]
  /// Those that came, the oldest first; who spoke or left is still among them.
  private var queue: [(descriptor: Int32, due: UInt64)] = []
  private var head = 0

  /// Notes that a connection was accepted.
  ///
  /// - Parameters:
  ///   - descriptor: where; who was there before is gone.
  ///   - now: the time, in milliseconds of a clock that never goes back.
  mutating func noteAccepted(_ descriptor: Int32, at now: UInt64) {
    granted[descriptor] = nil
    wait(for: descriptor, since: now)
  }

  private mutating func wait(for descriptor: Int32, since now: UInt64) {
    dueAt[descriptor] = now + Self.patience
    queue.append((descriptor, now + Self.patience))
  }

  /// Waits once more for somebody who was due and may not be to blame.
  ///
  /// - Returns: false if that was done often enough.
  mutating func grantMore(_ descriptor: Int32, at now: UInt64) -> Bool {
    guard granted[descriptor, default: 0] < Self.grants else { return false }
    granted[descriptor, default: 0] += 1
    wait(for: descriptor, since: now)
    return true
  }

  /// Notes that a connection has spoken or ended.
  mutating func forget(_ descriptor: Int32) {
    dueAt[descriptor] = nil
    granted[descriptor] = nil
  }

  /// When somebody's time is up.
  var wakeAt: UInt64? { head < queue.count ? queue[head].due : nil }

  /// Those whose time is up, once.
  mutating func takeDue(at now: UInt64) -> [Int32] {
    var due: [Int32] = []
    while let next = wakeAt, next <= now {
      let descriptor = queue[head].descriptor
      head += 1
      guard dueAt[descriptor] == next else { continue }
      dueAt[descriptor] = nil
      due.append(descriptor)
    }
    if head * 2 > queue.count {
      queue.removeFirst(head)
      head = 0
    }
    return due
  }
}
