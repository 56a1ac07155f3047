import CLinux
import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

enum DelegateCommand {
  static let command = Command(
    "delegate", "Answer the questions about a nav, while it runs", HelpGroup.roles, .init("NAV"),
    options: [
      .init("roles", argument: "ROLES", "veto, animator, interaction, orientation; with commas"),
      .init("exec", argument: "COMMAND", "The command that answers; a line for sh"),
      .init("orientations", argument: "JSON", "{\"supported\":[...],\"preferred\":\"...\"}"),
      .init("name", argument: "NAME", "The name that other clients see"),
      .init("count", argument: "N", "End after N questions"),
    ],
    note: """
      navctl runs COMMAND once per question. COMMAND finds the question in JSON on stdin and in
      NAVD_QUESTION, NAVD_SCREEN, NAVD_CAUSE, NAVD_OP, NAVD_FROM, NAVD_TO, NAVD_ANIMATOR and others.
      For a veto, its status 0 allows the change and 1 refuses it; otherwise the settings decide.
      For animator or interaction, its stdout is the answer in JSON. navctl kills a COMMAND whose
      question has ended. The roles last until navctl is interrupted.
      """, example: #"delegate kiosk --roles veto --exec '[ "$NAVD_SCREEN" != pin ]'"#, run: run)

  static func run(_ invocation: Invocation) throws {
    let registration = try registration(invocation.line)
    let nav = try invocation.navArguments().nav
    let count = try invocation.line.integer(of: "count")
    let signals = try Signals()
    let daemon = try invocation.connectSession(wake: signals.descriptor)
    try daemon.connection.request { $0.delegate(nav, registration) }
    var queue = QuestionQueue(invocation: invocation, nav: nav, questionsLeft: count)
    let timer = Countdown(invocation.typedTimeout)
    while queue.questionsLeft != 0 {
      while let signal = signals.next() {
        guard signal == SIGCHLD else {
          queue.killCommand()
          try daemon.connection.leave()
          return
        }
        if let (ask, value) = try queue.takeCommandResult() {
          try daemon.connection.request { $0.answer(ask, value: value.bytes) }
        }
      }
      // A question for an animator or an interaction ends with its answer, not with an event.
      guard queue.questionsLeft != 0 else { break }
      guard let event = try daemon.connection.next(timeout: timer.left) else {
        guard timer.left == .zero else { continue }
        break
      }
      try queue.handle(event)
    }
    queue.killCommand()
    try daemon.connection.leave()
    guard let remaining = queue.questionsLeft, remaining > 0 else { return }
    throw PlainFailure(.busy, "timeout: \(remaining) awaited questions did not arrive")
  }

  /// Reads `--roles` and `--orientations`, and checks that they fit each other and `--exec`.
  static func registration(_ line: ParsedCommandLine) throws(UsageError) -> DelegateRegistration {
    let words = DelegateRole.allCases.map(\.rawValue).joined(separator: ",")
    var roles: Set<DelegateRole> = []
    for text in line.values(of: "roles").flatMap({ $0.split(separator: ",") }) {
      let role = try require(
        DelegateRole(rawValue: String(text)),
        "there is no role '\(TerminalText.visible(String(text)))'",
        remedy: "--roles with one or several of \(words)")
      roles.insert(role)
    }
    let orientations = line.value(of: "orientations")
    if orientations != nil { roles.insert(.orientation) }
    try require(
      !roles.isEmpty, "delegate needs roles", remedy: "--roles with one or several of \(words)")
    try require(
      !roles.contains(.orientation) || orientations != nil,
      "navd asks no questions of the role orientation; its value is needed at once",
      remedy: #"--orientations '{"supported":["portrait"],"preferred":"portrait"}'"#)
    try require(
      roles == [.orientation] || line.value(of: "exec") != nil,
      "delegate needs a command that answers the questions", remedy: "--exec COMMAND")
    var registration = DelegateRegistration(roles: roles)
    guard let orientations else { return registration }
    let value = try ArgumentReader.object(orientations, what: "--orientations")
    registration.supportedOrientations = value.list("supported").compactMap(\.string)
    registration.preferredOrientation = value["preferred"]?.string
    let isComplete = value.members.allSatisfy { ["supported", "preferred"].contains($0.name) }
    try require(
      isComplete && !registration.supportedOrientations.isEmpty,
      "--orientations needs supported, a list of one or more, and takes nothing else but preferred",
      remedy: #"as in '{"supported":["portrait"],"preferred":"portrait"}'"#)
    return registration
  }

  static func json(_ ask: Ask) -> [UInt8] {
    let (name, texts) = ask.question.wireForm
    let members = texts.map { JSONObject.Member(name: $0, value: $1.map { .string($0) } ?? .null) }
    return OpaqueJSON.object([
      "ask": .integer(ask.number), "nav": .string(ask.nav),
      "epoch": .string(ask.epoch.text), "rev": .integer(ask.revision.number),
      "within": .integer(ask.withinMilliseconds),
      "q": .object([name: .object(JSONObject(members))]),
    ]).bytes
  }

  static func environmentVariables(_ ask: Ask) -> [(String, String)] {
    let (name, texts) = ask.question.wireForm
    return [
      ("NAVD_NAV", ask.nav), ("NAVD_ASK", "\(ask.number)"), ("NAVD_EPOCH", ask.epoch.text),
      ("NAVD_REV", "\(ask.revision.number)"), ("NAVD_WITHIN", "\(ask.withinMilliseconds)"),
      ("NAVD_QUESTION", name),
    ] + texts.map { ("NAVD_\($0.uppercased())", $1 ?? "") }
  }

  /// A question as text: "ask 7  shouldPop  screen wifi  cause backButton  rev 22  2000 ms".
  static func line(_ ask: Ask) -> String {
    let (name, texts) = ask.question.wireForm
    let words =
      ["ask \(ask.number)", name] + texts.map { "\($0) \($1 ?? "none")" }
      + ["rev \(ask.revision.number)", "\(ask.withinMilliseconds) ms"]
    return TerminalText.visible(words.joined(separator: "  "))
  }

  /// The end of a question as text: "settled 7  denied by shell".
  static func line(_ settlement: VetoSettlement) -> String {
    let by = settlement.deniedBy.map { " by \($0)" } ?? ""
    return TerminalText.visible("settled \(settlement.number)  \(settlement.outcome)\(by)")
  }

  static func json(_ settlement: VetoSettlement) -> [UInt8] {
    var members: JSONObject = [
      "settled": .integer(settlement.number), "outcome": .string(settlement.outcome),
    ]
    members.add("by", settlement.deniedBy)
    return OpaqueJSON.object(members).bytes
  }

  /// Makes the answer from the exit status and the output of the command; `fault` is why there is
  /// none, or why the answer is null.
  static func answer(
    _ question: Question, status: Int32, output: [UInt8]
  ) -> (value: OpaqueJSON?, fault: String?) {
    switch question {
    case .shouldPush, .shouldPop, .shouldDismiss:
      switch status {
      case 0: return (.bool(true), nil)
      case 1: return (.bool(false), nil)
      default: return (.null, "the command ended with status \(status), not 0 or 1")
      }
    case .animatorFor, .interactionFor:
      guard status == 0 else { return (.null, nil) }
      let text = String(decoding: output, as: UTF8.self)
      guard text.contains(where: { !$0.isWhitespace }) else { return (.null, nil) }
      do throws(UsageError) {
        return (try ArgumentReader.json(text, what: "the output of the command"), nil)
      } catch {
        return (.null, error.message)
      }
    case .unknown(let name): return (nil, "this navctl does not know the question \(name)")
    }
  }
}

/// The open questions in order of arrival, and the running command, which answers the first.
private struct QuestionQueue {
  let invocation: Invocation
  let nav: String
  var waiting: [(id: AskID, ask: Ask)] = []
  var running: (id: AskID, ask: Ask, child: Subprocess)?
  /// How many questions are left of `--count`; nil without a limit.
  var questionsLeft: UInt64?

  mutating func handle(_ event: SessionEvent) throws {
    switch event {
    case .duty(.registered(_, let roles)):
      let words = DelegateRole.allCases.filter(roles.contains).map(\.rawValue)
      try invocation.write(
        "\(nav)  delegate  \(words.joined(separator: " "))",
        JSONRecord(.delegate, ["nav": .string(nav), "roles": .array(words.map { .string($0) })]))
    case .duty(.registrationRefused(_, let error)): throw Refusal(error: error, nav: nav)
    case .duty(.asked(let id, let ask)):
      try invocation.write(
        DelegateCommand.line(ask), JSONRecord(.ask, DelegateCommand.json(ask), at: now))
      waiting.append((id, ask))
      try startNext()
    case .duty(.settled(let id, _, let settlement)):
      try invocation.write(
        DelegateCommand.line(settlement),
        JSONRecord(.settled, DelegateCommand.json(settlement), at: now))
      discard(id)
      countDown()
      try startNext()
    case .duty(.voided(let id, _)):
      Output.error("navctl: question \(id.number) has ended; navd accepts no answer to it")
      discard(id)
      try startNext()
    case .lost:
      Output.error("navctl: connection lost; the roles are registered again when navd is back")
    default: break
    }
  }

  /// The answer of the command that has ended; nil while it runs, or if its question has ended.
  mutating func takeCommandResult() throws -> (ask: AskID, answer: OpaqueJSON)? {
    guard let (id, ask, child) = running, let status = child.endedStatus() else { return nil }
    running = nil
    let output = child.collectOutput()
    let isAwaited = waiting.contains { $0.id == id }
    waiting.removeAll { $0.id == id }
    defer { if !ask.question.isVeto { countDown() } }
    try startNext()
    // The question ended first, and `discard` killed the command.
    guard isAwaited else { return nil }
    let (value, fault) = DelegateCommand.answer(ask.question, status: status, output: output)
    if let fault { Output.error("navctl: question \(ask.number): \(fault)") }
    return value.map { (id, $0) }
  }

  func killCommand() { running?.child.kill(SIGKILL) }

  private mutating func discard(_ id: AskID) {
    waiting.removeAll { $0.id == id }
    if let running, running.id == id { running.child.kill(SIGKILL) }
  }

  private mutating func startNext() throws {
    guard running == nil, let (id, ask) = waiting.first,
      let command = invocation.line.value(of: "exec")
    else { return }
    let child = try Subprocess(
      ["/bin/sh", "-c", command], variables: DelegateCommand.environmentVariables(ask),
      input: DelegateCommand.json(ask) + [0x0A],
      destination: ask.question.isVeto ? .standardError : .captured)
    running = (id, ask, child)
  }

  private mutating func countDown() { questionsLeft = questionsLeft.map { $0 - min($0, 1) } }

  private var now: UInt64 { SystemClock.wallMilliseconds() }
}
