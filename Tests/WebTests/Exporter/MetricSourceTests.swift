import Foundation
import RuntimePaths
import Testing

@testable import NavigationCore
@testable import NavigationHub
@testable import Web

/// Each figure of the statistics reaches its own metric, and no other.
@Suite struct MetricSourceTests {
  private func lines(_ json: String) throws -> Set<Substring> {
    let statistics = try JSONValue(Array(json.utf8))
    return Set(PrometheusText.render(statistics).split(separator: "\n"))
  }

  @Test(arguments: [
    (#""navs":7"#, "navd_navs 7"), (#""sessions":7"#, "navd_sessions 7"),
    (#""watches":7"#, "navd_watches 7"), (#""connections":7"#, "navd_connections 7"),
    (#""seq":7"#, "navd_journal_sequence 7"), (#""uptime":7"#, "navd_uptime_seconds 0.007"),
    (#""loadedNavs":7"#, "navd_navs_loaded 7"),
    (#""rememberedClients":7"#, "navd_remembered_clients 7"),
    (#""resumeBytes":7"#, "navd_resume_bytes 7"),
    (#""connectionDifferences":7"#, "navd_connection_differences_total 7"),
    (#""storageProblem":"cannot""#, "navd_storage_failing 1"),
    (#""serving":false"#, "navd_serving 0"),
    (#""opened":7"#, "navd_sessions_opened_total 7"),
    (#""lag":{"watches":7}"#, "navd_watches_behind 7"),
    (#""lag":{"max":7}"#, "navd_watch_lag_revisions_max 7"),
    (#""lag":{"sum":7}"#, "navd_watch_lag_revisions 7"),
    (#""lag":{"stalled":7}"#, "navd_sessions_stalled 7"),
    (#""journal":{"bytes":7}"#, "navd_journal_bytes 7"),
    (#""journal":{"walBytes":7}"#, "navd_journal_wal_bytes 7"),
    (#""journal":{"walPages":7}"#, "navd_journal_wal_pages 7"),
    (#""journal":{"limit":7}"#, "navd_journal_limit_bytes 7"),
    (#""backups":{"every":7000}"#, "navd_backup_interval_seconds 7"),
    (#""backups":{"overdue":true}"#, "navd_backup_overdue 1"),
    (#""backups":{"retentionFailed":true}"#, "navd_backup_retention_failed 1"),
    (#""backups":{"made":7}"#, "navd_backups_total 7"),
    (#""backups":{"failed":7}"#, "navd_backups_failed_total 7"),
    (#""disk":{"free":7}"#, "navd_disk_free_bytes 7"),
    (#""disk":{"size":7}"#, "navd_disk_size_bytes 7"),
    (#""cluster":{"shards":7}"#, "navd_cluster_shards 7"),
    (#""cluster":{"members":7}"#, "navd_cluster_members 7"),
    (#""cluster":{"unowned":7}"#, "navd_cluster_unowned_shards 7"),
    (#""process":{"descriptorLimit":7}"#, "navd_descriptors_limit 7"),
    (#""process":{"connectionLimit":7}"#, "navd_connections_limit 7"),
    (#""process":{"principalLimit":7}"#, "navd_principal_connections_limit 7"),
    (#""messages":{"received":7}"#, "navd_messages_received_total 7"),
    (#""messages":{"sent":7}"#, "navd_messages_sent_total 7"),
    (#""messages":{"diffs":7}"#, "navd_diffs_sent_total 7"),
    (#""messages":{"snapshots":7}"#, "navd_snapshots_sent_total 7"),
    (#""operations":{"queue-full":7}"#, #"navd_operations_total{outcome="queue-full"} 7"#),
    (#""refusals":{"bad-json":7}"#, #"navd_refusals_total{code="bad-json"} 7"#),
    (#""ended":{"fenced":7}"#, #"navd_sessions_ended_total{reason="fenced"} 7"#),
    (#""server":"navd/9""#, #"navd_build_info{server="navd/9",libzmq=""} 1"#),
    (#""process":{"libzmq":"4.3.5"}"#, #"navd_build_info{server="",libzmq="4.3.5"} 1"#),
  ])
  func `a figure changes one line`(member: String, line: String) throws {
    let before = try lines("{}")
    let after = try lines("{\(member)}")
    #expect(after.subtracting(before) == [Substring(line)])
    #expect(before.subtracting(after).count == 1)
    #expect(before.count == after.count)
  }

  @Test(arguments: [
    ("commit", "navd_commit_seconds", 1e9), ("fanOut", "navd_fan_out_seconds", 1e9),
    ("batch", "navd_commit_records", 1),
  ])
  func `a histogram adds up, in its unit`(member: String, name: String, scale: Double) throws {
    let json = #"{"\#(member)":{"sum":70,"bounds":[2,4,8],"counts":[1,0,5,3]}}"#
    let added = try lines(json).subtracting(try lines("{}"))
    let number = { (value: Double) in
      let scaled = value / scale
      return scaled == scaled.rounded() ? "\(Int(scaled))" : "\(scaled)"
    }
    var expected: Set<String> = ["\(name)_sum \(number(70))", "\(name)_count 9"]
    for (bound, count) in [(2.0, 1), (4, 1), (8, 6)] {
      expected.insert("\(name)_bucket{le=\"\(number(bound))\"} \(count)")
    }
    expected.insert("\(name)_bucket{le=\"+Inf\"} 9")
    #expect(Set(added.map(String.init)) == expected)
  }

  @Test func `the largest figures keep their digits, and none is negative`() throws {
    let text = try lines(#"{"seq":9007199254740991,"navs":9007199254740991}"#)
    // From 9e15 on, a number is written with an exponent or all its digits, but never cut.
    for line in text where line.hasPrefix("navd_navs ") {
      #expect(Double(line.dropFirst("navd_navs ".count)) == 9_007_199_254_740_991)
    }
    for line in text where !line.hasPrefix("#") { #expect(!line.contains(" -"), "\(line)") }
  }

  @Test func `a hub writes what each metric reads`() throws {
    var hub = Hub(configuration: HubConfiguration(), shards: Shard.count, seed: 1)
    hub.measurements.storageProblem = "cannot"
    hub.measurements.principals = [PrincipalConnections(principal: "uid:5", count: 3)]
    let now = Instant(boot: 1, wall: 1)
    hub.handle(.cluster(ClusterView(ownName: "a", members: [])), at: now)
    let peer = Peer.local(user: 0, group: 0, process: 1)
    let statistics = try JSONValue(
      hub.statistics(for: Sender(connection: ConnectionID(1), peer: peer)))
    for metric in Metric.all {
      var paths = [metric.statisticsPath]
      if case .infoLabels(let labels) = metric.conversion { paths = labels.map(\.path) }
      for path in paths { #expect(statistics.at(path) != nil, "\(metric.name)") }
    }
  }

  @Test func `a user that is named twice counts as one`() throws {
    let json =
      #"{"principals":[{"principal":"a","connections":2},{"principal":"a","connections":3}]}"#
    #expect(try lines(json).contains(#"navd_principal_connections{principal="a"} 5"#))
  }

  @Test func `no prefix of the statistics is read as statistics`() {
    let json = #"{"server":"navd/1","navs":3,"commit":{"sum":1,"bounds":[2],"counts":[1,0]}}"#
    for length in 0..<json.utf8.count {
      #expect(throws: JSONError.self) {
        try JSONValue(Array(json.utf8.prefix(length)))
      }
    }
  }

  @Test(arguments: [
    #"{"navs":-1}"#, #"{"navs":"3"}"#, #"{"navs":1.5}"#, #"{"navs":null}"#, #"{"lag":[1]}"#,
    #"{"operations":[]}"#, #"{"principals":{}}"#, #"{"commit":{"bounds":[1],"counts":[1]}}"#,
    #"{"commit":{"bounds":[2,2],"counts":[1,1,1]}}"#, #"{"operations":{"ok":"many"}}"#,
  ])
  func `a member of another type counts as none`(json: String) throws {
    let expected = try lines("{}")
    #expect(try lines(json) == expected)
  }
}

/// What the exporter says when it reaches no daemon.
@Suite struct ConnectionProbeTests {
  private func rules(_ variables: [String: String]) -> PathRules {
    PathRules(environment: ProcessEnvironment(variables), userID: 4242)
  }

  /// The reasons of both queries.
  private func reasons(_ probe: inout ConnectionProbe) -> [String] {
    var reasons: [String] = []
    do { _ = try probe.statistics() } catch { reasons.append("\(error)") }
    do { try probe.ping() } catch { reasons.append("\(error)") }
    return reasons
  }

  @Test func `without a socket the reason names each path that was tried`() {
    var probe = ConnectionProbe(endpoint: nil, rules: rules(["XDG_RUNTIME_DIR": "/nowhere"]))
    let reasons = reasons(&probe)
    #expect(reasons.count == 2 && reasons[0] == reasons[1])
    #expect(reasons[0].hasPrefix("no running navd found; tried:\n"))
    #expect(reasons[0].contains("\n  /nowhere/navd/navd.sock: not there"))
  }

  @Test func `an address that is none, and one without keys, are told`() {
    var malformed = ConnectionProbe(endpoint: "nowhere", rules: rules([:]))
    #expect(reasons(&malformed)[0].hasPrefix("zmq_connect nowhere: "))
    var remote = ConnectionProbe(endpoint: "tcp://127.0.0.1:1", rules: rules([:]))
    #expect(reasons(&remote)[0].contains("NAVD_SERVER_KEY"))
  }

  @Test func `for a second after a failure, other queries fail with its reason`() throws {
    let directory = NSTemporaryDirectory() + "probe-\(UUID().uuidString.prefix(8))"
    try createPrivateDirectory(directory + "/navd")
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var probe = ConnectionProbe(endpoint: nil, rules: rules(["XDG_RUNTIME_DIR": directory]))
    let before = reasons(&probe)
    // A regular file in place of the socket would be another reason.
    try writeFileAtomically(directory + "/navd/navd.sock", [])
    #expect(reasons(&probe) == before)
    var other = ConnectionProbe(endpoint: nil, rules: rules(["XDG_RUNTIME_DIR": directory]))
    #expect(reasons(&other)[0].contains("a regular file, not a socket"))
  }

  @Test func `a failed query is 503 with its reason`() {
    var probe = ConnectionProbe(endpoint: "nowhere", rules: rules([:]))
    let answer = MetricsRouter.answer(method: "GET", path: "/readyz", from: &probe)
    #expect(answer.status == 503 && answer.body.starts(with: Array("zmq_connect nowhere: ".utf8)))
  }
}
