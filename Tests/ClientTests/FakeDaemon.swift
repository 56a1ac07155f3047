import CLinux
import Foundation
import NavigationCore
import Synchronization
import ZeroMQ

/// How long a test waits for what must happen before it fails; long, for a busy machine may leave a
/// test aside for most of a minute.
let patience = Duration.seconds(120)

/// A directory of its own for one test, removed with it.
final class TemporaryDirectory: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(
      path: "nc-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var endpoint: String { "ipc://\(url.path)/s" }
}

/// A message that a scripted daemon got.
struct Received: Sendable {
  var peer: [UInt8]
  var verb: String
  var body: String

  /// A member of the body that is a text, or the JSON of it.
  subscript(name: String) -> String? {
    guard let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
    else { return nil }
    return object[name].map { "\($0)" }
  }

  var id: UInt64 { self["id"].flatMap { UInt64($0) } ?? 0 }
}

/// A daemon on a ROUTER that says what a test tells it; it runs on a thread of its own.
///
/// `hello` is welcomed and everything else is left to the test, unless `answers` says something.
final class FakeDaemon: Sendable {
  typealias Answer = (verb: ServerVerb, body: String)

  private struct State {
    var received: [Received] = []
    var waiting: [(deadline: ContinuousClock.Instant, CheckedContinuation<Received?, Never>)] = []
    var outgoing: [(peer: [UInt8], verb: ServerVerb, body: String)] = []
    var mustRestart = false
    var mustStop = false
    var lastPeer: [UInt8] = []
    /// A day: it never speaks up by itself, and a client that a busy machine leaves aside for longer
    /// than three heartbeats would take it for dead and begin again with other identifiers.
    var heartbeat = 86_400_000
    var answers: @Sendable (Received) -> [Answer]?
    /// The id of its run, which no other daemon has.
    let boot = String(UInt64.random(in: 1 << 60...UInt64.max), radix: 16)
  }

  let directory: TemporaryDirectory
  var endpoint: String { directory.endpoint }
  private let state: Mutex<State>
  private let wake: Int32
  private let stopped = DispatchSemaphore(value: 0)

  init(answers: @escaping @Sendable (Received) -> [Answer]? = { _ in nil }) throws {
    directory = try TemporaryDirectory()
    state = Mutex(State(answers: answers))
    wake = eventfd(0, Int32(EFD_NONBLOCK))
    let ready = DispatchSemaphore(value: 0)
    Foundation.Thread.detachNewThread { [self] in
      do { try run(ready) } catch { ready.signal() }
      stopped.signal()
    }
    ready.wait()
  }

  func stop() {
    state.withLock { $0.mustStop = true }
    signal()
    stopped.wait()
    CLinux.close(wake)
  }

  /// Forgets every connection and serves again at the same place.
  func restart() {
    state.withLock { $0.mustRestart = true }
    signal()
  }

  func setHeartbeat(_ milliseconds: Int) { state.withLock { $0.heartbeat = milliseconds } }

  /// Sends to whoever spoke last.
  func send(_ verb: ServerVerb, _ body: String) {
    state.withLock { $0.outgoing.append(($0.lastPeer, verb, body)) }
    signal()
  }

  /// The next message with a verb; messages with others are passed over.
  func next(_ verb: String) async throws -> Received {
    while true {
      let deadline = ContinuousClock.now + patience
      let received = await withCheckedContinuation { continuation in
        state.withLock { state in
          if state.received.isEmpty {
            state.waiting.append((deadline, continuation))
          } else {
            let first = state.received.removeFirst()
            continuation.resume(returning: first)
          }
        }
      }
      guard let received else { throw Unexpected(what: "no \(verb) came") }
      if received.verb == verb { return received }
    }
  }

  private func signal() { _ = eventfd_write(wake, 1) }

  private func run(_ ready: DispatchSemaphore) throws {
    let context = try Context()
    while true {
      let router = try context.socket(.router)
      try router.set(.linger(milliseconds: 1000))
      try router.bind(endpoint)
      ready.signal()
      guard try serve(router) else { return }
    }
  }

  /// Returns whether to serve again.
  private func serve(_ router: borrowing Socket) throws -> Bool {
    var poller = Poller()
    _ = poller.add(router)
    _ = poller.add(descriptor: wake)
    var parts = Multipart(capacity: 4)
    while true {
      _ = try poller.wait(milliseconds: 100)
      var count: UInt64 = 0
      _ = unsafe eventfd_read(wake, &count)
      while try router.receive(into: &parts) {
        let frames = parts.copyFrames()
        guard frames.count == 3 else { continue }
        take(
          Received(
            peer: frames[0], verb: String(decoding: frames[1].dropFirst(5), as: UTF8.self),
            body: String(decoding: frames[2], as: UTF8.self)))
      }
      let (outgoing, restarts, stops) = state.withLock { state in
        defer {
          state.outgoing = []
          state.mustRestart = false
        }
        let now = ContinuousClock.now
        while let first = state.waiting.first, first.deadline < now {
          let late = state.waiting.removeFirst()
          late.1.resume(returning: nil)
        }
        return (state.outgoing, state.mustRestart, state.mustStop)
      }
      for message in outgoing {
        _ = try router.send([message.peer, message.verb.frame, Array(message.body.utf8)])
      }
      if stops { return false }
      if restarts { return true }
    }
  }

  private func take(_ received: Received) {
    state.withLock { state in
      state.lastPeer = received.peer
      if let answers = state.answers(received) {
        for answer in answers {
          state.outgoing.append((received.peer, answer.verb, answer.body))
        }
      } else if received.verb == "hello" {
        let body =
          #"{"ver":1,"nonce":"\#(received["nonce"] ?? "")","boot":"\#(state.boot)","hb":\#(state.heartbeat),"ops":{"last":0},"limits":{"window":1048576}}"#
        state.outgoing.append((received.peer, .welcome, body))
      }
      if let waiting = state.waiting.first {
        state.waiting.removeFirst()
        waiting.1.resume(returning: received)
      } else {
        state.received.append(received)
      }
    }
  }
}

/// Runs something that blocks on a thread of its own; what is returned waits for the result.
func onThread<Value: Sendable>(
  _ body: @escaping @Sendable () throws -> Value
) -> @Sendable () async throws -> Value {
  let box = ThreadResult<Value>()
  Foundation.Thread.detachNewThread { box.finish(Result { try body() }) }
  return { try await box.value().get() }
}

private final class ThreadResult<Value: Sendable>: Sendable {
  private typealias Outcome = Result<Value, any Error>
  private let state = Mutex<(result: Outcome?, waiter: CheckedContinuation<Outcome, Never>?)>(
    (nil, nil))

  func finish(_ result: Result<Value, any Error>) {
    let waiter = state.withLock { state in
      state.result = result
      return state.waiter
    }
    waiter?.resume(returning: result)
  }

  func value() async -> Result<Value, any Error> {
    await withCheckedContinuation { continuation in
      let result = state.withLock { state -> Result<Value, any Error>? in
        if state.result == nil { state.waiter = continuation }
        return state.result
      }
      if let result { continuation.resume(returning: result) }
    }
  }
}
