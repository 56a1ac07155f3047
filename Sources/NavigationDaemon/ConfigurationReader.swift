import CInih

/// One `name = value` line.
struct ConfigurationAssignment: Hashable, Sendable {
  var section: String
  var name: String
  var value: String
  /// The line it stands on, from 1.
  var line: Int
}

/// Lets inih find the assignments of a file.
///
/// Indentation means nothing: a line never continues the one before.
/// - Returns: The assignments before the first line that cannot be read, and that line if any.
func readAssignments(_ contents: [UInt8]) -> (
  assignments: [ConfigurationAssignment], problem: (line: Int, message: String)?
) {
  let source = ConfigurationSource(contents)
  // The source outlives the call; inih keeps nothing.
  let context = unsafe Unmanaged.passUnretained(source).toOpaque()
  let result = unsafe ini_parse_stream(readLine, context, takeAssignment, context)
  return withExtendedLifetime(source) {
    if let problem = source.problem {
      return (source.assignments.filter { $0.line < problem.line }, problem)
    }
    guard result != 0 else { return (source.assignments, nil) }
    let line = Int(result)
    return (
      source.assignments.filter { $0.line < line },
      (line, "not a [section], a name = value or a # comment")
    )
  }
}

/// The lines inih asks for, and what it made of them.
private final class ConfigurationSource {
  private let lines: [ArraySlice<UInt8>]
  private var next = 0
  var assignments: [ConfigurationAssignment] = []
  var problem: (line: Int, message: String)?

  init(_ contents: [UInt8]) {
    lines = contents.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  }

  /// The number of the line read last, from 1.
  var lineNumber: Int { next }

  /// The next line without indentation; `nil` at the end, or at a line that cannot be handed on.
  func nextLine(room: Int) -> [UInt8]? {
    guard next < lines.count, problem == nil else { return nil }
    let blanks: Set<UInt8> = [0x20, 0x09]
    var line = lines[next].drop { blanks.contains($0) }
    next += 1
    guard !line.contains(0) else {
      problem = (next, "the line holds a zero byte")
      return nil
    }
    if line.count + 2 > room { line = Self.withoutRemark(line) }
    // inih would take the rest of a longer line for a line of its own.
    guard line.count + 2 <= room else {
      problem = (next, "the line is longer than \(room - 2) bytes")
      return nil
    }
    return Array(line)
  }

  /// A line up to its remark, as inih finds it: remarks may be of any length.
  private static func withoutRemark(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let (hash, semicolon) = (UInt8(ascii: "#"), UInt8(ascii: ";"))
    guard let first = line.first, first != hash, first != semicolon else { return [] }
    let remark = line.indices.dropFirst().first { place in
      line[place] == semicolon && [0x20, 0x09].contains(line[place - 1])
    }
    return line[..<(remark ?? line.endIndex)]
  }
}

/// Called by inih in place of fgets.
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

/// Called by inih for each assignment; the strings live for this call only.
private let takeAssignment:
  @convention(c) (
    UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?
  ) -> Int32 = { context, section, name, value in
    guard let context = unsafe context, let section = unsafe section, let name = unsafe name,
      let value = unsafe value
    else { return 0 }
    let source = unsafe Unmanaged<ConfigurationSource>.fromOpaque(context).takeUnretainedValue()
    source.assignments.append(
      ConfigurationAssignment(
        section: unsafe String(cString: section), name: unsafe String(cString: name),
        value: unsafe String(cString: value), line: source.lineNumber))
    return 1
  }
