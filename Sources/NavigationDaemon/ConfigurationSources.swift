package import RuntimePaths

/// Everything that a configuration is made of; each goes before those above it.
package struct ConfigurationSources: Hashable, Sendable {
  /// What an option of the command line decides.
  package struct Option: Hashable, Sendable {
    /// The option's name without dashes, which is also the name of the key in `[daemon]`.
    package var name: String
    /// Its values, in the order given.
    package var values: [String]

    /// Makes an option from its members.
    package init(name: String, values: [String]) {
      self.name = name
      self.values = values
    }
  }

  /// The options that decide a key of `[daemon]`.
  package static let optionNames = ["listen", "state", "durability"]

  /// The file, nil for none; its drop-ins are `FILE.d/*.conf` in the order of their bytes.
  package var file: String?
  /// The environment, of which `NAVD_SECTION_KEY` counts.
  package var environment: ProcessEnvironment
  /// The options that were given.
  package var options: [Option]

  /// Makes sources from their members.
  package init(
    file: String? = nil, environment: ProcessEnvironment = ProcessEnvironment([:]),
    options: [Option] = []
  ) {
    self.file = file
    self.environment = environment
    self.options = options
  }

  /// Reads everything.
  ///
  /// - Throws: the first fault.
  package func load() throws(ConfigurationError) -> LoadedConfiguration {
    let (loaded, faults) = examine()
    if let first = faults.first { throw first }
    return loaded
  }

  /// Reads everything, and goes on behind what is refused.
  ///
  /// - Returns: what the values are that were not refused, and every fault.
  package func examine() -> (loaded: LoadedConfiguration, faults: [ConfigurationError]) {
    var builder = ConfigurationBuilder()
    if let file { Configuration.read(file, into: &builder) }
    for name in environment.ownNames {
      guard let value = environment[name] else { continue }
      do throws(ConfigurationError) {
        guard let (section, key) = try Self.key(of: name) else { continue }
        // Of a key that may be repeated, each line of the variable is one value.
        let isRepeatable = ConfigurationKey.find(section, key)?.isRepeatable == true
        let lines = value.split(separator: "\n").map(String.init)
        builder.override(section, key, with: isRepeatable ? lines : [value], from: .variable(name))
      } catch {
        builder.refuse(error)
      }
    }
    for option in options {
      let isRepeatable = ConfigurationKey.find("daemon", option.name)?.isRepeatable == true
      let values = isRepeatable ? option.values : option.values.suffix(1)
      if values.isEmpty { continue }
      builder.override("daemon", option.name, with: values, from: .option("--" + option.name))
    }
    return builder.finish()
  }

  /// The section and the key that a variable decides, nil for one that is no configuration.
  private static func key(
    of variable: String
  ) throws(ConfigurationError) -> (section: String, key: String)? {
    if let key = ConfigurationKey.all.first(where: { $0.variable == variable }) {
      return (key.section, key.name)
    }
    for section in ConfigurationKey.sections {
      let prefix = "\(ProcessEnvironment.prefix)\(section.uppercased())_"
      guard variable.hasPrefix(prefix) else { continue }
      let name = String(variable.dropFirst(prefix.count))
      // The name of a class is the administrator's, and stands there as it is.
      if section == ConfigurationKey.classesSection { return (section, name) }
      let spelled = String(name.lowercased().map { $0 == "_" ? "-" : $0 })
      throw ConfigurationOrigin.variable(variable).refusal(
        ConfigurationBuilder.unknown(section, spelled))
    }
    return nil
  }
}
