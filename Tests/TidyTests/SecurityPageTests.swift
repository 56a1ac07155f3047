import Testing

/// The page about security names tests, and the attacks are on the page.
@Suite struct SecurityPageTests {
  private static let page = "docs/security.md"
  /// Every test of these is an attack.
  private static let attacks = [
    "Tests/ProcessTests/TransportAttackTests.swift", "Tests/ProcessTests/MemoryAttackTests.swift",
  ]

  private static let attacksOfPages = [
    "Tests/BrowserTests/test_attacks.py", "Tests/BrowserTests/test_attack_pages.py",
    "Tests/BrowserTests/test_smuggling.py", "Tests/BrowserTests/test_origins.py",
  ]

  /// The names of the tests in a file that are claims.
  private func tests(in lines: [String]) -> Set<String> {
    Set(
      lines.joined(separator: "\n").matches(of: /@Test[^`]*?func `([^`]+)`/)
        .map { String($0.1) })
  }

  /// The tests in the last column of the page's table of traps.
  private var named: Set<String> {
    Set(
      Vocabulary.lines(of: Self.page).filter { $0.hasPrefix("|") }.compactMap { line in
        line.split(separator: "|").last?.wholeMatch(of: /\s`([^`]+)`\s/).map { String($0.1) }
      }.filter { !$0.hasPrefix("test_") })
  }

  @Test func `every test that the page names exists`() {
    let all = Repository.swiftFiles.filter { $0.isIn("Tests") }
      .reduce(into: Set<String>()) { $0.formUnion(tests(in: $1.text.lines)) }
    #expect(named.count > 15)
    #expect(named.subtracting(all) == [])
  }

  @Test func `every attack is on the page`() {
    for path in Self.attacks {
      let found = tests(in: Vocabulary.lines(of: path))
      #expect(found.count > 3, "no tests found in \(path)")
      #expect(found.subtracting(named) == [], "\(path)")
    }
  }

  @Test func `every attack of a page is on the page, and every one that it names exists`() {
    let named = Set(
      Vocabulary.lines(of: Self.page).joined(separator: "\n").matches(of: /`(test_\w+)`/)
        .map { String($0.1) })
    let all = Self.attacksOfPages.reduce(into: Set<String>()) { all, path in
      let text = Vocabulary.lines(of: path).joined(separator: "\n")
      let found = text.matches(of: /\n {4}def (test_\w+)\(/).map { String($0.1) }
      #expect(found.count > 1, "no tests found in \(path)")
      all.formUnion(found)
    }
    #expect(named == all)
  }
}
