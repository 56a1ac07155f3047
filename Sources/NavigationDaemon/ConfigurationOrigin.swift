/// Where a value of the configuration comes from; a later case goes before an earlier one.
package enum ConfigurationOrigin: Hashable, Sendable, CustomStringConvertible {
  /// Nobody has decided it.
  case initial
  /// A line of a file, from 1; of several files the last one counts.
  case file(String, line: Int)
  /// A variable of the environment.
  case variable(String)
  /// An option of the command line, with its dashes.
  case option(String)

  /// As a person would look for it: "default", "FILE:LINE", "NAVD_LOG_LEVEL", "--state".
  package var description: String {
    switch self {
    case .initial: "default"
    case .file(let file, let line): "\(file):\(line)"
    case .variable(let name), .option(let name): name
    }
  }

  /// The error that a value from here is refused with.
  func refusal(_ message: String) -> ConfigurationError {
    switch self {
    case .file(let file, let line): ConfigurationError(file: file, line: line, message: message)
    case .initial, .variable, .option:
      ConfigurationError(file: description, line: nil, message: message)
    }
  }
}
