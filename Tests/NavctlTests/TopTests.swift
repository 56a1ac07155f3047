import NavigationClient
import NavigationCore
import Testing

@testable import navctl

@Suite struct TopDrawingTests {
  private static let endpoint = "ipc:///run/navd/navd.sock"

  private static func statistics() -> SampleStatistics {
    var statistics = SampleStatistics()
    statistics["server"] = "navd/0.1.0"
    statistics["boot"] = "a"
    statistics["serving"] = true
    statistics["uptime"] = 3_723_000
    (statistics["navs"], statistics["sessions"]) = (1234, 2)
    (statistics["watches"], statistics["connections"]) = (3, 4)
    (statistics["lag.watches"], statistics["lag.max"], statistics["lag.sum"]) = (1, 12, 12)
    statistics["lag.stalled"] = 1
    (statistics["journal.bytes"], statistics["journal.walBytes"]) = (12_345_678, 1_000_000)
    (statistics["disk.free"], statistics["disk.size"]) = (40_100_000_000, 98_000_000_000)
    statistics["operations"] = ["ok": 1000, "unchanged": 5, "desync": 1]
    statistics["messages"] = ["received": 100, "sent": 200, "diffs": 300]
    statistics["commit"] = ["bounds": [16_000, 32_000], "counts": [0, 0, 0], "sum": 0]
    statistics["batch"] = ["bounds": [1, 2], "counts": [7, 0, 0], "sum": 7]
    statistics["busiest"] = [
      ["id": "c1", "name": "header", "ops": 900, "watches": 1],
      ["id": "c2", "name": "", "ops": 100, "watches": 1],
    ]
    return statistics
  }

  private static func later() -> SampleStatistics {
    var later = statistics()
    later["operations"] = ["ok": 3000, "unchanged": 5, "desync": 2, "no-nav": 12_345_678]
    later["messages"] = ["received": 1100, "sent": 2200, "diffs": 300]
    later["commit"] = ["bounds": [16_000, 32_000], "counts": [0, 100, 0], "sum": 2_400_000]
    later["busiest"] = [
      ["id": "c1", "name": "header", "ops": 900, "watches": 1],
      ["id": "c2", "name": "", "ops": 2100, "watches": 1],
    ]
    return later
  }

  private func frame(columns: Int, rows: Int? = nil, isFirst: Bool = false) -> String {
    let before = TopCommandDrawing.Sample(statistics: Self.statistics().value, milliseconds: 5000)
    let sample = TopCommandDrawing.Sample(
      statistics: (isFirst ? Self.statistics() : Self.later()).value, milliseconds: 7000)
    return TopCommandDrawing(columns: columns, rows: rows)
      .lines(sample, before: isFirst ? nil : before, endpoint: Self.endpoint)
      .map(\.plain).joined(separator: "\n")
  }

