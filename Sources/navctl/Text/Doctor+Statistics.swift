import NavigationCore

// The checks of the statistics that the daemon reports.

extension Doctor {
  static func version(_ facts: DoctorFacts, _ statistics: JSONValue) -> DoctorFinding {
    let daemon = statistics.text("server").split(separator: "/").last.map(String.init) ?? ""
    guard daemon != facts.version else {
      return .init("version", .ok, "navd and navctl are \(daemon)")
    }
    let text = "navd is \(daemon.isEmpty ? "unknown" : daemon), navctl is \(facts.version)"
    return .init(
      "version", .warn, text,
      "restart navd if its package was upgraded; install the same version of both")
  }

  static func storage(_ statistics: JSONValue) -> DoctorFinding {
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

  static func journal(_ statistics: JSONValue) -> DoctorFinding {
    let size = statistics.number("journal.bytes") + statistics.number("journal.walBytes")
    let pages = statistics.number("journal.walPages")
    guard pages < longLog else {
      return .init(
        "journal", .warn, "\(Figures.count(pages)) pages of its log cannot be moved",
        "a process reads an old state of it: fuser -v /var/lib/navd/journal.sqlite")
    }
    let limit = statistics.number("journal.limit")
    guard limit > 0 else {
      return .init("journal", .ok, "\(Figures.bytes(size)), no limit")
    }
    let text = "\(Figures.bytes(size)), limit for rows \(Figures.bytes(limit))"
    // The file is larger than its rows, and does not shrink when rows are deleted.
    guard size > 2 * limit + 64_000_000 else { return .init("journal", .ok, text) }
    return .init(
      "journal", .warn, text,
      "the newest rows of each nav stay whatever the limit: navctl list; journalctl -u navd")
  }

  /// The pages of a log that navd would have moved many times: it does so from 1,000 on.
  private static let longLog: UInt64 = 16_000

  static func backup(_ statistics: JSONValue) -> DoctorFinding {
    let text = StatusDrawing.backups(statistics)
    let cause = "find the cause: journalctl -u navd MESSAGE_ID=5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c11"
    if statistics.flag("backups.overdue") {
      return .init("backup", .warn, text, cause + "; copy by hand: navctl backup")
    }
    guard statistics.flag("backups.retentionFailed") else {
      return .init("backup", .ok, text)
    }
    return .init("backup", .warn, text, cause + "; remove them by hand, or they fill the disk")
  }

  static func descriptors(_ statistics: JSONValue) -> DoctorFinding {
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
    let all = ConnectionLoad.all(statistics)
    let loads = [all] + ConnectionLoad.principals(statistics)
    let fullest = loads.dropFirst().max { $0.share < $1.share }
    let text = ([all] + (fullest.map { [$0] } ?? [])).map(\.text).joined(separator: "; ")
    let differences = statistics.number("connectionDifferences")
    guard differences == 0 else {
      return .init(
        "connections", .warn, "\(text); \(Figures.count(differences)) miscounted since the start",
        "find which: journalctl -u navd; this is a fault of navd, please report it")
    }
    // The limit that is closest.
    guard let worst = loads.max(by: { $0.share < $1.share }), worst.isScarce else {
      return .init("connections", .ok, text)
    }
    let key = worst.principal == nil ? "connections" : "connections-per-principal"
    return .init(
      "connections", worst.count >= worst.limit ? .fail : .warn, text,
      "list the clients: navctl list --clients; the limit is \(key) in navd.conf(5)")
  }

  static func peers(_ statistics: JSONValue) -> DoctorFinding {
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
  static func library(_ statistics: JSONValue) -> DoctorFinding {
    let text = statistics.text("process.libzmq")
    let parts = text.split(separator: ".").compactMap { UInt64($0) }
    guard parts.count == 3 else {
      return .init("libzmq", .warn, "navd does not report the version of libzmq", "upgrade navd")
    }
    let number = parts[0] * 10_000 + parts[1] * 100 + parts[2]
    if number >= 40_305 {
      return .init("libzmq", .ok, "\(text), without the faults of 4.3.4")
    }
    if number == 40_304 {
      return .init("libzmq", .ok, "\(text), whose known faults navd works around")
    }
    return .init(
      "libzmq", .warn, "\(text), older than any tested version", "install 4.3.4 or newer")
  }
}
