import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationSync
import RuntimePaths

/// What all commands have in common that change a nav.
enum Changes {
  /// What such a command may say about when it is done.
  static let options: [OptionDeclaration] = [
    OptionDeclaration(
      "on-busy", argument: "WHAT", "reject, or queue behind an open transition", group: "When:"),
    OptionDeclaration("queue", "The same as --on-busy queue", group: "When:"),
    OptionDeclaration("top", argument: "ID", "Only if this screen is on top", group: "Only if:"),
    OptionDeclaration("rev", argument: "N", "Only at this revision", group: "Only if:"),
    OptionDeclaration("epoch", argument: "E", "Only in this epoch", group: "Only if:"),
    OptionDeclaration("digest", argument: "D", "Only with this digest", group: "Only if:"),
    OptionDeclaration("depth", argument: "N", "Only with so many screens", group: "Only if:"),
    OptionDeclaration(
      "stack", argument: "ID,ID", "Only with exactly these screens, bottom first",
      group: "Only if:"),
    OptionDeclaration(
      "has", argument: "ID", "Only with this screen on the stack; repeat for more",
      group: "Only if:"),
    OptionDeclaration("any", "Whatever is there; recorded in the log", group: "Only if:"),
  ]

  /// The same for what may be shown as a transition.
  static let animatedOptions: [OptionDeclaration] =
    [
      OptionDeclaration("animated", "With a transition", group: "When:"),
      OptionDeclaration("still", "Without one; only push --show has one unasked", group: "When:"),
    ] + options

  /// Whether a change is shown as a transition; nil for what the daemon does unless told.
  static func isAnimated(_ line: ParsedCommandLine) throws(UsageError) -> Bool? {
    let isAnimated = line.contains("animated")
    guard line.contains("still") else { return isAnimated ? true : nil }
    guard !isAnimated else { throw UsageError("--animated and --still exclude each other") }
    return false
  }

  /// Whether a change waits for an open transition to end.
  static func waits(_ line: ParsedCommandLine) throws(UsageError) -> Bool {
    switch line.value(of: "on-busy") {
    case nil: return line.contains("queue")
    case "queue"?: return true
    case "reject"?: return false
    case let other?: throw UsageError("--on-busy takes reject or queue, not '\(other)'")
    }
  }

  /// Asks for operations, says what came of them and remembers it.
  static func perform(
    _ invocation: Invocation, nav: String, _ operations: [OperationText]
  ) throws -> Int32 {
    // What is wrong with the command line is said without a daemon too.
    let change = try Change(invocation, nav: nav, operations)
    var connection = try invocation.connect()
    try change.perform(on: &connection)
    return 0
  }
}

/// Operations that are asked for together, and what they are guarded by.
struct Change {
  private let invocation: Invocation
  private let nav: String
  private let operations: [OperationText]
  private let memory: Memory
  private let isTyped: Bool
  private let seen: Seen?
  private var request: OpRequest
  private let begun = SystemClock.bootMilliseconds()

  /// Decides about the guards.
  ///
  /// - Parameters:
  ///   - invocation: the command line.
  ///   - nav: the nav.
  ///   - operations: what to do.
  ///   - isGuarded: whether what was typed about the state concerns these operations.
  /// - Throws: what to type, if the guards do not suffice.
  init(
    _ invocation: Invocation, nav: String, _ operations: [OperationText], isGuarded: Bool = true
  ) throws {
    self.invocation = invocation
    self.nav = nav
    self.operations = operations
    let endpoint = try invocation.endpoint()
    memory = Memory(invocation.environment, endpoint: endpoint)
    let choice = try GuardChoice(isGuarded ? invocation.line : ParsedCommandLine())
    let need = GuardChoice.need(operations)
    seen = need == .none ? nil : memory.seen(nav)
    isTyped = choice.isTyped
    request = OpRequest(
      id: 0, nav: nav,
      guards: try choice.guards(
        need: need, seen: seen, command: invocation.command.name, nav: nav),
      isAnimated: try Changes.isAnimated(invocation.line),
      waits: try Changes.waits(invocation.line))
    // The clock of another machine says nothing about ours.
    if endpoint.hasPrefix("ipc:") { request.due = begun + invocation.timeoutMilliseconds }
  }

  /// One round trip within the time that was given for it.
  func perform(on connection: inout NavigationConnection) throws {
    let end = begun + invocation.timeoutMilliseconds
    let left = Duration.milliseconds(end - min(SystemClock.bootMilliseconds(), end))
    // An operation waits in a session, and ends with it.
    if request.waits || holdsDisplay { try connection.openSession(timeout: left) }
    if holdsDisplay, connection.holdsLease(of: nav) == false {
      _ = try Lease.take(invocation, &connection, nav, isForced: false, isKept: false)
    }
    let reply = try connection.perform(
      request, operations: operations.map(\.json), timeout: left
    ) { position in
      Output.error("navctl: waiting for an open transition, at place \(position)")
    }
    switch reply.result {
    case .success(let answer): try tell(answer, reply.body)
    case .failure(let error): try tell(error, reply.body)
    }
  }

  private var holdsDisplay: Bool { invocation.line.contains("lease") }

  private func tell(_ answer: OkReply, _ body: [UInt8]) throws {
    if operations.contains(where: { $0.kind == .navClose }) {
      memory.forget(nav)
    } else {
      memory.remember(Seen(answer), of: nav)
    }
    if invocation.isJSON {
      try Output.line(body)
    } else {
      try Output.line(OperationSummary.line(answer, operations: operations))
    }
  }

  private func tell(_ error: ErrReply, _ body: [UInt8]) throws {
    guard error.knownCode == .navExists, invocation.line.contains("if-absent") else {
      // What was typed is in the message; what was seen had no part in it.
      let index = Int(clamping: error.index ?? 0)
      throw Refusal(
        error: error, nav: nav, seen: isTyped ? nil : seen ?? memory.seen(nav),
        operation: index < operations.count ? operations[index].kind : nil)
    }
    if invocation.isJSON { try Output.line(body) }
    Output.error("navctl: \(nav) exists already, as it is")
  }
}
