import CommandLineOptions
import Glibc
import NavigationClient
import NavigationCore
import NavigationHub
import RuntimePaths

enum RecordCommand: Command {
  static let declaration = CommandSet.Command(
    "record", "Write the history of a nav to a file, for a ticket", Subject.look, .init("NAV FILE"),
    options: [
      .init("from", argument: "REV", "Begin at this revision, not with the oldest"),
      .init("to", argument: "REV", "End at this revision, not with the newest"),
      .init("last", argument: "N", "The newest N revisions, up to --to"),
      .init("html", "Write a page that shows the recording without navd"),
      .init("page", argument: "DIR", "Where the page offline.html of the inspector is"),
      .init("redact", "Replace contents, and names of clients and users"),
      .init(
        "keep", argument: "ROUTES", "With --redact: keep contents of screens with such a route"),
      .init("force", "Replace the file if it exists"),
      ProgressOption.declaration,
    ],
    note: """
      The recording has each change with its author and what the bar showed. navctl play shows and
      verifies it; see navd-recording(7). FILE - is stdout. --redact keeps ids, versions and routes. ROUTES is a
      pattern with * and ?, such as 'help/*'; --keep can be repeated.
      """, example: "record kiosk kiosk.navrec --redact")

  /// The revisions of one request; an answer holds fewer of large ones.
  private static let pageRevisions: UInt64 = 250

  /// What is recorded.
  private struct Range {
    var nav: String
    var server: String
    var from: Revision
    var to: Revision
  }

  static func run(_ invocation: Invocation) throws {
    let line = invocation.line
    let form = try ProgressOption.form(invocation)
    let arguments = try invocation.navArguments()
    let page =
      line.contains("html") || line.contains("page")
      ? try RecordingPage(directory: line.value(of: "page")) : nil
    let redaction = try redaction(line)
    let signals = try Signals(also: [SIGHUP])
    let daemon = try invocation.connect()
    let range = try range(daemon, arguments.nav)
    let header = RecordingHeader(
      nav: range.nav, server: range.server, recorded: SystemClock.wallMilliseconds(),
      from: range.from, to: range.to)
    var writer = RecordingWriter(header, redaction: redaction)
    var file = try RecordingFile.create(
      arguments.rest[0], replaces: line.contains("force"), page: page)
    var progress = ProgressLine(.record, as: form)
    defer { progress.end() }
    try file.line(writer.header.line)
    do {
      try begin(daemon, range, &writer, &file)
      var next = range.from.number + 1
      while next <= range.to.number {
        progress.show(next - range.from.number, of: range.to.number - range.from.number + 1)
        next = try copy(daemon, range, from: next, &writer, &file)
        guard !isInterrupted(signals) else {
          throw PlainFailure(lines: ["interrupted: the recording was not completed"], status: 1)
        }
      }
    } catch let error as StoredDataError {
      throw PlainFailure(
        lines: ["history: the history of \(range.nav) contradicts itself: \(error.what)"],
        status: ErrorCode.internal.exitStatus)
    }
    try file.line(writer.end)
    try file.finish()
    progress.complete()
    progress.end()
    try report(invocation, arguments.rest[0], writer, file.byteCount, isPage: page != nil)
  }

  private static func redaction(_ line: ParsedCommandLine) throws -> RecordingRedaction? {
    let patterns = line.values(of: "keep")
    guard line.contains("redact") else {
      try require(patterns.isEmpty, "--keep goes with --redact")
      return nil
    }
    return RecordingRedaction(
      keeping: try patterns.map {
        try require(NavGlob($0), "--keep takes a pattern of 1 to 256 octets for routes")
      })
  }

  private static func isInterrupted(_ signals: borrowing Signals) -> Bool {
    while let signal = signals.next() { if signal != Signals.childEnded { return true } }
    return false
  }

