import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

/// One request: operations that navd performs all or none, and their guards.
struct Change {
  typealias NavOperations = (nav: String, operations: [NavigationOperation])

  private let invocation: Invocation
  private let operations: [NavigationOperation]
  private let seenStates: SeenStates
  private let hasTypedGuards: Bool
  private let seen: SeenState?
  private var request: OpRequest
  private let startMilliseconds = SystemClock.bootMilliseconds()

  /// Makes the guards from the typed conditions, if `isGuarded`, and from the last seen state.
  init(
    _ invocation: Invocation, nav: String, _ operations: [NavigationOperation],
    isGuarded: Bool = true
  ) throws {
    self.invocation = invocation
    self.operations = operations
    let endpoint = try invocation.endpoint()
    seenStates = SeenStates(invocation.environment, endpoint: endpoint)
    let choice = try GuardChoice(isGuarded ? invocation.line : ParsedCommandLine())
    let need = GuardChoice.strictestGuard(operations)
    let isOffered = need == .none && GuardChoice.removesPresentationsAbove(operations)
    seen = need == .none && !isOffered ? nil : seenStates.seen(nav)
    request = OpRequest(
      id: 0, nav: nav,
      guards: isOffered
        ? choice.guards(adding: seen)
        : try choice.guards(
          need: need, seen: seen, obstacle: seenStates.obstacle, command: invocation.command.name,
          nav: nav),
      isAnimated: try Change.isAnimated(invocation.line),
      onBusy: try Change.busyPolicy(invocation.line))
    hasTypedGuards = choice.hasTypedGuards && request.guards == choice.typed
    request.isDry = invocation.line.contains("dry-run")
    request.setTimeLimit(.milliseconds(invocation.timeoutMilliseconds), ifLocal: endpoint)
  }

  /// Sends the request and waits for its reply within `--timeout`, counted from `init`.
  func perform(on daemon: Daemon) throws {
    let end = startMilliseconds + invocation.timeoutMilliseconds
    let left = Duration.milliseconds(end - min(SystemClock.bootMilliseconds(), end))
    // A queued operation and a lease belong to a session; navd drops both when it ends.
    if request.onBusy ?? .reject != .reject || takesLease {
      try daemon.connection.openSession(timeout: left)
    }
    if takesLease, !request.isDry, daemon.connection.cluster.holdsLease(of: nav) == false {
      _ = try LeaseCommand.take(daemon, nav, isForced: false, isKept: false)
    }
    let reply = try daemon.connection.perform(
      request, operations: operations.map(\.octets.bytes), timeout: left
    ) { position in
      Output.error("navctl: waiting for an open transition, position \(position) in the queue")
    }
    switch reply.result {
    case .success(let answer): try report(answer, reply.body)
    case .failure(let error): try report(error, reply.body)
    }
  }

  private var nav: String { request.nav }

  private var takesLease: Bool { invocation.line.contains("lease") }

  private func report(_ answer: OkReply, _ body: [UInt8]) throws {
    if request.isDry { return try reportDryRun(answer, body) }
    if operations.contains(where: { $0.kind == .navClose }) {
      seenStates.forget(nav)
    } else {
      seenStates.remember(
        SeenState(answer, after: seen ?? seenStates.seen(nav), operations), of: nav)
    }
    try Output.writeChangeResult {
      try invocation.write(
        OperationSummary.line(answer, operations: operations), JSONRecord(.changed, body))
    }
  }

  private func reportDryRun(_ answer: OkReply, _ body: [UInt8]) throws {
    if invocation.isJSON { return try Output.record(JSONRecord(.planned, body)) }
    let plan = try JSONValue(body)
    if let place = plan["pos"]?.integer {
      return try Output.line("dry run: \(nav) would wait at place \(place); nothing was changed")
    }
    try Output.line("dry run: \(OperationSummary.line(answer, operations: operations))")
    for delegate in plan.list("delegates") {
      let roles = delegate.list("roles").map(\.plainText).joined(separator: ", ")
      try Output.line(
        TerminalText.visible("would ask \(delegate["name"]?.string ?? "a delegate")  \(roles)"))
    }
    guard let state = plan["state"], answer.changed != false else { return }
    try invocation.write(StateDrawing(columns: invocation.columns).lines(state))
  }

  private func report(_ error: ErrReply, _ body: [UInt8]) throws {
    guard error.knownCode == .navExists, invocation.line.contains("if-absent") else {
      // If the user typed the conditions, the seen state was no guard and cannot explain the error.
      let index = Int(clamping: error.index ?? 0)
      throw Refusal(
        error: error, nav: nav, seen: hasTypedGuards ? nil : seen ?? seenStates.seen(nav),
        attempt: RefusedCommand(
          operation: index < operations.count ? operations[index].kind : nil,
          rights: operations.reduce(into: []) { $0.formUnion($1.neededRights) }))
    }
    if invocation.isJSON { try Output.record(JSONRecord(.changed, body)) }
    Output.error("navctl: \(nav) exists already; nothing changed")
  }

  static let dryRunOption = OptionDeclaration(
    "dry-run", "Print the answer and the state that it would lead to; change nothing",
    group: "When:")

  static let conditions: [OptionDeclaration] = [
    ("top", "ID", "Only if this screen is on top"), ("rev", "N", "Only at this revision"),
    ("epoch", "E", "Only in this epoch"), ("digest", "D", "Only with this digest"),
    ("depth", "N", "Only with N screens"),
    ("stack", "ID,ID", "Only with exactly these screens, bottom first"),
    ("has", "ID", "Only with this screen on the stack; repeat for more"),
    ("visible", "ID", "Only if this screen is visible, presented ones included"),
    ("any", nil, "Whatever the state is; navd logs this"),
  ].map { OptionDeclaration($0, argument: $1, $2, group: "Only if:") }

  static let options: [OptionDeclaration] =
    [
      ("animated", nil, "Animate the change"),
      ("still", nil, "No animation (default, except for push --show)"),
      ("on-busy", "WHAT", "reject, queue or interrupt while a transition is open"),
      ("queue", nil, "Short for --on-busy queue"),
    ].map { OptionDeclaration($0, argument: $1, $2, group: "When:") } + [dryRunOption] + conditions

  /// Whether the change is animated; nil for the default of the operation.
  static func isAnimated(_ line: ParsedCommandLine) throws(UsageError) -> Bool? {
    let isAnimated = line.contains("animated")
    guard line.contains("still") else { return isAnimated ? true : nil }
    try require(!isAnimated, "--animated and --still exclude each other")
    return false
  }

  /// Whether navd queues the change while a transition is open, instead of refusing it.
  static func busyPolicy(_ line: ParsedCommandLine) throws(UsageError) -> BusyPolicy? {
    guard line.contains("on-busy") else { return line.contains("queue") ? .queue : nil }
    return BusyPolicy(word: try line.choice(of: "on-busy", BusyPolicy.words))
  }

  static func perform(
    _ invocation: Invocation, nav: String, _ operations: [NavigationOperation]
  ) throws {
    // Checks the command line before it connects, so that its errors need no daemon.
    let change = try Change(invocation, nav: nav, operations)
    try change.perform(on: invocation.connect())
  }
}
