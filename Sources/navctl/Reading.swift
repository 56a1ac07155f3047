import NavigationClient
import NavigationCore
import RuntimePaths

/// Requests that read something once.
enum Reading {
  /// Sends one `get` and returns its reply; throws `Refusal` for an `err` reply.
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

  /// The value in a reply; an empty object if the reply has none.
  static func value(_ reply: OkReply) throws -> JSONValue {
    try JSONValue(reply.value?.bytes ?? Array("{}".utf8))
  }

  /// Reads `limit` log entries, oldest first: from a revision on, or the newest if `from` is nil.
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
      // The journal no longer has that revision; without `from` the log begins at its oldest.
      request.from = nil
      return try get(invocation, &connection, request)
    }
  }

  /// Reads log entries as `log` does, fewer and fewer of them while they exceed a message: the
  /// newest ones of the range.
  static func someLog(
    _ invocation: Invocation, _ connection: inout NavigationConnection, nav: String,
    from: UInt64?, limit: UInt64
  ) throws -> OkReply {
    var (from, limit) = (from, limit)
    while true {
      do {
        return try log(invocation, &connection, nav: nav, from: from, limit: limit).reply
      } catch let refusal as Refusal where refusal.error.knownCode == .limit && limit > 1 {
        // The later half, since the caller goes on towards older ones.
        from = from.map { $0 + limit - limit / 2 }
        limit /= 2
      }
    }
  }

  /// The milliseconds since the running transition began; nil if that cannot be known.
  ///
  /// The log has times of the daemon's wall clock, so the daemon must run on this machine. The
  /// deadline of a gesture restarts with each update, and the state does not have the time of the
  /// update.
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
      // The drawing works without the age of the transition, so the command ignores an error here.
      return nil
    }
  }
}
