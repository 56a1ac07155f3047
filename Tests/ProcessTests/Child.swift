import ChildProcess
import Foundation

/// The binaries, beside the test runner.
enum Binaries {
  /// Where they are; NAVD_TEST_BINARIES names the directory of a release build to be measured.
  static let directory =
    ProcessInfo.processInfo.environment["NAVD_TEST_BINARIES"].map { URL(fileURLWithPath: $0) }
    ?? URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()

  static func path(_ name: String) -> String { directory.appendingPathComponent(name).path }
}

/// A child process whose output is kept, and which never outlives its owner.
final class Child: @unchecked Sendable {
  /// Guards everything that changes.
  private let condition = NSCondition()
  private let process: ChildProcess
  private let input = Pipe()
  private var output: [UInt8] = []
  private var errors: [UInt8] = []
  private var open = 2
  private var status: Int32?
  private let name: String

  /// How long anything may take that should take no time.
  static let patience = 60.0

  /// Starts a program with an environment of its own.
  init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws {
    name = ([URL(fileURLWithPath: path).lastPathComponent] + arguments).joined(separator: " ")
    let own = ProcessInfo.processInfo.environment
    var variables = own.filter { ["PATH", "LLVM_PROFILE_FILE", "LANG"].contains($0.key) }
    variables.merge(environment) { $1 }
    let out = Pipe()
    let err = Pipe()
    process = try ChildProcess(
      path, arguments, environment: variables,
      input: .descriptor(input.fileHandleForReading.fileDescriptor),
      output: .descriptor(out.fileHandleForWriting.fileDescriptor),
      errors: .descriptor(err.fileHandleForWriting.fileDescriptor))
    // Only the child's own end the pipes then.
    for end in [input.fileHandleForReading, out.fileHandleForWriting, err.fileHandleForWriting] {
      try end.close()
    }
    read(out) { $0.output += $1 }
    read(err) { $0.errors += $1 }
    Thread.detachNewThread { [weak self, process] in
      let status = process.awaitEnd()
      self?.update { $0.status = status }
    }
  }

  deinit { process.signal(SIGKILL) }

  /// Reads a pipe to its end on a thread of its own.
  private func read(_ pipe: Pipe, _ take: @escaping @Sendable (Child, ArraySlice<UInt8>) -> Void) {
    let handle = pipe.fileHandleForReading
    Thread.detachNewThread { [weak self] in
      var bytes = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
          unsafe Foundation.read(handle.fileDescriptor, buffer.baseAddress, buffer.count)
        }
        guard count > 0 else { break }
        self?.update { take($0, bytes[..<count]) }
      }
      self?.update { $0.open -= 1 }
    }
  }

  private func update(_ body: (Child) -> Void) {
    condition.lock()
    body(self)
    condition.broadcast()
    condition.unlock()
  }

  /// Waits until something is so; false when time is up.
  private func wait(_ seconds: Double, until isSo: (Child) -> Bool) -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    condition.lock()
    defer { condition.unlock() }
    while !isSo(self) {
      guard condition.wait(until: end) else { return isSo(self) }
    }
    return true
  }

  var pid: Int32 { process.pid }

  var standardOutput: String { text { $0.output } }

  var standardError: String { text { $0.errors } }

  private func text(_ bytes: (Child) -> [UInt8]) -> String {
    condition.lock()
    defer { condition.unlock() }
    return String(decoding: bytes(self), as: UTF8.self)
  }

  /// All that is known, for a failure.
  var transcript: String {
    "\(name) (process \(pid))\nstdout: \(standardOutput.suffix(4000))\n"
      + "stderr: \(standardError.suffix(4000))"
  }

  /// Waits for the end; returns the exit status, or 128 and the signal.
  @discardableResult func ended(within seconds: Double = patience) throws -> Int32 {
    guard wait(seconds, until: { $0.status != nil && $0.open == 0 }), let status else {
      kill(SIGKILL)
      throw Failure("did not end within \(seconds) s: \(transcript)")
    }
    return status
  }

  /// Whether it goes on running for so long.
  func survives(_ seconds: Double) -> Bool { !wait(seconds, until: { $0.status != nil }) }

  var isRunning: Bool {
    condition.lock()
    defer { condition.unlock() }
    return status == nil
  }

  /// Waits until stdout holds a text.
  func says(_ text: String, within seconds: Double = patience) throws {
    let bytes = Array(text.utf8)
    try require(seconds, "say “\(text)”") { Self.contains($0.output, bytes) }
  }

  /// Waits until stdout holds a text behind another one.
  func says(_ text: String, after marker: String) throws {
    try require(Self.patience, "say “\(text)” after “\(marker)”") { child in
      let output = Data(child.output)
      guard let place = output.range(of: Data(marker.utf8)) else { return false }
      return output[place.upperBound...].range(of: Data(text.utf8)) != nil
    }
  }

  /// Waits until stderr holds a text.
  func complains(_ text: String, within seconds: Double = patience) throws {
    let bytes = Array(text.utf8)
    try require(seconds, "write “\(text)”") { Self.contains($0.errors, bytes) }
  }

  /// Waits until stdout has so many lines.
  func writes(lines count: Int, within seconds: Double = patience) throws {
    try require(seconds, "write \(count) lines") { $0.output.count { $0 == 0x0A } >= count }
  }

  private func require(_ seconds: Double, _ what: String, _ isSo: (Child) -> Bool) throws {
    guard wait(seconds, until: { isSo($0) || $0.status != nil && $0.open == 0 }),
      isSo(self)
    else { throw Failure("did not \(what): \(transcript)") }
  }

  private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    Data(bytes).range(of: Data(part)) != nil
  }

  func kill(_ signal: Int32) { process.signal(signal) }

  /// Writes a line to stdin.
  func tell(_ line: String) throws {
    guard isRunning else { throw Failure("has ended: \(transcript)") }
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  func closeInput() { try? input.fileHandleForWriting.close() }
}
