import Synchronization

/// What a scripted daemon counts, from whichever thread.
final class Counter: Sendable {
  let count = Number()
  let backup = Number()

  /// A number behind a lock.
  final class Number: Sendable {
    private let state = Mutex<UInt64>(0)

    var value: UInt64 { state.withLock { $0 } }

    func store(_ value: UInt64) { state.withLock { $0 = value } }

    /// Adds one, and returns the sum.
    func add() -> UInt64 {
      state.withLock { state in
        state += 1
        return state
      }
    }
  }
}
