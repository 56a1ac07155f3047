import CommandLineOptions
import NavigationClient
import NavigationCore

enum ApplyCommand {
  static let command = Command(
    "apply", "Perform a plan: the operations of a file, all or none", HelpGroup.anything,
    .init("NAV FILE"),
    options: [LeaseCommand.option] + Change.options,
    note: """
      Each line of FILE is a command of navctl without the nav, such as push wifi --title Wi-Fi, or
      an operation in JSON, such as {"pop":{}}. The first line can have the conditions: if --top
      home, or {"if":{"top":"home"}}. Lines that begin with # are comments. - stands for stdin. All
      operations make one revision, or none of them is performed; so a plan has at most 16.
      """, example: "apply kiosk plan.txt", run: run)

  static func run(_ invocation: Invocation) throws {
    let arguments = try invocation.navArguments()
    let file = arguments.rest[0]
    let name = file == "-" ? "stdin" : file
    let text = try InputLines.text(of: file, remedy: "navctl apply NAV FILE, or - for stdin")
    let plan = try OperationPlan(text, name: name)
    var operations: [NavigationOperation] = []
    var line = invocation.line
    switch plan.conditions {
    case .options(let options)?: try add(options, to: &line, from: name)
    case .words(let words)?:
      let conditions = CommandLineGrammar(program: "if", summary: "", options: Change.conditions)
      try add(parse(words, conditions, at: name).options, to: &line, from: name)
    case nil: break
    }
    for (number, step) in plan.steps {
      switch step {
      case .operation(let operation): operations.append(operation)
      case .command(let words):
        operations += try Self.operations(of: words, at: "\(name):\(number)", on: arguments.nav)
      }
    }
    try require(
      operations.count <= OperationPlan.maximumOperations,
      "\(name) has \(operations.count) operations; one message holds at most "
        + "\(OperationPlan.maximumOperations)", remedy: "several plans, each guarded by --rev")
    try Change.perform(
      try Invocation(command: invocation.command, line: line), nav: arguments.nav, operations)
  }

  /// Adds the conditions of the plan to the command line, which must have none.
  private static func add(
    _ options: [ParsedCommandLine.Occurrence], to line: inout ParsedCommandLine, from file: String
  ) throws {
    try require(
      !GuardChoice(line).hasTypedGuards, "\(file) has conditions, and so has the command line",
      remedy: "the conditions in one of the two places")
    line.options += options
  }

  private static func operations(
    of words: [String], at location: String, on nav: String
  ) throws -> [NavigationOperation] {
    let set = Program.grammar
    let entry = try require(
      Program.commands.first { $0.declaration.name == words[0] },
      "\(location): there is no command '\(TerminalText.visible(words[0]))'"
        + set.suggestion(for: words[0]), remedy: "navctl --help")
    let command = entry.declaration
    let makeOperations = try require(
      entry.makeOperations, "\(location): \(command.name) cannot be a part of a plan",
      remedy: "run it by itself")
    var line = try parse(Array(words.dropFirst()), set.grammar(of: command), at: location)
    let own = ["animated", "still", "on-busy", "queue", "dry-run", "lease"]
    if let option = (own + set.program.options.map(\.name)).first(where: line.contains) {
      throw UsageError(
        "\(location): --\(option) is about the whole plan",
        remedy: "navctl apply --\(option) NAV FILE"
      )
    }
    // Those of push and show are of the operation; others belong to the command by itself.
    let lone = command.name == "create" ? ["if-absent"] : ["expect", "within", "menu"]
    if let option = lone.first(where: line.contains) {
      throw UsageError(
        "\(location): --\(option) has no effect in a plan", remedy: "\(command.name) by itself")
    }
    try require(
      !GuardChoice(line).hasTypedGuards, "\(location): conditions are about the whole plan",
      remedy: "a first line such as: if --top home")
    line.options.append(.init("nav", nav))
    do {
      let wanted = try require(
        makeOperations(Invocation(command: command, line: line)), "this line changes nothing",
        remedy: "navctl help \(command.name)")
      try require(
        wanted.nav == nav, "this line is about \(wanted.nav), and the plan about \(nav)",
        remedy: "run it by itself")
      return wanted.operations
    } catch let error as UsageError {
      throw UsageError("\(location): \(error.message)", remedy: error.remedy)
    }
  }

  /// Reads the options and arguments of a line; a fault names the line.
  private static func parse(
    _ words: [String], _ grammar: CommandLineGrammar, at location: String
  ) throws -> ParsedCommandLine {
    if let fault = grammar.fault(in: words, takesHelp: false) {
      throw UsageError("\(location): \(grammar.program): \(fault.text)", remedy: fault.remedy)
    }
    return grammar.parse(words)
  }
}
