import CommandLineOptions
import NavctlSupport
import NavigationCore

/// `cheat`: prints an example of every command, from the tables that `--help` prints.
enum CheatCommand: Command {
  static let declaration = CommandSet.Command(
    "cheat", "Print an example of every command, or of some", group: Subject.administration,
    arguments: PositionalArguments("[COMMAND...]", count: 0...Int.max),
    epilogue: """
      The examples are those of help COMMAND. With a COMMAND, only its example is printed.

      Example: navctl cheat push pop
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let names = invocation.line.positionals
    let commands = Program.grammar.commands
    if let unknown = names.first(where: { name in !commands.contains { $0.name == name } }) {
      throw UsageError(
        "there is no command '\(unknown)'" + Program.grammar.suggestion(for: unknown),
        remedy: "navctl cheat")
    }
    let shown = commands.filter { names.isEmpty || names.contains($0.name) }
    if invocation.isJSON {
      let examples = shown.map { command in
        OpaqueJSON.object([
          "command": .string(command.name), "summary": .string(command.summary),
          "example": .string(Program.grammar.example(of: command)),
        ])
      }
      try Output.record(Record(.examples, ["examples": .array(examples)]))
      return 0
    }
    for (index, command) in shown.enumerated() {
      if index > 0 { try Output.line("") }
      try Output.line("# \(command.summary)")
      try Output.line(Program.grammar.example(of: command))
    }
    return 0
  }
}
