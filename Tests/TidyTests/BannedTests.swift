import Testing

/// A pattern that must not occur, where, and what to write in its place.
struct Ban: Sendable {
  var pattern: String
  var part: SourceFile.Part
  var folders: [String]
  var exceptFolders: [String] = []
  var advice: String

  func check(_ file: SourceFile) -> [Violation] {
    guard
      file.isSwift, folders.contains(where: { file.isIn($0) }),
      !exceptFolders.contains(where: { file.isIn($0) })
    else { return [] }
    return file.matches(of: pattern, in: part)
      .map { Violation(path: file.path, line: $0.line, advice: advice) }
  }

  static let all: [Ban] = [
    inSources(#"\bfatalError\b"#, "use preconditionFailure with the state in its message"),
    inSources(#"\btry!"#, "catch the error, or let it through with 'try'"),
    inSources(#"\bas!"#, "use 'as?' and handle nil, or a type that needs no cast"),
    Ban(
      pattern: #"(?<![\w.])print\(|\bSwift\.print\("#, part: .code, folders: ["Sources"],
      exceptFolders: ["Sources/navctl", "Sources/NavigationDaemon/Main", "Sources/navd-cluster"],
      advice: "only the programs print: return the text, or log it"),
    Ban(
      pattern: #"\.replacing\("#, part: .code, folders: ["Sources"],
      advice: "map the characters: the regular expressions behind it are a megabyte of each program"
    ),
    inSources(#"\bDate\("#, "take the time as a parameter"),
    inSources(#"\.random\("#, "take the random number generator or the number as a parameter"),
    inSources(#"\bTask\.sleep\b"#, "wait for an event, with a deadline"),
    Ban(
      pattern: #"\bTask\.sleep\b|(?<!\w)(?:u|nano)?sleep\("#, part: .code, folders: ["Tests"],
      advice: "do not sleep: wait for an event, with a deadline"),
    Ban(
      pattern: #"(?<![\w.])Process\("#, part: .code, folders: ["Sources", "Tests", "Benchmarks"],
      advice: "use ChildProcess: Foundation's crashes where many descriptors are open"),
    inComments(#"\bFIXME\b"#, "fix it, or open an issue and name it: TODO(#12)"),
    inComments(#"\bXXX\b"#, "say in a sentence what is wrong, or open an issue: TODO(#12)"),
    inComments(#"\bTODO\b(?!\s?\(?#\d)"#, "name the issue: TODO(#12)"),
    inComments(#"//\s*MARK\b"#, "split the file, or use an extension for the topic"),
  ]

  private static func inSources(_ pattern: String, _ advice: String) -> Ban {
    Ban(pattern: pattern, part: .code, folders: Repository.sourceFolders, advice: advice)
  }

  private static func inComments(_ pattern: String, _ advice: String) -> Ban {
    Ban(
      pattern: pattern, part: .comments, folders: ["Sources", "Tests", "Benchmarks"],
      advice: advice)
  }
}

@Suite struct BannedTests {
  @Test func `nothing banned is used`() {
    report(Repository.files.flatMap { file in Ban.all.flatMap { $0.check(file) } })
  }

  static let planted: [(path: String, line: String)] = [
    ("Sources/NavigationCore", "fatalError()"),
    ("Sources/NavigationCore", "let a = try! b()"),
    ("Sources/NavigationCore", "let a = b as! C"),
    ("Sources/NavigationCore", #"print("a")"#),
    ("Sources/NavigationCore", #"let a = b.replacing("c", with: "d")"#),
    ("Tests/Simulation", "let now = Date()"),
    ("Sources/NavigationCore", "let a = Int.random(in: 0..<2)"),
    ("Sources/NavigationClient", "try await Task.sleep(for: .seconds(1))"),
    ("Tests/ATests", "usleep(10)"),
    ("Benchmarks/bench", "let process = Process()"),
    ("Sources/NavigationCore", "// FIXME: this"),
    ("Tests/ATests", "/* XXX */"),
    ("Sources/NavigationCore", "/// TODO: later"),
    ("Tests/ATests", "// MARK: - A"),
  ]

  @Test func `each ban finds what is planted for it, and only that`() {
    #expect(Self.planted.count == Ban.all.count)
    for (ban, plant) in zip(Ban.all, Self.planted) {
      let file = SourceFile("\(plant.path)/A.swift", "let c = 0\n\(plant.line)")
      for other in Ban.all {
        let expected = other.pattern == ban.pattern ? [2] : []
        #expect(other.check(file).map(\.line) == expected, "\(other.pattern) on \(plant.line)")
      }
    }
  }

  @Test(arguments: [
    ("Sources/navctl/A.swift", "print(1)"), ("Sources/A/A.swift", "let a = footprint(1)"),
    ("Sources/A/A.swift", #"let a = "try! \(b)""#), ("Sources/A/A.swift", "// as! is banned"),
    ("Sources/A/A.swift", "// TODO(#3): later"), ("Sources/A/A.swift", "let a = lastDate()"),
    ("Sources/A/A.swift", #"let a = "/tmp/XXXXXX""#), ("Tests/A/A.swift", "fatalError()"),
    ("Tests/A/A.swift", "let a = asleep(b)"), ("Tests/A/A.swift", "let a = ChildProcess(b)"),
    ("Tests/A/A.swift", "let a = exitProcess()"), ("README.md", "// FIXME"),
  ])
  func `what only looks like it is not found`(path: String, line: String) {
    let found = Ban.all.flatMap { $0.check(SourceFile(path, line)) }
    #expect(found == [])
  }

  @Test(arguments: [
    "Task.sleep(for: a)", "sleep(1)", "Thread.sleep(forTimeInterval: 1)", "nanosleep(&a)",
  ])
  func `every way to sleep in a test is found`(line: String) {
    #expect(Ban.all.flatMap { $0.check(SourceFile("Tests/A/A.swift", line)) }.map(\.line) == [1])
  }
}
