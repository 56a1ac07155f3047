import NavigationCore

/// One `name = value` line.
struct ConfigurationAssignment: Hashable, Sendable {
  var section: String
  var name: String
  var value: String
  /// The number of the line in its file, from 1.
  var line: Int
}

/// The number of unreadable lines after which the parser stops.
private let maximumProblems = 100

/// The longest line without its comment; a connection string has several hosts and files.
private let maximumLineBytes = 4096

/// Parses the contents of a file.
///
/// Indentation has no meaning: a line never continues the one before. Assignments under a heading that
/// cannot be read are omitted, because their section is unknown.
func readAssignments(_ contents: [UInt8], of file: String) -> (
  assignments: [ConfigurationAssignment], problems: [ConfigurationError]
) {
  var assignments: [ConfigurationAssignment] = []
  var problems: [ConfigurationError] = []
  var section: String? = ""
  let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  let text = contents.starts(with: byteOrderMark) ? contents[3...] : contents[...]
  let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  for (index, line) in lines.enumerated() where problems.count < maximumProblems {
    let line = trimmed(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    do throws(ConfigurationError) {
      switch try ConfigurationLine(line, number: index + 1, of: file) {
      case .empty: break
      case .heading(let name): section = name
      case .assignment(let name, let value):
        guard let section else { continue }
        assignments.append(
          ConfigurationAssignment(section: section, name: name, value: value, line: index + 1))
      }
    } catch {
      problems.append(error)
      if line.first == UInt8(ascii: "[") { section = nil }
    }
  }
  return (assignments, problems)
}

/// The content of a line.
private enum ConfigurationLine {
  case empty
  case heading(String)
  case assignment(name: String, value: String)

  init(_ line: ArraySlice<UInt8>, number: Int, of file: String) throws(ConfigurationError) {
    func fault(_ message: String) -> ConfigurationError {
      ConfigurationError(file: file, line: number, message: message)
    }
    guard !line.contains(0) else { throw fault("the line contains a zero byte") }
    guard !line.contains(UInt8(ascii: "\r")) else {
      throw fault("a carriage return ends no line: save the file with line feeds")
    }
    let text = withoutComment(line)
    guard String(validating: text, as: UTF8.self) != nil else {
      throw fault("the line is not UTF-8")
    }
    guard text.count <= maximumLineBytes else {
      throw fault("the line is longer than \(maximumLineBytes) bytes")
    }
    let isHeading = text.first == UInt8(ascii: "[")
    let end = text.firstIndex { byte in
      isHeading
        ? byte == UInt8(ascii: "]") : byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":")
    }
    guard let end else {
      guard text.isEmpty else {
        throw fault("expected a [section], a name = value or a # comment")
      }
      self = .empty
      return
    }
    func string(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    let rest = trimmed(text[(end + 1)...])
    guard isHeading else {
      self = .assignment(name: string(trimmed(text[..<end])), value: string(rest))
      return
    }
    guard rest.isEmpty else {
      throw fault(
        "expected nothing behind [section]; write a comment there as a space, a semicolon and the text"
      )
    }
    self = .heading(string(text[..<end].dropFirst()))
  }
}

private func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == 0x09 }

/// A text without the blanks at both ends.
private func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
  let rest = text.drop(while: isBlank)
  return rest[..<(rest.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? rest.startIndex)]
}

/// A line without its comment, which can have any length.
private func withoutComment(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
  let (hash, semicolon) = (UInt8(ascii: "#"), UInt8(ascii: ";"))
  guard let first = line.first, first != hash, first != semicolon else { return [] }
  let comment = line.indices.dropFirst().first { place in
    line[place] == semicolon && isBlank(line[place - 1])
  }
  return trimmed(line[..<(comment ?? line.endIndex)])
}
