import Conformance
import ConformanceSupport

/// The vectors of the conformance rows.
enum RowVectors {
  /// The files whose rows are about what the bar shows; the watches of all others do without.
  private static let withResolved = [
    "4-06", "4-07", "4-10", "4-11", "4-12", "4-13", "4-25",
  ]

  /// One vector for each row that changes or refuses something, and the ids of the other rows.
  static func make() async throws -> (vectors: [Vector], omitted: [String]) {
    let rows = try Table.rows.get().filter { !$0.isCode }
    let writers = try await withThrowingTaskGroup(of: (Int, VectorWriter).self) { group in
      for (index, row) in rows.enumerated() { group.addTask { (index, try record(row)) } }
      return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    var vectors: [Vector] = []
    var omitted: [String] = []
    for (index, row) in rows.enumerated() {
      guard let writer = writers[index], writer.isWorthwhile else {
        omitted.append(row.id)
        continue
      }
      vectors.append(writer.vector(row.id, .row, "\(row.given): \(row.when)"))
    }
    return (vectors, omitted)
  }

  private static func record(_ row: ConformanceCase) throws -> VectorWriter {
    let file = row.file.split(separator: "/").last ?? ""
    let hasResolved = withResolved.contains { file.hasPrefix($0) }
    for client in ["1", "observer"] {
      var recorder = RowRecorder(row, client: client, hasResolved: hasResolved)
      do {
        try ConformanceRunner.run(row, on: &recorder)
        try recorder.finish()
        return recorder.writer
      } catch is RowRecorder.Unsuitable {
        continue
      }
    }
    throw ConformanceFailure(
      file: row.file, line: row.line, id: row.id, text: "no client of it can be recorded")
  }
}
