import Foundation
import Testing

@testable import Web

/// The board for Grafana and the alerts of docs/operations.md read what the exporter writes.
@Suite struct BoardTests {
  private static func text(_ path: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  private struct Board: Decodable {
    struct Panel: Decodable {
      struct Target: Decodable {
        var expr: String
      }
      struct Place: Decodable {
        var h: Int
        var w: Int
        var x: Int
        var y: Int
      }
      var id: Int
      var title: String
      var gridPos: Place
      var targets: [Target]?
    }
    var panels: [Panel]
  }

  /// The metrics that a text names, without the suffixes of histograms.
  private static func metrics(_ text: String) -> Set<String> {
    let names = text.matches(of: /\bnavd_[a-z_]+/).map { String($0.0) }
    return Set(
      names.map { name in
        for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) {
          return String(name.dropLast(suffix.count))
        }
        return name
      })
  }

  private static let known = Set(Metric.all.map(\.name))

  @Test func `each query of the board reads metrics of the exporter`() throws {
    let text = try Self.text("config/grafana/navd.json")
    let board = try JSONDecoder().decode(Board.self, from: Data(text.utf8))
    let queries = board.panels.flatMap { $0.targets ?? [] }.map(\.expr)
    #expect(queries.count > 20)
    for query in queries {
      let names = Self.metrics(query)
      #expect(!names.isEmpty && names.isSubset(of: Self.known), "\(query)")
      #expect(query.count { $0 == "(" } == query.count { $0 == ")" }, "\(query)")
    }
    #expect(Set(board.panels.map(\.id)).count == board.panels.count)
    // No two panels of a row overlap, and none is wider than the page.
    for panel in board.panels {
      #expect(panel.gridPos.x + panel.gridPos.w <= 24, "\(panel.title)")
      let beside = board.panels.filter { $0.id != panel.id && $0.gridPos.y == panel.gridPos.y }
      for other in beside {
        #expect(
          panel.gridPos.x + panel.gridPos.w <= other.gridPos.x
            || other.gridPos.x + other.gridPos.w <= panel.gridPos.x,
          "\(panel.title) and \(other.title)")
      }
    }
  }

  @Test func `each alert of the guide reads metrics of the exporter`() throws {
    let guide = try Self.text("docs/operations.md")
    let start = try #require(guide.range(of: "## Alerts")).upperBound
    let names = Self.metrics(String(guide[start...]))
    #expect(names.count > 8 && names.subtracting(Self.known) == [])
  }
}
