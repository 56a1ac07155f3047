import Foundation
import Testing

/// The page that lists UIKit's members, against the list of those that UIKit's pages have.
@Suite struct UIKitPageTests {
  /// A row of the page: members of a class, and the words of navd that do the same.
  private struct Row {
    var owner: String
    var members: [String]
    var words: [String]
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: GeneratedText.root.appending(path: path), encoding: .utf8)
  }

  private static func spans(_ text: some StringProtocol) -> [String] {
    String(text).matches(of: /`([^`]+)`/).map { String($0.1) }
  }

  private static func rows() throws -> [Row] {
    var rows: [Row] = []
    var owner = ""
    for line in try text("docs/uikit.md").split(separator: "\n") {
      if line.hasPrefix("## ") { owner = String(line.dropFirst(3)) }
      guard line.hasPrefix("| `") else { continue }
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst()
      try #require(cells.count == 4, "three cells: \(line)")
      rows.append(Row(owner: owner, members: spans(cells[1]), words: spans(cells[2])))
      // Either navd has words for the members, or the note says why not.
      let note = cells[3].trimmingCharacters(in: .whitespaces)
      #expect(rows[rows.count - 1].words.isEmpty == cells[2].contains("—"), "\(line)")
      #expect(!rows[rows.count - 1].words.isEmpty || !note.isEmpty, "\(line)")
    }
    return rows
  }

  @Test func `the page has each member of UIKit's classes once, and no other`() throws {
    let listed = try Self.rows().flatMap { row in row.members.map { "\(row.owner)\t\($0)" } }
    let members = try Self.text("Tests/Conformance/uikit-members.tsv").split(separator: "\n")
    #expect(Set(listed).symmetricDifference(members.map(String.init)) == [])
    #expect(listed.count == members.count)
  }

  @Test func `every word that the page names is one of the protocol or of the rules`() throws {
    let pages = try Self.text("docs/protocol.md") + Self.text("docs/rules.md")
    let known = Set(
      Self.spans(pages.replacing(/(?s)```.*?```/, with: "")).flatMap {
        $0.matches(of: /[A-Za-z][\w.]*/).map { String($0.0) }
      })
    for row in try Self.rows() {
      #expect(row.words.filter { !known.contains($0) } == [], "\(row.owner)")
    }
  }
}
