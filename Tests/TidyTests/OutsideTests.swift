import Testing

/// The repository speaks for itself: no text in it names a place outside.
enum OutsideRules {
  /// Put together from pieces, so that this file does not break its own rule.
  static let places = [
    [#"\.\."#, "shared"],
    [#"(?<![\w.~-])"#, "work", #"[\w.-]"#],
    [#"\bshared"#, "(?:bench|hooks|seeds|spec|[a-z-]+\\.md)\\b"],
  ].map { $0.joined(separator: "/") }

  static func check(_ file: SourceFile) -> [Violation] {
    places.flatMap { file.matches(of: "(\($0))", in: .everything) }.map { line, place in
      Violation(
        path: file.path, line: line,
        advice: "'\(place)' lies outside the repository: say here what is meant")
    }
  }
}

@Suite struct OutsideTests {
  @Test func `no text points outside the repository`() {
    report(Repository.files.flatMap(OutsideRules.check))
  }

  @Test(arguments: [
    ["see ..", "shared", "a.md"], ["in ", "work", "main"],
    ["shared", "style.md"], ["shared", "spec", "a"],
  ])
  func `a place outside is found`(pieces: [String]) {
    let line = pieces.joined(separator: "/")
    for path in ["README.md", "Sources/A/A.swift", "demo/run"] {
      #expect(Set(OutsideRules.check(SourceFile(path, "a\n\(line)")).map(\.line)) == [2])
    }
  }

  @Test(arguments: ["../Sources/A", "a framework/b", "shared/exclusive", "~/.local/state/navd"])
  func `a place inside is not found`(line: String) {
    #expect(OutsideRules.check(SourceFile("README.md", line)) == [])
  }
}
