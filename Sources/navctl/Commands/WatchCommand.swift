import CommandLineOptions
import NavctlSupport
import Navigation
import NavigationClient
import NavigationSync
import RuntimePaths

/// `watch`: a line a revision, as they come.
enum WatchCommand: Command {
  static let declaration = CommandSet.Command(
    "watch", "Print every change of a nav as it comes", group: Subject.look,
    arguments: PositionalArguments("NAV", count: 0...1),
    options: [
      OptionDeclaration("view", argument: "VIEW", "full, or only the newest bar or top"),
      OptionDeclaration("from", argument: "EPOCH:REV:DIGEST", "Go on behind this revision"),
      OptionDeclaration("count", argument: "N", "End after so many lines"),
      OptionDeclaration("events", "Also what makes no revision, as a tap on a button"),
      OptionDeclaration("wait", "Wait for a nav that does not exist yet"),
    ],
    epilogue: """
      A restart of the daemon leaves no gap and repeats nothing. Where revisions had to be left
      out, a line that begins with resync says so. --timeout ends it, with status 4 if --count is
      not reached.

      Example: navctl watch kiosk --count 1
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let nav = try invocation.navArguments().nav
    let word = invocation.line.value(of: "view") ?? "full"
    guard let view = View.allCases.first(where: { $0.text == word }) else {
      throw UsageError("--view takes full, bar or top, not '\(word)'")
    }
    let count = try invocation.line.value(of: "count").map {
      try Quantities.integer($0, option: "count")
    }
    let from = try invocation.line.value(of: "from").map {
      try Quantities.position($0, option: "from")
    }
    guard from == nil || view == .full else { throw UsageError("--from goes with --view full") }
    let timer = Countdown(invocation.typedTimeout)
    var connection = try invocation.connect()
    var stream = WatchStream(
      invocation, nav: nav, view: view, remaining: count, from: from,
      endpoint: connection.endpoint)
    var mirror: Mirror?
    if let from {
      (mirror, stream.hindrance) = try start(invocation, &connection, nav: nav, from: from)
    }
    try connection.openSession(timeout: .milliseconds(invocation.timeoutMilliseconds))
    try connection.watch(nav, view: view, mirror: mirror, start: from)
    while stream.remaining != 0, let event = try connection.next(timeout: timer.left) {
      switch try stream.take(event) {
      case .goOn: break
      case .awaitNav:
        Output.error("navctl: waiting for \(nav)")
        try connection.watch(Directory.nav)
      case .navAppeared:
        try connection.unwatch(Directory.nav)
        try connection.watch(nav, view: view)
      }
    }
    stream.remember()
    try connection.leave()
    guard let remaining = stream.remaining, remaining > 0 else { return 0 }
    throw PlainFailure(
      lines: ["timeout: \(remaining) of the lines did not come", "try: navctl show \(nav)"],
      status: ErrorCode.busy.exitStatus)
  }

  /// The state to go on from, or why it cannot be read.
  private static func start(
    _ invocation: Invocation, _ connection: inout NavigationConnection, nav: String,
    from: MirrorPosition
  ) throws -> (mirror: Mirror?, hindrance: String?) {
    do {
      var request = GetRequest(id: 0, nav: nav)
      request.at = from.revision
      let state = try Reading.value(try Reading.get(invocation, &connection, request).reply)
      guard let mirror = MirrorText.mirror(state), mirror.position == from else {
        // The watch says what differs.
        return (nil, nil)
      }
      return (mirror, nil)
    } catch let refusal as Refusal {
      return (nil, refusal.error.code)
    }
  }
}

/// What a watch has printed, and what it does about each event.
private struct WatchStream {
  /// What follows from an event.
  enum Step {
    case goOn
    case awaitNav
    case navAppeared
  }

  private let invocation: Invocation
  private let nav: String
  private let view: View
  private let memory: Memory
  private var lines: WatchLines
  /// What was written and is not remembered yet.
  private var unremembered: Seen?
  private var lastLatest: (epoch: Epoch, revision: Revision)?
  /// Why the state to go on from could not be read, though the daemon still has the changes since.
  var hindrance: String?
  /// How many lines are still wanted, nil for all.
  private(set) var remaining: UInt64?

  init(
    _ invocation: Invocation, nav: String, view: View, remaining: UInt64?, from: MirrorPosition?,
    endpoint: String
  ) {
    self.invocation = invocation
    self.nav = nav
    self.view = view
    self.remaining = remaining
    memory = Memory(invocation.environment, endpoint: endpoint)
    lines = from.map { WatchLines(after: $0) } ?? WatchLines()
  }

  mutating func take(_ event: SessionEvent) throws -> Step {
    switch event {
    case .changed(Directory.nav, let change) where nav != Directory.nav:
      return Self.names(change, nav) ? .navAppeared : .goOn
    case .changed(_, .applied(let mirror, let diff)):
      try write(lines.diff(diff), MirrorText.diff(diff), Seen(mirror))
    case .changed(_, .replaced(let mirror, let why)):
      let state = try JSONValue(MirrorText.state(mirror, nav: nav))
      // Nobody joins who goes on from a place.
      let record = lines.snapshot(
        state, why: why == "join" ? hindrance ?? "join" : why ?? "join")
      hindrance = nil
      try write(record.text, record.json, Seen(mirror))
    case .latest(let latest):
      // After a reconnect the same value comes again.
      if let last = lastLatest, last == (latest.epoch, latest.revision) { return .goOn }
      lastLatest = (latest.epoch, latest.revision)
      try write(lines.latest(latest), MirrorText.latest(latest), nil)
    case .lost: Output.error("navctl: connection lost; going on as soon as navd is back")
    case .watchEnded(_, _, .refused(let error))
    where error.knownCode == .noNav && invocation.line.contains("wait"):
      return .awaitNav
    case .watchEnded(_, _, .ended("closed", _)) where invocation.line.contains("wait"):
      Output.error("navctl: \(nav) was closed")
      return .awaitNav
    case .watchEnded(_, _, let outcome): throw outcome.failure(nav)
    case .ephemeral(let event) where invocation.line.contains("events"):
      try write(WatchLines.event(event), MirrorText.event(event), nil)
    case .opened, .closed, .answered, .queued, .ephemeral, .changed: break
    }
    return .goOn
  }

  private mutating func write(_ text: String, _ json: [UInt8], _ seen: Seen?) throws {
    guard remaining != 0 else { return }
    if invocation.isJSON { try Output.line(json) } else { try Output.line(text) }
    remaining = remaining.map { $0 - 1 }
    unremembered = seen ?? unremembered
    if Output.isTerminal { remember() }
  }

  /// Remembers the last line.
  ///
  /// A program that reads the lines may be behind them: what it does must not be guarded by what
  /// it has yet to read. So away from a terminal this is done at the end only.
  mutating func remember() {
    memory.remember(unremembered, of: nav)
    unremembered = nil
  }

  private static func names(_ change: MirrorChange, _ nav: String) -> Bool {
    switch change {
    case .applied(let mirror, _), .replaced(let mirror, _), .resumed(let mirror):
      mirror.screens.contains { $0.id == nav }
    case .suspect: false
    }
  }
}
