import CLinux

/// The environment variables of a process.
///
/// The type omits empty variables, as the XDG base directory specification requires.
package struct ProcessEnvironment: Hashable, Sendable {
  /// The prefix of the names of navd's own variables.
  package static let prefix = "NAVD_"

  private var variables: [String: String]

  package init(_ variables: [String: String]) {
    self.variables = variables.filter { !$0.value.isEmpty }
  }

  package static func current() -> ProcessEnvironment {
    var variables: [String: String] = [:]
    // The list ends with a null pointer, and is valid until the process changes its environment.
    var next = unsafe navd_environment()
    while let entry = unsafe next?.pointee {
      let text = unsafe String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        // Of two with one name the first counts, as for getenv(3).
        let name = String(text[..<equals])
        variables[name] = variables[name] ?? String(text[text.index(after: equals)...])
      }
      unsafe next = unsafe next?.successor()
    }
    return ProcessEnvironment(variables)
  }

  /// The names of the set variables that begin with `prefix`, in byte order.
  package var navdVariableNames: [String] {
    variables.keys.filter { $0.hasPrefix(Self.prefix) }.sorted()
  }

  package subscript(name: String) -> String? { variables[name] }

  /// The first path in a variable; nil if it is relative.
  ///
  /// systemd joins several directories with colons. The XDG specification requires programs to
  /// ignore relative paths.
  package func absolutePath(_ name: String) -> String? {
    guard let first = self[name]?.split(separator: ":").first, first.hasPrefix("/") else {
      return nil
    }
    return String(first)
  }
}

package func effectiveUserID() -> UInt32 { geteuid() }
