package import Conformance
import Foundation

/// The rows of `Tests/Conformance`.
package enum Table {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Conformance")

  /// All rows in the order of their ids, or why they cannot be read.
  package static let rows = Result { () throws -> [ConformanceCase] in
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    return try files.filter { $0.hasSuffix(".txt") && $0 != "ids.txt" }.flatMap {
      try TableReader.read(text(of: $0), file: "Tests/Conformance/\($0)")
    }
  }

  /// The ids of all rows there must be.
  package static func ids() throws -> [String] {
    try text(of: "ids.txt").split(separator: "\n").map(String.init)
  }

  private static func text(of file: String) throws -> String {
    try String(contentsOf: folder.appending(path: file), encoding: .utf8)
  }

  /// The ids of the rows with a script; those that must exist if the table cannot be read.
  package static let scripted: [String] = {
    switch rows {
    case .success(let rows): rows.filter { !$0.isCode }.map(\.id)
    case .failure: []
    }
  }()

  /// The row with an id.
  package static func row(_ id: String) throws -> ConformanceCase? {
    try rows.get().first { $0.id == id }
  }
}
