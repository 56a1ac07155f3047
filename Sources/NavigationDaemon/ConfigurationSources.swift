import NavigationCore
import RuntimePaths

/// The sources of a configuration, in ascending order of precedence.
struct ConfigurationSources: Sendable {
  /// The command-line options that set the key of `[daemon]` with the same name.
  static let optionNames = ["listen", "state", "durability"]

  /// The file, nil for none; its drop-ins are `FILE.d/*.conf` in byte order.
  var file: String?
  /// The environment, with variables such as `NAVD_LIMITS_DEPTH`.
  var environment = ProcessEnvironment([:])
  /// The options with their values in the order of the command line.
  var options: [(name: String, values: [String])] = []

  /// Reads all sources, and continues after faults; returns the accepted values and all faults.
  func examine() -> (loaded: LoadedConfiguration, faults: [ConfigurationError]) {
    var builder = ConfigurationBuilder()
    if let file { Configuration.read(file, into: &builder) }
    for name in environment.navdVariableNames {
      guard let value = environment[name] else { continue }
      if Self.isServiceLink(name, value) {
        builder.ignoredVariables.append(name)
        continue
      }
      do throws(ConfigurationError) {
        guard let (section, key) = try Self.key(of: name) else { continue }
        // For a key that can be repeated, each line of the variable is one value.
        let isRepeatable = ConfigurationKey.find(section, key)?.isRepeatable == true
        let lines = value.split(separator: "\n").map(String.init)
        builder.override(section, key, with: isRepeatable ? lines : [value], from: .variable(name))
      } catch {
        builder.addFault(error)
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

  /// Whether kubelet or a link of Docker made a variable for a service whose name begins like navd's,
  /// for example `NAVD_CLUSTER_PORT`.
  private static func isServiceLink(_ variable: String, _ value: String) -> Bool {
    let isOwn = ConfigurationKey.sections.contains {
      variable.hasPrefix("\(ProcessEnvironment.prefix)\($0.uppercased())_")
    }
    guard isOwn, Configuration.BaseClass(rawValue: value) == nil,
      !ConfigurationKey.all.contains(where: { $0.environmentVariable == variable })
    else { return false }
    let marks = variable.contains("_PORT_") ? ["_TCP", "_UDP", "_SCTP"] : []
    return (marks + ["_SERVICE_PORT", "_ENV_"]).contains { variable.contains($0) }
      || variable.hasSuffix("_SERVICE_HOST")
      || variable.hasSuffix("_PORT") && value.contains("://")
      || variable.hasSuffix("_NAME") && value.hasPrefix("/")
  }

  /// The section and the key that a variable sets; nil if the variable sets none.
  private static func key(
    of variable: String
  ) throws(ConfigurationError) -> (section: String, key: String)? {
    if let key = ConfigurationKey.all.first(where: { $0.environmentVariable == variable }) {
      return (key.section, key.name)
    }
    for section in ConfigurationKey.sections {
      let prefix = "\(ProcessEnvironment.prefix)\(section.uppercased())_"
      guard variable.hasPrefix(prefix) else { continue }
      let name = String(variable.dropFirst(prefix.count))
      // Class names are case-sensitive, so the variable has the exact name.
      if section == ConfigurationKey.classesSection { return (section, name) }
      let spelled = String(name.lowercased().map { $0 == "_" ? "-" : $0 })
      throw ConfigurationOrigin.variable(variable).refusal(
        ConfigurationBuilder.unknownKeyMessage(section, spelled))
    }
    return nil
  }
}
