import Foundation
import NavigationCore
import Testing

@testable import Web

/// The text format, read as its definition says.
struct ParsedMetrics {
  var help: [String: String] = [:]
  var types: [String: String] = [:]
  /// Values by the series as it is written.
  var values: [String: Double] = [:]

  init(_ text: String) throws {
    #expect(text.hasSuffix("\n"))
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 3).map(String.init)
      switch words.first {
      case "#" where words.count == 4 && words[1] == "HELP": help[words[2]] = words[3]
      case "#" where words.count == 4 && words[1] == "TYPE": types[words[2]] = words[3]
      default:
        let space = try #require(line.lastIndex(of: " "))
        let series = String(line[..<space])
        #expect(values[series] == nil, "\(series) stands twice")
        let label = #"[a-z]+="(?:[^"\\]|\\.)*""#
        let form = try Regex("[a-z_]+(?:\\{\(label)(?:,\(label))*\\})?")
        #expect(series.wholeMatch(of: form) != nil, "\(series)")
        let number = Double(String(line[line.index(after: space)...]))
        values[series] = number
        #expect(number != nil, "\(line)")
      }
    }
  }

  /// The metric that a series belongs to.
  func metric(of series: String) -> String {
    let name = series.prefix { $0 != "{" }
    for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) {
      let base = String(name.dropLast(suffix.count))
      if types[base] == "histogram" { return base }
    }
    return String(name)
  }
}

@Suite struct PrometheusTextTests {
  private static let json = #"""
    {"server":"navd/0.1.0","boot":"00000000000000ff","seq":9,"navs":2,"sessions":1,"watches":3,
    "rememberedClients":1,"resumeBytes":5,"serving":true,"storageProblem":"cannot","uptime":1500,
    "connections":4,"principals":[{"principal":"uid:5","connections":3},{"principal":"a","connections":1}],
    "connectionDifferences":2,"lag":{"watches":1,"max":7,"sum":7,"stalled":1},
    "journal":{"bytes":4096,"walBytes":10,"walPages":1,"limit":0},"disk":{"free":1,"size":2},
    "process":{"descriptorLimit":1024,"connectionLimit":4096,"principalLimit":256,"libzmq":"4.3.4"},
    "operations":{"ok":5,"desync":2,"newer-code":1},"refusals":{"no-nav":1},
    "messages":{"received":11,"sent":12,"diffs":13,"snapshots":1},"opened":3,"ended":{"bye":2},
    "commit":{"sum":50000,"bounds":[16000,32000],"counts":[1,2,3]}}
    """#

  private func parsed() throws -> ParsedMetrics {
    try ParsedMetrics(PrometheusText.render(try JSONValue(Array(Self.json.utf8))))
  }

  @Test func `every series has a help and a type`() throws {
    let metrics = try parsed()
    for series in metrics.values.keys {
      let name = metrics.metric(of: series)
      #expect(metrics.help[name] != nil, "\(series)")
      #expect(metrics.types[name] != nil, "\(series)")
    }
    #expect(Set(metrics.types.keys) == Set(Metric.all.map(\.name)))
    #expect(Metric.all.count == metrics.types.count)
  }

  @Test func `figures come out in base units`() throws {
    let values = try parsed().values
    #expect(values["navd_uptime_seconds"] == 1.5)
    #expect(values["navd_navs"] == 2)
    #expect(values["navd_storage_failing"] == 1)
    #expect(values["navd_serving"] == 1)
    #expect(values[#"navd_principal_connections{principal="uid:5"}"#] == 3)
    #expect(values[#"navd_principal_connections{principal="a"}"#] == 1)
    #expect(values["navd_principal_connections_max"] == 3)
    #expect(values["navd_principal_connections_limit"] == 256)
    #expect(values["navd_connection_differences_total"] == 2)
    #expect(values["navd_watch_lag_revisions_max"] == 7)
    #expect(values["navd_journal_bytes"] == 4096)
    #expect(values[#"navd_build_info{server="navd/0.1.0",libzmq="4.3.4"}"#] == 1)
  }

  @Test func `every outcome has a series before its first event, and unknown ones as they come`()
    throws
  {
    let values = try parsed().values
    #expect(values[#"navd_operations_total{outcome="ok"}"#] == 5)
    #expect(values[#"navd_operations_total{outcome="desync"}"#] == 2)
    #expect(values[#"navd_operations_total{outcome="storage"}"#] == 0)
    #expect(values[#"navd_operations_total{outcome="newer-code"}"#] == 1)
    #expect(values[#"navd_sessions_ended_total{reason="bye"}"#] == 2)
    #expect(values[#"navd_sessions_ended_total{reason="stalled"}"#] == 0)
    let outcomes = values.keys.filter { $0.hasPrefix("navd_operations_total{") }
    #expect(outcomes.count == ErrorCode.allCases.count + 4)
  }

  @Test func `buckets are cumulative and end with all`() throws {
    let values = try parsed().values
    #expect(values[#"navd_commit_seconds_bucket{le="1.6e-05"}"#] == 1)
    #expect(values[#"navd_commit_seconds_bucket{le="3.2e-05"}"#] == 3)
    #expect(values[#"navd_commit_seconds_bucket{le="+Inf"}"#] == 6)
    #expect(values["navd_commit_seconds_count"] == 6)
    #expect(values["navd_commit_seconds_sum"] == 5e-05)
  }

  @Test func `label values are escaped`() throws {
    let text = PrometheusText.render(try JSONValue(Array(#"{"server":"a\"b\\c\nd"}"#.utf8)))
    #expect(text.contains(#"navd_build_info{server="a\"b\\c\nd",libzmq=""} 1"#))
    _ = try ParsedMetrics(text)
  }

  @Test func `statistics without most figures are no error`() throws {
    let old = #"{"server":"navd/0.0.9","navs":3}"#
    let text = PrometheusText.render(try JSONValue(Array(old.utf8)))
    let values = try ParsedMetrics(text).values
    #expect(values["navd_navs"] == 3)
    #expect(values["navd_serving"] == 1)
    #expect(values["navd_commit_seconds_count"] == nil)
    for text in ["[]", "3", #"{"commit":{"bounds":[2,1],"counts":[0,0,0]},"lag":4}"#] {
      _ = try ParsedMetrics(PrometheusText.render(try JSONValue(Array(text.utf8))))
    }
  }

  @Test func `names say what Prometheus expects of them`() {
    for metric in Metric.all {
      #expect(metric.name.hasPrefix("navd_"))
      let isCounter = metric.prometheusType == "counter"
      #expect(metric.name.hasSuffix("_total") == isCounter, "\(metric.name)")
      #expect(!metric.help.hasSuffix("."), "\(metric.name)")
    }
  }

  @Test func `the guide has the metrics of the code, and no others`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let guide = try String(
      contentsOf: root.appendingPathComponent("docs/operations.md"), encoding: .utf8)
    let told = guide.split(separator: "\n").filter { $0.hasPrefix("| `navd_") }.map(String.init)
    let known = Metric.all.map { "| `\($0.name)` | \($0.prometheusType) | \($0.help) |" }
    #expect(told == known)
  }
}
