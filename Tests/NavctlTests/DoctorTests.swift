import NavigationClient
import NavigationCore
import Testing

@testable import navctl
@testable import RuntimePaths

@Suite struct DoctorTests {
  /// A daemon with nothing wrong.
  private func facts(_ change: (inout DoctorFacts, inout SampleStatistics) -> Void = { _, _ in })
    -> DoctorFacts
  {
    var facts = DoctorFacts()
    facts.endpoint = "ipc:///run/navd/navd.sock"
    facts.socketFile = FileStatus(kind: .socket, owner: 0, mode: 0o660)
    facts.pingMilliseconds = 1
    facts.daemonMilliseconds = 1_764_000_000_000
    facts.clientMilliseconds = 1_764_000_000_003
    facts.navctlVersion = "0.1.0"
    var statistics = SampleStatistics()
    statistics["server"] = "navd/0.1.0"
    statistics["serving"] = true
    (statistics["disk.free"], statistics["disk.size"]) = (40_000_000_000, 100_000_000_000)
    statistics["journal.limit"] = 1_073_741_824
    (statistics["process.descriptorLimit"], statistics["process.connectionLimit"]) = (65_536, 4096)
    statistics["process.libzmq"] = "4.3.4"
    change(&facts, &statistics)
    facts.statistics = statistics.value
    return facts
  }

  private func verdicts(_ facts: DoctorFacts) -> [String: DoctorFinding.Verdict] {
    Dictionary(uniqueKeysWithValues: Doctor.findings(facts).map { ($0.subject, $0.verdict) })
  }

  /// The one finding that is not ok.
  private func complaint(
    _ change: (inout DoctorFacts, inout SampleStatistics) -> Void
  ) -> DoctorFinding? {
    let complaints = Doctor.findings(facts(change)).filter { $0.verdict != .ok }
    #expect(complaints.count == 1, "\(complaints)")
    return complaints.first
  }

  @Test func `nothing wrong is all ok, without remedies`() {
    let findings = Doctor.findings(facts())
    #expect(findings.allSatisfy { $0.verdict == .ok && $0.remedy == nil }, "\(findings)")
    #expect(findings.count == 12)
  }

  @Test func `every complaint has a remedy`() {
    var nothing = DoctorFacts()
    nothing.endpoint = "ipc:///x"
    for facts in [DoctorFacts(), nothing, facts { $1 = SampleStatistics() }] {
      for finding in Doctor.findings(facts) {
        #expect((finding.remedy == nil) == (finding.verdict == .ok), "\(finding)")
      }
    }
  }

  @Test func `without a place to ask there is one finding`() {
    #expect(verdicts(DoctorFacts()) == ["endpoint": .fail])
  }

  @Test func `a daemon that does not answer fails, and what is its is left out`() {
    var silent = facts()
    silent.statistics = nil
    silent.daemonMilliseconds = nil
    #expect(verdicts(silent) == ["endpoint": .ok, "socket": .ok, "daemon": .fail])
  }

  @Test func `the socket is judged by kind, access and mode`() {
    let denial = SocketAccessDenial(reason: "no permission", remedy: "join", isPermanent: true)
    let closed = facts { facts, _ in
      (facts.denial, facts.socketFile) = (denial, nil)
    }
    #expect(verdicts(closed) == ["endpoint": .ok, "socket": .fail])
    #expect(Doctor.findings(closed).last?.finding == denial.reason)
    #expect(complaint { facts, _ in facts.socketFile?.mode = 0o666 }?.verdict == .warn)
    #expect(complaint { facts, _ in facts.socketFile?.kind = .regular }?.verdict == .fail)
    #expect(complaint { facts, _ in facts.socketFile = nil }?.subject == "socket")
    #expect(verdicts(facts { facts, _ in facts.endpoint = "tcp://h:1" })["socket"] == nil)
  }

