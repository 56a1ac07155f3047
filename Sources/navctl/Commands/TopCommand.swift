import CLinux
import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

enum TopCommand {
  static let command = Command(
    "top", "Show the activity of navd, by default every 2 s", Subject.daemon,
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

  private static let shortestInterval: UInt64 = 100

  static func run(_ invocation: Invocation) throws {
    let line = invocation.line
    let interval = try line.milliseconds(of: "interval")
    try require(
      interval.map { $0 >= shortestInterval } ?? true,
      "--interval is \(shortestInterval)ms or more")
    let count = try line.integer(of: "count")
    let signals = try Signals(also: [SIGHUP, SIGQUIT])
    // An error of the first request ends the command before the screen is taken over.
    var view = TopView(invocation: invocation, interval: interval ?? 2000)
    let sample = try view.begin()
    let screen = try LiveScreen(isTerminal: Output.isTerminal && !invocation.isJSON)
    try view.run(screen, signals, first: sample, count: count)
  }

  fileprivate static func read(_ daemon: Daemon, timeout: UInt64? = nil) throws -> TopFrame {
    let (body, statistics) = try daemon.statistics(timeout: timeout)
    return TopFrame(
      sample: .init(statistics: statistics, time: SystemClock.monotonicMilliseconds()),
      record: Record(.status, body, at: SystemClock.wallMilliseconds()))
  }
}

/// The statistics at one time, to be drawn or to be printed as JSON.
private struct TopFrame {
  var sample: TopDrawing.Sample
  var record: Record
}

/// Draws the frames of one run, and holds the connection to the daemon.
private struct TopView {
  let invocation: Invocation
  let interval: UInt64
  private var endpoint = ""
  /// Nobody else holds it, because a daemon that came back gets a connection of its own.
  private var daemon: Daemon?

  init(invocation: Invocation, interval: UInt64) {
    (self.invocation, self.interval) = (invocation, interval)
  }

  /// Connects, and reads the first sample.
  mutating func begin() throws -> TopFrame {
    let daemon = try invocation.connect()
    (self.daemon, endpoint) = (daemon, daemon.endpoint)
    return try TopCommand.read(daemon)
  }

  /// Draws frames until `count` is reached, or until the user ends the command.
  mutating func run(
    _ screen: borrowing LiveScreen, _ signals: borrowing Signals, first: TopFrame, count: UInt64?
  ) throws {
    var (sample, before): (TopFrame?, TopFrame?) = (first, nil)
    var drawn: UInt64 = 0
    while true {
      try draw(screen, sample, before)
      drawn += 1
      if drawn == count { return }
      guard screen.sleeps(milliseconds: interval, signals) else { return }
      before = sample ?? before
      sample = try next(screen)
    }
  }

  private func draw(
    _ screen: borrowing LiveScreen, _ frame: TopFrame?, _ before: TopFrame?
  ) throws {
    if invocation.isJSON, let frame { return try Output.record(frame.record) }
    let size = screen.isTerminal ? Output.terminalSize : nil
    let drawing = TopDrawing(columns: size?.columns ?? invocation.columns, rows: size?.rows)
    let lines =
      frame.map { drawing.lines($0.sample, before: before?.sample, endpoint: endpoint) }
      ?? drawing.lines(failure: "navd does not answer at \(endpoint); retrying")
    try screen.show(lines.map { $0.rendered(isColoured: invocation.isColoured) })
  }

  /// Reads the next sample; on a terminal nil while the daemon does not answer.
  private mutating func next(_ screen: borrowing LiveScreen) throws -> TopFrame? {
    // Keys are read between two frames, so a request lasts at most 1 s.
    let timeout = screen.isTerminal ? min(invocation.timeoutMilliseconds, 1000) : nil
    do {
      let daemon = try connect(timeout)
      let sample = try TopCommand.read(daemon, timeout: timeout)
      self.daemon = daemon
      return sample
    } catch  where screen.isTerminal {
      return nil
    }
  }

  private mutating func connect(_ timeout: UInt64?) throws -> Daemon {
    if let daemon = daemon.take() { return daemon }
    return try invocation.connect(
      endpoint, try invocation.identity(endpoint), milliseconds: timeout)
  }
}
