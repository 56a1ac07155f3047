import CommandLineOptions
import Testing

/// Words that are easily taken for another kind of word, and the texts of the help.
@Suite struct CommandLineEdgeTests {
  static let key = "-a{Lns47E1%kR.o@n%FcmmsL/@{H8]yf7=0Kjkw2"

  static let grammar = CommandLineGrammar(
    program: "tool", summary: "Do it.",
    options: [
      OptionDeclaration("role", short: "r", argument: "ROLE", "Give the role ROLE"),
      OptionDeclaration("verbose", short: "v", "Say more"),
      OptionDeclaration("version-of", argument: "X", "Which"),
      OptionDeclaration("a-long-option-name-of-the-length-of-keys", "Long"),
    ],
    arguments: PositionalArguments("[WORD...]", count: 0...Int.max, dashedArgumentLength: 40))

  static let tools = CommandSet(
    program: CommandLineGrammar(
      program: "tool", summary: "Do it.", version: "tool 1",
      options: [
        OptionDeclaration("nav", short: "n", argument: "NAV", "The nav"),
        OptionDeclaration("json", short: "j", "Print JSON"),
      ]),
    commands: [
      CommandSet.Command(
        "new", "Make one", group: "Make", arguments: PositionalArguments("NAME", count: 1...1),
        options: [
          OptionDeclaration("name", short: "n", argument: "NAME", "Its name"),
          OptionDeclaration("json", "Write JSON"),
        ], epilogue: "One line\nof a paragraph.\n\nAnother\none."),
      CommandSet.Command("newer", "Make a newer one", group: "Make"),
      CommandSet.Command("drop", "Remove one", group: "Remove"),
    ])

  private func output(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
  }

  @Test func `values stand behind a letter, a space or an equals sign, and may be empty`() {
    let line = Self.grammar.parse(["-radmin", "-r", "ui", "--role=", "--role", "-v", "-vr", "x"])
    #expect(line.values(of: "role") == ["admin", "ui", "", "-v", "x"])
    #expect(line.options.filter { $0.name == "verbose" }.count == 1)
    #expect(line.value(of: "role") == "x" && line.value(of: "verbose") == nil)
    #expect(line.values(of: "verbose") == [] && !line.contains("nonsense"))
  }

  @Test func `a key that begins with a dash is an argument wherever it stands`() {
    #expect(Self.key.count == 40)
    let line = Self.grammar.parse([Self.key, "-v", "--", Self.key, "-v"])
    #expect(line.positionals == [Self.key, Self.key, "-v"])
    #expect(line.options == [ParsedCommandLine.Occurrence("verbose")])
  }

  @Test func `a word of the length of a key is an option only by the whole name of one`() {
    let long = "--a-long-option-name-of-the-length-of-keys"
    #expect(Self.grammar.parse([long]).contains("a-long-option-name-of-the-length-of-keys"))
    let valued = "--role=" + String(repeating: "x", count: 33)
    #expect(valued.count == 40)
    #expect(Self.grammar.parse([valued]).value(of: "role")?.count == 33)
    // An abbreviation is an option at any other length, and an argument at this one.
    let short = "--rol=" + String(repeating: "x", count: 34)
    #expect(Self.grammar.parse([short]).positionals == [short])
    #expect(Self.grammar.parse([short + "x"]).value(of: "role")?.count == 35)
  }

  @Test func `arguments keep their order among options, and their octets`() {
    let words = ["a", "长", "", "e\u{301}", "-", "x=y", "\u{1B}[2J", " "]
    let line = Self.grammar.parse(words.flatMap { [$0, "-v"] })
    #expect(line.positionals == words)
    #expect(line.options.count == words.count)
  }

  @Test func `leading options end at the first argument, whose rest stays as it is`() {
    let (line, rest) = Self.grammar.parse(
      ["-v", "--role", "new", "go", "-v", "--", "--odd"], leadingOnly: true)
    #expect(line.options.map(\.name) == ["verbose", "role"])
    #expect(rest == ["go", "-v", "--", "--odd"])
    #expect(Self.grammar.parse([], leadingOnly: true).rest == [])
    #expect(Self.grammar.parse(["-v"], leadingOnly: true).rest == [])
  }

  @Test func `a letter of the command takes the place of the program's`() {
    let (_, line) = Self.tools.parse(["-n", "outer", "new", "-n", "inner", "x", "--nav", "other"])
    #expect(line.values(of: "nav") == ["outer", "other"])
    #expect(line.value(of: "name") == "inner")
  }

  @Test func `an option that a command declares itself stands once in its grammar`() {
    let grammar = Self.tools.grammar(of: Self.tools.commands[0])
    #expect(grammar.options.map(\.name) == ["name", "json", "nav"])
    #expect(grammar.options.map(\.short) == ["n", nil, nil])
    #expect(grammar.options.map(\.group) == [nil, nil, "Options of every command:"])
    #expect(grammar.program == "tool new" && grammar.summary() == "Make one.")
    #expect(grammar.version == nil)
    #expect(grammar.epilogue() == "One line of a paragraph.\n\nAnother one.")
  }

  @Test func `the notes of a command are made for its help alone`() {
    @Sendable func note() -> String {
      Issue.record("made for a command line")
      return ""
    }
    let tools = CommandSet(
      program: Self.tools.program, commands: [CommandSet.Command("new", "Make", epilogue: note())])
    #expect(tools.parse(["new"]).command.name == "new")
  }

  @Test func `commands stand under their headings, in their order`() {
    #expect(
      Self.tools.outerGrammar.summary() == """
        Do it.

        Make:
          new    Make one
          newer  Make a newer one

        Remove:
          drop   Remove one

        """)
    #expect(Self.tools.outerGrammar.arguments.count == 0...Int.max)
  }

  @Test func `a value that is missing and an ambiguous abbreviation exit with 2`() async {
    await #expect(processExitsWith: .exitCode(2)) {
      _ = CommandLineEdgeTests.grammar.parse(["--role"])
    }
    let result = await #expect(
      processExitsWith: .exitCode(2), observing: [\.standardErrorContent]
    ) {
      _ = CommandLineEdgeTests.grammar.parse(["--ver=x"])
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("--ver") && text.contains("beginning of several options"))
  }

  @Test func `a word that begins two commands suggests both`() async {
    let result = await #expect(
      processExitsWith: .exitCode(2), observing: [\.standardErrorContent]
    ) {
      _ = CommandLineEdgeTests.tools.parse(["ne"])
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("tool: there is no command 'ne'; is it 'new' or 'newer'?\n"))
    #expect(text.contains("  try: tool --help\n"))
  }

  @Test func `help all is the help of the program, help alone the names by task`() async {
    let result = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardOutputContent]
    ) {
      _ = CommandLineEdgeTests.tools.parse(["help", "all"])
    }
    let names = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardOutputContent]
    ) {
      _ = CommandLineEdgeTests.tools.parse(["help"])
    }
    #expect(output(names).contains("Usage: tool [OPTION...] COMMAND [ARGUMENT...]\nDo it.\n"))
    #expect(output(names).contains(" newer") && !output(names).contains("Make a newer one"))
    #expect(output(result).contains("Usage: tool [OPTION...] COMMAND [ARGUMENT...]\nDo it.\n"))
    #expect(output(result).contains("  newer  Make a newer one\n"))
  }
}
