import CLinux
import CommandLineOptions
import NavigationCore
import RuntimePaths

enum TopCommand {
  static let command = Command(
    "top", "Show the activity of navd, by default every 2 s", HelpGroup.daemon,
    options: [
      .init("interval", argument: "TIME", "Time between frames, such as 500ms; default 2s"),
      .init("count", argument: "N", "End after N frames"),
    ],
    note: """
      Rates and times are those since the previous frame. In the first frame, times are those \
      since navd started. On a terminal, q ends the command. If stdout is not a terminal, navctl \
      prints one block after another, with an empty line in between. The role admin also sees the \
      sessions.
      """, example: "top --interval 1s", run: run)

  static func run(_ invocation: Invocation) throws {
    let line = invocation.line
    let interval = try line.milliseconds(of: "interval")
    try require(interval.map { $0 >= 100 } ?? true, "--interval is 100ms or more")
    let count = try line.integer(of: "count")
    let signals = try Signals(also: [SIGHUP, SIGQUIT])
    var view = try TopCommandView(invocation)
    // An error of the first request ends the command before the screen is taken over.
    var frame: TopFrame? = try view.readFrame()
    var before: TopFrame?
    let screen = try LiveOutput(isTerminal: Output.isTerminal && !invocation.isJSON)
    var drawn: UInt64 = 0
    while true {
      try view.draw(screen, frame, before)
      drawn += 1
      if drawn == count { return }
      guard screen.waitsForFrame(milliseconds: interval ?? 2000, signals) else { return }
      before = frame ?? before
      frame = try view.next(screen)
    }
  }
}

private typealias TopFrame = (sample: TopCommandDrawing.Sample, record: JSONRecord)

private struct TopCommandView {
  let invocation: Invocation
  let endpoint: String
  /// The connection; nil after an error, so that the next request connects anew.
  private var daemon: Daemon?

  init(_ invocation: Invocation) throws {
    let daemon = try invocation.connect()
    (self.invocation, endpoint, self.daemon) = (invocation, daemon.endpoint, daemon)
  }

  func draw(_ screen: borrowing LiveOutput, _ frame: TopFrame?, _ before: TopFrame?) throws {
    if invocation.isJSON, let frame { return try Output.record(frame.record) }
    let size = screen.isTerminal ? Output.terminalSize : nil
    let drawing = TopCommandDrawing(columns: size?.columns ?? invocation.columns, rows: size?.rows)
    let lines =
      frame.map { drawing.lines($0.sample, before: before?.sample, endpoint: endpoint) }
      ?? drawing.lines(failure: "navd does not answer at \(endpoint); retrying")
    try screen.show(lines.map { $0.rendered(isColoured: invocation.isColoured) })
  }

  /// Reads the next sample; on a terminal nil while the daemon does not answer.
  mutating func next(_ screen: borrowing LiveOutput) throws -> TopFrame? {
    // Keys are read between two frames, so a request lasts at most 1 s.
    let timeout = screen.isTerminal ? min(invocation.timeoutMilliseconds, 1000) : nil
    do {
      return try readFrame(timeout: timeout)
    } catch  where screen.isTerminal {
      return nil
    }
  }

  mutating func readFrame(timeout: UInt64? = nil) throws -> TopFrame {
    let daemon =
      try self.daemon.take()
      ?? invocation.connect(endpoint, try invocation.identity(endpoint), milliseconds: timeout)
    let (body, statistics) = try daemon.statistics(timeout: timeout)
    self.daemon = daemon
    return (
      sample: .init(statistics: statistics, milliseconds: SystemClock.monotonicMilliseconds()),
      record: JSONRecord(.status, body, at: SystemClock.wallMilliseconds())
    )
  }
}

/// Shows frames: on a terminal each replaces the one before, elsewhere they follow each other.
///
/// `deinit` restores the terminal; only SIGKILL prevents that.
struct LiveOutput: ~Copyable {
  let isTerminal: Bool
  /// Makes ^Z a key: it would stop the process and leave the terminal on the alternate screen.
  private let keyboard: CbreakMode

  init(isTerminal: Bool) throws {
    self.isTerminal = isTerminal
    keyboard = CbreakMode(isWanted: isTerminal, takesSignals: true)
    // Switches to the alternate screen, hides the cursor and clears the screen.
    if isTerminal { try Output.text("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J") }
  }

  deinit { if isTerminal { _ = writeAll(Array("\u{1B}[?25h\u{1B}[?1049l".utf8), to: 1) } }

  func show(_ lines: [String]) throws {
    guard isTerminal else {
      try Output.text(lines.map { $0 + "\n" }.joined() + "\n")
      return
    }
    // One write, and each line clears only its own rest: the terminal does not flicker.
    let frame = lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
    try Output.text("\u{1B}[H" + frame + "\u{1B}[J")
  }

  /// Waits for the next frame; returns false when a signal, q or ^C ends the command.
  func waitsForFrame(milliseconds: UInt64, _ signals: borrowing Signals) -> Bool {
    let end = SystemClock.monotonicMilliseconds() + milliseconds
    while true {
      let now = SystemClock.monotonicMilliseconds()
      guard now < end else { return true }
      var entries = [
        pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: keyboard.isOn ? 0 : -1, events: Int16(POLLIN), revents: 0),
      ]
      _ = unsafe poll(&entries, 2, Int32(clamping: end - now))
      if entries[0].revents != 0, let signal = signals.next(), signal != SIGCHLD { return false }
      guard entries[1].revents != 0 else { continue }
      let keys = readOnce(0, atMost: 64) ?? []
      if keys.isEmpty || keys.contains(UInt8(ascii: "q")) || keys.contains(3) { return false }
    }
  }
}
