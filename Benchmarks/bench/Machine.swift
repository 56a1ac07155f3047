import Foundation

/// What was measured on, as far as it explains the numbers.
struct Machine {
  /// Names and what they are, in the order they are shown.
  let facts: [(name: String, value: String)]

  /// - Parameter directory: where the journals are.
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

  /// One line each, in Markdown.
  var text: String { facts.map { "\($0.name): \($0.value)  \n" }.joined() }

  private static var processor: String {
    let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let model = lines.split(separator: "\n").first { $0.hasPrefix("model name") }
    return model?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
      ?? "unknown"
  }

  /// The type of the file system that a directory is on.
  private static func fileSystem(of directory: String) -> String {
    let path = URL(filePath: directory).resolvingSymlinksInPath().path + "/"
    let lines = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
    // The last of the deepest places is what is seen.
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
