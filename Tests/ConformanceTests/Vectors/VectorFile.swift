import Conformance
import Foundation

/// `Tests/Conformance/vectors.jsonl`, and what makes it.
enum VectorFile {
  static let path = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Conformance/vectors.jsonl")

  /// What writes the file anew.
  static let command =
    "NAVD_WRITE_VECTORS=1 swift test --disable-xctest --filter ConformanceTests.VectorTests"

  /// All vectors, made anew from the rows and scripts.
  static func make() async throws -> (vectors: [Vector], omitted: [String]) {
    let rows = try await RowVectors.make()
    let others = try WatchVectors.make() + DamageVectors.make() + TextVectors.make()
    return (rows.vectors + others + TextVectors.digests(), rows.omitted)
  }

  static func text(of vectors: [Vector]) -> String {
    vectors.map { $0.line + "\n" }.joined()
  }

  /// The lines of the file in the repository.
  static func lines() throws -> [JSONTree] {
    try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
      .map { try JSONTree(reading: Array($0.utf8)) }
  }
}
