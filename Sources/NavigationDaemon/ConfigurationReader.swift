import CInih
import NavigationCore

/// One `name = value` line.
struct ConfigurationAssignment: Hashable, Sendable {
  var section: String
  var name: String
  var value: String
  /// The number of the line in its file, from 1.
  var line: Int
}

/// Parses the contents of a file with inih.
///
/// Indentation has no meaning: a line never continues the one before. inih reports only the first
/// line that it cannot read. So the function removes that line and parses again, until it has found
/// all such lines or `maximumProblems`.
/// Assignments under a heading that cannot be read are omitted, because their section is unknown.
func readAssignments(_ contents: [UInt8]) -> (
  assignments: [ConfigurationAssignment], problems: [ConfigurationProblem]
) {
  let source = ConfigurationSource(contents)
  var problems: [ConfigurationProblem] = []
  while let problem = source.read() {
    problems.append(problem)
    guard problems.count < maximumProblems else {
      return (source.assignments.filter { $0.line < problem.line }, problems)
    }
    source.leaveOut(problem.line)
  }
  let known = source.assignments.filter { $0.section != ConfigurationSource.unreadable }
  return (problems.isEmpty ? source.assignments : known, problems)
}

/// The number of unreadable lines after which the parser stops.
private let maximumProblems = 100

/// A line that cannot be read.
struct ConfigurationProblem: Hashable, Sendable {
  /// The line, from 1.
  var line: Int
  var message: String
}

/// Gives inih the lines of a file, and collects the assignments that it finds.
private final class ConfigurationSource {
  /// The name of the section under a heading that cannot be read; no real name can equal it.
  static let unreadable = "\u{1}"

  private var lines: [ArraySlice<UInt8>]
  private var next = 0
  private(set) var assignments: [ConfigurationAssignment] = []
  private var problem: ConfigurationProblem?

  init(_ contents: [UInt8]) {
    lines = contents.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  }

  /// Parses all lines again; returns the first that cannot be read.
  func read() -> ConfigurationProblem? {
    (next, assignments, problem) = (0, [], nil)
    // inih keeps no pointer to `self` after the call.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let line = Int(unsafe ini_parse_stream(readLine, context, takeAssignment, context))
    if let problem, line == 0 || problem.line <= line { return problem }
    guard line != 0 else { return nil }
    return ConfigurationProblem(
      line: line, message: "expected a [section], a name = value or a # comment")
  }

  /// Replaces an unreadable line by an empty one, or by the heading of an unknown section.
  func leaveOut(_ line: Int) {
    let text = lines[line - 1].drop { Self.blanks.contains($0) }
    let isHeading = text.first == UInt8(ascii: "[")
    lines[line - 1] = isHeading ? Array("[\(Self.unreadable)]".utf8)[...] : []
  }

  /// Adds an assignment of the line that inih read last.
  func take(_ section: String, _ name: String, _ value: String) {
    assignments.append(
      ConfigurationAssignment(section: section, name: name, value: value, line: next))
  }

  private static let blanks: Set<UInt8> = [0x20, 0x09]

  /// The next line without indentation; nil at the end, or at a line that inih could not hold.
  func nextLine(room: Int) -> [UInt8]? {
    guard next < lines.count, problem == nil else { return nil }
    var line = lines[next].drop { Self.blanks.contains($0) }
    next += 1
    guard !line.contains(0) else {
      problem = ConfigurationProblem(line: next, message: "the line contains a zero byte")
      return nil
    }
    if let fault = Self.fault(in: line) {
      problem = ConfigurationProblem(line: next, message: fault)
      return nil
    }
    if line.count + 2 > room { line = Self.withoutRemark(line) }
    // inih would read the rest of a longer line as another line.
    guard line.count + 2 <= room else {
      problem = ConfigurationProblem(
        line: next, message: "the line is longer than \(room - 2) bytes")
      return nil
    }
    return Array(line)
  }

  /// What inih would pass over in silence; nil for a line that it reads as it stands.
  private static func fault(in line: ArraySlice<UInt8>) -> String? {
    let line = line.last == 0x0D ? line.dropLast() : line
    let text = withoutRemark(line)
    if line.contains(0x0D) {
      return "a carriage return ends no line: save the file with line feeds"
    }
    guard String(validating: text, as: UTF8.self) != nil else { return "the line is not UTF-8" }
    guard text.first == UInt8(ascii: "["), let end = text.firstIndex(of: UInt8(ascii: "]")) else {
      return nil
    }
    let isAlone = text[(end + 1)...].allSatisfy { blanks.contains($0) }
    return isAlone ? nil : "expected nothing behind [section]; a comment there is ; behind a space"
  }

  /// A line up to its comment, found as inih does; comments can have any length.
  private static func withoutRemark(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let (hash, semicolon) = (UInt8(ascii: "#"), UInt8(ascii: ";"))
    guard let first = line.first, first != hash, first != semicolon else { return [] }
    let remark = line.indices.dropFirst().first { place in
      line[place] == semicolon && blanks.contains(line[place - 1])
    }
    return line[..<(remark ?? line.endIndex)]
  }
}

/// The function that inih calls instead of fgets.
private let readLine:
  @convention(c) (UnsafeMutablePointer<CChar>?, Int32, UnsafeMutableRawPointer?)
    -> UnsafeMutablePointer<CChar>? = { buffer, room, context in
      guard let buffer = unsafe buffer, let context = unsafe context else { return nil }
      let source = unsafe Unmanaged<ConfigurationSource>.fromOpaque(context).takeUnretainedValue()
      guard let line = source.nextLine(room: Int(room)) else { return nil }
      // `nextLine` has left room for the newline and the terminating zero.
      for (index, byte) in line.enumerated() { unsafe buffer[index] = CChar(bitPattern: byte) }
      unsafe buffer[line.count] = CChar(bitPattern: UInt8(ascii: "\n"))
      unsafe buffer[line.count + 1] = 0
      return unsafe buffer
    }

/// The function that inih calls for each assignment; the strings are valid only during the call.
private let takeAssignment:
  @convention(c) (
    UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?
  ) -> Int32 = { context, section, name, value in
    guard let context = unsafe context, let section = unsafe section, let name = unsafe name,
      let value = unsafe value
    else { return 0 }
    let source = unsafe Unmanaged<ConfigurationSource>.fromOpaque(context).takeUnretainedValue()
    source.take(
      unsafe String(cString: section), unsafe String(cString: name), unsafe String(cString: value))
    return 1
  }
