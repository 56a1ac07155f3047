import NavigationCore
import RuntimePaths

/// The facts that `navctl doctor` judges; nil if a fact could not be found out.
struct DoctorFacts: Sendable {
  var endpoint: String?
  /// The reason why there is no address: the sockets that navctl tried.
  var endpointFailure: String?
  var socket: FileStatus?
  /// Why the permissions of files do not let this user connect; nil if they do.
  var denial: AccessDenial?
  var statistics: JSONValue?
  var failure: String?
  /// The time until the daemon answered a ping, in milliseconds.
  var took: UInt64 = 0
  /// The wall clock of the daemon at the ping, in milliseconds since 1970.
  var daemonTime: UInt64?
  var ownTime: UInt64 = 0
  var version = ""

  /// The path of the socket file; nil for a network address.
  var socketPath: String? {
    guard let endpoint, endpoint.hasPrefix("ipc://") else { return nil }
    return String(endpoint.dropFirst("ipc://".count))
  }
}

struct DoctorFinding: Hashable, Sendable {
  enum Verdict: String, Sendable {
    case ok
    case warn
    case fail
  }

  /// The subject of the check in one word, such as `socket`.
  var subject: String
  var verdict: Verdict
  var finding: String
  /// The next command or action in one line; nil without a fault.
  var remedy: String?

  init(_ subject: String, _ verdict: Verdict, _ finding: String, _ remedy: String? = nil) {
    (self.subject, self.verdict, self.finding, self.remedy) = (subject, verdict, finding, remedy)
  }
}

/// Judges facts about a daemon; does no I/O itself.
enum Doctor {
  /// The findings in the order of dependence: a later check assumes the earlier ones.
  static func findings(_ facts: DoctorFacts) -> [DoctorFinding] {
    var findings = [endpoint(facts)]
    if let socket = socket(facts) { findings.append(socket) }
    guard facts.endpoint != nil, facts.denial == nil else { return findings }
    findings.append(daemon(facts))
    if let time = facts.daemonTime { findings.append(clock(facts, time)) }
    guard let statistics = facts.statistics else { return findings }
    return findings + [
      version(facts, statistics), storage(statistics), disk(statistics), journal(statistics),
      descriptors(statistics), connections(statistics), peers(statistics), library(statistics),
    ] + (statistics.number("backups.every") > 0 ? [backup(statistics)] : [])
      + (statistics["cluster"].map { [cluster($0)] } ?? [])
  }

  private static func endpoint(_ facts: DoctorFacts) -> DoctorFinding {
    guard let endpoint = facts.endpoint else {
      return .init(
        "endpoint", .fail, facts.endpointFailure ?? "no running navd found",
        "systemctl restart navd.socket; another address: --endpoint or NAVD_ENDPOINT")
    }
    return .init("endpoint", .ok, endpoint)
  }

  private static func socket(_ facts: DoctorFacts) -> DoctorFinding? {
    guard let path = facts.socketPath else { return nil }
    if let denial = facts.denial {
      return .init("socket", .fail, denial.reason, denial.remedy)
    }
    guard let status = facts.socket else {
      return .init(
        "socket", .fail, "\(path) does not exist", "systemctl restart navd.socket, or run navd")
    }
    if let problem = facts.statistics?["socketProblem"]?.string {
      return .init("socket", .fail, "new clients cannot reach navd", TerminalText.visible(problem))
    }
    let mode = "0" + String(status.mode, radix: 8)
    let what = "\(status.kind.rawValue) of user \(status.owner), mode \(mode)"
    guard status.kind == .socket else {
      return .init("socket", .fail, "\(path) is \(what)", "remove it and start navd again")
    }
    guard status.mode & 0o002 == 0 else {
      return .init(
        "socket", .warn, "\(what): every user of the machine may connect",
        "set socket-mode in navd.conf(5), or SocketMode= in navd.socket, to 0660")
    }
    return .init("socket", .ok, what)
  }

  private static func daemon(_ facts: DoctorFacts) -> DoctorFinding {
    guard let statistics = facts.statistics else {
      return .init(
        "daemon", .fail, facts.failure ?? "navd does not answer",
        "systemctl status navd; find the cause: journalctl -u navd")
    }
    if statistics["serving"]?.bool == false {
      return .init("daemon", .warn, "navd is stopping", "systemctl status navd")
    }
    let age = Figures.age(milliseconds: statistics.number("uptime"))
    let text = "answers in \(facts.took) ms, up \(age)"
    guard facts.took < 500 else {
      return .init("daemon", .warn, text, "see its activity: navctl top; the disk may be slow")
    }
    return .init("daemon", .ok, text)
  }

  private static func clock(_ facts: DoctorFacts, _ time: UInt64) -> DoctorFinding {
    let isLocal = facts.socketPath != nil
    let apart = time > facts.ownTime ? time - facts.ownTime : facts.ownTime - time
    let remedy = "see whether NTP sets the clock: timedatectl; log and history show its times"
    guard time >= firstPlausibleTime, time < lastPlausibleTime else {
      return .init("clock", .fail, "\(Tables.utc(milliseconds: time)) is not plausible", remedy)
    }
    guard apart <= (isLocal ? 2000 : 60_000) else {
      let text = "the clocks of navd and navctl differ by \(Figures.age(milliseconds: apart))"
      return .init("clock", .warn, text, remedy)
    }
    return .init("clock", .ok, Tables.utc(milliseconds: time))
  }

  /// 2024-01-01 and 2100-01-01; a clock outside these bounds was never set.
  private static let firstPlausibleTime: UInt64 = 1_704_067_200_000
  private static let lastPlausibleTime: UInt64 = 4_102_444_800_000

  /// The findings as text: a line each, and a second line if there is a remedy.
  static func lines(_ findings: [DoctorFinding], columns: Int = 80) -> [StyledLine] {
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

  /// The findings as one JSON object, with `ok` false if a check failed.
  static func json(_ findings: [DoctorFinding]) -> [UInt8] {
    let list = findings.map { finding in
      var members: JSONObject = [
        "subject": .string(finding.subject), "verdict": .string(finding.verdict.rawValue),
        "finding": .string(finding.finding),
      ]
      members.add("remedy", finding.remedy)
      return OpaqueJSON.object(members)
    }
    let isOk = !findings.contains { $0.verdict == .fail }
    return OpaqueJSON.object(["ok": .bool(isOk), "findings": .array(list)]).bytes
  }
}
