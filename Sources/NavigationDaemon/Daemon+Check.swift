import CurveKeys

extension Daemon {
  /// Checks the users, the groups and the secret key that a configuration names; returns all faults
  /// that would prevent a start.
  package static func faults(of loaded: LoadedConfiguration) -> [ConfigurationError] {
    let access = loaded.configuration.access
    var faults: [ConfigurationError] = []
    func check(_ who: Configuration.Access.Who, _ name: String, line: Int) {
      guard let reason = AccessControl.reasonUnknown(who) else { return }
      let origins = loaded.origins(of: "access", name)
      let origin = line < origins.count ? origins[line] : origins.last ?? .initial
      faults.append(origin.refusal("[access] \(name): \(reason)"))
    }
    for (line, role) in access.roles.enumerated() {
      for who in role.members { check(who, "role", line: line) }
    }
    for (line, grant) in access.grants.enumerated() { check(grant.who, "grant", line: line) }
    for (line, gateways) in access.gateways.enumerated() {
      for who in gateways.members { check(who, "gateways", line: line) }
    }
    guard let path = access.secretKeyFile else { return faults }
    do throws(KeyError) {
      _ = try SecretKeyFile.read(path)
    } catch {
      let origin = loaded.origins(of: "access", "secret-key").last ?? .initial
      faults.append(origin.refusal("[access] secret-key: \(error.description)"))
    }
    return faults
  }
}
