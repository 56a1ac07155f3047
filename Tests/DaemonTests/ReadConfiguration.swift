@testable import NavigationDaemon

extension ConfigurationSources {
  /// Reads all sources; throws the first fault.
  func load() throws(ConfigurationError) -> LoadedConfiguration {
    let (loaded, faults) = examine()
    if let first = faults.first { throw first }
    return loaded
  }
}

extension Configuration {
  /// Reads a file and its drop-ins; throws the first fault.
  static func load(path: String) throws(ConfigurationError) -> Configuration {
    try ConfigurationSources(file: path).load().configuration
  }

  /// Reads one text as if it were a file; throws the first fault.
  static func parse(_ text: String, file: String) throws(ConfigurationError) -> Configuration {
    var builder = ConfigurationBuilder()
    builder.add([UInt8](text.utf8), of: file)
    let (loaded, faults) = builder.finish()
    if let first = faults.first { throw first }
    return loaded.configuration
  }
}
