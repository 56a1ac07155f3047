import CLinux
import RuntimePaths
import ZeroMQ

/// One descriptor for everything that a connection waits for: an epoll(7) set of the sockets' signs,
/// a timer, and a flag.
package struct EventDescriptor: ~Copyable {
  /// The descriptor, for poll(2) and its relatives; readable while there is something to do.
  package let descriptor: Int32
  private let timer: Int32
  private let flag: WakeDescriptor
  private var isFlagged = false
  /// When the timer wakes the owner; nil while it is off.
  private var dueAt: UInt64?
  private var watched: [Int32] = []
  /// The generation of the watched descriptors; nil before the first.
  private(set) var generation: UInt64?

  /// Makes the descriptor; nil if the process has none left.
  package static func make() -> EventDescriptor? {
    guard let flag = WakeDescriptor() else { return nil }
    let made = EventDescriptor(flag)
    guard made.add(made.timer) == 0, made.add(flag.descriptor) == 0 else { return nil }
    return made
  }

  private init(_ flag: WakeDescriptor) {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    timer = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
    self.flag = flag
  }

  deinit {
    if timer >= 0 { _ = close(timer) }
    if descriptor >= 0 { _ = close(descriptor) }
  }

  private func add(_ other: Int32) -> Int32 {
    var event = unsafe epoll_event()
    unsafe event.events = EPOLLIN.rawValue
    return unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, other, &event)
  }

  /// Watches nothing any more; only `signal` makes the descriptor readable.
  package mutating func stop() {
    for old in watched { _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, old, nil) }
    watched = []
    wake(at: nil)
  }

  mutating func watch(_ signs: [Int32], generation: UInt64) throws(ZeroMQError) {
    // libzmq closes a socket later, and the kernel drops its descriptor then by itself.
    for old in watched where !signs.contains(old) {
      _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, old, nil)
    }
    watched = []
    self.generation = nil
    for sign in signs {
      // A number that is watched already is that of the same descriptor, for the kernel drops a
      // closed one.
      guard add(sign) == 0 || navd_errno() == EEXIST else {
        throw ZeroMQError(.poll, code: navd_errno())
      }
      watched.append(sign)
    }
    self.generation = generation
  }

  /// Makes the descriptor readable from this time of `SystemClock.bootMilliseconds` on; nil for never.
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

  /// Makes the descriptor readable at once, or no longer for that reason.
  package mutating func signal(_ isReady: Bool) {
    guard isReady != isFlagged else { return }
    isFlagged = isReady
    if isReady { flag.signal() } else { flag.drain() }
  }
}

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
