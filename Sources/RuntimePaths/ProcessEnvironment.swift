import CLinux

/// The environment variables that the programs use, as a value.
///
/// An empty variable counts as unset, as the XDG base directory specification requires.
package struct ProcessEnvironment: Hashable, Sendable {
  /// The variables that `current()` reads by name; it also reads all that begin with `prefix`.
  ///
  /// Libraries such as libsystemd read others by themselves.
  package static let names = [
    "COLUMNS", "CREDENTIALS_DIRECTORY", "HOME", "INVOCATION_ID", "JOURNAL_STREAM", "LANG", "LC_ALL",
    "LC_CTYPE", "NAVD_BOOT_ID", "NAVD_ENDPOINT", "NAVD_KEY", "NAVD_NAV", "NAVD_SERVER_KEY",
    "NO_COLOR", "RUNTIME_DIRECTORY", "STATE_DIRECTORY", "TERM", "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
  ]

  /// The prefix of the project's own variables.
  package static let prefix = "NAVD_"

  private var variables: [String: String]

  /// Makes an environment from variables, for tests.
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
    // The list ends with a null pointer, and is valid until the process changes its environment.
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

  /// The names of the set variables that begin with `prefix`, in byte order.
  package var ownNames: [String] {
    variables.keys.filter { $0.hasPrefix(Self.prefix) }.sorted()
  }

  /// The value of a variable; nil if it is unset or empty.
  package subscript(name: String) -> String? { variables[name] }

  /// The first path of a variable that can contain several, separated by colons; nil if it is
  /// relative.
  ///
  /// systemd joins several directories with colons. The XDG specification requires that a relative
  /// path is ignored.
  package func absolutePath(_ name: String) -> String? {
    guard let first = self[name]?.split(separator: ":").first, first.hasPrefix("/") else {
      return nil
    }
    return String(first)
  }
}

/// The effective user id of this process.
package func effectiveUserID() -> UInt32 { geteuid() }
