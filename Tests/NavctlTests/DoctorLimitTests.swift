import NavigationClient
import NavigationCore
@testable import RuntimePaths
import Testing

@testable import navctl

/// The checks of the doctor at each of their limits, and one step beyond.
@Suite struct DoctorLimitTests {
  private typealias Change = (inout DoctorFacts, inout SampleStatistics) -> Void

  /// The finding about a subject of a daemon with nothing else wrong.
  private func finding(_ subject: String, _ change: Change) throws -> DoctorFinding {
    var facts = DoctorFacts()
    facts.endpoint = "ipc:///run/navd/navd.sock"
    facts.socketFile = FileStatus(kind: .socket, owner: 7, mode: 0o660)
    (facts.daemonMilliseconds, facts.clientMilliseconds) = (1_764_000_000_000, 1_764_000_000_000)
    facts.navctlVersion = "1.2.3"
    var statistics = SampleStatistics()
    statistics["server"] = "navd/1.2.3"
    (statistics["disk.free"], statistics["disk.size"]) = (40_000_000_000, 100_000_000_000)
    (statistics["process.descriptorLimit"], statistics["process.connectionLimit"]) = (1000, 100)
    statistics["process.libzmq"] = "4.3.5"
    change(&facts, &statistics)
    facts.statistics = statistics.value
    let findings = Doctor.findings(facts)
    return try #require(findings.first { $0.subject == subject }, "\(findings)")
  }

  @Test(
    arguments: [
      (15_999_999, 1_000_000_000, 0, DoctorFinding.Verdict.fail),
      (16_000_000, 1_000_000_000, 0, .warn), (99_999_999, 1_000_000_000, 0, .warn),
      (100_000_000, 1_000_000_000, 0, .ok),
      // Below a twentieth of the disk, twice the journal counts too.
      (4_999_999_999, 100_000_000_000, 2_500_000_000, .warn),
      (4_999_999_999, 100_000_000_000, 2_499_999_999, .ok),
      (5_000_000_000, 100_000_000_000, 9_000_000_000, .ok),
    ] as [(UInt64, UInt64, UInt64, DoctorFinding.Verdict)])
  func `the disk is judged by what is free, its size and the journal`(
    free: UInt64, size: UInt64, journal: UInt64, verdict: DoctorFinding.Verdict
  ) throws {
    let disk = try finding("disk") { _, it in
      (it["disk.free"], it["disk.size"], it["journal.bytes"]) = (
        .count(free), .count(size), .count(journal)
      )
    }
    #expect(disk.verdict == verdict)
    #expect(disk.finding == "\(Figures.bytes(free)) free of \(Figures.bytes(size))")
    #expect((disk.remedy == nil) == (verdict == .ok))
  }

