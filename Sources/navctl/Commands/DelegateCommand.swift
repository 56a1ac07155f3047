import CLinux
import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationSync

/// `delegate`: answers the questions about a nav with a command.
enum DelegateCommand: Command {
  static let declaration = CommandSet.Command(
    "delegate", "Answer the questions about a nav", group: Subject.roles,
    arguments: PositionalArguments("NAV", count: 0...1),
    options: [
      OptionDeclaration(
        "roles", argument: "ROLES", "veto, animator, interaction, orientation; with commas"),
      OptionDeclaration("exec", argument: "COMMAND", "What answers; a line for sh"),
      OptionDeclaration(
        "orientations", argument: "JSON", "As in {\"supported\":[...],\"preferred\":\"...\"}"),
      OptionDeclaration("name", argument: "NAME", "Under which others see who answered"),
      OptionDeclaration("count", argument: "N", "End after so many questions"),
    ],
    epilogue: """
      COMMAND runs once a question, which it finds in JSON on stdin and in NAVD_QUESTION,
      NAVD_SCREEN, NAVD_CAUSE, NAVD_OP, NAVD_FROM, NAVD_TO, NAVD_ANIMATOR and others. As veto its
      status 0 allows and 1 refuses; any other is no answer. As animator or interaction its stdout
      is the answer in JSON. One that is not done in time is killed. The roles are played until the
      command is interrupted.

      Example: navctl delegate kiosk --roles veto --exec 'test "$NAVD_SCREEN" != form'
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let registration = try DelegateText.registration(invocation.line)
    let nav = try invocation.navArguments().nav
    let count = try invocation.line.value(of: "count").map {
      try Quantities.integer($0, option: "count")
    }
    let signals = try Signals()
    var connection = try invocation.connectSession(wake: signals.descriptor)
    try connection.delegate(nav, registration)
    var answers = Answers(invocation, nav: nav, remaining: count)
    let timer = Countdown(invocation.typedTimeout)
    while answers.remaining != 0 {
      while let signal = signals.next() {
        guard signal == SIGCHLD else {
          answers.stop()
          try connection.leave()
          return 0
        }
        if let (ask, value) = try answers.takeEnd() { try connection.answer(ask, value: value) }
      }
      // The answer to a question for data is its end, so the last one may have been given.
      guard answers.remaining != 0 else { break }
      guard let event = try connection.nextEvent(timeout: timer.left) else {
        guard timer.left == .zero else { continue }
        break
      }
      try answers.take(event)
    }
    answers.stop()
    try connection.leave()
    guard let remaining = answers.remaining, remaining > 0 else { return 0 }
    throw PlainFailure(
      lines: ["timeout: \(remaining) of the questions did not come"],
      status: ErrorCode.busy.exitStatus)
  }
}

/// The questions that are open, and the command that answers one of them.
private struct Answers {
  private let invocation: Invocation
  private let nav: String
  private var waiting: [(id: AskID, ask: Ask)] = []
  private var running: (id: AskID, ask: Ask, child: Subprocess)?
  /// How many questions are still wanted, nil for all.
  private(set) var remaining: UInt64?

  init(_ invocation: Invocation, nav: String, remaining: UInt64?) {
    self.invocation = invocation
    self.nav = nav
    self.remaining = remaining
  }

  mutating func take(_ event: ConnectionEvent) throws {
    switch event {
    case .duty(.registered(_, let roles)):
      let words = DelegateRole.allCases.filter(roles.contains).map(\.rawValue)
      try write(
        "\(nav)  delegate  \(words.joined(separator: " "))",
        OperationText.object([
          ("nav", OperationText.string(nav)),
          ("roles", OperationText.array(words.map(OperationText.string))),
        ]))
    case .duty(.registrationRefused(_, let error)):
      throw Refusal(error: error, nav: nav, seen: nil)
    case .duty(.asked(let id, let ask)):
      try write(DelegateText.line(ask), DelegateText.json(ask))
      waiting.append((id, ask))
      try startNext()
    case .duty(.settled(let id, _, let settlement)):
      try write(DelegateText.line(settlement), DelegateText.json(settlement))
      drop(id)
      countDown()
      try startNext()
    case .duty(.voided(let id, _)):
      Output.error("navctl: nobody listens to the answer to question \(id.number) any more")
      drop(id)
      try startNext()
    case .session(.lost):
      Output.error("navctl: connection lost; the roles are played again when navd is back")
    default: break
    }
  }

  /// The answer of the command, if it has ended.
  mutating func takeEnd() throws -> (AskID, [UInt8])? {
    guard let (id, ask, child) = running, let status = child.endedStatus() else { return nil }
    running = nil
    let output = child.collectOutput()
    let isAwaited = waiting.contains { $0.id == id }
    waiting.removeAll { $0.id == id }
    defer { if !ask.question.isVeto { countDown() } }
    try startNext()
    // One that was killed answers nothing.
    guard isAwaited else { return nil }
    let (value, complaint) = DelegateText.answer(ask.question, status: status, output: output)
    if let complaint { Output.error("navctl: question \(ask.number): \(complaint)") }
    return value.map { (id, $0) }
  }

  /// Ends the command that is running.
  func stop() { running?.child.kill(SIGKILL) }

  /// A question is over: nothing is to be answered any more.
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

  private func write(_ text: String, _ json: [UInt8]) throws {
    if invocation.isJSON { try Output.line(json) } else { try Output.line(text) }
  }
}
