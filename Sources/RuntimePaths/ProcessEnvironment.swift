import CLinux

/// The environment variables a process of ours looks at, as a value.
///
/// An empty variable counts as unset, as the XDG base directory specification asks.
package struct ProcessEnvironment: Hashable, Sendable {
  /// The names that `current()` reads, beside those that begin with `prefix`; no other variable
  /// changes what we do.
  package static let names = [
    "COLUMNS", "CREDENTIALS_DIRECTORY", "HOME", "INVOCATION_ID", "JOURNAL_STREAM", "NAVD_BOOT_ID",
    "NAVD_ENDPOINT", "NAVD_KEY",
    "NAVD_NAV", "NAVD_SERVER_KEY",
    "NO_COLOR", "RUNTIME_DIRECTORY", "STATE_DIRECTORY", "TERM", "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
  ]

  /// What the names of our own variables begin with.
  package static let prefix = "NAVD_"

  private var variables: [String: String]

  /// Makes an environment from given variables, for tests.
  package init(_ variables: [String: String]) {
    self.variables = variables.filter { !$0.value.isEmpty }
  }

  /// Reads the variables of this process.
  package static func current() -> ProcessEnvironment {
    var variables: [String: String] = [:]
    for name in names {
      if let value = unsafe getenv(name) {
        variables[name] = unsafe String(cString: value)
      }
    }
    // The list ends with a null pointer, and lives as long as nobody changes it.
    var next = unsafe navd_environment()
    while let entry = unsafe next?.pointee {
      let text = unsafe String(cString: entry)
      if text.hasPrefix(prefix), let equals = text.firstIndex(of: "=") {
        variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      unsafe next = unsafe next?.successor()
    }
    return ProcessEnvironment(variables)
  }

  /// The names of our own variables that are set, in the order of their bytes.
  package var ownNames: [String] {
    variables.keys.filter { $0.hasPrefix(Self.prefix) }.sorted()
  }

  /// The value of a variable, `nil` when it is unset or empty.
  package subscript(name: String) -> String? { variables[name] }

  /// The first absolute path in a variable that may hold several, separated by colons.
  ///
  /// systemd joins several directories with colons; a relative path is ignored, as the XDG
  /// specification asks.
  package func absolutePath(_ name: String) -> String? {
    guard let first = self[name]?.split(separator: ":").first, first.hasPrefix("/") else {
      return nil
    }
    return String(first)
  }
}

/// The user this process acts as.
package func effectiveUserID() -> UInt32 { geteuid() }
