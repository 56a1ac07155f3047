package import NavigationSync
package import RuntimePaths

/// What `navctl doctor` found out; nil where it could not.
package struct DoctorFacts: Sendable {
  /// Where the daemon should be.
  package var endpoint: String?
  /// Why no place was found where it could be.
  package var endpointFailure: String?
  /// The file of a local endpoint.
  package var socket: FileStatus?
  /// Whether this user may connect to it.
  package var mayConnect = false
  /// What the daemon said of itself.
  package var statistics: DaemonStatistics?
  /// Why it said nothing.
  package var failure: String?
  /// How long it took to answer, in milliseconds.
  package var took: UInt64 = 0
  /// The daemon's wall clock at the moment of asking, in milliseconds since 1970.
  package var daemonTime: UInt64?
  /// Our wall clock at that moment.
  package var ownTime: UInt64 = 0
  /// The version of navctl.
  package var version = ""

  /// Makes facts of which nothing is known.
  package init() {}

  /// The path of a local endpoint.
  package var socketPath: String? {
    guard let endpoint, endpoint.hasPrefix("ipc://") else { return nil }
    return String(endpoint.dropFirst("ipc://".count))
  }
}

/// One finding of `navctl doctor`.
package struct DoctorFinding: Hashable, Sendable {
  /// How bad it is.
  package enum Verdict: String, Sendable {
    /// As it should be.
    case ok
    /// To be looked at.
    case warn
    /// Something does not work.
    case fail
  }

  /// What was looked at, in a word.
  package var subject: String
  /// How bad it is.
  package var verdict: Verdict
  /// What was found, one line.
  package var finding: String
  /// What to do about it, one line; nil when it is as it should be.
  package var remedy: String?

  init(_ subject: String, _ verdict: Verdict, _ finding: String, _ remedy: String? = nil) {
    (self.subject, self.verdict, self.finding, self.remedy) = (subject, verdict, finding, remedy)
  }
}

/// Judges what was found out about a daemon.
package enum Doctor {
  /// The findings, in the order in which they should be looked at.
  package static func findings(_ facts: DoctorFacts) -> [DoctorFinding] {
    var findings = [endpoint(facts)]
    if let socket = socket(facts) { findings.append(socket) }
    guard facts.endpoint != nil else { return findings }
    findings.append(daemon(facts))
    if let time = facts.daemonTime { findings.append(clock(facts, time)) }
    guard let statistics = facts.statistics else { return findings }
    return findings + [
      version(facts, statistics), storage(statistics), disk(statistics), journal(statistics),
      descriptors(statistics), connections(statistics), peers(statistics), library(statistics),
    ]
  }

  private static func endpoint(_ facts: DoctorFacts) -> DoctorFinding {
    guard let endpoint = facts.endpoint else {
      return DoctorFinding(
        "endpoint", .fail, facts.endpointFailure ?? "no running navd found",
        "systemctl start navd.socket, or say where it is with --endpoint or NAVD_ENDPOINT")
    }
    return DoctorFinding("endpoint", .ok, endpoint)
  }

  private static func socket(_ facts: DoctorFacts) -> DoctorFinding? {
    guard let path = facts.socketPath else { return nil }
    guard let status = facts.socket else {
      return DoctorFinding(
        "socket", .fail, "there is nothing at \(path)", "systemctl start navd.socket, or run navd")
    }
    let mode = "0" + String(status.mode, radix: 8)
    let what = "\(status.kind.rawValue) of user \(status.owner), mode \(mode)"
    guard status.kind == .socket else {
      return DoctorFinding("socket", .fail, "\(path) is \(what)", "remove it and start navd again")
    }
    guard facts.mayConnect else {
      return DoctorFinding(
        "socket", .fail, "\(what): this user may not connect",
        "join the group of the socket: usermod -aG navd USER; then log in again")
    }
    guard status.mode & 0o002 == 0 else {
      return DoctorFinding(
        "socket", .warn, "\(what): every user of the machine may connect",
        "set socket-mode in navd.conf(5), or SocketMode= in navd.socket, to 0660")
    }
    return DoctorFinding("socket", .ok, what)
  }

  private static func daemon(_ facts: DoctorFacts) -> DoctorFinding {
    guard let statistics = facts.statistics else {
      return DoctorFinding(
        "daemon", .fail, facts.failure ?? "navd does not answer",
        "systemctl status navd; journalctl -u navd says why it stopped or what holds it up")
    }
    if statistics.isServing == false {
      return DoctorFinding("daemon", .warn, "navd is stopping", "systemctl status navd")
    }
    let text = "answers in \(facts.took) ms, up \(Figures.age(milliseconds: statistics.uptime))"
    guard facts.took < 500 else {
      return DoctorFinding(
        "daemon", .warn, text, "navctl top shows what it does; the disk may be slow")
    }
    return DoctorFinding("daemon", .ok, text)
  }

  private static func clock(_ facts: DoctorFacts, _ time: UInt64) -> DoctorFinding {
    let isLocal = facts.socketPath != nil
    let apart = time > facts.ownTime ? time - facts.ownTime : facts.ownTime - time
    let remedy = "timedatectl shows whether it is set from the network; history shows these times"
    guard time >= firstPlausibleTime, time < lastPlausibleTime else {
      return DoctorFinding("clock", .fail, "navd's is \(Tables.utc(milliseconds: time))", remedy)
    }
    guard apart <= (isLocal ? 2000 : 60_000) else {
      let text = "navd's and ours are \(Figures.age(milliseconds: apart)) apart"
      return DoctorFinding("clock", .warn, text, remedy)
    }
    return DoctorFinding("clock", .ok, Tables.utc(milliseconds: time))
  }

  /// The first of January of 2024 and of 2100: before and behind, a clock was never set.
  private static let firstPlausibleTime: UInt64 = 1_704_067_200_000
  private static let lastPlausibleTime: UInt64 = 4_102_444_800_000

  /// All findings as lines for people: one each, and one with the remedy where there is one.
  package static func lines(_ findings: [DoctorFinding], columns: Int = 80) -> [StyledLine] {
    let width = findings.map { TerminalText.width($0.subject) }.max() ?? 0
    return findings.flatMap { finding in
      var line = StyledLine(
        TerminalText.padded(finding.verdict.rawValue, columns: 4),
        finding.verdict == .ok ? .faint : finding.verdict == .warn ? .strong : .alert)
      line.append("  \(TerminalText.padded(finding.subject, columns: width))  ")
      line.append(TerminalText.visible(finding.finding))
      guard let remedy = finding.remedy else { return [line] }
      let indent = String(repeating: " ", count: 8 + width)
      return [line, StyledLine("\(indent)try: \(remedy)")]
    }
  }

  /// All findings as one JSON object.
  package static func json(_ findings: [DoctorFinding]) -> [UInt8] {
    let list = findings.map { finding in
      OperationText.object(
        [
          ("subject", OperationText.string(finding.subject)),
          ("verdict", OperationText.string(finding.verdict.rawValue)),
          ("finding", OperationText.string(finding.finding)),
        ] + (finding.remedy.map { [("remedy", OperationText.string($0))] } ?? []))
    }
    let isOk = !findings.contains { $0.verdict == .fail }
    return Array("{\"ok\":\(isOk),\"findings\":[".utf8) + Array(list.joined(separator: [0x2C]))
      + Array("]}".utf8)
  }
}
