import CLinux
import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationSync
import RuntimePaths

/// `top`: the daemon at work, drawn again and again.
enum TopCommand: Command {
  static let declaration = CommandSet.Command(
    "top", "Show what navd does, again and again", group: Subject.daemon,
    options: [
      OptionDeclaration("interval", argument: "TIME", "How often, as in 500ms; 2s unless said"),
      OptionDeclaration("count", argument: "N", "End after so many times"),
    ],
    epilogue: """
      Rates and times are those since the frame before; times in the first one are those since the \
      daemon started. On a terminal q ends it. Where stdout is none, one block follows the other, \
      with an empty line between. Sessions are shown to the role admin.

      Example: navctl top --interval 1s
      """)

  private static let shortestInterval: UInt64 = 100

  static func run(_ invocation: Invocation) throws -> Int32 {
    let line = invocation.line
    let interval = try line.value(of: "interval").map {
      try Quantities.milliseconds($0, option: "interval")
    }
    guard interval.map({ $0 >= shortestInterval }) ?? true else {
      throw UsageError("--interval is \(shortestInterval)ms or more")
    }
    let count = try line.value(of: "count").map { try Quantities.integer($0, option: "count") }
    guard !invocation.isJSON else {
      throw UsageError("top draws", remedy: "navctl status -o json")
    }
    let signals = try Signals()
    // The first answer decides whether there is anything to show.
    var connection = try invocation.connect()
    let sample = try read(invocation, &connection)
    let screen = try LiveScreen(isTerminal: Output.isTerminal)
    var view = TopView(invocation, interval: interval ?? 2000, connection: connection)
    try view.run(screen, signals, first: sample, count: count)
    return 0
  }

  fileprivate static func read(
    _ invocation: Invocation, _ connection: inout NavigationConnection, timeout: UInt64? = nil
  ) throws -> TopDrawing.Sample {
    let statistics = try StatusCommand.read(invocation, &connection, timeout: timeout).statistics
    return TopDrawing.Sample(statistics, time: SystemClock.monotonicMilliseconds())
  }
}

/// The frames of one run, and the connection that they are read from.
private struct TopView: ~Copyable {
  private let invocation: Invocation
  private let interval: UInt64
  private let endpoint: String
  private var connection: NavigationConnection?

  init(
    _ invocation: Invocation, interval: UInt64, connection: consuming NavigationConnection
  ) {
    self.invocation = invocation
    self.interval = interval
    endpoint = connection.endpoint
    self.connection = consume connection
  }

  /// Draws until the count is reached, or somebody ends it.
  mutating func run(
    _ screen: borrowing LiveScreen, _ signals: borrowing Signals, first: TopDrawing.Sample,
    count: UInt64?
  ) throws {
    var (sample, before): (TopDrawing.Sample?, TopDrawing.Sample?) = (first, nil)
    var drawn: UInt64 = 0
    while true {
      try draw(screen, sample, before)
      drawn += 1
      if drawn == count { return }
      guard screen.rests(milliseconds: interval, signals) else { return }
      before = sample ?? before
      sample = try next(screen)
    }
  }

  private func draw(
    _ screen: borrowing LiveScreen, _ sample: TopDrawing.Sample?, _ before: TopDrawing.Sample?
  ) throws {
    let size = screen.isTerminal ? Output.terminalSize : nil
    let drawing = TopDrawing(columns: size?.columns ?? invocation.columns, rows: size?.rows)
    let lines =
      sample.map { drawing.lines($0, before: before, endpoint: endpoint) }
      ?? drawing.lines(failure: "navd does not answer at \(endpoint); trying again")
    try screen.show(lines.map { $0.rendered(isColoured: invocation.isColoured) })
  }

  /// The next sample; nil while the daemon does not answer and somebody watches.
  private mutating func next(_ screen: borrowing LiveScreen) throws -> TopDrawing.Sample? {
    // Keys are taken between two frames, so none may take long.
    let timeout = screen.isTerminal ? min(invocation.timeoutMilliseconds, 1000) : nil
    do {
      var connection = try connect(timeout)
      let sample = try TopCommand.read(invocation, &connection, timeout: timeout)
      self.connection = consume connection
      return sample
    } catch  where screen.isTerminal {
      return nil
    }
  }

  private mutating func connect(_ timeout: UInt64?) throws -> NavigationConnection {
    if let connection = connection.take() { return connection }
    return try NavigationConnection.connect(
      to: endpoint, as: try invocation.identity(endpoint), name: "navctl",
      timeout: .milliseconds(timeout ?? invocation.timeoutMilliseconds))
  }
}
