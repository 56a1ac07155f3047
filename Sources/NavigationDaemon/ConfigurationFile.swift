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
  fileprivate init(_ path: String, _ error: SystemError) {
    self.init(
      file: path, line: nil, message: error.reason, isFailedRead: error.isDiskFailure)
  }
}

extension Configuration {
  /// Reads a file and its drop-ins, `FILE.d/*.conf` in the order of their bytes, into a builder.
  ///
  /// A later line takes precedence over an earlier one.
  static func read(_ path: String, into builder: inout ConfigurationBuilder) {
    let directory = path + ".d"
    var files = [path]
    do throws(SystemError) {
      files += try namesInDirectory(directory)
        .filter { $0.hasSuffix(".conf") && !$0.hasPrefix(".") }
        .map { "\(directory)/\($0)" }
    } catch {
      builder.addFault(ConfigurationError(directory, error))
    }
    for file in files {
      do throws(SystemError) {
        builder.add(try readSmallFile(file), of: file)
      } catch {
        builder.addFault(ConfigurationError(file, error))
      }
    }
  }
}
