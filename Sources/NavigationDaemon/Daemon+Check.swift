import CurveKeys
import NavigationCore
package import RuntimePaths

extension Daemon {
  /// The variables that set nothing, and the users and groups of `[access]` that do not exist: a start
  /// gives them nothing.
  package static func warnings(about loaded: LoadedConfiguration) -> [ConfigurationError] {
    let access = loaded.configuration.access
    var warnings: [ConfigurationError] = []
    if let first = loaded.ignored.first {
      let more = loaded.ignored.count > 1 ? " and \(loaded.ignored.count - 1) more" : ""
      warnings.append(
        ConfigurationOrigin.variable(first).refusal(
          "this variable\(more) of a service of Kubernetes or Docker is no configuration; "
            + "enableServiceLinks: false keeps it away"))
    }
    func check(_ who: Configuration.Access.Who, _ name: String, line: Int) {
      guard let reason = AccessControl.warning(about: who) else { return }
      let origins = loaded.origins(of: "access", name)
      let origin = line < origins.count ? origins[line] : origins.last ?? .initial
      warnings.append(origin.refusal("[access] \(name): \(reason)"))
    }
    for (line, role) in access.roles.enumerated() {
      for who in role.members { check(who, "role", line: line) }
    }
    for (line, grant) in access.grants.enumerated() { check(grant.who, "grant", line: line) }
    for (line, gateways) in access.gateways.enumerated() {
      for who in gateways.members { check(who, "gateways", line: line) }
    }
    return warnings
  }

  /// The faults of values that refer to the machine, which would prevent a start.
  package static func faults(
    of loaded: LoadedConfiguration, rules: PathRules
  ) -> [ConfigurationError] {
    let configuration = loaded.configuration
    var faults: [ConfigurationError] = []
    func add(_ section: String, _ name: String, _ reason: String) {
      let origin = loaded.origins(of: section, name).last ?? .initial
      faults.append(origin.refusal("[\(section)] \(name): \(reason)"))
    }
    if let group = configuration.daemon.socketGroup, EndpointLock.groupID(named: group) == nil {
      add("daemon", "socket-group", "there is no group \(group)")
    }
    // systemd 252 hides credentials from the commands of a reload, which check too.
    let credentials = rules.environment["CREDENTIALS_DIRECTORY"]
    if credentials.map({ FileStatus.target(of: $0 + "/navd.key") == nil }) == true { return faults }
    let isNamed = configuration.access.secretKeyFile != nil
    let needsKey = isNamed || configuration.daemon.endpoints.contains { $0.hasPrefix("tcp:") }
    guard needsKey else { return faults }
    do throws(KeyError) {
      _ = try secretKey(configuration, rules)
    } catch {
      add(isNamed ? "access" : "daemon", isNamed ? "secret-key" : "listen", error.description)
    }
    return faults
  }
}