  @Test func `backups are judged where the daemon makes them by itself`() throws {
    var statistics = SampleStatistics()
    #expect(!Doctor.findings(DoctorFacts()).contains { $0.subject == "backup" })
    #expect(
      !StatusDrawing.lines(statistics.value, endpoint: "e").contains { $0.plain.contains("backup") }
    )
    let good = try finding("backup") { _, it in
      (it["backups.every"], it["backups.age"]) = (86_400_000, 3_600_000)
    }
    #expect(good.verdict == .ok && good.finding == "newest 1h 0m old, every 1d 0h")
    #expect(
      try finding("backup") { _, it in it["backups.every"] = 60_000 }.finding
        == "none yet, every 1m 0s")
    let late = try finding("backup") { _, it in
      (it["backups.every"], it["backups.overdue"], it["backups.failed"]) = (60_000, true, 3)
    }
    #expect(late.verdict == .warn && late.finding.contains("OVERDUE: 3 failed since the start"))
    #expect(late.remedy?.contains("journalctl -u navd") == true)
    let full = try finding("backup") { _, it in
      (it["backups.every"], it["backups.age"], it["backups.retentionFailed"]) = (60_000, 1000, true)
    }
    #expect(full.verdict == .warn && full.finding.hasSuffix("older ones could NOT BE REMOVED"))
    #expect(full.remedy?.hasSuffix("remove them by hand, or they fill the disk") == true)
    (statistics["backup.done"], statistics["backup.total"]) = (1, 4)
    (statistics["prune.done"], statistics["prune.total"]) = (30, 40)
    let lines = StatusDrawing.lines(statistics.value, endpoint: "e").map(\.plain)
    #expect(lines.contains { $0.hasSuffix("25 % of one copied") })
    #expect(lines.contains { $0.contains("pruning") && $0.hasSuffix("75 % of 40 rows") })
  }

  @Test func `a disk or limits that are not reported are told as such`() throws {
    #expect(try finding("disk") { _, it in it["disk.size"] = 0 }.verdict == .warn)
    #expect(try finding("limits") { _, it in it["process.descriptorLimit"] = 0 }.verdict == .warn)
    #expect(try finding("libzmq") { _, it in it["process.libzmq"] = "" }.verdict == .warn)
    #expect(try finding("libzmq") { _, it in it["process.libzmq"] = "4.3" }.verdict == .warn)
  }

  @Test(
    arguments: [
      ("4.3.3", DoctorFinding.Verdict.warn, "4.3.3, older than any tested version"),
      ("4.3.4", .ok, "4.3.4, whose known faults navd works around"),
      ("4.3.5", .ok, "4.3.5, without the faults of 4.3.4"),
      ("4.10.0", .ok, "4.10.0, without the faults of 4.3.4"),
      ("5.0.0", .ok, "5.0.0, without the faults of 4.3.4"),
      ("3.99.99", .warn, "3.99.99, older than any tested version"),
    ] as [(String, DoctorFinding.Verdict, String)])
  func `the version of libzmq is compared part by part`(
    version: String, verdict: DoctorFinding.Verdict, text: String
  ) throws {
    let library = try finding("libzmq") { _, it in it["process.libzmq"] = .string(version) }
    #expect(library.verdict == verdict && library.finding == text)
  }

  @Test(
    arguments: [(163, DoctorFinding.Verdict.warn), (164, .ok)] as [(UInt64, DoctorFinding.Verdict)])
  func `descriptors must suffice for all connections and 64 more`(
    limit: UInt64, verdict: DoctorFinding.Verdict
  ) throws {
    let limits = try finding("limits") { _, it in it["process.descriptorLimit"] = .count(limit) }
    #expect(limits.verdict == verdict)
    #expect(limits.finding == "\(limit) descriptors for 100 connections")
  }

  @Test(
    arguments: [
      (79, DoctorFinding.Verdict.ok), (80, .warn), (99, .warn), (100, .fail), (101, .fail),
    ] as [(UInt64, DoctorFinding.Verdict)])
  func `connections are scarce from 80 %, and gone at the limit`(
    count: UInt64, verdict: DoctorFinding.Verdict
  ) throws {
    let connections = try finding("connections") { _, it in it["connections"] = .count(count) }
    #expect(connections.verdict == verdict && connections.finding == "\(count) of 100")
  }

  @Test func `connections without a limit are a number, and a wrong count is navd's fault`() throws
  {
    let unlimited = try finding("connections") { _, it in
      (it["connections"], it["process.connectionLimit"]) = (9, 0)
      it["principals"] = [["principal": "uid:5", "connections": 8]]
    }
    #expect(unlimited.verdict == .ok && unlimited.finding == "9; uid:5 8")
    let wrong = try finding("connections") { _, it in
      (it["connections"], it["connectionDifferences"]) = (100, 1200)
    }
    #expect(wrong.verdict == .warn)
    #expect(wrong.finding == "100 of 100; 1,200 miscounted since the start")
  }

  @Test(
    arguments: [
      (264_000_000, 100_000_000, DoctorFinding.Verdict.ok),
      (264_000_001, 100_000_000, .warn), (1 << 40, 0, .ok),
    ] as [(UInt64, UInt64, DoctorFinding.Verdict)])
  func `the journal may be twice its limit and 64 MB more`(
    size: UInt64, limit: UInt64, verdict: DoctorFinding.Verdict
  ) throws {
    let journal = try finding("journal") { _, it in
      (it["journal.bytes"], it["journal.walBytes"]) = (.count(size - 1000), 1000)
      it["journal.limit"] = .count(limit)
    }
    #expect(journal.verdict == verdict)
    let end = limit == 0 ? ", no limit" : ", limit for rows 100 MB"
    #expect(journal.finding == Figures.bytes(size) + end)
  }

  @Test(
    arguments: [
      (1000, 0, DoctorFinding.Verdict.ok), (1001, 0, .warn), (0, 1, .warn),
    ] as [(UInt64, UInt64, DoctorFinding.Verdict)])
  func `peers may lag by 1000 revisions, and none may be stalled`(
    lag: UInt64, stalled: UInt64, verdict: DoctorFinding.Verdict
  ) throws {
    let peers = try finding("peers") { _, it in
      (it["lag.max"], it["lag.stalled"]) = (.count(lag), .count(stalled))
    }
    #expect(peers.verdict == verdict)
  }

  @Test(
    arguments: [(499, DoctorFinding.Verdict.ok), (500, .warn)] as [(UInt64, DoctorFinding.Verdict)])
  func `an answer within half a second is quick`(
    pingMilliseconds: UInt64, verdict: DoctorFinding.Verdict
  ) throws {
    let daemon = try finding("daemon") { facts, it in
      (facts.pingMilliseconds, it["uptime"]) = (pingMilliseconds, 61_000)
    }
    #expect(
      daemon.verdict == verdict && daemon.finding == "answers in \(pingMilliseconds) ms, up 1m 1s")
  }

  @Test(
    arguments: [
      (2000, true, DoctorFinding.Verdict.ok), (2001, true, .warn), (60_000, false, .ok),
      (60_001, false, .warn),
    ] as [(UInt64, Bool, DoctorFinding.Verdict)])
  func `clocks may differ by 2 s on one machine, by a minute over a network`(
    apart: UInt64, isLocal: Bool, verdict: DoctorFinding.Verdict
  ) throws {
    for isAhead in [true, false] {
      let clock = try finding("clock") { facts, _ in
        if !isLocal { facts.endpoint = "tcp://h:1" }
        facts.clientMilliseconds =
          isAhead ? facts.clientMilliseconds + apart : facts.clientMilliseconds - apart
      }
      #expect(clock.verdict == verdict)
    }
  }

  @Test(
    arguments: [
      (1_704_067_199_999, DoctorFinding.Verdict.fail), (1_704_067_200_000, .ok),
      (4_102_444_799_999, .ok), (4_102_444_800_000, .fail),
    ] as [(UInt64, DoctorFinding.Verdict)])
  func `a clock before 2024 or after 2099 was never set`(
    time: UInt64, verdict: DoctorFinding.Verdict
  ) throws {
    let clock = try finding("clock") { facts, _ in
      (facts.daemonMilliseconds, facts.clientMilliseconds) = (time, time)
    }
    #expect(clock.verdict == verdict)
    #expect(clock.finding.hasPrefix(Tables.utc(milliseconds: time)))
  }

  @Test func `a socket is described with its owner and mode`() throws {
    #expect(try finding("socket") { _, _ in }.finding == "a socket of user 7, mode 0660")
    let open = try finding("socket") { facts, _ in facts.socketFile?.mode = 0o662 }
    #expect(open.verdict == .warn)
    #expect(open.finding == "a socket of user 7, mode 0662: every user of the machine may connect")
    let file = try finding("socket") { facts, _ in facts.socketFile?.kind = .regular }
    #expect(
      file.finding == "/run/navd/navd.sock is a regular file of user 7, mode 0660")
  }

  @Test(arguments: [
    ("navd/1.2.3", "navd and navctl are 1.2.3"), ("navd/1.2.4", "navd is 1.2.4, navctl is 1.2.3"),
    ("", "navd is unknown, navctl is 1.2.3"),
  ])
  func `versions are compared without the name of the program`(server: String, text: String) throws
  {
    #expect(try finding("version") { _, it in it["server"] = .string(server) }.finding == text)
  }
}

