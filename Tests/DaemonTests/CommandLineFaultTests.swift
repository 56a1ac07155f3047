@testable import CommandLineOptions
import Testing

/// What a command line that does not fit is told.
@Suite struct CommandLineFaultTests {
  private let grammar = CommandLineGrammar(
    program: "tool push", summary: "Push.",
    options: [
      OptionDeclaration("title", argument: "TEXT", "Title"),
      OptionDeclaration("still", "Still"), OptionDeclaration("stack", argument: "IDS", "Stack"),
      OptionDeclaration(
        "output", short: "o", argument: "FORMAT", "Form", choices: ["text", "json"]),
      OptionDeclaration("quiet", short: "q", "Quiet"),
    ], arguments: PositionalArguments("NAV [SCREEN]", count: 1...2))

  @Test(arguments: [
    (["a", "--tittle", "x"], "there is no option '--tittle'; is it '--title'?"),
    (["a", "--json"], "there is no option '--json'; is it '--output json'?"),
    (["a", "-x"], "there is no option '-x'"), (["a", "-qx"], "there is no option '-x'"),
    (["a", "--st"], "'--st' is the beginning of several options"),
    (["a", "--title"], "--title needs a value"), (["a", "-o"], "--output needs a value"),
    (["a", "--still=yes"], "--still takes no value"),
    (["a", "--still=\u{301}"], "--still takes no value"),
    (["a", "-\u{301}"], "there is no option '-\u{301}'"),
    ([], "too few arguments: it needs NAV [SCREEN]"),
    (["a", "b", "c"], "too many arguments: 'c' comes after NAV [SCREEN]"),
  ])
  func `the fault is named`(words: [String], text: String) {
    #expect(grammar.fault(in: words)?.text == text)
  }

  @Test(arguments: [
    ["a"], ["a", "b"], ["a", "--title", "--still"], ["--ti=x", "a"], ["a", "-ojson"],
    ["a", "-qo", "json"], ["a", "--", "--nothing"], ["--nothing-after", "--help"].reversed(),
    ["-?"], ["a", "-"], ["a", "--output=json"], ["a", "--sti"], ["a", "--title=\u{301}x"],
    ["a", "-o\u{301}"], ["a", "--title=\u{FE0F}"], ["a", "--ti=\u{200D}="],
  ])
  func `what fits has no fault`(words: [String]) {
    #expect(grammar.fault(in: words) == nil)
  }

  @Test func `where no help can be printed, a word that asks for it is a fault`() {
    for word in ["--help", "-?", "--usage"] {
      #expect(
        grammar.fault(in: ["a", word], takesHelp: false)?.text == "'\(word)' cannot stand here")
    }
    #expect(grammar.fault(in: ["a", "--HANG"]) != nil)
  }

  @Test func `before a command only its program's options count`() {
    func fault(_ words: [String]) -> String? {
      do throws(CommandLineFault) {
        _ = try grammar.scan(words, leadingOnly: true)
        return nil
      } catch {
        return error.text
      }
    }
    #expect(fault(["-o", "json", "push", "--nothing"]) == nil)
    #expect(fault(["--nothing", "push"]) == "there is no option '--nothing'")
    #expect(fault(["-o"]) == "--output needs a value")
  }
}
