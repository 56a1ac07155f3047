import CLinux
import Synchronization

/// A lock around a value, which also works in a child of fork(2).
///
/// Swift's `Mutex` does not: it remembers the number that the thread had in the parent, and ends the
/// process as soon as a second thread waits for it.
@safe package final class Lock<Value>: @unchecked Sendable {
  // The reason for `@unchecked`: `withLock` has the lock whenever it reads or changes the value.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value: Value

  package init(_ value: sending Value) {
    self.value = value
    _ = unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    _ = unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  package func lock() { _ = unsafe pthread_mutex_lock(mutex) }
  package func unlock() { _ = unsafe pthread_mutex_unlock(mutex) }

  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body(&value)
  }
}

/// Counts the forks that led to this process, because a child must not use its parent's clients.
package enum Forks {
  private static let counter = Atomic(0)
  private static let isRegistered = pthread_atfork(
    { SharedContext.shared.lock() }, { SharedContext.shared.unlock() },
    {
      SharedContext.shared.unlock()
      Forks.counter.add(1, ordering: .relaxed)
    })

  /// The number of forks between the first call in an ancestor and this process.
  package static var count: Int {
    _ = isRegistered
    return counter.load(ordering: .relaxed)
  }
}
