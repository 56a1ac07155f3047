import CLinux

/// A POSIX thread that runs one function; callers call `join` once.
package final class Thread: Sendable {
  private let handle: pthread_t

  /// An object that keeps the function alive until the thread has started.
  private final class BodyBox: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Starts a thread; nil if pthread_create(3) fails.
  package init?(_ body: @escaping @Sendable () -> Void) {
    // The thread releases this reference; if it does not start, the line below does.
    let box = unsafe Unmanaged.passRetained(BodyBox(body))
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { pointer in
        guard let pointer = unsafe pointer else { return nil }
        let box = unsafe Unmanaged<BodyBox>.fromOpaque(pointer).takeRetainedValue()
        box.body()
        return nil
      }, box.toOpaque())
    handle = thread
    guard result == 0 else {
      unsafe box.release()
      return nil
    }
  }

  /// Starts a detached thread, which nobody joins and which runs until the process ends.
  package static func start(_ body: @escaping @Sendable () -> Void) {
    guard let thread = Thread(body) else { preconditionFailure("pthread_create") }
    pthread_detach(thread.handle)
  }

  /// Waits until the thread has ended; called by the thread itself, it detaches the thread instead.
  package func join() {
    if pthread_equal(handle, pthread_self()) != 0 {
      _ = pthread_detach(handle)
    } else {
      _ = pthread_join(handle, nil)
    }
  }
}
