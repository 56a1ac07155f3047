import Foundation

/// What a program that has ended left behind.
public struct ChildOutput: Sendable {
  /// Its exit status, or 128 and the signal that ended it.
  public let status: Int32
  /// What it printed.
  public let text: String

  /// Runs a program to its end.
  /// - Parameters:
  ///   - path: the file of the program; `PATH` is not searched.
  ///   - arguments: what follows the name of the program.
  ///   - environment: all of its variables; those of this process when nil.
  ///   - withErrors: whether its standard error is kept too, in its place between what it prints;
  ///     otherwise it goes to that of this process.
  /// - Throws: `ChildProcess.StartError`, or what reading throws.
  public init(
    of path: String, _ arguments: [String] = [], environment: [String: String]? = nil,
    withErrors: Bool = false
  ) throws {
    let pipe = Pipe()
    let writing = ChildProcess.Stream.descriptor(pipe.fileHandleForWriting.fileDescriptor)
    let child = try ChildProcess(
      path, arguments, environment: environment, output: writing,
      errors: withErrors ? writing : .inherited)
    defer { child.awaitEnd() }
    // Ours would keep it open for ever.
    try pipe.fileHandleForWriting.close()
    let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
    text = String(decoding: bytes, as: UTF8.self)
    status = child.awaitEnd()
  }
}
