import CLinux
import Synchronization

/// The queue in which libzmq's threads report connections to the loop.
///
/// Law: the events are in the order of the kernel's calls. The acceptance of a connection is queued
/// after its accept(2), and before libzmq can read from it. Its end is queued before its close(2),
/// and so before the next connection gets the same number. Every other trace of a connection
/// follows its acceptance. So a loop that takes these events first knows the connection already.
final class ConnectionEvents: Sendable {
  enum Event: Hashable, Sendable {
    case accepted(Acceptance)
    /// libzmq is closing the descriptor; it has queued every complete message of the connection.
    case closed(descriptor: Int32, cookie: UInt64)
    /// The gate has disconnected a peer.
    case cut(InboundGate.Cut)
    /// navd closed a new connection at once, because nearly all descriptors are in use.
    case shortage
  }

  /// An eventfd, readable while the queue has events.
  let descriptor: Int32
  private let events = Mutex<[Event]>([])
  private let hasEvents = Atomic<Bool>(false)

  init() {
    descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    precondition(descriptor >= 0, "eventfd: errno=\(navd_errno())")
  }

  /// Appends an event; callable from any thread.
  func append(_ event: Event) {
    events.withLock { events in
      events.append(event)
      guard events.count == 1 else { return }
      hasEvents.store(true, ordering: .releasing)
      // Within the lock. After it, the loop could take the event before the write, and the
      // descriptor would stay readable with an empty queue.
      eventfd_write(descriptor, 1)
    }
  }

  /// Takes all events; an empty queue costs one atomic load.
  func take() -> [Event] {
    guard hasEvents.load(ordering: .acquiring) else { return [] }
    return events.withLock { events in
      hasEvents.store(false, ordering: .relaxed)
      var count: eventfd_t = 0
      _ = unsafe eventfd_read(descriptor, &count)
      defer { events = [] }
      return events
    }
  }
}
