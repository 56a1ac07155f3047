import CLinux
import Synchronization

/// A POSIX thread that runs one function and can be joined.
final class Thread: Sendable {
  private let handle: Mutex<pthread_t?>

  /// Holds the function until the thread has started.
  private final class Entry: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Starts a thread; nil if pthread_create(3) fails.
  init?(_ body: @escaping @Sendable () -> Void) {
    // The thread releases this reference; if it does not start, the line below does.
    let entry = unsafe Unmanaged.passRetained(Entry(body))
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { pointer in
        guard let pointer = unsafe pointer else { return nil }
        let entry = unsafe Unmanaged<Entry>.fromOpaque(pointer).takeRetainedValue()
        entry.body()
        return nil
      }, entry.toOpaque())
    handle = Mutex(result == 0 ? thread : nil)
    guard result == 0 else {
      unsafe entry.release()
      return nil
    }
  }

  /// Waits until the function has returned; a second call, or one on this thread, returns at once.
  func join() {
    let thread = handle.withLock { handle in
      defer { handle = nil }
      return handle
    }
    guard let thread else { return }
    if pthread_equal(thread, pthread_self()) != 0 {
      _ = pthread_detach(thread)
    } else {
      _ = pthread_join(thread, nil)
    }
  }
}
