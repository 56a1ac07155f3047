import RuntimePaths

/// The configuration in use, and all that it takes to read another one.
struct ServingConfiguration {
  /// The configuration in use.
  private(set) var current: Configuration
  private let sources: ConfigurationSources
  private let rules: PathRules
  /// The configuration that the daemon was started with.
  private let first: Configuration
  /// The text that the service manager was given after the start.
  let status: String

  /// Begins with the configuration of the start.
  init(
    _ configuration: Configuration, from sources: ConfigurationSources, rules: PathRules,
    status: String
  ) {
    (current, first) = (configuration, configuration)
    self.sources = sources
    self.rules = rules
    self.status = status
  }

  /// Another configuration, with its names looked up.
  struct Candidate {
    var configuration: Configuration
    var access: AccessControl
  }

  /// Why the configuration in use stays.
  struct Refusal: Error {
    /// The first reason.
    var reason: String
    /// The other faults.
    var others: [String] = []
  }

  /// Reads the sources again.
  ///
  /// - Throws: the reasons against what they say now.
  func examine() throws(Refusal) -> Candidate {
    let (loaded, faults) = sources.examine()
    let new = loaded.configuration
    try check(new, faults)
    do throws(DaemonError) {
      return Candidate(
        configuration: new, access: try AccessControl(new.access, daemonUser: rules.userID))
    } catch {
      throw Refusal(reason: error.description)
    }
  }

  /// Decides whether a configuration can replace the one in use.
  ///
  /// - Parameters:
  ///   - new: the configuration.
  ///   - faults: the faults of its sources.
  /// - Throws: the reasons against it.
  func check(_ new: Configuration, _ faults: [ConfigurationError]) throws(Refusal) {
    if let first = faults.first {
      throw Refusal(
        reason: first.description, others: faults.dropFirst().map(\.description))
    }
    if let reason = current.reasonAgainstReload(new, startedWith: first) {
      throw Refusal(reason: reason)
    }
  }

  /// Makes a configuration the one in use.
  mutating func use(_ configuration: Configuration) { current = configuration }
}
