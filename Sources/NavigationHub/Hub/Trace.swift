import NavigationCore

/// The traces of administrators: each reports messages of other clients to one session.
///
/// A trace slows no client: whatever exceeds its limits is dropped and counted.
///
/// Laws:
/// - A session has one trace at most, which never reports the session's own messages.
/// - The reports and the counts of dropped messages add up to the messages that match.
struct Trace: Sendable {
  /// The messages that a trace reports; all messages if both members are nil.
  struct Filter: Sendable {
    /// The nav that the messages name, or that the request which they answer names.
    var nav: String?
    /// The id of the client, or the name that it gave itself.
    var client: String?
  }

  /// The peer of a connection, and its client.
  struct Correspondent: Sendable {
    /// The peer, as the transport proved it.
    var peer: Peer
    /// The client of the session, or the client that an op without session names.
    var client: (id: ClientID, name: String)?
  }

  /// A message that navd received or is about to send.
  struct Message {
    var connection: ConnectionID
    var correspondent: Correspondent
    /// Whether navd received it.
    var isIncoming: Bool
    /// The verb, in the words of the protocol; nil if it cannot be read.
    var verb: String?
    /// The JSON; nil if it cannot be read.
    var body: [UInt8]?
    var byteCount: Int
    /// The nav that an incoming message is about.
    var nav: String?
    /// The id of an incoming request, which the answers repeat.
    var id: UInt64?
  }

  /// The reports of several messages, in one message to the session.
  struct Report: Sendable {
    /// The reports, joined by commas: at most `reportBytes` octets, or one report that is larger.
    var list: [UInt8] = []
    /// How many messages the list has.
    var count: UInt64 = 0
    /// The number of messages that were dropped before these.
    var dropped: UInt64 = 0
  }

  /// A body larger than this is left out of the report.
  static let bodyBytes = 4096
  /// When a list of reports has this many octets, the next one begins.
  static let reportBytes = 32768
  /// How many messages a trace reports in a second, and at once after a pause.
  static let (perSecond, burst) = (UInt64(2000), UInt64(1000))
  /// The most unanswered requests that a trace of a nav remembers; above, it forgets all.
  static let unansweredLimit = 4096
  /// The most clients remembered for messages to connections without a session; above, all are
  /// forgotten.
  static let correspondentLimit = 16384

  /// The trace of one session of an administrator.
  fileprivate struct Tracer: Sendable {
    var session: SessionRef
    var connection: ConnectionID
    var filter: Filter
    /// The messages that the trace may still report now, in thousandths of a message.
    var tokens = Trace.burst * 1000
    var refilledAt: UInt64
    /// The reports that this session has not been sent yet.
    var waitingReports: [Report] = []
    var dropped: UInt64 = 0
    /// The requests about the traced nav that have no answer yet.
    var unanswered: Set<Request> = []
  }

  fileprivate struct Request: Hashable {
    var connection: ConnectionID
    var id: UInt64
  }

  private var tracers: [Tracer] = []
  /// The clients that had a session or sent a message since the trace began, for reports about
  /// messages to clients without a session.
  private(set) var correspondents: [ConnectionID: Correspondent] = [:]

  var isEmpty: Bool { tracers.isEmpty }

  var sessions: [SessionRef] { tracers.map(\.session) }

  /// Begins a trace for a session, and ends its former trace.
  mutating func begin(
    _ session: SessionRef, on connection: ConnectionID, _ filter: Filter, at now: UInt64
  ) {
    end(session)
    tracers.append(
      Tracer(session: session, connection: connection, filter: filter, refilledAt: now))
  }

  mutating func end(_ session: SessionRef) {
    tracers.removeAll { $0.session == session }
    if tracers.isEmpty { correspondents = [:] }
  }

  mutating func note(_ correspondent: Correspondent, at connection: ConnectionID) {
    if correspondents.count >= Self.correspondentLimit { correspondents = [:] }
    correspondents[connection] = correspondent
  }

  /// Reports a message to the sessions that want to see it; `time` is since 1970.
  mutating func note(_ message: Message, at now: UInt64, time: UInt64) {
    var report: [UInt8]?
    for index in tracers.indices where tracers[index].connection != message.connection {
      guard tracers[index].matches(message) else { continue }
      guard tracers[index].takeToken(at: now) else {
        tracers[index].dropped += 1
        continue
      }
      let bytes = report ?? message.report(at: time)
      report = bytes
      tracers[index].append(bytes)
    }
  }