  @Test func `each user is shown against the limit of one`() {
    var statistics = Self.statistics()
    (statistics["process.connectionLimit"], statistics["process.principalLimit"]) = (4096, 256)
    statistics["principals"] = .principals([
      ("uid:1000", 250), ("panel-1", 2), ("uid:0", 1), ("a", 1), ("b", 1),
    ])
    let sample = TopCommandDrawing.Sample(statistics: statistics.value, milliseconds: 1)
    let lines = TopCommandDrawing(columns: 80, rows: nil).lines(
      sample, before: nil, endpoint: "ipc:///x")
    #expect(lines.map(\.plain).contains("uid:1000                 250         256"))
    let status = StatusDrawing.lines(statistics.value, endpoint: "ipc:///x").map(\.plain)
    #expect(
      status.contains(
        "  connections  4 of 4,096; uid:1000 250, panel-1 2, uid:0 1, 2 more of 256 each"),
      "\(status)")
  }

  @Test func `a frame of 80 columns`() {
    #expect(
      frame(columns: 80) == """
        navd/0.1.0  up 1h 2m  serving  ipc:///run/navd/navd.sock
        navs 1,234  sessions 2  watches 3  connections 4
        behind 1  lag 12 rev  stalled 1
        journal 13.3 MB, 40.1 GB free of 98.0 GB

        OPERATIONS          A SECOND      IN ALL
        ok                     1,000       3,000
        unchanged                0.0           5
        no-nav             6,172,839     12,345k
        desync                   0.5           2
        messages in            500.0       1,100
        messages out           1,000       2,200
        diffs                    0.0         300

        TIMES                    P50         P99
        commit                 24 µs       32 µs
        records a commit           -           -

        BUSIEST SESSIONS    A SECOND      IN ALL
        c2                     1,000       2,100
        header                   0.0         900
        """)
  }

  @Test func `a frame of 40 columns`() {
    let text = frame(columns: 40)
    #expect(text.hasPrefix("navd/0.1.0  up 1h 2m  serving  ipc:///r…\n"))
    #expect(text.contains("\nnavs 1,234  sessions 2  watches 3  conn…\n"))
    #expect(text.contains("\nok                     1,000       3,000\n"))
    for line in text.split(separator: "\n") { #expect(TerminalText.width(String(line)) <= 40) }
  }

  @Test func `the first frame has totals and no rates, and a restart begins anew`() {
    #expect(
      frame(columns: 80, isFirst: true).contains("\nok                         -       1,000\n"))
    #expect(
      frame(columns: 80, isFirst: true).contains("\nrecords a commit           1           1\n"))
    var restarted = Self.later()
    restarted["boot"] = "b"
    let lines = TopCommandDrawing(columns: 80, rows: nil).lines(
      .init(statistics: restarted.value, milliseconds: 7000),
      before: .init(statistics: Self.statistics().value, milliseconds: 5000),
      endpoint: Self.endpoint)
    #expect(lines.contains { $0.plain == "ok                         -       3,000" })
  }

  @Test func `no frame is higher than the terminal`() {
    #expect(frame(columns: 80, rows: 5).split(separator: "\n").count == 4)
  }

  @Test func `many kinds of refusals are added up`() {
    var statistics = Self.statistics()
    for (place, code) in ErrorCode.allCases.prefix(7).enumerated() {
      statistics["operations.\(code.rawValue)"] = .integer(10 + Int64(place))
    }
    let lines = TopCommandDrawing(columns: 80, rows: nil).lines(
      .init(statistics: statistics.value, milliseconds: 1), before: nil, endpoint: Self.endpoint)
    // The four most frequent ones stand alone; desync of before belongs to the others.
    #expect(lines.contains { $0.plain == "other refusals             -          34" })
  }

  @Test func `names of clients cannot steer the terminal`() {
    var statistics = Self.statistics()
    statistics["busiest"] = [["id": "c", "name": "a\u{1B}[2Jb", "ops": 1, "watches": 0]]
    let lines = TopCommandDrawing(columns: 80, rows: nil).lines(
      .init(statistics: statistics.value, milliseconds: 1), before: nil, endpoint: Self.endpoint)
    #expect(!lines.contains { $0.plain.contains("\u{1B}") })
  }
}

@Suite struct FiguresTests {
  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (12_345_678, "12,345k"),
    (98_765_432_100, "98,765M"),
  ])
  func `counts have commas`(number: UInt64, text: String) {
    #expect(Figures.count(number) == text)
  }

  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (99_940, "99.9 kB"), (99_960, "100 kB"),
    (999_600, "1.0 MB"), (UInt64.max, "18.4 EB"),
  ])
  func `bytes have a unit`(number: UInt64, text: String) {
    #expect(Figures.bytes(number) == text)
  }

  @Test(arguments: [
    (0, "0 µs"), (16_000, "16 µs"), (999_499, "999 µs"), (999_500, "1.0 ms"),
    (12_340_000, "12.3 ms"), (123_400_000, "123 ms"), (4_194_304_000, "4.2 s"),
  ])
  func `times have a unit`(nanoseconds: Double, text: String) {
    #expect(Figures.time(nanoseconds: nanoseconds) == text)
  }

  @Test(arguments: [
    (999, "0s"), (61_000, "1m 1s"), (3_600_000, "1h 0m"), (90_000_000, "1d 1h"),
  ])
  func `ages have two units`(milliseconds: UInt64, text: String) {
    #expect(Figures.age(milliseconds: milliseconds) == text)
  }
}

@Suite struct StatusDrawingTests {
  @Test func `a status fits on a screen and says what is wrong`() {
    var statistics = SampleStatistics()
    statistics["server"] = "navd/0.1.0"
    statistics["storageProblem"] = "cannot"
    statistics["operations"] = ["ok": 3, "repeated": 1, "desync": 2]
    let lines = StatusDrawing.lines(statistics.value, endpoint: "ipc:///x", columns: 60).map(
      \.plain)
    #expect(lines.count < 24)
    #expect(lines.contains { $0.contains("cannot write the journal") })
    #expect(lines.contains("  operations   3 done, 0 without effect, 2 refused"))
    for line in lines { #expect(TerminalText.width(line) <= 60) }
  }
}
