import CLinux
import Synchronization

/// A thread that runs one function and is waited for.
final class Thread: Sendable {
  private let handle: Mutex<pthread_t?>

  /// Holds what the thread runs until it has begun.
  private final class Entry: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Starts a thread; nil when the system has none left.
  init?(_ body: @escaping @Sendable () -> Void) {
    // The thread takes this reference over; see below for the case that there is none.
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

  /// Waits until the function has returned; at once when called again, or by the thread itself.
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
