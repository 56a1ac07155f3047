import Foundation
@testable import ZeroMQ

/// How long a test waits for what must happen.
let patienceMilliseconds = 20_000

/// A directory of its own for one test, removed with it.
final class TemporaryDirectory {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "zmq-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  var endpoint: String { "ipc://\(url.path)/s" }
}

struct DeadlineExpired: Error {}

/// Waits for a whole message.
func receive(_ socket: borrowing Socket, capacity: Int = 16) throws -> [[UInt8]] {
  var parts = Multipart(capacity: capacity)
  try receive(socket, into: &parts)
  return parts.copyFrames()
}

func receive(_ socket: borrowing Socket, into parts: inout Multipart) throws {
  var poller = Poller()
  _ = poller.add(socket)
  while try !socket.receive(into: &parts) {
    guard try poller.wait(milliseconds: patienceMilliseconds) > 0 else { throw DeadlineExpired() }
  }
}

/// Waits for an event of a kind, passing over others.
func event(
  _ monitor: inout Monitor, _ kind: MonitorEvent.Kind
) throws -> MonitorEvent {
  var poller = Poller()
  _ = poller.add(monitor.reader)
  while true {
    while let event = try monitor.next() {
      if event.kind == kind { return event }
    }
    guard try poller.wait(milliseconds: patienceMilliseconds) > 0 else { throw DeadlineExpired() }
  }
}

/// Waits for a ZAP request.
func request(_ handler: inout ZAPHandler) throws -> ZAPRequest {
  var poller = Poller()
  _ = poller.add(handler.socket)
  while true {
    if let request = try handler.next() { return request }
    guard try poller.wait(milliseconds: patienceMilliseconds) > 0 else { throw DeadlineExpired() }
  }
}

/// Sends a whole message that must be accepted.
func deliver(_ socket: borrowing Socket, _ frames: [[UInt8]]) throws {
  let result = try socket.send(frames)
  guard result == .sent else { throw Unexpected(result: result) }
}

struct Unexpected: Error {
  let result: SendResult
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

extension Message {
  func copyBytes() -> [UInt8] {
    unsafe Array(UnsafeBufferPointer(start: storage.data, count: storage.count))
  }

  /// Makes another message that shares the payload, as the socket does for each peer.
  mutating func share() -> Message {
    let copy = Message()
    copy.storage.share(storage)
    return copy
  }
}
