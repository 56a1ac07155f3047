import Foundation

/// The properties of the machine that explain the numbers.
struct Machine {
  /// The names and values, in the order of the output.
  let facts: [(name: String, value: String)]

  /// Reads the properties.
  ///
  /// - Parameter directory: the directory of the journals.
  init(directory: String) {
    let information = ProcessInfo.processInfo
    facts = [
      ("system", information.operatingSystemVersionString),
      ("kernel", Self.words(of: "/proc/sys/kernel/osrelease").first ?? "unknown"),
      ("processors", "\(information.processorCount) × \(Self.processor)"),
      ("journals", "\(directory), \(Self.fileSystem(of: directory))"),
      ("time", ISO8601DateFormatter().string(from: Date())),
    ]
  }

  /// One line for each property, in Markdown.
  var text: String { facts.map { "\($0.name): \($0.value)  \n" }.joined() }

  private static var processor: String {
    let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let model = lines.split(separator: "\n").first { $0.hasPrefix("model name") }
    return model?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
      ?? "unknown"
  }

  /// The type of the file system of a directory.
  private static func fileSystem(of directory: String) -> String {
    let path = URL(filePath: directory).resolvingSymlinksInPath().path + "/"
    let lines = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
    // Of several mounts, the deepest one counts, and of equal ones the last.
    var found = (depth: 0, type: "unknown")
    for line in lines.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 2 else { continue }
      let place = words[1] == "/" ? "/" : words[1] + "/"
      if path.hasPrefix(place), place.count >= found.depth {
        found = (place.count, String(words[2]))
      }
    }
    return found.type
  }

  private static func words(of file: String) -> [String] {
    let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    return text.split(whereSeparator: \.isWhitespace).map(String.init)
  }
}
