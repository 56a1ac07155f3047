import NavigationCore
import RuntimePaths

/// A fault of a configuration, with its place.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file, or the name of the variable or option.
  var file: String
  /// The line, from 1; nil if the fault is not about one line.
  var line: Int?
  /// The found and the expected value.
  var message: String
  /// Whether the disk failed to read the file, so that nothing is known of its contents.
  var isFailedRead = false

  /// The fault as text, such as "FILE:LINE: [limits] depth = x: expected a whole number …".
  package var description: String {
    line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
  }

  var exitStatus: ExitStatus { isFailedRead ? .journalUnavailable : .configuration }
}

extension ConfigurationError {
  /// Makes the fault of a file or directory that cannot be read.
  fileprivate init(_ path: String, _ error: SystemError) {
    self.init(
      file: path, line: nil, message: error.reason, isFailedRead: error.isDiskFailure)
  }
}

extension Configuration {
  /// The size of the longest file that navd reads, in bytes.
  static let maximumFileBytes = 1 << 20

  /// Reads a file and its drop-ins, `FILE.d/*.conf` in the order of their bytes.
  ///
  /// A later line takes precedence over an earlier one. The first fault ends the reading.
  static func load(path: String) throws(ConfigurationError) -> Configuration {
    try ConfigurationSources(file: path).load().configuration
  }

  /// Reads one text as if it were a file.
  static func parse(_ text: String, file: String) throws(ConfigurationError)
    -> Configuration
  {
    var builder = ConfigurationBuilder()
    builder.add([UInt8](text.utf8), of: file)
    let (loaded, faults) = builder.finish()
    if let first = faults.first { throw first }
    return loaded.configuration
  }

  /// Reads a file and its drop-ins into a builder.
  static func read(_ path: String, into builder: inout ConfigurationBuilder) {
    let directory = path + ".d"
    var files = [path]
    do throws(SystemError) {
      files += try namesInDirectory(directory)
        .filter { $0.hasSuffix(".conf") && !$0.hasPrefix(".") }
        .map { "\(directory)/\($0)" }
    } catch {
      builder.refuse(ConfigurationError(directory, error))
    }
    for file in files {
      do throws(SystemError) {
        builder.add(try readSmallFile(file, maximumBytes: maximumFileBytes), of: file)
      } catch {
        builder.refuse(ConfigurationError(file, error))
      }
    }
  }
}
