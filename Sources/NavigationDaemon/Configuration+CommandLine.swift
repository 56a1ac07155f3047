extension Configuration {
  /// Puts what the command line says in the place of what the file says.
  ///
  /// - Throws: which option is refused, as if it stood in a file of its name.
  package mutating func override(
    endpoints: [String], state: String?, durability: String?
  ) throws(ConfigurationError) {
    if !endpoints.isEmpty {
      var text = "[daemon]\n"
      for endpoint in endpoints { text += "listen = \(endpoint)\n" }
      daemon.endpoints = try Configuration.parse(text, file: "--listen").daemon.endpoints
    }
    if let state {
      let parsed = try Configuration.parse("[daemon]\nstate = \(state)\n", file: "--state")
      daemon.stateDirectory = parsed.daemon.stateDirectory
    }
    if let durability {
      let text = "[daemon]\ndurability = \(durability)\n"
      daemon.durability = try Configuration.parse(text, file: "--durability").daemon.durability
    }
  }
}
