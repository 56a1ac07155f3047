import NavctlSupport
import Navigation
import NavigationClient
import NavigationSync
import RuntimePaths

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

  /// The log from a revision on, or of the newest revisions, oldest first.
  static func log(
    _ invocation: Invocation, _ connection: inout NavigationConnection, nav: String,
    from: UInt64?, limit: UInt64
  ) throws -> (reply: OkReply, body: [UInt8]) {
    var request = GetRequest(id: 0, nav: nav, what: .log)
    request.limit = limit
    request.from = from.map { Revision($0) }
    guard from == nil else { return try get(invocation, &connection, request) }
    let now = try get(invocation, &connection, GetRequest(id: 0, nav: nav, what: .top))
    let last = now.reply.revision?.number ?? 0
    request.from = Revision(last - min(last, limit) + 1)
    do {
      return try get(invocation, &connection, request)
    } catch let refusal as Refusal where refusal.error.knownCode == .compacted {
      // The history is shorter than that.
      request.from = nil
      return try get(invocation, &connection, request)
    }
  }

  /// How long ago the running transition began; nil where nothing says so.
  ///
  /// The log has the daemon's wall clock, which is ours only on the same machine. The deadline of
  /// a gesture counts from its last sign of life, which is not in the state.
  static func elapsed(
    _ invocation: Invocation, _ connection: inout NavigationConnection, nav: String,
    state: JSONValue
  ) -> UInt64? {
    guard connection.endpoint.hasPrefix("ipc:"), let transition = state["transition"],
      let began = transition["tid"]?.integer, transition["phase"]?.string != "interactive"
    else { return nil }
    var request = GetRequest(id: 0, nav: nav, what: .log)
    request.from = Revision(began)
    request.limit = 1
    do {
      let entry = try value(try get(invocation, &connection, request).reply).elements.first
      guard let entry, entry["rev"]?.integer == began, let then = entry["t"]?.integer else {
        return nil
      }
      let now = SystemClock.wallMilliseconds()
      return now - min(now, then)
    } catch {
      // The drawing is complete without it.
      return nil
    }
  }
}
