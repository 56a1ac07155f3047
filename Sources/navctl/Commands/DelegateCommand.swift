import CLinux
import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

enum DelegateCommand {
  static let command = Command(
    "delegate", "Answer the questions about a nav, while it runs", Subject.roles, .init("NAV"),
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
    let registration = try DelegateText.registration(invocation.line)
    let nav = try invocation.navArguments().nav
    let count = try invocation.line.integer(of: "count")
    let signals = try Signals()
    let daemon = try invocation.connectSession(wake: signals.descriptor)
    try daemon.connection.delegate(nav, registration)
    var answers = Answers(invocation: invocation, nav: nav, remaining: count)
    let timer = Countdown(invocation.typedTimeout)
    while answers.remaining != 0 {
      while let signal = signals.next() {
        guard signal == SIGCHLD else {
          answers.stop()
          try daemon.connection.leave()
          return
        }
        if let (ask, value) = try answers.takeEnd() {
          try daemon.connection.answer(ask, value: value.bytes)
        }
      }
      // A question for an animator or an interaction ends with its answer, not with an event.
      guard answers.remaining != 0 else { break }
      guard let event = try daemon.connection.nextEvent(timeout: timer.left) else {
        guard timer.left == .zero else { continue }
        break
      }
      try answers.take(event)
    }
    answers.stop()
    try daemon.connection.leave()
    guard let remaining = answers.remaining, remaining > 0 else { return }
    throw PlainFailure(.busy, "timeout: \(remaining) awaited questions did not arrive")
  }
}

/// The open questions in order of arrival, and the running command, which answers the first.
private struct Answers {
  let invocation: Invocation
  let nav: String
  var waiting: [(id: AskID, ask: Ask)] = []
  var running: (id: AskID, ask: Ask, child: Subprocess)?
  /// How many questions are left of `--count`; nil without a limit.
  var remaining: UInt64?

  mutating func take(_ event: ConnectionEvent) throws {
    switch event {
    case .duty(.registered(_, let roles)):
      let words = DelegateRole.allCases.filter(roles.contains).map(\.rawValue)
      try invocation.write(
        "\(nav)  delegate  \(words.joined(separator: " "))",
        Record(.delegate, ["nav": .string(nav), "roles": .array(words.map { .string($0) })]))
    case .duty(.registrationRefused(_, let error)): throw Refusal(error: error, nav: nav)
    case .duty(.asked(let id, let ask)):
      try invocation.write(DelegateText.line(ask), Record(.ask, DelegateText.json(ask), at: now))
      waiting.append((id, ask))
      try startNext()
    case .duty(.settled(let id, _, let settlement)):
      try invocation.write(
        DelegateText.line(settlement), Record(.settled, DelegateText.json(settlement), at: now))
      drop(id)
      countDown()
      try startNext()
    case .duty(.voided(let id, _)):
      Output.error("navctl: question \(id.number) has ended; navd accepts no answer to it")
      drop(id)
      try startNext()
    case .session(.lost):
      Output.error("navctl: connection lost; the roles are registered again when navd is back")
    default: break
    }
  }

  /// Takes the answer of the running command; nil while it runs, or if its question has ended.
  mutating func takeEnd() throws -> (AskID, OpaqueJSON)? {
    guard let (id, ask, child) = running, let status = child.endedStatus() else { return nil }
    running = nil
    let output = child.collectOutput()
    let isAwaited = waiting.contains { $0.id == id }
    waiting.removeAll { $0.id == id }
    defer { if !ask.question.isVeto { countDown() } }
    try startNext()
    // The question ended first, and `drop` killed the command.
    guard isAwaited else { return nil }
    let (value, complaint) = DelegateText.answer(ask.question, status: status, output: output)
    if let complaint { Output.error("navctl: question \(ask.number): \(complaint)") }
    return value.map { (id, $0) }
  }

  func stop() { running?.child.kill(SIGKILL) }

  /// Removes a question that has ended, and kills the command that was to answer it.
  private mutating func drop(_ id: AskID) {
    waiting.removeAll { $0.id == id }
    if let running, running.id == id { running.child.kill(SIGKILL) }
  }

  private mutating func startNext() throws {
    guard running == nil, let (id, ask) = waiting.first,
      let command = invocation.line.value(of: "exec")
    else { return }
    let child = try Subprocess(
      ["/bin/sh", "-c", command], variables: DelegateText.variables(ask),
      input: DelegateText.json(ask) + [0x0A],
      destination: ask.question.isVeto ? .standardError : .captured)
    running = (id, ask, child)
  }

  private mutating func countDown() { remaining = remaining.map { $0 - min($0, 1) } }

  private var now: UInt64 { SystemClock.wallMilliseconds() }
}
