import NavctlSupport
import Navigation
import NavigationClient
import NavigationSync

/// What all commands have in common that read once.
enum Reading {
  /// One round trip; throws the daemon's refusal.
  static func get(
    _ invocation: Invocation, _ connection: inout NavigationConnection, _ request: GetRequest
  ) throws -> (reply: OkReply, body: [UInt8]) {
    let reply = try connection.get(
      request, timeout: .milliseconds(invocation.timeoutMilliseconds))
    switch reply.result {
    case .success(let answer): return (answer, reply.body)
    case .failure(let error): throw Refusal(error: error, nav: request.nav, seen: nil)
    }
  }

  /// The value of an answer; an object without members where there is none.
  static func value(_ reply: OkReply) throws -> JSONValue {
    try JSONValue(reply.value?.bytes ?? Array("{}".utf8))
  }
}