  /// The revisions to record, by the options and what the daemon has.
  private static func range(_ daemon: Daemon, _ nav: String) throws -> Range {
    let line = daemon.invocation.line
    let (from, to) = (try line.integer(of: "from"), try line.integer(of: "to"))
    let last = try line.integer(of: "last")
    try require(from == nil || last == nil, "--from and --last both name the first revision")
    try require(last != 0, "--last takes a number of at least 1")
    try require(!nav.hasPrefix("$"), "\(nav) is virtual and has no history to record")
    let figures = try daemon.get(.stats, nav).reply
    let floor = try figures.json()["floor"]?.integer ?? 1
    let newest = figures.revision?.number ?? 0
    let end = to ?? newest
    guard end <= newest else {
      throw PlainFailure(
        lines: [
          "compacted: revision \(end) does not exist yet; the newest is \(newest)",
          "try: leave out --to",
        ], status: ErrorCode.compacted.exitStatus)
    }
    let first = from ?? max(floor, last.map { end - min(end, $0) + 1 } ?? floor)
    try require(first <= end, "revision \(first) is behind revision \(end)")
    let server = try daemon.get(.stats, nil).reply.json()["server"]?.string ?? ""
    return Range(nav: nav, server: server, from: Revision(first), to: Revision(end))
  }

  /// Writes the state at the first revision, with the author of that revision.
  private static func begin(
    _ daemon: Daemon, _ range: Range, _ writer: inout RecordingWriter, _ file: inout RecordingFile
  ) throws {
    let origin = try entries(daemon, range.nav, from: range.from.number, limit: 1)
    let state = try state(daemon, range.nav, at: range.from)
    try file.line(try writer.state(state, origin: origin.list.first))
  }

  /// Writes the entries of one answer; returns the revision to go on from.
  private static func copy(
    _ daemon: Daemon, _ range: Range, from: UInt64, _ writer: inout RecordingWriter,
    _ file: inout RecordingFile
  ) throws -> UInt64 {
    let limit = min(pageRevisions, range.to.number - from + 1)
    let page = try entries(daemon, range.nav, from: from, limit: limit)
    for entry in page.list {
      try file.line(try writer.entry(entry))
      guard writer.needsState else { continue }
      try file.line(try writer.state(try state(daemon, range.nav, at: writer.revision)))
    }
    return page.next ?? from + limit
  }

  private static func entries(
    _ daemon: Daemon, _ nav: String, from: UInt64, limit: UInt64
  ) throws -> (list: [[UInt8]], next: UInt64?) {
    let answer = try daemon.get(
      GetRequest(id: 0, nav: nav, what: .diffs, from: Revision(from), limit: limit))
    let next = try JSONValue(answer.body)["next"]?.integer
    return (try answer.reply.json().elements.map(\.bytes), next)
  }

  private static func state(
    _ daemon: Daemon, _ nav: String, at revision: Revision
  ) throws -> [UInt8] {
    try daemon.get(.state, nav, at: revision).reply.json().bytes
  }

  private static func report(
    _ invocation: Invocation, _ path: String, _ writer: RecordingWriter, _ bytes: Int, isPage: Bool
  ) throws {
    let header = writer.header
    let isStream = path == RecordingFile.standardStream
    guard !invocation.isJSON else {
      var members: JSONObject = [
        "nav": .string(header.nav), "file": .string(path), "from": .integer(header.from.number),
        "to": .integer(writer.revision.number), "entries": .integer(writer.entries),
        "bytes": .integer(UInt64(bytes)), "dig": .string(writer.digest.text), "html": .bool(isPage),
      ]
      members.add("redacted", .array(header.redacted.map { .string($0) }))
      let record = Record(.recording, members)
      guard isStream else { return try Output.record(record) }
      return Output.error(String(decoding: record.bytes, as: UTF8.self))
    }
    var text = "\(path)  \(header.nav) from revision \(header.from.number) to "
    text += "\(writer.revision.number)  digest \(writer.digest.text)  \(bytes) bytes"
    if !header.redacted.isEmpty { text += "  redacted" }
    guard !isStream else { return Output.error(TerminalText.visible(text)) }
    try Output.line(TerminalText.visible(text))
  }
}
