import RuntimePaths

/// Why a configuration was refused, and where.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file.
  package var file: String
  /// The line, from 1; `nil` when it is the file as a whole.
  package var line: Int?
  /// What was found and what was expected.
  package var message: String

  /// "FILE:LINE: what was found, what was expected".
  package var description: String {
    line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
  }

  /// The status navd ends with.
  package var exitStatus: ExitStatus { .configuration }
}

extension Configuration {
  /// The longest file that is read, in bytes.
  package static let maximumFileBytes = 1 << 20

  /// Reads a file and its drop-ins, `FILE.d/*.conf` in the order of their bytes.
  ///
  /// A later line wins over an earlier one. The first error ends it.
  package static func load(path: String) throws(ConfigurationError) -> Configuration {
    var builder = ConfigurationBuilder()
    for file in try [path] + dropIns(of: path) {
      do throws(SystemError) {
        builder.begin(file: file)
        try builder.add(readSmallFile(file, maximumBytes: maximumFileBytes))
      } catch {
        throw ConfigurationError(file: file, line: nil, message: error.description)
      }
      if let error = builder.error { throw error }
    }
    return try builder.finish()
  }

  /// Reads one text as if it were a file.
  package static func parse(_ text: String, file: String) throws(ConfigurationError)
    -> Configuration
  {
    var builder = ConfigurationBuilder()
    builder.begin(file: file)
    builder.add([UInt8](text.utf8))
    if let error = builder.error { throw error }
    return try builder.finish()
  }

  private static func dropIns(of path: String) throws(ConfigurationError) -> [String] {
    let directory = path + ".d"
    do throws(SystemError) {
      return try namesInDirectory(directory)
        .filter { $0.hasSuffix(".conf") && !$0.hasPrefix(".") }
        .map { "\(directory)/\($0)" }
    } catch {
      throw ConfigurationError(file: directory, line: nil, message: error.description)
    }
  }
}

/// A configuration in the making: takes assignments and remembers where each came from.
struct ConfigurationBuilder {
  private(set) var error: ConfigurationError?
  private var configuration = Configuration()
  private var file = ""
  private var origins: [String: (file: String, line: Int)] = [:]

  mutating func begin(file: String) { self.file = file }

  /// Reads the contents of the file that was begun.
  mutating func add(_ contents: [UInt8]) {
    let (assignments, problem) = readAssignments(contents)
    for assignment in assignments where error == nil { apply(assignment) }
    if error == nil, let problem { refuse(problem.line, problem.message) }
  }

  /// The configuration, if its values go together.
  func finish() throws(ConfigurationError) -> Configuration {
    let limits = configuration.limits
    let ordered: [(smaller: String, Int, larger: String, Int)] = [
      ("inflight", limits.inflightOperations, "remembered-ops", limits.rememberedOperations),
      (
        "connections-per-principal", limits.connectionsPerPrincipal, "connections",
        limits.connections
      ),
      (
        "remembered-clients-per-principal", limits.rememberedClientsPerPrincipal,
        "remembered-clients", limits.rememberedClients
      ),
      ("resume-bytes", limits.resumeBytes, "resume-total-bytes", limits.resumeTotalBytes),
    ]
    for (smaller, low, larger, high) in ordered where low > high {
      let place = origins["limits." + smaller] ?? origins["limits." + larger]
      throw ConfigurationError(
        file: place?.file ?? file, line: place?.line,
        message: "[limits] \(smaller) is \(low), \(larger) is \(high): \(smaller) must not be "
          + "larger than \(larger)")
    }
    return configuration
  }

  private mutating func apply(_ assignment: ConfigurationAssignment) {
    let (section, name, value) = (assignment.section, assignment.name, assignment.value)
    if section == ConfigurationKey.classesSection { return declare(assignment) }
    guard let key = ConfigurationKey.find(section, name) else {
      return refuse(assignment.line, Self.unknown(section, name))
    }
    if let expected = key.store(value, in: &configuration) {
      let found = value.isEmpty ? "is empty" : "= \(value)"
      return refuse(assignment.line, "[\(section)] \(name) \(found): expected \(expected)")
    }
    origins["\(section).\(name)"] = (file, assignment.line)
  }

  /// Takes `Name = NavigationBar` or `Name = Toolbar`.
  private mutating func declare(_ assignment: ConfigurationAssignment) {
    let bases = Configuration.BaseClass.allCases.map(\.rawValue)
    guard !bases.contains(assignment.name) else {
      return refuse(
        assignment.line, "[classes] \(assignment.name): this name is taken by the class itself")
    }
    guard let base = Configuration.BaseClass(rawValue: assignment.value) else {
      return refuse(
        assignment.line,
        "[classes] \(assignment.name) = \(assignment.value): expected "
          + bases.joined(separator: " or "))
    }
    let declared = Configuration.DeclaredClass(name: assignment.name, base: base)
    configuration.classes.removeAll { $0.name == declared.name }
    configuration.classes.append(declared)
  }

  private mutating func refuse(_ line: Int, _ message: String) {
    error = ConfigurationError(file: file, line: line, message: message)
  }

  private static func unknown(_ section: String, _ name: String) -> String {
    if section.isEmpty { return "\(name) stands before the first section" }
    guard ConfigurationKey.sections.contains(section) else {
      return "there is no section [\(section)]: expected "
        + ConfigurationKey.sections.map { "[\($0)]" }.joined(separator: " ")
    }
    let names = ConfigurationKey.all.filter { $0.section == section }.map(\.name)
    return "[\(section)] has no key \(name): expected " + names.joined(separator: ", ")
  }
}