  /// Takes the next report to a session; nil if there is nothing to report, or no more.
  mutating func takeReport(to session: SessionRef) -> Report? {
    guard let index = tracers.firstIndex(where: { $0.session == session }) else { return nil }
    var report: Report
    if tracers[index].waitingReports.isEmpty {
      guard tracers[index].dropped > 0 else { return nil }
      report = Report()
    } else {
      report = tracers[index].waitingReports.removeFirst()
    }
    report.dropped = tracers[index].dropped
    tracers[index].dropped = 0
    return report
  }

  /// Drops the reports to a session without credit, and counts the dropped messages.
  mutating func dropReports(to session: SessionRef) {
    guard let index = tracers.firstIndex(where: { $0.session == session }) else { return }
    tracers[index].dropped += tracers[index].waitingReports.reduce(0) { $0 + $1.count }
    tracers[index].waitingReports = []
  }
}

extension Trace.Tracer {
  fileprivate mutating func matches(_ message: Trace.Message) -> Bool {
    if let client = filter.client {
      guard let sender = message.correspondent.client,
        sender.name == client || sender.id.text == client
      else {
        return false
      }
    }
    guard let nav = filter.nav else { return true }
    if message.isIncoming {
      guard message.nav == nav else { return false }
      if let id = message.id {
        // Most of so many are of connections that have closed.
        if unanswered.count >= Trace.unansweredLimit { unanswered = [] }
        unanswered.insert(Trace.Request(connection: message.connection, id: id))
      }
      return true
    }
    guard let body = message.body else { return false }
    if !unanswered.isEmpty, let id = Self.id(of: body),
      unanswered.contains(Trace.Request(connection: message.connection, id: id))
    {
      if message.verb != ServerVerb.queued.word {
        unanswered.remove(Trace.Request(connection: message.connection, id: id))
      }
      return true
    }
    return Self.nav(of: body) == nav
  }

  /// The id with which an answer begins; nil if it begins with another member.
  private static func id(of body: [UInt8]) -> UInt64? {
    let head = Array(#"{"id":"#.utf8)
    guard body.starts(with: head) else { return nil }
    var id: UInt64 = 0
    for byte in body[head.count...].prefix(16) {
      guard byte &- UInt8(ascii: "0") <= 9 else { break }
      id = id * 10 + UInt64(byte - UInt8(ascii: "0"))
    }
    return id
  }

  private static func nav(of body: [UInt8]) -> String? {
    var tape = JSONTape()
    guard (try? tape.read(body, maximumDepth: 64)) != nil else { return nil }
    return tape.member("nav", of: tape.root).flatMap { tape.string($0) }
  }

  fileprivate mutating func takeToken(at now: UInt64) -> Bool {
    let elapsed = now - min(now, refilledAt)
    refilledAt = now
    tokens = min(tokens + min(elapsed, 1000) * Trace.perSecond, Trace.burst * 1000)
    guard tokens >= 1000 else { return false }
    tokens -= 1000
    return true
  }

  fileprivate mutating func append(_ report: [UInt8]) {
    let size = waitingReports.last.map { $0.list.count + report.count } ?? .max
    if size > Trace.reportBytes {
      waitingReports.append(Trace.Report(list: report, count: 1))
    } else {
      waitingReports[waitingReports.count - 1].list.append(UInt8(ascii: ","))
      waitingReports[waitingReports.count - 1].list += report
      waitingReports[waitingReports.count - 1].count += 1
    }
  }
}

extension Trace.Message {
  /// The report of the message, which passes at `time`, in milliseconds since 1970.
  fileprivate func report(at time: UInt64) -> [UInt8] {
    JSONWriter.object { json in
      json.member("t", time)
      json.member("dir", word: isIncoming ? "in" : "out")
      json.member("verb", verb ?? "")
      if let client = correspondent.client {
        json.member("client", client.id.text)
        json.member("name", client.name)
      }
      json.member("principal", correspondent.peer.principal)
      json.peer(correspondent.peer)
      json.member("size", UInt64(byteCount))
      if let body, body.count <= Trace.bodyBytes { json.member("body", raw: body) }
    }
  }
}
