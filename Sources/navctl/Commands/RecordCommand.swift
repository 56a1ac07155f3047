import CommandLineOptions
import Glibc
import NavigationClient
import NavigationCore
import NavigationHub
import RuntimePaths

enum RecordCommand {
  static let command = Command(
    "record", "Write the history of a nav to a file, for a ticket", HelpGroup.look,
    .init("NAV FILE"),
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
      Invocation.progressOption,
    ],
    note: """
      The recording has each change with its author and what the bar showed. navctl play shows and
      verifies it; see navd-recording(7). FILE - is stdout. --redact keeps ids, versions and routes. ROUTES is a
      pattern with * and ?, such as 'help/*'; --keep can be repeated.
      """, example: "record kiosk kiosk.navrec --redact", run: run)

  /// The most revisions that one request asks for; an answer holds fewer if they are large.
  private static let revisionsPerRequest: UInt64 = 250

  static func run(_ invocation: Invocation) throws {
    let line = invocation.line
    let form = try invocation.progressForm()
    let arguments = try invocation.navArguments()
    let page =
      line.contains("html") || line.contains("page")
      ? try RecordingPage(directory: line.value(of: "page")) : nil
    let redaction = try redaction(line)
    let signals = try Signals(also: [SIGHUP])
    let daemon = try invocation.connect()
    let header = try header(daemon, arguments.nav)
    var writer = RecordingWriter(header, redaction: redaction)
    var file = try RecordingFile.create(
      arguments.rest[0], replaces: line.contains("force"), page: page)
    var progress = ProgressLine(.record, as: form)
    defer { progress.end() }
    try file.appendLine(writer.header.line)
    do {
      let origin = try entries(daemon, header.nav, from: header.from.number, limit: 1)
      let first = try state(daemon, header.nav, at: header.from)
      try file.appendLine(try writer.stateLine(first, origin: origin.list.first))
      var next = header.from.number + 1
      while next <= header.to.number {
        progress.show(next - header.from.number, of: header.to.number - header.from.number + 1)
        next = try copyEntries(daemon, header, from: next, &writer, &file)
        while let signal = signals.next() {
          guard signal == SIGCHLD else {
            throw PlainFailure("interrupted: the recording was not completed")
          }
        }
      }
    } catch let error as StoredDataError {
      throw PlainFailure(
        .internal, "history: the history of \(header.nav) contradicts itself: \(error.what)")
    }
    try file.appendLine(writer.endLine)
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

  private static func header(_ daemon: Daemon, _ nav: String) throws -> RecordingHeader {
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
        .compacted, "compacted: revision \(end) does not exist yet; the newest is \(newest)",
        "try: leave out --to")
    }
    let first = from ?? max(floor, last.map { end - min(end, $0) + 1 } ?? floor)
    try require(first <= end, "revision \(first) is behind revision \(end)")
    let server = try daemon.get(.stats, nil).reply.json()["server"]?.string ?? ""
    return RecordingHeader(
      nav: nav, serverVersion: server, recordedMilliseconds: SystemClock.wallMilliseconds(),
      from: Revision(first), to: Revision(end))
  }

  /// Writes the entries of one answer to the file; returns the revision after them.
  private static func copyEntries(
    _ daemon: Daemon, _ header: RecordingHeader, from: UInt64, _ writer: inout RecordingWriter,
    _ file: inout RecordingFile
  ) throws -> UInt64 {
    let limit = min(revisionsPerRequest, header.to.number - from + 1)
    let page = try entries(daemon, header.nav, from: from, limit: limit)
    for entry in page.list {
      try file.appendLine(try writer.entryLine(entry))
      guard writer.needsState else { continue }
      try file.appendLine(try writer.stateLine(try state(daemon, header.nav, at: writer.revision)))
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
    var members: JSONObject = [
      "nav": .string(header.nav), "file": .string(path), "from": .integer(header.from.number),
      "to": .integer(writer.revision.number), "entries": .integer(writer.entryCount),
      "bytes": .integer(UInt64(bytes)), "dig": .string(writer.digest.text), "html": .bool(isPage),
    ]
    members.add("redacted", .array(header.redactionRules.map { .string($0) }))
    let record = JSONRecord(.recording, members)
    var text = "\(path)  \(header.nav) from revision \(header.from.number) to "
    text += "\(writer.revision.number)  digest \(writer.digest.text)  \(bytes) bytes"
    if !header.redactionRules.isEmpty { text += "  redacted" }
    text = TerminalText.visible(text)
    guard path == RecordingFile.standardStream else { return try invocation.write(text, record) }
    Output.error(invocation.isJSON ? String(decoding: record.bytes, as: UTF8.self) : text)
  }
}
