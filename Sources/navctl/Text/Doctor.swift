import NavigationCore
import RuntimePaths

/// The facts that `navctl doctor` judges; a fact is nil if navctl could not find it out.
struct DoctorFacts: Sendable {
  var endpoint: String?
  var endpointFailure: String?
  var socketFile: FileStatus?
  /// The file permission that keeps this user from connecting; nil if none does.
  var denial: SocketAccessDenial?
  var statistics: JSONValue?
  var connectionFailure: String?
  /// The time until the daemon answered a ping, in milliseconds.
  var pingMilliseconds: UInt64 = 0
  /// The wall clock of the daemon at the ping, in milliseconds since 1970.
  var daemonMilliseconds: UInt64?
  var clientMilliseconds: UInt64 = 0
  var navctlVersion = ""

  /// The path of the socket file; nil for a network address.
  var socketPath: String? {
    guard let endpoint, endpoint.hasPrefix("ipc://") else { return nil }
    return String(endpoint.dropFirst("ipc://".count))
  }
}

struct DoctorFinding: Hashable, Sendable {
  enum Verdict: String, Sendable { case ok, warn, fail }

  var subject: String
  var verdict: Verdict
  var finding: String
  /// What to do or to type next, in one line; nil without a fault.
  var remedy: String?

  init(_ subject: String, _ verdict: Verdict, _ finding: String, _ remedy: String? = nil) {
    (self.subject, self.verdict, self.finding, self.remedy) = (subject, verdict, finding, remedy)
  }
}

/// Judges facts about a daemon; does no I/O itself.
enum Doctor {
  /// The findings in order; a later check assumes that the earlier ones found no fault.
  static func findings(_ facts: DoctorFacts) -> [DoctorFinding] {
    var findings = [endpoint(facts)]
    if let socket = socket(facts) { findings.append(socket) }
    guard facts.endpoint != nil, facts.denial == nil else { return findings }
    findings.append(daemon(facts))
    if let time = facts.daemonMilliseconds { findings.append(clock(facts, daemonTime: time)) }
    guard let statistics = facts.statistics else { return findings }
    return findings + [
      version(facts, statistics), journalStorage(statistics), disk(statistics),
      journalSize(statistics), descriptorLimit(statistics), connections(statistics),
      clientLag(statistics), libzmqVersion(statistics),
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
    if let denial = facts.denial { return .init("socket", .fail, denial.reason, denial.remedy) }
    guard let status = facts.socketFile else {
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
        "daemon", .fail, facts.connectionFailure ?? "navd does not answer",
        "systemctl status navd; find the cause: journalctl -u navd")
    }
    if statistics["serving"]?.bool == false {
      return .init("daemon", .warn, "navd is stopping", "systemctl status navd")
    }
    let age = Figures.age(milliseconds: statistics.number("uptime"))
    let text = "answers in \(facts.pingMilliseconds) ms, up \(age)"
    guard facts.pingMilliseconds < 500 else {
      return .init("daemon", .warn, text, "see its activity: navctl top; the disk may be slow")
    }
    return .init("daemon", .ok, text)
  }

