import CLinux
import RuntimePaths
import ZeroMQ

/// One descriptor for everything that a connection waits for: an epoll(7) set of the sockets' signal
/// descriptors, a timer, and an eventfd(2).
package struct EventDescriptor: ~Copyable {
  /// The descriptor for the program's poll(2), which is readable while the connection has work.
  package let descriptor: Int32
  private let timer: Int32
  private let wakeDescriptor: WakeDescriptor
  private var isSignalled = false
  /// When the timer wakes the owner; nil while it is off.
  private var dueAt: UInt64?
  private var watchedDescriptors: [Int32] = []
  /// The `Links.generation` of the watched descriptors; nil before the first `watch`.
  private(set) var generation: UInt64?

  /// Makes the descriptor; nil if the process has no file descriptor left.
  package static func make() -> EventDescriptor? {
    guard let wakeDescriptor = WakeDescriptor() else { return nil }
    let made = EventDescriptor(wakeDescriptor)
    guard made.add(made.timer) == 0, made.add(wakeDescriptor.descriptor) == 0 else { return nil }
    return made
  }

  private init(_ wakeDescriptor: WakeDescriptor) {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    timer = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
    self.wakeDescriptor = wakeDescriptor
  }

  deinit {
    if timer >= 0 { _ = close(timer) }
    if descriptor >= 0 { _ = close(descriptor) }
  }

  private func add(_ watchedDescriptor: Int32) -> Int32 {
    var event = unsafe epoll_event()
    unsafe event.events = EPOLLIN.rawValue
    return unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, watchedDescriptor, &event)
  }

  /// Stops watching sockets and timer; only `signal` makes the descriptor readable then.
  package mutating func stopWatching() {
    for old in watchedDescriptors { _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, old, nil) }
    watchedDescriptors = []
    wake(at: nil)
  }

  /// Watches the signal descriptors of the links instead of the former ones.
  mutating func watch(_ descriptors: [Int32], generation: UInt64) throws(ZeroMQError) {
    // libzmq closes a socket later, and the kernel drops its descriptor then by itself.
    for old in watchedDescriptors where !descriptors.contains(old) {
      _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, old, nil)
    }
    watchedDescriptors = []
    self.generation = nil
    for other in descriptors {
      // A number that is watched already is that of the same descriptor, for the kernel drops a
      // closed one.
      guard add(other) == 0 || navd_errno() == EEXIST else {
        throw ZeroMQError("zmq_poll", code: navd_errno())
      }
      watchedDescriptors.append(other)
    }
    self.generation = generation
  }

  /// Makes the descriptor readable from a time of `SystemClock.bootMilliseconds` on; nil for never.
  mutating func wake(at time: UInt64?) {
    let now = SystemClock.bootMilliseconds()
    // A timer that is early costs one look in some seconds; setting it costs a call for each message.
    if let dueAt, let time, dueAt > now, dueAt <= time { return }
    guard dueAt != nil || time != nil else { return }
    dueAt = time
    var setting = itimerspec()
    if let time {
      // 0 would switch the timer off.
      let wait = max(time > now ? time - now : 0, 1)
      setting.it_value.tv_sec = Int(clamping: wait / 1000)
      setting.it_value.tv_nsec = Int(wait % 1000) * 1_000_000
    }
    _ = unsafe timerfd_settime(timer, 0, &setting, nil)
  }

  /// Makes the descriptor readable at once, or with false ends the effect of an earlier call.
  package mutating func signal(_ isReady: Bool) {
    guard isReady != isSignalled else { return }
    isSignalled = isReady
    if isReady { wakeDescriptor.signal() } else { wakeDescriptor.drain() }
  }
}

/// An eventfd(2) that wakes a thread in poll(2).
final class WakeDescriptor: Sendable {
  /// Readable after a `signal` until the next `drain`.
  let descriptor: Int32

  /// Makes the descriptor; nil if the process has no file descriptor left.
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
