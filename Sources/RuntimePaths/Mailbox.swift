import CLinux
import Synchronization

/// A queue by which threads pass values to one thread, which waits in poll(2).
///
/// Laws: `descriptor` is readable while the queue has values. `take` returns them in the order in
/// which `append` added them.
package final class Mailbox<Value: Sendable>: Sendable {
  /// The file descriptor of an eventfd(2), which signals that the queue has values.
  package let descriptor: Int32
  private let values = Mutex<[Value]>([])
  private let hasValues = Atomic<Bool>(false)

  package init() {
    descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    precondition(descriptor >= 0, "eventfd: errno=\(navd_errno())")
  }

  deinit { _ = close(descriptor) }

  package func append(_ value: Value) {
    values.withLock { values in
      values.append(value)
      guard values.count == 1 else { return }
      hasValues.store(true, ordering: .releasing)
      // Within the lock. After it, the other thread could take the value before the write, and the
      // descriptor would stay readable without values.
      eventfd_write(descriptor, 1)
    }
  }

  /// Removes and returns all values; an empty queue costs only one atomic load.
  package func take() -> [Value] {
    take { values -> [Value] in
      defer { values = [] }
      return values
    } ?? []
  }

  /// Calls `choose`, which removes and returns some of the values; returns nil for an empty queue.
  package func take<Chosen: Sendable>(_ choose: (inout [Value]) -> Chosen) -> Chosen? {
    guard hasValues.load(ordering: .acquiring) else { return nil }
    return values.withLock { values in
      let chosen = choose(&values)
      if values.isEmpty {
        hasValues.store(false, ordering: .relaxed)
        var count: eventfd_t = 0
        _ = unsafe eventfd_read(descriptor, &count)
      }
      return chosen
    }
  }

  /// Waits until the queue has values or the time has passed; -1 waits without a limit.
  package func wait(milliseconds: Int32 = -1) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&entry, 1, milliseconds)
  }
}
