import NavigationSync

// What the daemon's own figures tell.

extension Doctor {
  static func version(
    _ facts: DoctorFacts, _ statistics: DaemonStatistics
  ) -> DoctorFinding {
    let daemon = statistics.server.split(separator: "/").last.map(String.init) ?? ""
    guard daemon != facts.version else {
      return DoctorFinding("version", .ok, "navd and navctl are \(daemon)")
    }
    let text = "navd is \(daemon.isEmpty ? "unknown" : daemon), navctl is \(facts.version)"
    return DoctorFinding(
      "version", .warn, text,
      "restart navd if its package was upgraded; install both of the same version")
  }

  static func storage(_ statistics: DaemonStatistics) -> DoctorFinding {
    guard statistics.isStorageFailing else {
      return DoctorFinding("storage", .ok, "the journal takes commits")
    }
    return DoctorFinding(
      "storage", .fail, "the journal takes no commits; changes are refused, reads go on",
      "make room where the journal is; journalctl -u navd says what failed")
  }

  static func disk(_ statistics: DaemonStatistics) -> DoctorFinding {
    guard statistics.diskSize > 0 else {
      return DoctorFinding("disk", .warn, "navd does not report it", "df on its state directory")
    }
    let text =
      "\(Figures.bytes(statistics.diskFree)) free of \(Figures.bytes(statistics.diskSize))"
    let remedy = "make room on the file system of navd's state directory"
    if statistics.diskFree < 16_000_000 { return DoctorFinding("disk", .fail, text, remedy) }
    // A twentieth is much on a large disk, so what the journal could need counts as well.
    let isScarce = statistics.diskFree < statistics.diskSize / 20
    let isLittle = statistics.diskFree < max(100_000_000, 2 * statistics.journalBytes)
    if statistics.diskFree < 100_000_000 || isScarce && isLittle {
      return DoctorFinding("disk", .warn, text, remedy)
    }
    return DoctorFinding("disk", .ok, text)
  }

  static func journal(_ statistics: DaemonStatistics) -> DoctorFinding {
    let size = statistics.journalBytes + statistics.logBytes
    let limit = statistics.journalLimit
    guard limit > 0 else {
      return DoctorFinding("journal", .ok, "\(Figures.bytes(size)), no bound on its rows")
    }
    let text = "\(Figures.bytes(size)), rows bounded by \(Figures.bytes(limit))"
    // A file is larger than its rows, and does not shrink when they go.
    guard size > 2 * limit + 64_000_000 else { return DoctorFinding("journal", .ok, text) }
    return DoctorFinding(
      "journal", .warn, text,
      "many navs keep their newest rows whatever the bound: navctl list; journalctl -u navd")
  }

  static func descriptors(_ statistics: DaemonStatistics) -> DoctorFinding {
    let (limit, connections) = (statistics.descriptorLimit, statistics.connectionLimit)
    guard limit > 0 else {
      return DoctorFinding("limits", .warn, "navd does not report it", "cat /proc/PID/limits")
    }
    let text =
      "\(Figures.counted(limit, "descriptor")) for \(Figures.counted(connections, "connection"))"
    guard limit < connections + 64 else { return DoctorFinding("limits", .ok, text) }
    return DoctorFinding(
      "limits", .warn, text, "raise LimitNOFILE= in navd.service, or lower connections")
  }

  static func connections(_ statistics: DaemonStatistics) -> DoctorFinding {
    let all = ConnectionLoad(all: statistics)
    let loads = [all] + statistics.principals.map { ConnectionLoad($0, of: statistics) }
    let fullest = loads.dropFirst().max { $0.share < $1.share }
    let text = ([all] + (fullest.map { [$0] } ?? [])).map(\.text).joined(separator: "; ")
    guard statistics.connectionDifferences == 0 else {
      return DoctorFinding(
        "connections", .warn,
        "\(text); \(Figures.count(statistics.connectionDifferences)) miscounted since the start",
        "journalctl -u navd says which; this is a fault of navd, please report it")
    }
    // The one that bites first.
    guard let worst = loads.max(by: { $0.share < $1.share }), worst.isScarce else {
      return DoctorFinding("connections", .ok, text)
    }
    let key = worst.principal == nil ? "connections" : "connections-per-principal"
    return DoctorFinding(
      "connections", worst.count >= worst.limit ? .fail : .warn, text,
      "list the clients: navctl list --clients; the limit is \(key) in navd.conf(5)")
  }

  static func peers(_ statistics: DaemonStatistics) -> DoctorFinding {
    guard statistics.stalledSessions > 0 || statistics.largestLag > 1000 else {
      return DoctorFinding(
        "peers", .ok,
        "\(Figures.counted(statistics.sessions, "session")), none stalled, lag "
          + Figures.counted(statistics.largestLag, "revision"))
    }
    return DoctorFinding(
      "peers", .warn,
      "\(Figures.count(statistics.stalledSessions)) stalled, "
        + "\(Figures.counted(statistics.watchesBehind, "watch")) behind by up to "
        + Figures.counted(statistics.largestLag, "revision"),
      "a client does not read what it watches: navctl list --clients; it is dropped by itself")
  }

  /// navd works around what is wrong in 4.3.4; with an older one it was not tried.
  static func library(_ statistics: DaemonStatistics) -> DoctorFinding {
    let parts = statistics.libzmq.split(separator: ".").compactMap { UInt64($0) }
    guard parts.count == 3 else {
      return DoctorFinding(
        "libzmq", .warn, "navd does not report the version of libzmq", "upgrade navd")
    }
    let number = parts[0] * 10_000 + parts[1] * 100 + parts[2]
    let text = "\(statistics.libzmq)"
    if number >= 40_305 { return DoctorFinding("libzmq", .ok, "\(text), faults of 4.3.4 mended") }
    if number == 40_304 {
      return DoctorFinding("libzmq", .ok, "\(text), whose known faults navd works around")
    }
    return DoctorFinding(
      "libzmq", .warn, "\(text), older than any that navd was tried with", "install 4.3.4 or newer")
  }
}
