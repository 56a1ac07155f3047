import CommandLineOptions
import NavigationCore
@testable import navctl
import Testing

/// What can stand at the end of a command line, by the tables of the help.
@Suite struct CompletionTests {
  private static let set = CommandSet(
    program: CommandLineGrammar(
      program: "navctl", summary: "",
      options: [
        OptionDeclaration("nav", short: "n", argument: "NAV", "The nav"),
        OptionDeclaration(
          "output", short: "o", argument: "FORMAT", "The form", choices: ["text", "json"]),
      ]),
    commands: [
      CommandSet.Command(
        "push", "Put a screen on top", arguments: PositionalArguments("NAV [SCREEN]", count: 0...2),
        options: [
          OptionDeclaration("if-absent", "No error"),
          OptionDeclaration("title", argument: "TEXT", "Title"),
        ]),
      CommandSet.Command(
        "pop", "Remove the top screen", arguments: PositionalArguments("NAV", count: 0...1)),
      CommandSet.Command(
        "stack", "Replace the stack", arguments: PositionalArguments("NAV [SCREEN...]")),
      CommandSet.Command(
        "set", "Set members",
        arguments: PositionalArguments(
          "NAV OBJECT [ID] [KEY=VALUE...]", choices: ["OBJECT": ["screen", "bar", "settings"]])),
      CommandSet.Command(
        "lease", "Hold the display",
        arguments: PositionalArguments("NAV take|release [FILE|DIR]", count: 0...3)),
    ])

  @Test(
    arguments: [
      ("", ["push", "pop", "stack", "set", "lease", "help"], []),
      ("p", ["push", "pop"], []), ("x", [], []), ("help p", ["push", "pop"], []),
      ("help pop ", [], []),
      ("-o json p", ["push", "pop"], []), ("--output=json p", ["push", "pop"], []),
      ("-", ["--nav", "--output", "--help"], []), ("--o", ["--output"], []),
      ("-o ", ["text", "json"], []), ("-o j", ["json"], []), ("--out t", ["text"], []),
      ("--output=j", ["json"], []), ("--nav ", [], ["NAV"]), ("--nav=ki", [], ["NAV"]),
      ("push ", [], ["NAV"]), ("push kiosk w", [], ["SCREEN"]), ("push kiosk wifi ", [], []),
      ("push --i", ["--if-absent"], []),
      ("push kiosk --", ["--if-absent", "--title", "--nav", "--output", "--help"], []),
      ("push --title ", [], ["TEXT"]), ("push --title Home ", [], ["NAV"]),
      ("push --nav kiosk ", [], ["NAV", "SCREEN"]), ("push -nkiosk ", [], ["NAV", "SCREEN"]),
      ("push -- -", [], ["NAV"]), ("pop kiosk ", [], []),
      ("stack kiosk a b c ", [], ["SCREEN"]), ("set kiosk ", ["screen", "bar", "settings"], []),
      ("set kiosk s", ["screen", "settings"], []), ("set kiosk bar ", [], ["ID", "KEY"]),
      ("set kiosk bar h", [], ["ID", "KEY"]), ("set kiosk bar hidden=t", [], ["VALUE"]),
      ("set kiosk bar hidden=true t", [], ["KEY"]), ("lease kiosk r", ["release"], []),
      ("lease kiosk take ", [], ["FILE", "DIR"]), ("--nosuch p", ["push", "pop"], []),
      ("nosuch ", [], []),
    ] as [(String, [String], [String])])
  func `candidates come from the tables`(line: String, words: [String], placeholders: [String]) {
    let typed = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    let completion = Completion(typed, of: Self.set)
    #expect(completion.candidates.map(\.text) == words)
    #expect(completion.placeholders == placeholders)
  }

