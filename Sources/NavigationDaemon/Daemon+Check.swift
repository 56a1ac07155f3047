import CurveKeys
package import RuntimePaths

extension Daemon {
  /// Looks at what a configuration names besides its own text: users, groups, the secret key.
  ///
  /// - Throws: what would keep the daemon from starting.
  package static func check(_ configuration: Configuration, rules: PathRules) throws {
    _ = try AccessControl(configuration.access, daemonUser: rules.userID)
    guard let path = configuration.access.secretKeyFile else { return }
    do throws(KeyError) {
      _ = try SecretKeyFile.read(path)
    } catch {
      throw DaemonError.configuration(
        ConfigurationError(file: "[access] secret-key", line: nil, message: error.description))
    }
  }
}
