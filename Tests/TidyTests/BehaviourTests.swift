import Testing

/// What the articles on UIKit say, each with the rule and the rows that show what navd does.
struct Behaviour {
  /// How navd has it.
  enum Verdict: String, CaseIterable {
    case same, form, choice, client
  }

  static let path = "Tests/Conformance/behaviours.data"

  var number: Int
  var verdict: Verdict
  var section: String
  var rows: [String]

  /// Reads a line; nil unless it has five fields of the right form.
  init?(line: String) {
    let fields = line.split(separator: "|").map { $0.trimmingPrefix(" ") }
    guard fields.count == 5, let number = Int(fields[0].dropLast()),
      let verdict = Verdict(rawValue: String(fields[1].dropLast())),
      fields[4].hasSuffix(".")
    else { return nil }
    self.number = number
    self.verdict = verdict
    section = String(fields[2].dropLast())
    rows = fields[3].split(separator: " ").map(String.init).filter { $0 != "-" }
  }

  /// The rules of each section of rules.md, each as one line; a rule is an entry of its list.
  static func sections(of rules: [String]) -> [String: [String]] {
    var sections: [String: [String]] = [:]
    var heading = ""
    for line in rules {
      if line.hasPrefix("## ") {
        heading = String(line.dropFirst(3))
      } else if line.hasPrefix("  "), let rule = sections[heading]?.popLast() {
        sections[heading]?.append(rule + line.dropFirst())
      } else {
        sections[heading, default: []].append(line)
      }
    }
    return sections
  }
}

@Suite struct BehaviourTests {
  @Test func `every behaviour of the articles has a rule and rows, and departures say so`() throws {
    let lines = Vocabulary.lines(of: Behaviour.path).filter { !$0.hasPrefix("#") && !$0.isEmpty }
    let behaviours = try lines.map { try #require(Behaviour(line: $0), "\($0)") }
    #expect(behaviours.map(\.number) == Array(1...110))
    let sections = Behaviour.sections(of: Vocabulary.lines(of: Vocabulary.rules))
    // A rule that leaves an article names it.
    let departure = ", against `"
    let ids = Set(Vocabulary.lines(of: "Tests/Conformance/ids.txt"))
    for behaviour in behaviours where behaviour.section != "-" {
      let rules = try #require(sections[behaviour.section], "\(behaviour)")
      #expect(Set(behaviour.rows).isSubset(of: ids), "\(behaviour)")
      let named = rules.filter { rule in behaviour.rows.contains { rule.contains($0) } }
      #expect(!named.isEmpty, "no rule of its section names a row of \(behaviour)")
      guard behaviour.verdict == .choice else { continue }
      #expect(named.contains { $0.contains(departure) }, "no article is named beside \(behaviour)")
    }
    let departures = sections.values.joined().count { $0.contains(departure) }
    #expect(behaviours.count { $0.verdict == .choice } == departures)
    #expect(behaviours.filter { $0.section == "-" }.map(\.verdict) == [.client])
  }

  @Test(arguments: ["1 | same | A | C-001", "x | same | A | C-001 | B.", "1 | odd | A | - | B."])
  func `a line of another form is no behaviour`(line: String) {
    #expect(Behaviour(line: line) == nil)
    #expect(Behaviour(line: "1 | same | A | C-001 C-002 | B.")?.rows == ["C-001", "C-002"])
  }
}
