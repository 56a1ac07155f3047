import Testing

/// The page about security names tests, and the attacks are on the page.
@Suite struct SecurityPageTests {
  private static let page = "docs/security.md"
  /// Every test of these is an attack.
  private static let attacks = [
    "Tests/ProcessTests/TransportAttackTests.swift", "Tests/ProcessTests/MemoryAttackTests.swift",
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
      })
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
}
