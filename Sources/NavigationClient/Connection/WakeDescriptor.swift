import CLinux

/// An eventfd(2) that wakes a thread in poll(2).
final class WakeDescriptor: Sendable {
  /// Readable after a `signal` until the next `drain`.
  let descriptor: Int32

  /// Makes the descriptor; nil if the process has none left.
  init?() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    guard descriptor >= 0 else { return nil }
  }

  deinit {
    if descriptor >= 0 { _ = CLinux.close(descriptor) }
  }

  /// Wakes the thread, or lets its next wait return at once.
  func signal() {
    // The write fails only if the counter is full, and then the descriptor is readable already.
    _ = eventfd_write(descriptor, 1)
  }

  /// Makes the descriptor unreadable until the next signal.
  func drain() {
    var count: UInt64 = 0
    _ = unsafe eventfd_read(descriptor, &count)
  }
}
