internal import CNavd
import CLinux
import ZeroMQ
import NavigationClient
import NavigationCore
import RuntimePaths
import Synchronization

/// One session for C: the connection, its descriptor, and the events that wait for navd_next.
final class Client: @unchecked Sendable {
  // The reason for `@unchecked`: `use` has the lock whenever it reads or changes these.
  private let lock = Lock(())
  private var connection: NavigationConnection
  private var descriptor: EventDescriptor
  private var state = ClientState()
  /// The descriptor for the program's event loop.
  let fileDescriptor: Int32
  private let forkCountAtCreation = Forks.count
  var isForked: Bool { forkCountAtCreation != Forks.count }
  private let hasReportedFork = Atomic(false)

  /// The maximum number of events that wait before navd_next returns one.
  private static let maximumWaitingEvents = 64
  /// How long a request waits if the caller names no time.
  static let defaultTimeout = Duration.seconds(10)

  /// Begins to connect; waits for the session if there is a timeout.
  init(_ options: ClientOptions, timeout: Duration?) throws(Failure) {
    guard let descriptor = EventDescriptor.make() else {
      throw Failure(
        NAVD_SYSTEM, "system", "the process has no file descriptor left",
        advice: "close descriptors, or raise the limit of this process")
    }
    fileDescriptor = descriptor.descriptor
    self.descriptor = descriptor
    do throws(ConnectionError) {
      connection = try NavigationConnection.begin(
        to: options.endpoint, as: options.identity, name: options.name,
        heartbeat: options.heartbeat)
      if let timeout { try connection.awaitSession(timeout: timeout) }
    } catch {
      var failure = Failure(error)
      // There is no client yet that could end.
      if failure.status == NAVD_CLOSED { failure.status = NAVD_REFUSED }
      throw failure
    }
    updateDescriptor()
  }

  /// Runs a function with the connection and the state, and brings the descriptor up to date.
  func use<Value: Sendable>(
    _ body: (inout NavigationConnection, inout ClientState) throws(ConnectionError) -> Value
  ) throws(Failure) -> Value {
    guard !isForked else { throw .forked }
    return try lock.withLock { _ throws(Failure) in
      defer { updateDescriptor() }
      if let end = state.end { throw end }
      do throws(ConnectionError) {
        return try body(&connection, &state)
      } catch {
        let failure = Failure(error)
        if failure.endsClient { finish(failure) }
        throw failure
      }
    }
  }

  /// Handles messages and deadlines without waiting; returns the next event, nil if there is none.
  func next() -> Event? {
    guard !isForked else {
      let isKnown = hasReportedFork.exchange(true, ordering: .relaxed)
      return isKnown ? nil : Event(NAVD_EVENT_CLOSED, error: .forked)
    }
    return lock.withLock { _ in
      defer { updateDescriptor() }
      while true {
        while let event = connection.takeEvent() { state.handle(event) }
        if let event = state.takeEvent() { return event }
        guard state.end == nil else { return nil }
        do throws(ConnectionError) {
          try connection.serve(limit: Self.maximumWaitingEvents)
        } catch {
          finish(Failure(error))
          continue
        }
        if !connection.hasEvents { return nil }
      }
    }
  }

  /// Ends the session; the client does nothing any more.
  func leave() {
    // The connection of a parent must not be touched, not even to close it.
    guard !isForked else {
      _ = unsafe Unmanaged.passRetained(self)
      return
    }
    lock.withLock { _ in
      guard state.end == nil else { return }
      // Without an answer the daemon ends the session by itself, when the connection closes.
      do { try connection.leave() } catch {}
      finish(Failure(NAVD_CLOSED, "closed", "the client was freed", advice: "make another client"))
    }
  }

  /// Makes the descriptor readable exactly while navd_next has work.
  private func updateDescriptor() {
    guard state.end == nil else {
      // Nobody reads the sockets any more, so they must not wake the program either.
      descriptor.stopWatching()
      descriptor.signal(state.hasEvents)
      return
    }
    do throws(ConnectionError) {
      try connection.update(&descriptor, isReady: state.hasEvents)
    } catch {
      finish(Failure(error))
      descriptor.signal(true)
    }
  }

  /// Ends the client; navd_next still returns the events from before.
  private func finish(_ failure: Failure) {
    while let event = connection.takeEvent() { state.handle(event) }
    state.finish(failure)
  }
}

/// How to reach the daemon.
struct ClientOptions {
  var endpoint: String
  var identity: NetworkIdentity?
  var name: String
  /// In milliseconds.
  var heartbeat: UInt64

  /// Reads the options of C, with NULL for all defaults, and the keys that the endpoint needs.
  init(_ options: UnsafePointer<navd_options>?) throws(Failure) {
    let options = unsafe options?.pointee
    let expected = unsafe MemoryLayout<navd_options>.size
    let size = unsafe options?.size ?? expected
    guard size == expected else { throw .misuse("size of the options is \(size), not \(expected)") }
    let endpoint = try unsafe optionalText(options?.endpoint, "endpoint")
    name = try unsafe optionalText(options?.name, "name") ?? ""
    let serverKey = try unsafe optionalText(options?.server_key, "server_key")
    let keyFile = try unsafe optionalText(options?.key_file, "key_file")
    let heartbeat = unsafe options?.heartbeat_ms ?? 0
    guard name.utf8.count <= 128 else { throw .misuse("the name has more than 128 octets") }
    guard heartbeat == 0 || (1000...60000).contains(heartbeat) else {
      throw .misuse("heartbeat_ms is \(heartbeat); it is 0 or 1000 to 60000")
    }
    do throws(PathError) {
      self.endpoint = try PathRules.current().clientEndpoint(option: endpoint)
    } catch {
      throw Failure(
        NAVD_UNREACHABLE, "unreachable", "\(error)",
        advice: "start navd, or pass its endpoint")
    }
    do throws(KeyError) {
      identity = try NetworkIdentity.read(
        for: self.endpoint, serverKey: serverKey, keyFile: keyFile, environment: .current())
    } catch {
      throw Failure(
        NAVD_UNREACHABLE, "key", error.description,
        advice: "pass server_key and key_file; navctl key new creates a key")
    }
    self.heartbeat = heartbeat == 0 ? 5000 : UInt64(heartbeat)
  }
}

extension Failure {
  /// Whether no later request of the client can succeed.
  fileprivate var endsClient: Bool {
    status == NAVD_CLOSED || status == NAVD_SYSTEM
      || (status == NAVD_UNREACHABLE && code == "forbidden")
  }
}
