import Testing

/// How long a file and a function may be.
enum Limits {
  static let linesPerFile = 500
  static let linesPerFunction = 70
  /// Of the other files that have as few lines as those in Swift.
  static let suffixes = [".h", ".py", ".js", ".mjs", ".ts"]

  static func checkFile(_ file: SourceFile) -> [Violation] {
    guard file.isSwift || suffixes.contains(where: file.path.hasSuffix) else { return [] }
    let count = file.text.lines.count
    guard count > linesPerFile else { return [] }
    return [
      Violation(
        path: file.path, line: linesPerFile + 1,
        advice: "\(count) lines, \(linesPerFile) are the limit: split the file by topic")
    ]
  }

  static func checkFunctions(_ file: SourceFile) -> [Violation] {
    guard file.isSwift else { return [] }
    return functions(in: file.text).filter { $0.count > linesPerFunction }.map { lines in
      Violation(
        path: file.path, line: lines.lowerBound,
        advice: "a function of \(lines.count) lines, \(linesPerFunction) are the limit: name its"
          + " parts and call them")
    }
  }

  /// The lines of each function, from the keyword to the closing brace, counted from 1.
  static func functions(in text: SwiftText) -> [ClosedRange<Int>] {
    var found: [ClosedRange<Int>] = []
    /// Functions whose keyword was seen, with the nesting their body has once it opens.
    var open: [(line: Int, parentheses: Int, braces: Int, hasBody: Bool)] = []
    var braces = 0
    var parentheses = 0
    for token in tokens(of: text) {
      switch token.text {
      case "(", "[": parentheses += 1
      case ")", "]": parentheses -= 1
      case "{":
        if let last = open.last, !last.hasBody, last.parentheses == parentheses {
          open[open.count - 1].hasBody = true
        }
        braces += 1
      case "}":
        braces -= 1
        // The end of a protocol also ends its last requirement, which has no body.
        while let last = open.last, !last.hasBody, last.braces > braces { open.removeLast() }
        if let last = open.last, last.hasBody, last.braces == braces {
          found.append(last.line...token.line)
          open.removeLast()
        }
      default:
        if let last = open.last, !last.hasBody { open.removeLast() }
        open.append((token.line, parentheses, braces, false))
      }
    }
    return found.sorted { $0.lowerBound < $1.lowerBound }
  }

  /// Brackets, and the keywords that begin a function.
  private static func tokens(of text: SwiftText) -> [(text: String, line: Int)] {
    var tokens: [(text: String, line: Int)] = []
    for (index, line) in text.code.enumerated() {
      var word = ""
      for character in line + " " {
        if character.isLetter || character.isNumber || "_.`#".contains(character) {
          word.append(character)
          continue
        }
        // A dot is part of the word, as in `a.init(b)`, which calls; so is a backtick, as in a name.
        let declares = word == "func" || word == "deinit" || word == "subscript"
        if declares || (word == "init" && "(<?!".contains(character)) {
          tokens.append((word, index + 1))
        }
        word = ""
        if "(){}[]".contains(character) { tokens.append((String(character), index + 1)) }
      }
    }
    return tokens
  }
}

@Suite struct LimitTests {
  @Test func `no file is too long`() { report(Repository.files.flatMap(Limits.checkFile)) }

  @Test func `no function is too long`() { report(Repository.files.flatMap(Limits.checkFunctions)) }

  @Test(arguments: ["Sources/A/A.swift", "web/a/a.js"])
  func `a file of one line too many is found`(path: String) {
    let longest = String(repeating: "a\n", count: 500)
    #expect(Limits.checkFile(SourceFile(path, longest)) == [])
    #expect(Limits.checkFile(SourceFile(path, longest + "b")).map(\.line) == [501])
  }

  @Test(arguments: ["func a()", "init?(b: Int)", "subscript(c: Int) -> Int", "deinit"])
  func `a function of one line too many is found`(head: String) {
    let longest = "\(head) {" + String(repeating: "\n", count: 69) + "}"
    let longer = "\n\(head) {" + String(repeating: "\n", count: 70) + "}"
    #expect(Limits.checkFunctions(SourceFile("Sources/A/A.swift", longest)) == [])
    #expect(Limits.checkFunctions(SourceFile("Sources/A/A.swift", longer)).map(\.line) == [2])
  }

  @Test(arguments: [
    ("func a() {\n// }\nlet b = \"}\"\n}", [1...4]),
    ("func a(b: () -> Void = { }) {\n\n}", [1...3]),
    ("func a(\n  b: Int\n) {\n}", [1...4]),
    ("func a() {\n  func b() {\n  }\n}", [1...4, 2...3]),
    ("protocol A {\n  func a()\n  init()\n}\nfunc b() { c { } }\n", [5...5]),
    ("let a = b.init()\nlet c = [D.init]\nif x {\n}", []),
    ("func `init`() {\n}", [1...2]),
    ("func a() {\n  self.init(b) { }\n}\nstruct S {\n}", [1...3]),
    ("func a() -> [Int] where B == [C] {\n  \"\\(d.map { \"}\" })\"\n}", [1...3]),
  ])
  func `functions are found where they begin and end`(
    text: String, functions: [ClosedRange<Int>]
  ) {
    #expect(Limits.functions(in: SwiftText(text)) == functions)
  }
}
