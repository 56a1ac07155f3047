import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

/// navctl: its commands, its options, and the entry that runs one command line.
enum Program {
  /// The version number, without the name of the program.
  static let number = "0.1.0"
  static let version = "navctl \(number) (NSP/1)"

  static let commands: [Entry] =
    [
      ShowCommand.self, UICommand.self, InspectCommand.self, HistoryCommand.self,
      WatchCommand.self, WaitCommand.self, GetCommand.self, LogCommand.self, TraceCommand.self,
      WhyCommand.self, DiffCommand.self, RecordCommand.self, PlayCommand.self, ListCommand.self,
      VerifyCommand.self, ExplainCommand.self, StatusCommand.self, TopCommand.self,
      DoctorCommand.self, DumpCommand.self, ConfigCommand.self, ReloadCommand.self,
    ].map(Entry.init) + ChangeCommands.navs + ChangeCommands.stack
    + [OpenCommand.self, RoutesCommand.self, SaveCommand.self].map(Entry.init)
    + ChangeCommands.restoration + ChangeCommands.presentations
    + [Entry(SetCommand.self)] + ChangeCommands.records
    + [Entry(BackCommand.self)] + ChangeCommands.touch
    + [
      GestureCommand.self, TransitionCommand.self, LeaseCommand.self, DelegateCommand.self,
      KeyCommand.self, BackupCommand.self, ClusterCommand.self, EngineTestCommand.self,
      CompletionCommand.self, SchemaCommand.self, OpCommand.self, ApplyCommand.self,
    ].map(Entry.init)

  static let grammar: CommandSet = {
    var set = CommandSet(program: program, commands: commands.map(\.declaration), foreign: foreign)
    // Options of other programs.
    let any = "--any, which needs no look before"
    let watch = "navctl watch NAV, which follows a nav"
    set.program.foreign = [
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
      seeAlso: [
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

  /// Words of shells, of UIKit and of other navigation libraries.
  private static let foreign = [
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

  /// Runs one command line; returns the exit status.
  static func run(_ arguments: [String]) -> Int32 {
    let (command, line) = grammar.parse(arguments)
    guard let entry = commands.first(where: { $0.declaration.name == command.name }) else {
      preconditionFailure("no implementation of the command \(command.name)")
    }
    do {
      try entry.run(try Invocation(command: command, line: line))
      return 0
    } catch let ended as ExitStatus {
      return ended.status
    } catch {
      return Failure.report(error, command: command.name, words: line.positionals)
    }
  }
}

/// The headings under which the help lists the commands.
enum Subject {
  static let look = "Look"
  static let daemon = "The daemon"
  static let navs = "Navs"
  static let stack = "The stack"
  static let presentation = "Presentations"
  static let content = "Members"
  static let touch = "Touch and transitions"
  static let roles = "Roles"
  static let administration = "Administration"
  static let anything = "Anything"
}

extension CommandSet.Command {
  /// Declares a command of navctl; its help ends with an example.
  init(
    _ name: String, _ summary: String, _ group: String, _ arguments: PositionalArguments = .none,
    options: [OptionDeclaration] = [], note: String = "", example: String
  ) {
    self.init(
      name, summary, group: group, arguments: arguments, options: options,
      epilogue: (note.isEmpty ? "" : note + "\n\n") + "Example: navctl \(example)")
  }
}

/// One command of navctl.
protocol Command: Sendable {
  static var declaration: CommandSet.Command { get }

  /// Runs the command; throws `ExitStatus` where that is not 0 and nothing more is to be printed.
  static func run(_ invocation: Invocation) throws
}

/// A command as a value.
struct Entry: Sendable {
  var declaration: CommandSet.Command
  var run: @Sendable (Invocation) throws -> Void

  init(_ command: any Command.Type) { (declaration, run) = (command.declaration, command.run) }

  init(_ declaration: CommandSet.Command, run: @escaping @Sendable (Invocation) throws -> Void) {
    (self.declaration, self.run) = (declaration, run)
  }
}
