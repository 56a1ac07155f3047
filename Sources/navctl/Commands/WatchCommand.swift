import CommandLineOptions
import Glibc
import NavigationClient
import NavigationCore
import RuntimePaths

enum WatchCommand {
  static let command = Command(
    "watch", "Print every change of a nav when it arrives", HelpGroup.look, .init("NAV"),
    options: [
      .init(
        "view", argument: "VIEW", "full, or only the newest bar or top",
        choices: ["full", "bar", "top"]),
      .init("from", argument: "EPOCH:REV:DIGEST", "Continue after this revision"),
      .init("count", argument: "N", "End after N lines"),
      .init("until-current", "End at the revision that the nav has now"),
      .init("events", "Also print events without a revision, such as a tap"),
      .init("progress", "Also print that all is shown, when a mark of navd proves it"),
      .init("times", "Begin each line with the time of its arrival"),
      .init("exec", argument: "COMMAND", "Run COMMAND for each line, with its JSON on stdin"),
      .init("wait", "Wait for a nav that does not exist yet"),
    ],
    note: """
      A restart of navd leaves no gap and repeats nothing. A line that begins with resync replaces
      revisions that navd had to leave out. COMMAND is a line of a shell; it finds NAVD_NAV, NAVD_TYPE
      and NAVD_REV, and the next one runs when it has ended. navd sends a mark after some seconds
      without another message. --timeout ends the command, with status 4 if there were
      fewer than --count lines.
      """, example: "watch kiosk --count 1", run: run)

  static func run(_ invocation: Invocation) throws {
    let nav = try invocation.navArguments().nav
    let word = try invocation.line.choice(of: "view", ["full", "bar", "top"])
    let view = View.allCases.first { $0.text == word } ?? .full
    let count = try invocation.line.integer(of: "count")
    let from = try invocation.line.value(of: "from").map {
      try ArgumentReader.position($0, option: "from")
    }
    try require(from == nil || view == .full, "--from goes with --view full")
    let isBounded = invocation.line.contains("until-current")
    try require(
      !isBounded || !invocation.line.contains("wait"),
      "--until-current goes with a nav that exists, so not with --wait")
    // A command of --exec may end without reading its input.
    if invocation.line.contains("exec") { signal(SIGPIPE, SIG_IGN) }
    let timer = Countdown(invocation.typedTimeout)
    // A reader such as head(1) goes away while nothing is printed.
    let daemon = try invocation.connect(
      wake: invocation.line.contains("exec") ? nil : Output.stdoutPipe)
    var stream = WatchStream(
      invocation: invocation, nav: nav,
      seenStates: SeenStates(invocation.environment, endpoint: daemon.endpoint),
      lines: WatchLines(after: from), linesLeft: count)
    if isBounded { stream.endRevision = try daemon.get(.top, nav).reply.revision }
    var mirror: Mirror?
    if let from { (mirror, stream.startErrorCode) = try readMirror(daemon, nav: nav, at: from) }
    try daemon.openSession()
    let waits = invocation.line.contains("wait")
    try daemon.connection.request {
      $0.watch(nav, view: view, mirror: mirror, start: from, waits: waits)
    }
    while stream.linesLeft != 0, !stream.isAtEnd,
      let event = try daemon.connection.next(timeout: timer.left)
    {
      try stream.handle(event)
    }
    stream.saveUnsavedState()
    try daemon.connection.leave()
    guard !Output.hasLostReader, !stream.isAtEnd, stream.linesLeft != 0,
      isBounded || stream.linesLeft != nil
    else { return }
    let missing = stream.linesLeft.map { "\($0) awaited lines" } ?? "the present revision"
    throw PlainFailure(.busy, "timeout: \(missing) did not arrive", "try: navctl show \(nav)")
  }

  /// Reads the state at the position of `--from`; if navd refuses, returns the code of the error.
  private static func readMirror(
    _ daemon: Daemon, nav: String, at start: MirrorPosition
  ) throws -> (mirror: Mirror?, startErrorCode: String?) {
    do {
      let state = try daemon.get(.state, nav, at: start.revision).reply.json()
      let mirror = MirrorText.mirror(state)
      // Without a mirror, the watch begins with a snapshot that has the reason.
      return (mirror?.position == start ? mirror : nil, nil)
    } catch let refusal as Refusal {
      return (nil, refusal.error.code)
    }
  }
}

