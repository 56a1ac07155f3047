import CLinux
import Synchronization

/// Values that threads pass to another one, which sleeps in poll(2).
///
/// Laws: `descriptor` is readable while there are values. They are taken in the order in which they
/// were appended.
package final class Mailbox<Value: Sendable>: Sendable {
  /// An eventfd(2).
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

  /// Takes all values; without any it costs one atomic load.
  package func take() -> [Value] {
    take { values -> [Value] in
      defer { values = [] }
      return values
    } ?? []
  }

  /// Takes what `choose` removes from the values; nil without any.
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

  /// Waits until there are values, or the time is over; -1 for ever.
  package func wait(milliseconds: Int32 = -1) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&entry, 1, milliseconds)
  }
}