  private static func clock(_ facts: DoctorFacts, daemonTime time: UInt64) -> DoctorFinding {
    let isLocal = facts.socketPath != nil
    let now = facts.clientMilliseconds
    let apart = time > now ? time - now : now - time
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

  /// 2024-01-01 in milliseconds since 1970; a clock before it was never set.
  private static let firstPlausibleTime: UInt64 = 1_704_067_200_000
  /// 2100-01-01 in milliseconds since 1970; a clock after it is wrong.
  private static let lastPlausibleTime: UInt64 = 4_102_444_800_000

  static func lines(_ findings: [DoctorFinding]) -> [StyledLine] {
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

  static func version(_ facts: DoctorFacts, _ statistics: JSONValue) -> DoctorFinding {
    let daemon = statistics.text("server").split(separator: "/").last.map(String.init) ?? ""
    guard daemon != facts.navctlVersion else {
      return .init("version", .ok, "navd and navctl are \(daemon)")
    }
    let text = "navd is \(daemon.isEmpty ? "unknown" : daemon), navctl is \(facts.navctlVersion)"
    return .init(
      "version", .warn, text,
      "restart navd if its package was upgraded; install the same version of both")
  }

  static func journalStorage(_ statistics: JSONValue) -> DoctorFinding {
    guard let problem = statistics["storageProblem"]?.string else {
      return .init("storage", .ok, "the journal accepts commits")
    }
    return .init(
      "storage", .fail, "the journal accepts no commits; navd refuses changes and serves reads",
      TerminalText.visible(problem))
  }

  static func disk(_ statistics: JSONValue) -> DoctorFinding {
    let (free, size) = (statistics.number("disk.free"), statistics.number("disk.size"))
    guard size > 0 else {
      return .init("disk", .warn, "navd does not report the disk", "df on its state directory")
    }
    let text = "\(Figures.bytes(free)) free of \(Figures.bytes(size))"
    let remedy = "free space on the file system of navd's state directory"
    if free < 16_000_000 { return .init("disk", .fail, text, remedy) }
    // 5 % of a large disk can be plenty. So the warning also requires less than 100 MB, or less
    // than twice the size of the journal.
    let isLittle = free < max(100_000_000, 2 * statistics.number("journal.bytes"))
    if free < 100_000_000 || free < size / 20 && isLittle {
      return .init("disk", .warn, text, remedy)
    }
    return .init("disk", .ok, text)
  }

  static func journalSize(_ statistics: JSONValue) -> DoctorFinding {
    let size = statistics.number("journal.bytes") + statistics.number("journal.walBytes")
    let pages = statistics.number("journal.walPages")
    guard pages < maximumWALPages else {
      return .init(
        "journal", .warn, "\(Figures.count(pages)) pages of its log cannot be moved",
        "a process reads an old state of it: fuser -v /var/lib/navd/journal.sqlite")
    }
    let limit = statistics.number("journal.limit")
    guard limit > 0 else { return .init("journal", .ok, "\(Figures.bytes(size)), no limit") }
    let text = "\(Figures.bytes(size)), limit for rows \(Figures.bytes(limit))"
    // The file is larger than its rows, and does not shrink when rows are deleted.
    guard size > 2 * limit + 64_000_000 else { return .init("journal", .ok, text) }
    return .init(
      "journal", .warn, text,
      "the newest rows of each nav stay whatever the limit: navctl list; journalctl -u navd")
  }

  /// Checkpoints, due from 1,000 pages on, do not empty a write-ahead log of this many pages.
  private static let maximumWALPages: UInt64 = 16_000

  static func backup(_ statistics: JSONValue) -> DoctorFinding {
    let text = StatusDrawing.backups(statistics)
    let cause = "find the cause: journalctl -u navd MESSAGE_ID=5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c11"
    if statistics.flag("backups.overdue") {
      return .init("backup", .warn, text, cause + "; copy by hand: navctl backup")
    }
    guard statistics.flag("backups.retentionFailed") else { return .init("backup", .ok, text) }
    return .init("backup", .warn, text, cause + "; remove them by hand, or they fill the disk")
  }

  static func descriptorLimit(_ statistics: JSONValue) -> DoctorFinding {
    let limit = statistics.number("process.descriptorLimit")
    let connections = statistics.number("process.connectionLimit")
    guard limit > 0 else {
      return .init("limits", .warn, "navd does not report its limits", "cat /proc/PID/limits")
    }
    let text =
      "\(Figures.counted(limit, "descriptor")) for \(Figures.counted(connections, "connection"))"
    guard limit < connections + 64 else { return .init("limits", .ok, text) }
    return .init("limits", .warn, text, "raise LimitNOFILE= in navd.service, or lower connections")
  }

  static func connections(_ statistics: JSONValue) -> DoctorFinding {
    let all = ConnectionLoad.ofAllClients(statistics)
    let loads = [all] + ConnectionLoad.ofPrincipals(statistics)
    let fullest = loads.dropFirst().max { $0.usedFraction < $1.usedFraction }
    let text = ([all] + (fullest.map { [$0] } ?? [])).map(\.text).joined(separator: "; ")
    let differences = statistics.number("connectionDifferences")
    guard differences == 0 else {
      return .init(
        "connections", .warn, "\(text); \(Figures.count(differences)) miscounted since the start",
        "find which: journalctl -u navd; this is a fault of navd, please report it")
    }
    // The limit that is closest.
    guard let worst = loads.max(by: { $0.usedFraction < $1.usedFraction }), worst.isNearLimit else {
      return .init("connections", .ok, text)
    }
    let key = worst.principal == nil ? "connections" : "connections-per-principal"
    return .init(
      "connections", worst.count >= worst.limit ? .fail : .warn, text,
      "list the clients: navctl list --clients; the limit is \(key) in navd.conf(5)")
  }

  static func clientLag(_ statistics: JSONValue) -> DoctorFinding {
    let stalled = statistics.number("lag.stalled")
    let lag = Figures.counted(statistics.number("lag.max"), "revision")
    guard stalled > 0 || statistics.number("lag.max") > 1000 else {
      let sessions = Figures.counted(statistics.number("sessions"), "session")
      return .init("peers", .ok, "\(sessions), none stalled, lag \(lag)")
    }
    let behind = Figures.counted(statistics.number("lag.watches"), "watch")
    return .init(
      "peers", .warn, "\(Figures.count(stalled)) stalled, \(behind) behind by up to \(lag)",
      "a client does not read: navctl list --clients; navd disconnects it by itself")
  }

  static func cluster(_ cluster: JSONValue) -> DoctorFinding {
    let (members, unowned) = (cluster.number("members"), cluster.number("unowned"))
    let text =
      "\(TerminalText.visible(cluster.text("member"))) has "
      + "\(Figures.counted(cluster.number("shards"), "shard")), "
      + "\(Figures.counted(members, "daemon")) serve"
    guard unowned == 0 else {
      return .init(
        "cluster", .fail, "\(text); \(Figures.counted(unowned, "shard")) without a daemon",
        "see who is away: navctl cluster; the reason: journalctl -u navd-cluster")
    }
    guard members > 1 else {
      return .init(
        "cluster", .warn, "\(text); no other daemon would take over",
        "start another one: systemctl start navd-cluster on its machine")
    }
    return .init("cluster", .ok, text)
  }

  /// Checks libzmq: navd works around the faults of 4.3.4, and was never tested with an older one.
  static func libzmqVersion(_ statistics: JSONValue) -> DoctorFinding {
    let text = statistics.text("process.libzmq")
    let parts = text.split(separator: ".").compactMap { UInt64($0) }
    guard parts.count == 3 else {
      return .init("libzmq", .warn, "navd does not report the version of libzmq", "upgrade navd")
    }
    let number = parts[0] * 10_000 + parts[1] * 100 + parts[2]
    if number >= 40_305 { return .init("libzmq", .ok, "\(text), without the faults of 4.3.4") }
    if number == 40_304 {
      return .init("libzmq", .ok, "\(text), whose known faults navd works around")
    }
    return .init(
      "libzmq", .warn, "\(text), older than any tested version", "install 4.3.4 or newer")
  }
}