private struct WatchStream {
  let invocation: Invocation
  let nav: String
  let seenStates: SeenStates
  var lines: WatchLines
  /// The longest time, in milliseconds, that writing a line took since the last connection loss.
  var longestWrite: UInt64 = 0
  var unsavedState: SeenState?
  var lastLatest: (epoch: Epoch, revision: Revision)?
  /// The code of the error with which navd refused to read the state at `--from`; nil without one.
  var startErrorCode: String?
  /// How many lines are left of `--count`; nil without a limit.
  var linesLeft: UInt64?
  /// The revision at which the stream ends; nil for none.
  var endRevision: Revision?
  var isAtEnd = false

  mutating func handle(_ event: SessionEvent) throws {
    switch event {
    case .changed(_, .applied(let mirror, let diff)):
      try write(
        lines.diff(diff, top: mirror.top), JSONRecord(.diff, MirrorText.diff(diff), at: now),
        SeenState(mirror))
      endIfReached(mirror.revision)
    case .changed(_, .replaced(let mirror, let why)):
      let state = try JSONValue(mirror.snapshot(of: nav).bytes)
      // With `--from`, the reason of the first snapshot is the error, not `join`.
      let record = lines.snapshot(
        state, why: why == "join" ? startErrorCode ?? "join" : why ?? "join", at: now)
      startErrorCode = nil
      try write(record.text, record.json, SeenState(mirror))
      endIfReached(mirror.revision)
    case .changed(_, .resumed(let mirror)): endIfReached(mirror.revision)
    case .changed(_, .proven(let mirror)) where invocation.line.contains("progress"):
      try write(
        "rev \(mirror.revision.number)  everything is shown; the digest \(mirror.digest.text) is right",
        JSONRecord(.progress, MirrorText.position(mirror, nav: nav), at: now), nil)
    case .latest(let latest):
      // After a reconnect the daemon sends the same value again.
      if let last = lastLatest, last == (latest.epoch, latest.revision) { return }
      lastLatest = (latest.epoch, latest.revision)
      try write(lines.latest(latest), JSONRecord(.latest, MirrorText.latest(latest), at: now), nil)
      // The first value is the present one, though its revision can be an earlier one.
      isAtEnd = endRevision != nil
    case .lost:
      Output.error("navctl: \(WatchLines.lossText(afterWriteOf: longestWrite))")
      longestWrite = 0
    case .queued: Output.error("navctl: waiting for \(nav)")
    case .watchEnded(_, _, .ended("closed", _)) where invocation.line.contains("wait"):
      Output.error("navctl: \(nav) was closed")
    case .watchEnded(_, _, let outcome): throw outcome.failure(nav)
    case .ephemeral(let event) where invocation.line.contains("events"):
      try write(WatchLines.event(event), JSONRecord(.event, MirrorText.event(event), at: now), nil)
    case .opened, .closed, .answered, .ephemeral, .traced, .changed, .duty: break
    }
  }

  private mutating func endIfReached(_ revision: Revision) {
    if let endRevision, revision >= endRevision { isAtEnd = true }
  }

  private var now: UInt64 { SystemClock.wallMilliseconds() }

  /// Runs the command of `--exec` and waits for its end; prints a failure, and goes on.
  private func execute(_ command: String, _ record: JSONRecord) throws {
    let child = try Subprocess(
      ["/bin/sh", "-c", command],
      variables: [
        ("NAVD_NAV", nav), ("NAVD_TYPE", record.kind.rawValue),
        ("NAVD_REV", record.revision.map { "\($0)" } ?? ""),
      ], input: record.bytes + [0x0A], leadsProcessGroup: false)
    let status = child.waitForEnd()
    if status != 0 { Output.error("navctl: the command ended with status \(status)") }
  }

  private mutating func write(_ text: String, _ record: JSONRecord, _ seen: SeenState?) throws {
    guard linesLeft != 0 else { return }
    let begun = SystemClock.monotonicMilliseconds()
    defer { longestWrite = max(longestWrite, SystemClock.monotonicMilliseconds() - begun) }
    if let command = invocation.line.value(of: "exec") {
      try execute(command, record)
    } else if invocation.isJSON {
      try Output.record(record)
    } else {
      let isTimed = invocation.line.contains("times")
      try Output.line(isTimed ? "\(SystemClock.localTimeOfDay(of: now))  \(text)" : text)
    }
    linesLeft = linesLeft.map { $0 - 1 }
    unsavedState = seen ?? unsavedState
    if Output.isTerminal { saveUnsavedState() }
  }

  /// Saves the state of the last printed line as seen: on a terminal after each line, else at the
  /// end, because a program may not have read the line yet.
  mutating func saveUnsavedState() {
    seenStates.remember(unsavedState, of: nav)
    unsavedState = nil
  }
}
