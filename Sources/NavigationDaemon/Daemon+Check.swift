import ZeroMQ
import NavigationCore
import RuntimePaths

extension Daemon {
  /// The warnings about ignored environment variables, and about users and groups of `[access]`
  /// that do not exist.
  static func warnings(about loaded: LoadedConfiguration) -> [ConfigurationError] {
    let access = loaded.configuration.access
    var warnings: [ConfigurationError] = []
    if let first = loaded.ignoredVariables.first {
      let others = loaded.ignoredVariables.count - 1
      let more = others > 0 ? " and \(others) more" : ""
      warnings.append(
        ConfigurationOrigin.variable(first).refusal(
          "this variable\(more) of a service of Kubernetes or Docker is no configuration; "
            + "enableServiceLinks: false keeps it away"))
    }
    func check(_ who: Configuration.Access.Who, _ name: String, line: Int) {
      guard let reason = AccessControl.warning(about: who) else { return }
      warnings.append(loaded.refusal("access", name, reason, line: line))
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

  /// The faults of paths below the private /tmp of the service (`PrivateTmp=`), which systemd
  /// removes with all its files when the service stops.
  ///
  /// `mounts` has the form of /proc/self/mountinfo.
  static func temporaryPathFaults(
    in loaded: LoadedConfiguration, mounts: String? = nil
  ) -> [ConfigurationError] {
    let table = mounts ?? (try? readSmallText("/proc/self/mountinfo")) ?? ""
    // For example: 36 35 98:0 /tmp/systemd-private-…/tmp /tmp rw shared:1 - ext4 /dev/sda1 rw
    let temporary = table.split(separator: "\n").compactMap { line -> String? in
      let words = line.split(separator: " ")
      return words.count > 4 && words[3].contains("/systemd-private-") ? "\(words[4])/" : nil
    }
    guard !temporary.isEmpty else { return [] }
    let configuration = loaded.configuration
    let paths = [
      ("backup", "directory", configuration.backup.directory),
      ("daemon", "state", configuration.daemon.stateDirectory),
      ("daemon", "witness", configuration.daemon.witnessPath),
    ]
    return paths.compactMap { section, name, path in
      guard let path, temporary.contains(where: resolvedPath(path).hasPrefix) else { return nil }
      return loaded.refusal(
        section, name,
        "\(path) is a file of this service alone (PrivateTmp=), which systemd removes when the "
          + "service stops; name another place")
    }
  }

  /// The faults that would prevent a start on this machine, such as a missing group or an
  /// unreadable secret key.
  static func faults(
    of loaded: LoadedConfiguration, rules: PathRules
  ) -> [ConfigurationError] {
    let configuration = loaded.configuration
    var faults = temporaryPathFaults(in: loaded)
    if let group = configuration.daemon.socketGroup, EndpointLock.groupID(named: group) == nil {
      faults.append(loaded.refusal("daemon", "socket-group", "there is no group \(group)"))
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
      let (section, name) = isNamed ? ("access", "secret-key") : ("daemon", "listen")
      var fault = loaded.refusal(section, name, error.description)
      fault.isFailedRead = error.isFailedRead
      faults.append(fault)
    }
    return faults
  }
}
