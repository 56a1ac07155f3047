import CommandLineOptions
import Foundation
import Testing

@Suite struct CommandLineTests {
  static let daemon = CommandLineGrammar(
    program: "navd", summary: "Hold navigation stacks and share them.", epilogue: "See navd(8).",
    version: "navd 0.1.0",
    options: [
      OptionDeclaration("config", short: "c", argument: "FILE", "Read the configuration in FILE"),
      OptionDeclaration("check", "Check the configuration and exit"),
    ])

  static let control = CommandSet(
    program: CommandLineGrammar(
      program: "navctl", summary: "Talk to navd.", version: "navctl 0.1.0",
      options: [
        OptionDeclaration("endpoint", short: "e", argument: "ADDRESS", "Where navd listens"),
        OptionDeclaration("json", "Print JSON"),
      ]),
    commands: [
      CommandSet.Command(
        "push", "Push a screen", group: "Do",
        arguments: PositionalArguments("NAV SCREEN", count: 2...2),
        options: [OptionDeclaration("animated", short: "a", "Animate it")]),
      CommandSet.Command("list", "List the navs", group: "Do", example: "navctl list"),
    ])

  @Test func `options come back under their long names, in order`() {
    let line = Self.daemon.parse(["-c", "a", "--config=b", "--conf", "c", "--check"])
    #expect(
      line.options == [
        ParsedCommandLine.Occurrence("config", "a"), ParsedCommandLine.Occurrence("config", "b"),
        ParsedCommandLine.Occurrence("config", "c"), ParsedCommandLine.Occurrence("check"),
      ])
    #expect(line.value(of: "config") == "c")
    #expect(line.values(of: "config") == ["a", "b", "c"])
    #expect(line.contains("check"))
  }

  @Test func `the program's options may stand before and after the command`() {
    let (command, line) = Self.control.parse(["-e", "x", "push", "home", "-a", "detail", "--json"])
    #expect(command.name == "push")
    #expect(line.positionals == ["home", "detail"])
    #expect(line.options.map(\.name) == ["endpoint", "animated", "json"])
    #expect(
      Self.control.parse(["push", "--endpoint", "y", "a", "b"]).line.value(of: "endpoint") == "y")
  }

  @Test func `two dashes end the options`() {
    #expect(
      Self.control.parse(["push", "--", "-a", "--json"]).line.positionals == ["-a", "--json"])
  }

  @Test func `an unknown option exits with 2 and points at the help`() async {
    let result = await #expect(
      processExitsWith: .exitCode(2), observing: [\.standardErrorContent]
    ) {
      _ = CommandLineTests.daemon.parse(["--nonsense"])
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("navd: there is no option '--nonsense'"))
    #expect(text.contains("  try: navd --help\n"))
  }

  @Test func `arguments that are missing or too many exit with 2`() async {
    let few = await #expect(
      processExitsWith: .exitCode(2), observing: [\.standardErrorContent]
    ) {
      _ = CommandLineTests.control.parse(["push", "home"])
    }
    let text = String(decoding: few?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("navctl push: too few arguments: it needs NAV SCREEN"))
    await #expect(processExitsWith: .exitCode(2)) {
      _ = CommandLineTests.daemon.parse(["extra"])
    }
  }

  @Test func `a command that is missing or unknown exits with 2`() async {
    let unknown = await #expect(
      processExitsWith: .exitCode(2), observing: [\.standardErrorContent]
    ) {
      _ = CommandLineTests.control.parse(["pus"])
    }
    let text = String(decoding: unknown?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("navctl: there is no command 'pus'; is it 'push'?"))
    await #expect(processExitsWith: .exitCode(2)) { _ = CommandLineTests.control.parse([]) }
  }

  @Test func `the version goes to stdout and exits with 0`() async {
    let result = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardOutputContent]
    ) {
      _ = CommandLineTests.control.parse(["--version"])
    }
    let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(text.contains("navctl 0.1.0\n"))
  }

  @Test func `the help of a command shows its own options and the shared ones`() async {
    let result = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardOutputContent]
    ) {
      _ = CommandLineTests.control.parse(["help", "push"])
    }
    let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(text.contains("Usage: navctl push [OPTION...] NAV SCREEN\nPush a screen.\n"))
    #expect(text.contains("  -a, --animated             Animate it\n"))
    #expect(text.contains(" Options of every command:\n"))
    #expect(text.contains("  -e, --endpoint=ADDRESS     Where navd listens\n"))
  }

  @Test func `the help of the program lists its commands within 80 columns`() async {
    let result = await #expect(
      processExitsWith: .exitCode(0), observing: [\.standardOutputContent]
    ) {
      _ = CommandLineTests.control.parse(["help", "all"])
    }
    let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(
      text.contains("Do:\n  push  Push a screen\n  list  List the navs\n    navctl list\n"))
    #expect(text.split(separator: "\n").allSatisfy { $0.count < 80 })
  }
}
