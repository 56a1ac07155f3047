import CLinux

/// Wakes a thread that waits for descriptors.
final class WakeDescriptor: Sendable {
  /// Ready to be read when somebody has called `signal` since the last `drain`.
  let descriptor: Int32

  /// Makes one; nil when the process has no descriptors left.
  init?() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    guard descriptor >= 0 else { return nil }
  }

  deinit {
    if descriptor >= 0 { _ = CLinux.close(descriptor) }
  }

  /// Ends a wait, or the next one.
  func signal() {
    // It fails only when the counter is full, and then the descriptor is ready already.
    _ = eventfd_write(descriptor, 1)
  }

  /// Makes the descriptor wait for the next signal.
  func drain() {
    var count: UInt64 = 0
    _ = unsafe eventfd_read(descriptor, &count)
  }
}
