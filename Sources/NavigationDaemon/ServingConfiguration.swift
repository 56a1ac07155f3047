import RuntimePaths

/// The configuration in use, and the sources from which a reload reads the next one.
struct ServingConfiguration {
  var current: Configuration { loaded.configuration }
  var loaded: LoadedConfiguration
  private let sources: ConfigurationSources
  private let rules: PathRules
  /// The configuration at the start of the daemon.
  private let startConfiguration: Configuration
  /// The status text that the service manager got at the start.
  var startStatus = ""

  init(_ configuration: Configuration, from sources: ConfigurationSources, rules: PathRules) {
    // The sources may have changed since the start read them; the values are those in use.
    var loaded = sources.examine().loaded
    loaded.configuration = configuration
    self.loaded = loaded
    startConfiguration = configuration
    self.sources = sources
    self.rules = rules
  }

  /// The reasons why the configuration in use stays.
  struct Refusal: Error {
    var reason: String
    var otherReasons: [String] = []
  }

  /// Reads the sources again, and looks names up; throws the reasons why they cannot be applied.
  func examine() throws(Refusal) -> (loaded: LoadedConfiguration, access: AccessControl) {
    let (loaded, faults) = sources.examine()
    let new = loaded.configuration
    try check(new, faults + Daemon.temporaryPathFaults(in: loaded))
    return (
      loaded, AccessControl(new.access, daemonUser: rules.userID, host: new.cluster.userHost)
    )
  }

  /// Throws the reasons why a configuration cannot replace the one in use.
  func check(_ new: Configuration, _ faults: [ConfigurationError]) throws(Refusal) {
    if let first = faults.first {
      throw Refusal(
        reason: first.description, otherReasons: faults.dropFirst().map(\.description))
    }
    if let reason = current.reasonAgainstReload(new, startedWith: startConfiguration) {
      throw Refusal(reason: reason)
    }
  }

  var valuesAsJSON: [UInt8] { loaded.json(rules) }
}
