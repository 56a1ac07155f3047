import ChildProcess
import Foundation

/// Runs programs and reads their output.
struct Programs {
  /// The directory of this program, which has the other programs of the repository too.
  let folder: URL

  init() {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    folder = URL(filePath: own ?? CommandLine.arguments[0]).deletingLastPathComponent()
  }

  func path(of program: String) -> String { folder.appending(path: program).path }

  /// The path of an installed program; nil if there is none.
  static func installed(_ program: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.map { "\($0)/\(program)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Runs a program of this repository; returns the name=value pairs that it prints.
  func numbers(of program: String, _ arguments: [String]) throws -> Numbers {
    let output = try text(of: path(of: program), arguments)
    var numbers: Numbers = [:]
    for pair in output.split(whereSeparator: \.isWhitespace) {
      let parts = pair.split(separator: "=")
      if parts.count == 2, let value = Double(parts[1]) { numbers[String(parts[0])] = value }
    }
    guard !numbers.isEmpty else { throw BenchError("\(program) printed no numbers") }
    return numbers
  }

  /// Runs a program and returns its standard output; its errors go to stderr of this program.
  func text(of program: String, _ arguments: [String]) throws -> String {
    let line = [program] + arguments
    let output = Pipe()
    let process = try start(
      line, output: .descriptor(output.fileHandleForWriting.fileDescriptor))
    // An open write end in this process would keep the pipe open for ever.
    try output.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    let status = awaitEnd(process)
    guard status == 0 else {
      throw BenchError("status \(status): \(line.joined(separator: " "))")
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// Starts a program that ends when this one ends.
  func start(
    _ line: [String], output: ChildProcess.Stream, errors: ChildProcess.Stream = .inherited
  ) throws -> ChildProcess {
    let process = try ChildProcess(
      path(of: "bench-load"), ["guard"] + line, output: output, errors: errors)
    Cleanup.shared.add(process: process.pid)
    return process
  }

  @discardableResult func awaitEnd(_ process: ChildProcess) -> Int32 {
    let status = process.awaitEnd()
    Cleanup.shared.remove(process: process.pid)
    return status
  }
}
