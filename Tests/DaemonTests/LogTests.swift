import CLinux
import RuntimePaths
import Synchronization
import Testing

@testable import NavigationDaemon

@Suite struct LogTests {
  /// What a log has written.
  private final class Sink: Sendable {
    let entries = Mutex<[LogEntry]>([])
    var messages: [String] { entries.withLock { $0.map(\.message) } }
    func log(level: LogLevel) -> Log {
      Log(
        level: level,
        destination: .function { entry in self.entries.withLock { $0.append(entry) } })
    }
  }

  @Test func `messages below the level are left out`() {
    let sink = Sink()
    let log = sink.log(level: .notice)
    for level in LogLevel.allCases { log(LogEntry(level, level.rawValue), at: 0) }
    #expect(sink.messages == ["error", "warning", "notice"])
  }

  @Test func `who is refused without end hides nothing of the others`() {
    let sink = Sink()
    let log = sink.log(level: .info)
    func refuse(_ principal: String) {
      var entry = LogEntry(.warning, "\(principal) may not", kind: .clientRefused)
      entry.principal = principal
      entry.code = "forbidden"
      log(entry, at: 0)
    }
    for _ in 0..<1000 { refuse("uid:1000") }
    #expect(sink.messages.count == LogRateLimit.auditBurst)
    refuse("uid:1001")
    #expect(sink.messages.last == "uid:1001 may not")
    log.flush(at: LogRateLimit.windowMilliseconds)
    #expect(sink.messages.last == "uid:1000 may not (900 more of these not shown)")
  }

  @Test func `a storm is cut after the burst, counted and summarised`() {
    let sink = Sink()
    let log = sink.log(level: .info)
    for time in 0..<100 { log(LogEntry(.warning, "full"), at: UInt64(time)) }
    log(LogEntry(.warning, "other"), at: 100)
    #expect(sink.messages.count == LogRateLimit.burst + 1)
    log.flush(at: LogRateLimit.windowMilliseconds - 1)
    #expect(sink.messages.count == LogRateLimit.burst + 1)
    log.flush(at: LogRateLimit.windowMilliseconds)
    #expect(sink.messages.last == "full (90 more of these not shown)")
    log(LogEntry(.warning, "full"), at: LogRateLimit.windowMilliseconds)
    #expect(sink.messages.last == "full")
  }

  @Test func `exactly the burst leaves no summary`() {
    var limit = LogRateLimit()
    for _ in 0..<LogRateLimit.burst {
      #expect(limit.admit(LogEntry(.info, "x"), at: 0).count == 1)
    }
    #expect(limit.expire(at: LogRateLimit.windowMilliseconds) == [])
  }

  @Test func `messages of one kind count together whatever their text`() {
    var limit = LogRateLimit()
    let written = (0..<50).flatMap {
      limit.admit(LogEntry(.notice, "client \($0)", kind: .limitExceeded), at: 0)
    }
    #expect(written.count == LogRateLimit.burst)
  }

  @Test func `the journal gets the fields that are known and no others`() {
    let entry = LogEntry(
      .warning, "a\nb", kind: .mirrorDiverged, nav: "home", revision: 7, client: "c")
    #expect(
      entry.journalFields == [
        "PRIORITY=4", "MESSAGE=a\nb", "SYSLOG_IDENTIFIER=navd",
        "MESSAGE_ID=\(LogEntry.Kind.mirrorDiverged.rawValue)", "NAVD_NAV=home", "NAVD_REV=7",
        "NAVD_CLIENT=c",
      ])
    #expect(LogEntry(.info, "x").journalFields.count == 3)
    #expect(LogEntry.Kind.allCases.allSatisfy { $0.rawValue.utf8.count == 32 })
  }

  @Test func `a line on stderr is one line whatever a client sent`() {
    let entry = LogEntry(.error, "bad\nnavd: fine\u{1b}[2J", nav: "home", revision: 3)
    #expect(entry.line == "navd: error: bad\\u{a}navd: fine\\u{1b}[2J (nav home, rev 3)")
    #expect(LogEntry(.info, "serving").line == "navd: serving")
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
    (951_782_400_007, "2000-02-29T00:00:00.007Z"), (1_764_000_000_030, "2025-11-24T16:00:00.030Z"),
  ])
  func `a line on stderr has its time before it, in UTC`(_ wall: UInt64, _ time: String) {
    #expect(Log.withTime(LogEntry(.warning, "x"), at: wall) == "\(time) navd: warning: x")
  }

  @Test func `a command that ends by itself writes no times`() {
    func isTimed(_ isService: Bool) -> Bool {
      let environment = ProcessEnvironment([:])
      if case .standardError = Log.destination(environment: environment, isService: isService) {
        return true
      }
      return false
    }
    #expect(isTimed(true))
    #expect(!isTimed(false))
  }

  @Test func `what ends by itself writes to the journal by its stream, which names the unit`() {
    var status = stat()
    #expect(unsafe fstat(2, &status) == 0)
    let environment = ProcessEnvironment(["JOURNAL_STREAM": "\(status.st_dev):\(status.st_ino)"])
    func isStream(_ isService: Bool) -> Bool {
      if case .lines(withPriorities: true) = Log.destination(
        environment: environment, isService: isService)
      {
        return true
      }
      return false
    }
    #expect(isStream(false) && !isStream(true))
  }

  @Test(arguments: [
    ("8:42", true), ("8:43", false), ("9:42", false), ("8", false), ("8:42:", false), ("", false),
    ("a:b", false),
  ])
  func `stderr is the journal only when device and inode agree`(_ stream: String, _ same: Bool) {
    #expect(Log.isJournal(stream: stream, device: 8, inode: 42) == same)
  }
}
