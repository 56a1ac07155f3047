import CommandLineOptions
import NavigationClient
import NavigationCore

enum Program {
  static let versionNumber = "0.1.0"
  static let version = "navctl \(versionNumber) (NSP/1)"

  static let commands: [Command] = [
    [
      .show, UICommand.command, .inspectInBrowser, .history, WatchCommand.command,
      WaitCommand.command, .getValue, .log, TraceCommand.command, .why, .compareRevisions,
      RecordCommand.command, PlayCommand.command, .listNavs, .verify, .explain, .status,
      TopCommand.command, .doctor, .dump, .config, .reload,
    ], ChangeCommands.navCommands, ChangeCommands.stackCommands,
    [.openRoute, RoutesCommand.command, .saveStack], ChangeCommands.restoreCommands,
    ChangeCommands.presentationCommands, [.setMembers], ChangeCommands.screenAndButtonCommands,
    [.back], ChangeCommands.tapAndSwipeCommands,
    [
      .gesture, .transition, LeaseCommand.command, DelegateCommand.command, KeyCommand.command,
      .backup, .cluster, .checkDatabaseServer, CompletionCommand.command, .schema, .op,
      ApplyCommand.command,
    ],
  ].flatMap { (commands: [Command]) in commands }

  static let grammar: CommandSet = {
    var set = CommandSet(
      program: program, commands: commands.map(\.declaration), foreignWords: foreignCommands)
    // Options of other programs.
    let any = "--any, which needs no look before"
    let watch = "navctl watch NAV, which follows a nav"
    set.program.foreignOptions = [
      "force": [any], "y": [any], "f": [any, watch], "follow": [watch], "j": ["-o json"],
      "json": ["-o json"], "v": ["navctl --version"], "tail": ["--limit N"],
      "lines": ["--limit N"], "h": ["--help"], "q": [">/dev/null"], "quiet": [">/dev/null"],
    ]
    return set
  }()

  private static let program =
    CommandLineGrammar(
      program: "navctl",
      summary: "Inspects and changes the navigation stacks that navd holds.",
      epilogue: """
        navctl help COMMAND describes a command. NAVD_NAV is the default of NAV. Exit status: \
        0 success, 1 refused, 2 usage, 3 changed since last seen, 4 busy or timeout, \
        5 not permitted, 6 not found, 7 no daemon, 8 fault of the daemon, 9 changed but not printed. \
        See navctl(1).
        """,
      seeAlsoLines: [
        "See also:  navctl help COMMAND   a command, its options, an example",
        "           navctl help all       each command with an example, exit statuses",
        "           navctl(1)             the manual",
      ],
      version: version,
      options: [
        .init("endpoint", short: "e", argument: "ADDRESS", "Address of navd; else NAVD_ENDPOINT"),
        .init(
          "server-key", argument: "KEY",
          "Public key of a navd at tcp://; else NAVD_SERVER_KEY"),
        .init("key", argument: "FILE", "Secret key file for tcp://; else NAVD_KEY"),
        .init("nav", short: "n", argument: "NAV", "The nav; else NAVD_NAV"),
        .init(
          "output", short: "o", argument: "FORMAT", "text, or json as navd sends it",
          choices: ["text", "json"]),
        .init("timeout", argument: "TIME", "Wait at most this long, such as 500ms; default 5s"),
        .init("ascii", "Text in ASCII; else where the locale is not UTF-8"),
        .init(
          "color", argument: "WHEN", "auto, always or never", choices: ["auto", "always", "never"]),
      ])

  /// Commands of other programs and methods of UIKit, each with the command of navctl to suggest.
  private static let foreignCommands = [
    "ls": "list", "rm": "remove", "cat": "show", "view": "show", "get-state": "show",
    "new": "create", "add": "push", "delete": "close", "destroy": "close", "navigate": "push",
    "go": "open", "link": "open", "popToViewController": "pop-to",
    "popToRootViewController": "pop-to-root", "pushViewController": "push",
    "popViewController": "pop", "setViewControllers": "stack", "tail": "watch", "follow": "watch",
    "who": "why", "blame": "why", "report": "dump", "ping": "status", "health": "doctor",
    "modal": "present", "undo": "revert", "export": "record", "replay": "play", "tui": "ui",
    "browse": "ui", "version": "navctl --version", "start": "systemctl start navd",
    "stop": "systemctl stop navd", "restart": "systemctl restart navd",
  ]

  static func run(_ arguments: [String]) -> Int32 {
    let (command, line) = grammar.parse(arguments)
    guard let own = commands.first(where: { $0.declaration.name == command.name }) else {
      preconditionFailure("no implementation of the command \(command.name)")
    }
    do {
      try own.run(try Invocation(command: command, line: line))
      return 0
    } catch let ended as ExitStatus {
      return ended.status
    } catch {
      return FailureReport.report(error, command: command.name, words: line.positionals)
    }
  }
}

/// The headings under which the help lists the commands.
enum HelpGroup {
  static let look = "Look"
  static let daemon = "The daemon"
  static let navs = "Navs"
  static let stack = "The stack"
  static let presentation = "Presentations"
  static let members = "Members"
  static let touching = "Touch and transitions"
  static let roles = "Roles"
  static let administration = "Administration"
  static let anything = "Anything"
}

/// One command of navctl: its row in the help, and what it does.
struct Command: Sendable {
  var declaration: CommandSet.Command
  /// Runs the command; throws `ExitStatus` to end navctl with a status and without a message.
  var run: @Sendable (Invocation) throws -> Void
  /// Makes the operations of a command line, also of a line of a plan; nil if the command has none.
  var makeOperations: (@Sendable (Invocation) throws -> Change.NavOperations?)?

  init(
    _ name: String, _ summary: String, _ group: String, _ arguments: PositionalArguments = .none,
    options: [OptionDeclaration] = [],
    note: @escaping @autoclosure @Sendable () -> String = "", example: String,
    run: @escaping @Sendable (Invocation) throws -> Void
  ) {
    declaration = CommandSet.Command(
      name, summary, group: group, arguments: arguments, options: options,
      epilogue: note(), example: "navctl \(example)")
    self.run = run
  }

  /// Makes a command that changes a nav; `otherwise` runs if `makeOperations` returns nil, and
  /// `afterChange` after the change.
  static func changing(
    _ name: String, _ summary: String, _ group: String, _ arguments: PositionalArguments,
    options: [OptionDeclaration], note: @escaping @autoclosure @Sendable () -> String = "",
    example: String,
    otherwise: @escaping @Sendable (Invocation) throws -> Void = { _ in },
    afterChange: @escaping @Sendable (Invocation) throws -> Void = { _ in },
    makeOperations: @escaping @Sendable (Invocation) throws -> Change.NavOperations?
  ) -> Command {
    var command = Command(
      name, summary, group, arguments, options: options, note: note(), example: example
    ) { invocation in
      guard let wanted = try makeOperations(invocation) else { return try otherwise(invocation) }
      try Change.perform(invocation, nav: wanted.nav, wanted.operations)
      try afterChange(invocation)
    }
    command.makeOperations = makeOperations
    return command
  }
}
