import CommandLineOptions
@testable import navctl
import NavigationClient
import NavigationCore
import Testing

/// The files of `navctl apply`.
@Suite struct PlanTests {
  private func message(_ text: String) -> String? {
    do {
      _ = try OperationPlan(text, name: "p")
      return nil
    } catch {
      return error.message
    }
  }

  @Test func `lines are operations or commands, in their order, with their numbers`() throws {
    let plan = try OperationPlan(
      "# first\n\n{\"pop\":{}}\r\n  push wifi --title 'The Wi-Fi'\n", name: "p")
    #expect(plan.steps.map(\.line) == [3, 4])
    guard case .operation(let pop) = plan.steps[0].step,
      case .command(let words) = plan.steps[1].step
    else {
      Issue.record("\(plan)")
      return
    }
    #expect(pop.kind == .pop && words == ["push", "wifi", "--title", "The Wi-Fi"])
    #expect(plan.conditions == nil)
  }

  @Test func `conditions stand in the first line, as options or as JSON`() throws {
    guard
      case .words(let words)? = try OperationPlan("if --top wifi --rev 3\npop\n", name: "p")
        .conditions
    else {
      Issue.record("no words")
      return
    }
    #expect(words == ["--top", "wifi", "--rev", "3"])
    let json =
      #"{"if":{"top":null,"rev":3,"stack":["a","b"],"has":["a"],"dig":"000000000000000000000000","any":true}}"#
    guard case .options(let options)? = try OperationPlan(json + "\npop\n", name: "p").conditions
    else {
      Issue.record("no options")
      return
    }
    let line = ParsedCommandLine(options: options)
    let guards = try GuardChoice(line).typed
    #expect(guards.top == .some(nil) && guards.revision == Revision(3) && guards.any)
    #expect(guards.stack == ["a", "b"] && guards.has == ["a"] && guards.digest != nil)
  }

  @Test(arguments: [
    ("", "p has no operation"), ("# nothing\n", "p has no operation"),
    ("pop\nif --top a\n", "p:2: if stands once, in the first line"),
    ("if --top a\nif --top b\npop", "p:2: if stands once, in the first line"),
    (#"{"if":{"top":"a"},"pop":{}}"#, "p:1: if stands alone in its line"),
    (#"{"if":{"colour":"a"}}"#, "p:1: if has no condition colour of this form"),
    (#"{"if":{}}"#, "p:1: if needs an object with a condition"),
    (#"{"if":[{"top":"a"}]}"#, "p:1: if needs an object with a condition"),
    (#"{"if":{"stack":["a",7]}}"#, "p:1: if has no condition stack of this form"),
    (#"{"if":{"has":[]}}"#, "p:1: if has no condition has of this form"),
    (#"{"if":{"rev":"a"}}"#, "p:1: if has no condition rev of this form"),
    ("pop\n{\"pop\":\n", "p:2: the line is not JSON"),
    ("pop 'x", "p:1: a quote is not closed: pop 'x"),
    (String(repeating: "pop\n", count: 17), "p:17: a plan has at most 16 operations"),
  ])
  func `what is wrong is named with its line`(text: String, found: String) {
    let message = message(text)
    #expect(message?.hasPrefix(found) == true, "\(message ?? "nothing is wrong")")
  }

  @Test(arguments: [
    ("a b", ["a", "b"]), ("  a\tb  ", ["a", "b"]), ("'a b' c", ["a b", "c"]),
    (#""a \"b\" \n" '\n'"#, [#"a "b" \n"#, #"\n"#]), (#"a\ b"#, ["a b"]), ("''", [""]),
    ("a # b", ["a"]), ("a#b", ["a#b"]), ("x'y'z", ["xyz"]), ("", []),
  ])
  func `a line is split as a shell splits it`(line: String, words: [String]) throws {
    #expect(try OperationPlan.words(of: line) == words)
  }
}
