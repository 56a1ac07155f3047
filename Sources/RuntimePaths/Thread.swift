import CLinux

/// A POSIX thread that runs one function; `join` is called once.
package final class Thread: Sendable {
  private let handle: pthread_t

  /// Holds the function until the thread has started.
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

  /// Starts a thread that is never joined; its function lives until the process ends.
  package static func start(_ body: @escaping @Sendable () -> Void) {
    guard let thread = Thread(body) else { preconditionFailure("pthread_create") }
    pthread_detach(thread.handle)
  }

  /// Waits until the function has returned; on the thread itself, it returns at once.
  package func join() {
    if pthread_equal(handle, pthread_self()) != 0 {
      _ = pthread_detach(handle)
    } else {
      _ = pthread_join(handle, nil)
    }
  }
}
