import CLinux
import Synchronization

/// What libzmq's threads, and the gate on them, do to connections, for the loop to read.
///
/// Law: the events are in the order of the kernel's calls. A connection is entered behind its
/// accept(2) and before anything can be read from it; its end is entered before its close(2), so also
/// before the next connection gets the same number. Whatever else is known of a connection was caused
/// by its acceptance, so a loop that takes these events first knows that connection already.
final class ConnectionEvents: Sendable {
  enum Event: Hashable, Sendable {
    case accepted(Acceptance)
    /// The descriptor is being closed; libzmq has flushed every whole message that it read.
    case closed(descriptor: Int32, cookie: UInt64)
    /// The gate has disconnected a peer.
    case cut(InboundGate.Cut)
    /// A peer was closed at once, because nearly all descriptors are in use.
    case shortage
  }

  /// Readable while there are events.
  let descriptor: Int32
  private let events = Mutex<[Event]>([])
  private let hasEvents = Atomic<Bool>(false)

  init() {
    descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    precondition(descriptor >= 0, "eventfd: errno=\(navd_errno())")
  }

  /// Appends an event; any thread may.
  func append(_ event: Event) {
    events.withLock { events in
      events.append(event)
      guard events.count == 1 else { return }
      hasEvents.store(true, ordering: .releasing)
      // Under the lock: behind it, the event could be taken first, and the descriptor would stay
      // readable with nothing to take.
      eventfd_write(descriptor, 1)
    }
  }

  /// Takes the events that there are; costs nothing while there are none.
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