  @Test func `clocks far apart or never set are told`() {
    #expect(complaint { facts, _ in facts.clientMilliseconds += 3000 }?.verdict == .warn)
    let local = complaint { facts, _ in
      (facts.daemonMilliseconds, facts.clientMilliseconds) = (1000, 1000)
    }
    #expect(local?.verdict == .fail)
    #expect(local?.finding.contains("1970-01-01") == true)
    let remote = facts { facts, _ in
      facts.endpoint = "tcp://h:1"
      facts.clientMilliseconds += 30_000
    }
    #expect(verdicts(remote)["clock"] == .ok)
  }

  @Test func `the daemon's figures are judged`() {
    #expect(complaint { _, it in it["storageProblem"] = "cannot" }?.verdict == .fail)
    #expect(complaint { _, it in it["socketProblem"] = "gone" }?.remedy == "gone")
    #expect(complaint { _, it in it["serving"] = false }?.verdict == .warn)
    #expect(complaint { _, it in it["disk.free"] = 15_000_000 }?.verdict == .fail)
    #expect(complaint { _, it in it["disk.free"] = 90_000_000 }?.verdict == .warn)
    #expect(complaint { _, it in it["server"] = "navd/0.2.0" }?.subject == "version")
    #expect(complaint { _, it in it["process.descriptorLimit"] = 1024 }?.subject == "limits")
    #expect(complaint { _, it in it["connections"] = 3300 }?.verdict == .warn)
    #expect(complaint { _, it in it["connections"] = 4096 }?.verdict == .fail)
    #expect(complaint { _, it in it["connectionDifferences"] = 1 }?.subject == "connections")
    #expect(complaint { _, it in it["lag.stalled"] = 1 }?.subject == "peers")
    #expect(complaint { _, it in it["lag.max"] = 1001 }?.subject == "peers")
    #expect(complaint { _, it in it["process.libzmq"] = "4.3.2" }?.subject == "libzmq")
    #expect(complaint { _, it in it["journal.bytes"] = 4_294_967_296 }?.subject == "journal")
    #expect(verdicts(facts { _, it in it["journal.walPages"] = 15_999 })["journal"] == .ok)
    #expect(
      complaint { _, it in it["journal.walPages"] = 16_000 }?.remedy?.contains("fuser") == true)
    #expect(complaint { facts, _ in facts.pingMilliseconds = 700 }?.subject == "daemon")
  }

  @Test func `of the limits of connections the one that bites first is judged`() {
    func findings(_ all: UInt64, _ principals: [(String, UInt64)]) -> DoctorFinding? {
      let facts = facts { _, it in
        (it["connections"], it["process.principalLimit"]) = (.count(all), 256)
        it["principals"] = .principals(principals)
      }
      return Doctor.findings(facts).first { $0.subject == "connections" }
    }
    let fine = findings(204, [("uid:1000", 203), ("panel", 1)])
    #expect(fine?.verdict == .ok)
    #expect(fine?.finding == "204 of 4,096; uid:1000 203 of 256")
    let scarce = findings(205, [("uid:1000", 205)])
    #expect(scarce?.verdict == .warn)
    #expect(scarce?.remedy?.contains("connections-per-principal in navd.conf(5)") == true)
    #expect(findings(256, [("uid:1000", 256)])?.verdict == .fail)
    let all = findings(4000, [("uid:1000", 230)])
    #expect(all?.verdict == .warn)
    #expect(all?.remedy?.contains("is connections in navd.conf(5)") == true)
  }

  @Test func `findings are written as lines and as JSON`() throws {
    let findings = [
      DoctorFinding("disk", .ok, "40.1 GB free"),
      DoctorFinding("storage", .fail, "no \"room\"", "make room"),
    ]
    #expect(
      Doctor.lines(findings).map(\.plain) == [
        "ok    disk     40.1 GB free", "fail  storage  no \"room\"",
        "               try: make room",
      ])
    let json = try JSONValue(Doctor.json(findings))
    #expect(json["ok"]?.bool == false)
    #expect(json["findings"]?.elements.map { $0["verdict"]?.string } == ["ok", "fail"])
    #expect(json["findings"]?.elements.last?["remedy"]?.string == "make room")
  }
}
