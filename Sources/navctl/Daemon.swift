import NavigationClient
import NavigationCore
import RuntimePaths

/// A connection to a daemon, with the timeout of the command that uses it.
final class Daemon {
  typealias Answer = (reply: OkReply, body: [UInt8])

  let invocation: Invocation
  var connection: NavigationConnection

  init(_ invocation: Invocation, _ connection: consuming NavigationConnection) {
    self.invocation = invocation
    self.connection = connection
  }

  var endpoint: String { connection.endpoint }

  var timeout: Duration { .milliseconds(invocation.timeoutMilliseconds) }

  func openSession() throws { try connection.openSession(timeout: timeout) }

  func get(_ request: GetRequest) throws -> Answer {
    try connection.get(request, timeout: timeout).accepted(nav: request.nav)
  }

  func get(
    _ what: GetRequest.What, _ nav: String?, at revision: Revision? = nil
  ) throws -> Answer {
    try get(GetRequest(id: 0, nav: nav, what: what, at: revision))
  }

  func statistics(timeout: UInt64? = nil) throws -> (body: [UInt8], value: JSONValue) {
    let request = GetRequest(id: 0, nav: nil, what: .stats)
    let limit = timeout.map { Duration.milliseconds($0) } ?? self.timeout
    let answer = try connection.get(request, timeout: limit).accepted()
    return (answer.body, try answer.reply.json())
  }

  /// Reads which daemon has which shards; `members` is nil without a cluster, or if unknown yet.
  func cluster() throws -> (body: [UInt8], members: ClusterMembers?) {
    let answer = try connection.get(
      GetRequest(id: 0, nav: nil, what: .cluster), timeout: timeout
    ).accepted()
    return (answer.body, ClusterMembers(try answer.reply.json()))
  }

  /// Reads `limit` log entries, oldest first: from a revision on, or the newest if `from` is nil.
  func log(nav: String, from: UInt64?, limit: UInt64) throws -> Answer {
    var request = GetRequest(id: 0, nav: nav, what: .log, limit: limit)
    request.from = from.map { Revision($0) }
    guard from == nil else { return try get(request) }
    let last = try get(.top, nav).reply.revision?.number ?? 0
    request.from = Revision(last - min(last, limit) + 1)
    do {
      return try get(request)
    } catch let refusal as Refusal where refusal.error.knownCode == .compacted {
      // The journal no longer has that revision; without `from` the log begins at its oldest.
      request.from = nil
      return try get(request)
    }
  }

  /// Reads entries as `log` does; while they exceed a message, it asks for the newer half of them.
  func fittingLog(nav: String, from: UInt64?, limit: UInt64) throws -> OkReply {
    var (from, limit) = (from, limit)
    while true {
      do {
        return try log(nav: nav, from: from, limit: limit).reply
      } catch let refusal as Refusal where refusal.error.knownCode == .limit && limit > 1 {
        // The later half, since the caller goes on towards older ones.
        from = from.map { $0 + limit - limit / 2 }
        limit /= 2
      }
    }
  }

  /// The milliseconds since the running transition began; nil if that cannot be known.
  ///
  /// The log has times of the daemon's wall clock, so the daemon must run on this machine. The state
  /// lacks the time of a gesture's last update, from which its deadline counts.
  func transitionAge(nav: String, state: JSONValue) -> UInt64? {
    guard endpoint.hasPrefix("ipc:"), let transition = state["transition"],
      let began = transition["tid"]?.integer, transition["phase"]?.string != "interactive"
    else { return nil }
    let request = GetRequest(id: 0, nav: nav, what: .log, from: Revision(began), limit: 1)
    // The drawing works without the age of the transition, so the command ignores an error here.
    let entry = try? get(request).reply.json().elements.first
    guard let entry, entry["rev"]?.integer == began, let then = entry["t"]?.integer else {
      return nil
    }
    let now = SystemClock.wallMilliseconds()
    return now - min(now, then)
  }
}

extension NavigationConnection.Reply {
  func accepted(nav: String? = nil) throws -> Daemon.Answer {
    switch result {
    case .success(let answer): return (answer, body)
    case .failure(let error): throw Refusal(error: error, nav: nav)
    }
  }
}

extension OkReply {
  /// The value; an empty object if the reply has none.
  func json() throws -> JSONValue { try JSONValue(value?.bytes ?? Array("{}".utf8)) }
}
