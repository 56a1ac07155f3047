import CurveKeys

extension Daemon {
  /// The users and groups of `[access]` that do not exist: a start gives them nothing.
  package static func warnings(about loaded: LoadedConfiguration) -> [ConfigurationError] {
    let access = loaded.configuration.access
    var warnings: [ConfigurationError] = []
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

  /// The fault of the secret key that a configuration names, which would prevent a start.
  package static func fault(of loaded: LoadedConfiguration) -> ConfigurationError? {
    guard let path = loaded.configuration.access.secretKeyFile else { return nil }
    do throws(KeyError) {
      _ = try SecretKeyFile.read(path)
      return nil
    } catch {
      let origin = loaded.origins(of: "access", "secret-key").last ?? .initial
      return origin.refusal("[access] secret-key: \(error.description)")
    }
  }
}
