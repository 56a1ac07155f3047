/// The origin of a value; a later case takes precedence over an earlier one.
package enum ConfigurationOrigin: Hashable, Sendable, CustomStringConvertible {
  /// The default.
  case initial
  /// A line of a file, from 1; the last of several files takes precedence.
  case file(String, line: Int)
  /// An environment variable.
  case variable(String)
  /// A command-line option, with its dashes.
  case option(String)

  /// The origin as text: "default", "FILE:LINE", "NAVD_LOG_LEVEL" or "--state".
  package var description: String {
    switch self {
    case .initial: "default"
    case .file(let file, let line): "\(file):\(line)"
    case .variable(let name), .option(let name): name
    }
  }

  /// Makes the fault for a refused value of this origin.
  func refusal(_ message: String) -> ConfigurationError {
    switch self {
    case .file(let file, let line): ConfigurationError(file: file, line: line, message: message)
    case .initial, .variable, .option:
      ConfigurationError(file: description, line: nil, message: message)
    }
  }
}
