/// The commands of a program such as navctl, and the options of the program itself.
///
/// The first argument that is neither an option nor the value of one names the command. Options of
/// the program can stand before or after it.
package struct CommandSet: Sendable {
  /// One command of the program, as its help and the parser know it.
  package struct Command: Sendable {
    package var name: String
    package var summary: String
    /// Makes the notes for the help of the command.
    package var epilogue: @Sendable () -> String
    /// An example command line; empty if there is none.
    package var example: String
    /// The options that only this command has.
    package var options: [OptionDeclaration]
    package var arguments: PositionalArguments
    /// The heading in the list of commands.
    package var group: String

    package init(
      _ name: String, _ summary: String, group: String = "",
      arguments: PositionalArguments = .none, options: [OptionDeclaration] = [],
      epilogue: @escaping @autoclosure @Sendable () -> String = "", example: String = ""
    ) {
      self.name = name
      self.summary = summary
      self.group = group
      self.epilogue = epilogue
      self.example = example
      self.options = options
      self.arguments = arguments
    }
  }

  /// The program, with the options that all commands share.
  package var program: CommandLineGrammar
  /// The commands, in the order the help lists them.
  package var commands: [Command]
  /// For commands of other programs, such as `ls`: the command to suggest, or a line to type.
  package var foreignWords: [String: String]

  package init(
    program: CommandLineGrammar, commands: [Command], foreignWords: [String: String] = [:]
  ) {
    self.program = program
    self.commands = commands
    self.foreignWords = foreignWords
  }

  /// The grammar of one command: its own options and those of the program.
  package func grammar(of command: Command) -> CommandLineGrammar {
    let own = Set(command.options.map(\.name))
    let shorts = Set(command.options.compactMap(\.short))
    var shared = program.options.filter { !own.contains($0.name) }
    for index in shared.indices {
      shared[index].group = "Options of every command:"
      // If a command uses the letter of a program option, the letter means the command's option.
      if let short = shared[index].short, shorts.contains(short) { shared[index].short = nil }
    }
    var grammar = CommandLineGrammar(
      program: "\(program.program) \(command.name)", summary: command.summary + ".",
      epilogue: Self.helpText(command), version: nil, options: command.options + shared,
      arguments: command.arguments)
    // Only those that stand for something that the command has.
    grammar.foreignOptions = program.foreignOptions.mapValues { words in
      words.filter { word in
        !word.hasPrefix("--") || grammar.options.contains { word.hasPrefix("--\($0.name)") }
      }
    }
    return grammar
  }

  /// The notes and the example, each paragraph as one line, which argp breaks at the terminal's width.
  private static func helpText(_ command: Command) -> String {
    var paragraphs: [String] = [""]
    for line in command.epilogue().split(separator: "\n", omittingEmptySubsequences: false) {
      let last = paragraphs[paragraphs.count - 1]
      if line.isEmpty {
        paragraphs.append("")
      } else {
        paragraphs[paragraphs.count - 1] = last.isEmpty ? String(line) : "\(last) \(line)"
      }
    }
    if !command.example.isEmpty { paragraphs.append("Example: \(command.example)") }
    return paragraphs.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  /// The grammar of the words up to the command.
  package var outerGrammar: CommandLineGrammar {
    var outer = program
    outer.summary = { [self] in ([program.summary(), ""] + commandList).joined(separator: "\n") }
    outer.arguments = PositionalArguments("COMMAND [ARGUMENT...]", count: 0...Int.max)
    return outer
  }

  /// The first help: the names of the commands by task, and where to read on, in one screen.
  package var overview: [String] {
    let headings = groups.map { "\($0):" }
    let width = (headings.map(\.count).max() ?? 0) + 2
    var lines = [
      "Usage: \(program.program) [OPTION...] COMMAND [ARGUMENT...]", program.summary(), "",
    ]
    for (group, heading) in zip(groups, headings) {
      var line = heading + String(repeating: " ", count: width - 1 - heading.count)
      for command in commands where command.group == group {
        if line.count + 1 + command.name.count > Self.overviewWidth {
          lines.append(line)
          line = String(repeating: " ", count: width - 1)
        }
        line += " " + command.name
      }
      lines.append(line)
    }
    return lines + [""] + program.seeAlsoLines
  }

  private static let overviewWidth = 79

  private var groups: [String] {
    var groups: [String] = []
    for command in commands where !groups.contains(command.group) { groups.append(command.group) }
    return groups
  }

  /// The list of commands under their headings, each with its example.
  private var commandList: [String] {
    let width = (commands.map(\.name.count).max() ?? 0) + 2
    return groups.flatMap { group in
      ["\(group):"]
        + commands.filter { $0.group == group }.flatMap { command in
          let gap = String(repeating: " ", count: width - command.name.count)
          return ["  \(command.name)\(gap)\(command.summary)"]
            + (command.example.isEmpty ? [] : ["    \(command.example)"])
        } + [""]
    }
  }

  /// Parses a command line; for help, version and errors it prints and exits as GNU programs do.
  ///
  /// `help COMMAND` is equivalent to `COMMAND --help`. `--help` prints the overview, and `help all`
  /// the whole list. Without a command, or with an unknown one, it prints an error to stderr and exits
  /// with status 2. The program's options come first in the parsed line.
  package func parse(_ arguments: [String]) -> (command: Command, line: ParsedCommandLine) {
    if arguments.count == 1, ["--help", "-?", "help"].contains(arguments[0]) {
      CommandLineGrammar.printAndExit(overview)
    }
    let outer = outerGrammar
    var (line, rest) = outer.parse(arguments, leadingOnly: true)
    if rest.first == "help", !commands.contains(where: { $0.name == "help" }) {
      rest = rest.count > 1 && rest[1] != "all" ? [rest[1], "--help"] : []
      if rest.isEmpty { _ = outer.parse(["--help"]) }
    }
    guard let name = rest.first else { outer.refuse("a command is missing") }
    guard let command = commands.first(where: { $0.name == name }) else {
      let text = "there is no command '\(name)'"
      if let line = foreignWords[name], !commands.contains(where: { $0.name == line }) {
        outer.refuse(CommandLineFault(text: text, remedy: line))
      }
      // Some programs have the object first.
      guard rest.count > 1, commands.contains(where: { $0.name == rest[1] }) else {
        outer.refuse(text + suggestion(for: name))
      }
      outer.refuse(
        CommandLineFault(
          text: text + suggestion(for: name),
          remedy: "\(program.program) \(rest[1]) \(name), with the command first"))
    }
    let inner = grammar(of: command).parse(Array(rest.dropFirst()))
    line.options += inner.options
    line.positionals = inner.positionals
    return (command, line)
  }

  /// A question such as `; is it 'push'?` about an unknown command; empty if no command is similar.
  package func suggestion(for name: String) -> String {
    let near =
      foreignWords[name].map { [$0] } ?? Suggestion.words(like: name, among: commands.map(\.name))
    return near.isEmpty ? "" : "; is it '\(near.joined(separator: "' or '"))'?"
  }
}
