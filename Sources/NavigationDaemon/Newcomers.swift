/// Connections over a network that have said nothing yet, and until when they may.
///
/// A key's connections are known by what they say, so who says nothing must not stay.
struct Newcomers {
  /// How long somebody may be connected and say nothing, in milliseconds.
  static let patience: UInt64 = 10_000

  private var dueAt: [Int32: UInt64] = [:]
  /// Those that came, the oldest first; who spoke or left is still among them.
  private var queue: [(descriptor: Int32, due: UInt64)] = []
  private var head = 0

  /// Notes that a connection was accepted.
  ///
  /// - Parameters:
  ///   - descriptor: where; who was there before is gone.
  ///   - now: the time, in milliseconds of a clock that never goes back.
  mutating func noteAccepted(_ descriptor: Int32, at now: UInt64) {
    dueAt[descriptor] = now + Self.patience
    queue.append((descriptor, now + Self.patience))
  }

  /// Notes that a connection has spoken or ended.
  mutating func forget(_ descriptor: Int32) { dueAt[descriptor] = nil }

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
