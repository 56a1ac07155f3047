import CommandLineOptions
import NavigationCore
import RuntimePaths
import Testing

@testable import NavigationDaemon

/// The figures of long work, and when they are shown.
@Suite struct ProgressEstimateTests {
  /// One report of a piece of work.
  private struct Report {
    var done: UInt64
    var total: UInt64
    var time: UInt64
  }

  /// Reports as a careless caller could make them: some go back, the total changes, pauses occur.
  private static func reports(_ seed: UInt64) -> [Report] {
    var random = SeededGenerator(seed: seed)
    var report = Report(done: 0, total: UInt64.random(in: 0...10_000, using: &random), time: 1000)
    return (0..<200).map { _ in
      report.time += UInt64.random(in: 0...400, using: &random)
      if Int.random(in: 0..<30, using: &random) == 0 { report.time += 20_000 }
      report.done += UInt64.random(in: 0...100, using: &random)
      var made = report
      switch Int.random(in: 0..<20, using: &random) {
      case 0: made.done -= min(made.done, 50)
      case 1: made.time -= 500
      case 2: report.total += UInt64.random(in: 0...3000, using: &random)
      case 3: report.total -= min(report.total, 100)
      default: break
      }
      return made
    }
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func `figures never go back, and are complete only at the end`(seed: UInt64) {
    var estimate = ProgressEstimate(at: 1000)
    for report in Self.reports(seed) {
      let before = estimate
      estimate.update(report.done, of: report.total, at: report.time)
      #expect(estimate.done >= before.done && estimate.fraction >= before.fraction)
      #expect(estimate.percent >= before.percent)
      #expect(estimate.done <= estimate.total && (0...1).contains(estimate.fraction))
      if estimate.percent == 100 { #expect(before.fraction == 1 || estimate.isComplete) }
      if estimate.isComplete {
        #expect(estimate.fraction == 1 && estimate.remainingMilliseconds == 0)
      }
      if let rate = estimate.unitsPerSecond { #expect(rate >= 0) }
      if !estimate.isComplete, estimate.unitsPerSecond ?? 0 == 0 {
        #expect(estimate.remainingMilliseconds == nil)
      }
    }
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func `steady work has its rate and its time from the basis on`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let perSecond = UInt64.random(in: 1...100, using: &random) * 1000
    let total = perSecond * UInt64.random(in: 2...60, using: &random)
    var estimate = ProgressEstimate(at: 0)
    var now: UInt64 = 0
    while true {
      now += UInt64.random(in: 1...300, using: &random)
      let done = now * perSecond / 1000
      guard done < total else { break }
      estimate.update(done, of: total, at: now)
      guard now >= ProgressEstimate.millisecondsBeforeRate else {
        #expect(estimate.unitsPerSecond == nil && estimate.remainingMilliseconds == nil)
        continue
      }
      let rate = try #require(estimate.unitsPerSecond)
      #expect(abs(rate - Double(perSecond)) < 0.001 * Double(perSecond))
      let remaining = try #require(estimate.remainingMilliseconds)
      #expect(abs(Int(remaining) - Int((total - done) * 1000 / perSecond)) <= 2)
    }
    estimate.update(total, of: total, at: now)
    #expect(estimate.remainingMilliseconds == 0 && estimate.percent == 100)
  }

  @Test func `work that stands still has no remaining time, and a new rate when it goes on`() throws
  {
    var estimate = ProgressEstimate(at: 0)
    for second in 1...10 as ClosedRange<UInt64> {
      estimate.update(second * 100, of: 10_000, at: second * 1000)
    }
    #expect(estimate.unitsPerSecond == 100)
    for second in 11...22 as ClosedRange<UInt64> {
      estimate.update(1000, of: 10_000, at: second * 1000)
    }
    #expect(estimate.unitsPerSecond == 0 && estimate.remainingMilliseconds == nil)
    for second in 23...40 as ClosedRange<UInt64> {
      estimate.update(1000 + (second - 22) * 300, of: 10_000, at: second * 1000)
    }
    #expect(try abs(#require(estimate.unitsPerSecond) - 300) < 1)
  }

  @Test(arguments: 0..<60 as Range<UInt64>, ProgressDisplay.Form.allCases)
  func `a display shows the first report, keeps its rate, and never goes back`(
    seed: UInt64, form: ProgressDisplay.Form
  ) throws {
    var display = ProgressDisplay(.backup, as: form, at: 1000)
    var shown: [(time: UInt64, text: String)] = []
    for report in Self.reports(seed) {
      let text = display.update(report.done, of: report.total, at: report.time, columns: 60)
      if let text { shown.append((report.time, text)) }
    }
    let last = display.end()
    guard form != .none else {
      #expect(shown.isEmpty && last == nil)
      return
    }
    #expect(shown.first?.time == Self.reports(seed)[0].time)
    let interval: UInt64 = form == .json ? 1000 : 100
    for (first, second) in zip(shown, shown.dropFirst()) {
      #expect(second.time >= first.time + interval)
    }
    let percents = try (shown.map(\.text) + [form == .json ? last : nil].compactMap { $0 }).map {
      try Self.percent($0)
    }
    #expect(percents == percents.sorted())
    if form == .json {
      #expect(percents.last == display.estimate.percent)
    } else {
      #expect(last == "\r\u{1B}[K")
    }
  }

  /// The percentage in a text of a display.
  private static func percent(_ text: String) throws -> Int {
    let found = text.firstMatch(of: /(\d+) %|"percent":(\d+)/)
    let number = try #require(found.flatMap { $0.1 ?? $0.2 }, "\(text)")
    return try #require(Int(number))
  }

  @Test(arguments: [1, 5, 20, 40, 60, 80, 200])
  func `a line fits the terminal, in ASCII`(columns: Int) {
    for subject in [ProgressSubject.backup, .restore, .journalReplay, .verify, .prune] {
      for seed in 0..<10 as Range<UInt64> {
        var estimate = ProgressEstimate(at: 1000)
        for report in Self.reports(seed) {
          estimate.update(
            report.done << (seed * 4), of: report.total << (seed * 4), at: report.time)
          let line = estimate.line(subject, columns: columns)
          #expect(line.utf8.count < columns && line.allSatisfy(\.isASCII))
          #expect(columns < 80 || line.contains("["))
          #expect(columns < 40 || line.contains(" %"))
        }
      }
    }
  }

  @Test func `the words, the line and the members of one moment`() {
    var estimate = ProgressEstimate(at: 0)
    estimate.update(0, of: 100_000, at: 0)
    #expect(estimate.text(.backup) == "backing up: 0 %")
    estimate.update(37_000, of: 100_000, at: 2000)
    #expect(estimate.text(.backup) == "backing up: 37 %, 75.8 MB/s, 4 s left")
    #expect(
      estimate.line(.backup, columns: 80)
        == "backing up [#######              ]   37 %  75.8 MB/s  4 s left")
    #expect(
      estimate.line(.journalReplay, columns: 50) == "replaying the journal   37 %  18,500 rows/s")
    #expect(
      estimate.jsonMembers(.backup)
        == #""work":"backup","done":37000,"total":100000,"unit":"pages","percent":37,"#
        + #""rate":18500,"remaining":3406"#)
    #expect(ProgressDisplay.Form(word: nil, isTerminal: false) == ProgressDisplay.Form.none)
    #expect(ProgressDisplay.Form(word: "auto", isTerminal: true) == .line)
    #expect(ProgressDisplay.Form(word: "loud", isTerminal: true) == nil)
  }

  @Test func `the status of the service shows each work once a second, and the end of it`() {
    var status = WorkStatus()
    #expect(status.note(.backup, 1, of: 10, at: 0) == "backing up: 10 %")
    #expect(status.note(.backup, 2, of: 10, at: 999) == nil)
    #expect(
      status.note(.prune, left: 100, at: 999)
        == "backing up: 20 %, 8.2 kB/s, 4 s left; pruning the history: 0 %"
    )
    #expect(status.note(.backup, 3, of: 10, at: 1000) != nil)
    // What is left can also grow.
    _ = status.note(.prune, left: 50, at: 1000)
    _ = status.note(.prune, left: 150, at: 1500)
    #expect(status[.prune]?.done == 50 && status[.prune]?.total == 200)
    #expect(status.end(.backup) && !status.end(.backup))
    #expect(status.note(.prune, left: 0, at: 3000)?.hasPrefix("pruning the history: 100 %") == true)
    #expect(status.end(.prune) && status[.prune] == nil)
  }
}
