import Testing

/// The words of the protocol, as the sources have them and as its reference does.
enum Vocabulary {
  static let reference = "docs/protocol.md"
  static let rules = "docs/rules.md"
  private static let wire = "Sources/NavigationCore/Protocol/Wire/"
  private static let hub = "Sources/NavigationHub/"

  /// A sort of word: what the first column of its tables is headed by, and the words of the code.
  struct Kind: Sendable {
    let heading: String
    let words: Set<String>
  }

  static var kinds: [Kind] {
    [
      Kind(
        heading: "verb to the daemon",
        words: cases(of: "ClientVerb", in: wire + "ClientRequests.swift")),
      Kind(
        heading: "verb from the daemon",
        words: cases(of: "ServerVerb", in: wire + "ServerMessage.swift")),
      Kind(heading: "code", words: cases(of: "ErrorCode", in: wire + "ErrorCode.swift")),
      Kind(heading: "event", words: events),
      Kind(heading: "what", words: cases(of: "What", in: wire + "GetRequest.swift")),
      Kind(heading: "cause", words: cases(of: "Cause", in: wire + "WireValue.swift")),
      Kind(heading: "role", words: cases(of: "DelegateRole", in: wire + "Delegation.swift")),
    ]
  }

  /// Those of a revision, and those that have none.
  private static var events: Set<String> {
    let text = lines(of: hub + "Protocol/Wire/ServerMessageWriter.swift").joined(separator: "\n")
    let pattern = /\sevent\(nav, epoch, revision, "(\w+)"\)/
    let ephemeral = text.matches(of: pattern).map { String($0.1) }
    // What a person tries in vain is named where it is refused.
    let refusals = lines(of: hub + "Hub/Hub+Operations.swift").joined(separator: "\n")
    let vain = refusals.matches(of: /appendEvent\((?:\w+ \? "(\w+)" : )?"(\w+)"/)
    return cases(of: "NavigationEvent", in: hub + "Navigation/Commit.swift").union(ephemeral)
      .union(vain.flatMap { [$0.1, $0.2].compactMap(\.self).map(String.init) })
  }

  /// The words of an enumeration's cases: their raw values, else their names.
  static func cases(of name: String, in path: String) -> Set<String> {
    cases(of: name, in: lines(of: path))
  }

  static func cases(of name: String, in lines: [String]) -> Set<String> {
    guard let start = lines.firstIndex(where: { $0.contains("enum \(name):") }) else { return [] }
    let indent = lines[start].prefix { $0 == " " }
    // Deeper ones belong to what stands inside, and those of a switch begin with a dot.
    let opening = indent + "  case "
    var words: Set<String> = []
    var isContinued = false
    for line in lines[(start + 1)...].prefix(while: { $0 != indent + "}" })
    where isContinued || line.hasPrefix(opening) {
      let list = isContinued ? line[...] : line.dropFirst(opening.count)
      isContinued = list.hasSuffix(",")
      for match in list.replacing(/\(.*\)/, with: "").matches(of: /`?(\w+)`?(?: = "([\w-]+)")?/) {
        words.insert(String(match.2 ?? match.1))
      }
    }
    return words
  }

  /// The code spans in the first column of the tables under a heading.
  static func documented(_ heading: String, in lines: [String]) -> Set<String> {
    var words: Set<String> = []
    var isInside = false
    for line in lines {
      guard line.hasPrefix("|"), let cell = line.split(separator: "|").first else {
        isInside = false
        continue
      }
      if cell.trimmingPrefix(" ") == "\(heading) " { isInside = true }
      if isInside { words.formUnion(cell.matches(of: /`([^`]+)`/).map { String($0.1) }) }
    }
    return words
  }

  static func check(_ kind: Kind, in lines: [String]) -> [Violation] {
    let documented = documented(kind.heading, in: lines)
    let missing = kind.words.subtracting(documented).sorted().map {
      "no table headed '\(kind.heading)' has `\($0)`: say what it is"
    }
    let unknown = documented.subtracting(kind.words).sorted().map {
      "the table headed '\(kind.heading)' has `\($0)`, which the code does not know"
    }
    return (missing + unknown).map { Violation(path: reference, line: 1, advice: $0) }
  }

  /// The sources behind the numbers of rows, which begin in the first column.
  static func sources(in lines: [String]) -> [[String]] {
    lines.filter { $0.hasPrefix("C-") }.map { line in
      line.split(separator: " ").dropFirst().map(String.init)
    }
  }

  /// The ids of the vectors, those of rows aside.
  static var vectors: Set<String> {
    let ids = lines(of: "Tests/Conformance/vectors.jsonl").compactMap { line in
      line.prefixMatch(of: /\{"id":"([^"]+)"/).map { String($0.1) }
    }
    return Set(ids.filter { !$0.hasPrefix("C-") })
  }

  /// Families of ids that once stood for rules, and what tells such an id from other words.
  private static let ruleID =
    #"(?<![\w/.%$-])((?:NC|NB|NI|BI|K|D|DEC|DLG|GEN|SYNC|APX[AB]|ORI|PRES?|SEG|ADP|RST|LAY|INV|REC|EDIT"#
    + #"|BLK|VIS|DIS|LIFE|RES|ANI|BMN|UX|BAR)(?:-[A-Z]+)*-[0-9]{1,2})(?![\w-])"#

  /// Where rule ids stand that nothing defines; those of vectors may where vectors are spoken of.
  static func undefined(in file: SourceFile, besides vectors: Set<String>) -> [Violation] {
    let speaksOfVectors = vectorFiles.contains { file.path.hasPrefix($0) }
    return file.matches(of: ruleID, in: .everything).filter {
      !(speaksOfVectors && vectors.contains($0.capture))
    }.map {
      Violation(path: file.path, line: $0.line, advice: "nothing defines \($0.capture)")
    }
  }

  private static let vectorFiles = [
    "docs/vectors.md", "Tests/Conformance/vectors.jsonl", "Tests/ConformanceTests/Vectors/",
  ]

  static func lines(of path: String) -> [String] {
    Repository.files.first { $0.path == path }?.text.lines ?? []
  }
}

extension SourceFile {
  /// Whether the file holds rows of the conformance cases.
  fileprivate var isTable: Bool {
    isIn("Tests/Conformance") && path.hasSuffix(".txt") && !path.hasSuffix("/ids.txt")
  }
}

@Suite struct DocumentTests {
  @Test func `the reference of the protocol has the words of the code, and no others`() {
    let lines = Vocabulary.lines(of: Vocabulary.reference)
    for kind in Vocabulary.kinds {
      #expect(kind.words.count > 3, "no words of '\(kind.heading)' found in the sources")
      report(Vocabulary.check(kind, in: lines))
    }
  }

  @Test func `the guide for operators has the kinds of messages of the log, and no others`() {
    let kinds = Vocabulary.cases(of: "Kind", in: "Sources/NavigationDaemon/LogEntry.swift")
    let told = Vocabulary.documented("MESSAGE_ID", in: Vocabulary.lines(of: "docs/operations.md"))
    #expect(kinds.count > 3)
    #expect(told == kinds)
  }

  @Test func `the guide for operators has the fields of the log, and no others`() {
    let source = Vocabulary.lines(of: "Sources/NavigationDaemon/LogEntry.swift").joined()
    let fields = Set(source.matches(of: /"([A-Z_]+)=\\\(/).map { String($0.1) })
    let told = Vocabulary.documented("field", in: Vocabulary.lines(of: "docs/operations.md"))
    #expect(fields.count > 4)
    #expect(told == fields.subtracting(["MESSAGE", "SYSLOG_IDENTIFIER"]))
  }

  @Test func `every row that the rules name exists`() {
    let rows = Set(Vocabulary.lines(of: "Tests/Conformance/ids.txt"))
    let named = Vocabulary.lines(of: Vocabulary.rules).joined(separator: "\n")
      .matches(of: /\bC-\d+/).map { String($0.0) }
    #expect(named.count > 100)
    #expect(Set(named).subtracting(rows) == [])
  }

  @Test func `every row has sources, and rules.md says what each of them is`() {
    let named = Vocabulary.documented("source", in: Vocabulary.lines(of: Vocabulary.rules))
    var used: Set<String> = []
    var rows = 0
    for file in Repository.files where file.isTable {
      let found = Vocabulary.sources(in: file.text.lines)
      rows += found.count
      used.formUnion(found.joined())
      report(
        found.filter(\.isEmpty).map { _ in
          Violation(path: file.path, line: 1, advice: "a row without a source")
        })
    }
    #expect(rows == Vocabulary.lines(of: "Tests/Conformance/ids.txt").count { !$0.isEmpty })
    #expect(used == named, "rows and the table of \(Vocabulary.rules) name other sources")
  }

  @Test func `no id stands anywhere that nothing defines`() {
    let defined = Vocabulary.vectors
    #expect(defined.count > 60)
    for file in Repository.files { report(Vocabulary.undefined(in: file, besides: defined)) }
  }

  @Test func `a row without a source and an undefined id are found`() {
    let lines = ["# C-1", "C-001 Liu ◇", "  Given", "C-002", "C-003 Bar"]
    #expect(Vocabulary.sources(in: lines) == [["Liu", "◇"], [], ["Bar"]])
    // Joined here, for the text of this file is looked at too.
    let id = ["NC", "POP", "01"].joined(separator: "-")
    let vector = ["D", "01"].joined(separator: "-")
    let planted = [
      "  @Test func `\(id) pops`() {", "C-001 K-\(22)", "(D-\(57))", "INV-\(1)…3",
      "UTF-8 W-01 C-001",
    ]
    let file = SourceFile("Tests/A.swift", planted.joined(separator: "\n"))
    #expect(Vocabulary.undefined(in: file, besides: ["W-01"]).map(\.line) == [1, 2, 3, 4])
    #expect(
      Vocabulary.undefined(in: SourceFile("docs/vectors.md", vector), besides: [vector]) == [])
    #expect(
      Vocabulary.undefined(in: SourceFile("docs/rules.md", vector), besides: [vector]).count == 1)
  }

  @Test func `words are read off an enumeration`() {
    let lines = [
      "  enum A: String {", "    case one, `two`,", "      three", "    /// And this.",
      "    case four = \"fo-ur\"", "    case five(Int, of: [B])", "    enum B: Int {",
      "      case six", "    }", "  }", "  case seven",
    ]
    #expect(Vocabulary.cases(of: "A", in: lines) == ["one", "two", "three", "fo-ur", "five"])
  }

  @Test func `words that are missing or unknown are found`() {
    let kind = Vocabulary.Kind(heading: "op", words: ["a.b", "c", "d"])
    let table = ["| op | `x` |", "|---|---|", "| `a.b` †, `c` | `d` |", "", "| `d` | |"]
    #expect(Vocabulary.documented("op", in: table) == ["a.b", "c"])
    #expect(Vocabulary.check(kind, in: table).count == 1)
    #expect(Vocabulary.check(kind, in: table.map { $0.replacing("c", with: "e") }).count == 3)
  }
}
