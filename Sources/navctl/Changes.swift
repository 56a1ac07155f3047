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
    guard !isAnimated else { throw UsageError("--animated or --still, one of them") }
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
    let endpoint = try invocation.endpoint()
    let memory = Memory(invocation.environment, endpoint: endpoint)
    let choice = try GuardChoice(invocation.line)
    let isAnimated = try isAnimated(invocation.line)
    let waits = try waits(invocation.line)
    let need = GuardChoice.need(operations)
    let seen = need == .none ? nil : memory.seen(nav)
    let guards = try choice.guards(
      need: need, seen: seen, command: invocation.command.name, nav: nav)
    let reply = try exchange(
      invocation, endpoint: endpoint,
      OpRequest(
        id: 0, nav: nav, guards: guards, isAnimated: isAnimated,
        waits: waits, operations: []), operations)
    switch reply.result {
    case .success(let answer):
      if operations.contains(where: { $0.kind == .navClose }) {
        memory.forget(nav)
      } else {
        memory.remember(Seen(answer), of: nav)
      }
      try write(invocation, reply.body, answer, operations)
      return 0
    case .failure(let error):
      if error.knownCode == .navExists, invocation.line.contains("if-absent") {
        if invocation.isJSON { try Output.line(reply.body) }
        Output.error("navctl: \(nav) exists already, as it is")
        return 0
      }
      // What was typed is in the message; what was seen had no part in it.
      throw Refusal(
        error: error, nav: nav, seen: choice.isTyped ? nil : seen ?? memory.seen(nav))
    }
  }

  private static func write(
    _ invocation: Invocation, _ body: [UInt8], _ answer: OkReply, _ operations: [OperationText]
  ) throws {
    if invocation.isJSON {
      try Output.line(body)
    } else {
      try Output.line(OperationSummary.line(answer, operations: operations))
    }
  }

  /// One round trip within the time that was given for it.
  private static func exchange(
    _ invocation: Invocation, endpoint: String, _ request: OpRequest,
    _ operations: [OperationText]
  ) throws -> NavigationConnection.Reply {
    let timeout = invocation.timeoutMilliseconds
    let start = SystemClock.bootMilliseconds()
    var request = request
    // The clock of another machine says nothing about ours.
    if endpoint.hasPrefix("ipc:") { request.due = start + timeout }
    var connection = try invocation.connect()
    let left = start + timeout - min(SystemClock.bootMilliseconds(), start + timeout)
    return try connection.perform(
      request, operations: operations.map(\.json), timeout: .milliseconds(left))
  }
}