  @Test func `what stands before is known, and a value keeps its option`() {
    let completion = Completion(
      ["-n", "kiosk", "push", "--title=Home", "x", "--nav=a:b"], of: Self.set)
    #expect(
      completion.line.value(of: "nav") == "kiosk" && completion.line.value(of: "title") == "Home")
    #expect(completion.line.positionals == ["x"])
    #expect(completion.textBeforeCandidate == "--nav=" && completion.prefix == "a:b")
    #expect(
      Completion(["push", ""], of: Self.set, hasNav: true).placeholders == ["NAV", "SCREEN"])
    let value = Completion(["set", "kiosk", "bar", "hidden=t"], of: Self.set)
    #expect(value.command == "set" && value.textBeforeCandidate == "hidden=" && value.prefix == "t")
  }

  @Test(
    arguments: [
      ("psuh", "push"), ("pusj", "push"), ("pus", "push"), ("pushh", "push"), ("puhs", "push"),
      ("PUSH", "push"), ("se-t", "set"), ("lese", "lease"), ("pip", "pop"), ("p", "push' or 'pop"),
      ("ls", "list"), ("xyzzy", nil), ("", nil), ("-", nil),
    ] as [(String, String?)])
  func `a mistyped word gets the command that is most like it`(typed: String, meant: String?) {
    var set = Self.set
    set.foreignWords = ["ls": "list"]
    #expect(set.suggestion(for: typed) == (meant.map { "; is it '\($0)'?" } ?? ""))
  }

  @Test(arguments: [
    (["push", "kiosk"], ["push", "kiosk"]), (["--nav", "=", "ki"], ["--nav=ki"]),
    (["--nav", "="], ["--nav="]), (["push", "a", ":", "b"], ["push", "a:b"]),
    (["push", "a", ":", "b", ":", ""], ["push", "a:b:"]), (["push", ""], ["push", ""]),
    ([""], [""]),
  ])
  func `bash's parts become words again`(parts: [String], words: [String]) {
    #expect(Shell.bash.rejoined(parts) == words)
    #expect(Shell.zsh.rejoined(parts) == parts)
  }

  @Test func `a candidate is written as its shell replaces it`() {
    #expect(Completion(["--nav=\u{301}x"], of: Self.set).textBeforeCandidate == "--nav=")
    let completion = Completion(["--nav=till:"], of: Self.set)
    let word = Completion.Candidate(text: "till:3", summary: "of the\tfirst\nfloor")
    #expect(Shell.bash.candidateLine(word, behind: completion) == "3")
    #expect(Shell.zsh.candidateLine(word, behind: completion) == "--nav=till:3\tof thefirstfloor")
    #expect(Shell.fish.candidateLine(word, behind: completion) == "--nav=till:3\tof thefirstfloor")
    #expect(
      Shell.fish.candidateLine(.init(text: "a", summary: ""), behind: completion) == "--nav=a")
    for shell in Shell.allCases {
      #expect(shell.candidateLine(Shell.filesPlaceholder, behind: completion) == ":files")
    }
  }

  @Test func `names come from a state, with their titles`() throws {
    let state = try JSONValue(
      Array(
        #"""
        {"screens":[{"id":"home","item":{"title":"Home","leftItems":[{"id":"menu","title":"Menu"}]}},
          {"id":"wifi","toolbarItems":[{"id":"scan"}],"item":{"rightItems":[{"id":"add"}]}}],
         "presented":{"chain":[{"screen":{"id":"alert"}}]},
         "settings":{"routes":[{"match":"settings/:page","screens":["home"]}]}}
        """#.utf8))
    func names(_ placeholder: String) throws -> [Completion.Candidate] {
      try #require(CompletionCommand.daemonPlaceholders.contains(placeholder))
      return CompletionCommand.names(placeholder, in: state)
    }
    #expect(try names("ID").map(\.text) == ["home", "wifi", "alert"])
    #expect(try names("SCREEN").first == .init(text: "home", summary: "Home"))
    #expect(try names("BUTTON").map(\.text) == ["menu", "add", "scan"])
    #expect(try names("ROUTE").map(\.text) == ["settings/:page"])
    #expect(try names("NAV").isEmpty)
    #expect(!CompletionCommand.daemonPlaceholders.contains("TEXT"))
  }
}