/// The lines of `status`.
@Suite struct StatusTextTests {
  private var statistics: SampleStatistics {
    var statistics = SampleStatistics()
    (statistics["server"], statistics["process.libzmq"]) = ("navd/0.1.0", "4.3.5")
    (statistics["uptime"], statistics["navs"], statistics["sessions"]) = (90_061_000, 12_000, 3)
    statistics["connections"] = 4
    (statistics["process.connectionLimit"], statistics["process.principalLimit"]) = (4096, 256)
    statistics["principals"] = [["principal": "uid:1000", "connections": 4]]
    (statistics["watches"], statistics["lag.watches"], statistics["lag.max"]) = (7, 0, 0)
    statistics["operations"] = [
      "ok": 1234, "unchanged": 5, "repeated": 9, "desync": 2, "no-nav": 1,
    ]
    (statistics["journal.bytes"], statistics["journal.walBytes"]) = (10_000_000, 500_000)
    (statistics["disk.free"], statistics["disk.size"]) = (40_100_000_000, 98_000_000_000)
    statistics["commit"] = ["bounds": [16_000, 32_000], "counts": [0, 100, 0], "sum": 0]
    return statistics
  }

  @Test func `a daemon that is well takes ten lines`() {
    #expect(
      StatusDrawing.lines(statistics.value, endpoint: "ipc:///x").map(\.plain) == [
        "navd answers at ipc:///x",
        "  serving",
        "  version      navd/0.1.0, libzmq 4.3.5",
        "  up           1d 1h",
        "  navs         12,000",
        "  sessions     3",
        "  connections  4 of 4,096; uid:1000 4 of 256",
        "  watches      7, all up to date",
        "  operations   1,234 done, 5 without effect, 3 refused",
        "  journal      10.5 MB, 40.1 GB free of 98.0 GB",
        "  commit       p50 24 µs, p99 32 µs, of 100",
      ])
  }

  @Test func `what is wrong is told in its line`() {
    var worse = statistics
    worse["serving"] = false
    worse["lag.stalled"] = 2
    (worse["lag.watches"], worse["lag.max"]) = (3, 40)
    worse["process.libzmq"] = ""
    worse["disk.size"] = 0
    let lines = StatusDrawing.lines(worse.value, endpoint: "ipc:///x").map(\.plain)
    for line in [
      "  stopping", "  version      navd/0.1.0", "  sessions     3, 2 stalled",
      "  watches      7, 3 behind by up to 40 revisions", "  journal      10.5 MB",
    ] { #expect(lines.contains(line), "\(lines)") }
    worse["storageProblem"] = "cannot"
    #expect(
      StatusDrawing.verdict(worse.value).plain
        == "  cannot write the journal; find the error: navctl doctor")
  }

  @Test func `names of the daemon and of keys cannot steer the terminal`() {
    var odd = statistics
    odd["server"] = "navd\u{1B}[2J"
    odd["principals"] = [["principal": "a\u{202E}b", "connections": 1]]
    for line in StatusDrawing.lines(odd.value, endpoint: "ipc:///x") {
      #expect(!line.plain.contains("\u{1B}") && !line.plain.contains("\u{202E}"))
    }
  }

  @Test(arguments: [20, 33, 40, 60]) func `no line is wider than the terminal`(columns: Int) {
    for line in StatusDrawing.lines(statistics.value, endpoint: "ipc:///长/长", columns: columns) {
      #expect(line.width <= columns, "\(line.plain)")
    }
  }
}
