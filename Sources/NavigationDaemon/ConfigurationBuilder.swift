/// A configuration in the making: takes assignments and remembers where each came from.
struct ConfigurationBuilder {
  private var configuration = Configuration()
  /// By "SECTION.NAME", one for each line that the value is made of.
  private var origins: [String: [ConfigurationOrigin]] = [:]

  /// Takes the contents of a file.
  mutating func add(_ contents: [UInt8], of file: String) throws(ConfigurationError) {
    let (assignments, problem) = readAssignments(contents)
    for assignment in assignments { try apply(assignment, .file(file, line: assignment.line)) }
    if let problem {
      throw ConfigurationError(file: file, line: problem.line, message: problem.message)
    }
  }

  /// Takes values that go before what files say, by the same rules as if they stood in a file.
  ///
  /// Those of a key that may be repeated replace what was said of it before.
  mutating func override(
    _ section: String, _ name: String, with values: [String], from origin: ConfigurationOrigin
  ) throws(ConfigurationError) {
    var lines = values
    if ConfigurationKey.find(section, name)?.isRepeatable == true { lines.insert("", at: 0) }
    for line in lines {
      try apply(try Self.assignment(section, name, line, origin), origin)
    }
  }

  /// Reads a value as a file's reader would, which must find in it what was meant.
  private static func assignment(
    _ section: String, _ name: String, _ value: String, _ origin: ConfigurationOrigin
  ) throws(ConfigurationError) -> ConfigurationAssignment {
    let value = trimmed(value)
    let refusal = origin.refusal(
      "[\(section)] \(name) = \(value): expected one line, without a ; behind a space")
    guard !value.contains(where: \.isNewline) else { throw refusal }
    let (found, problem) = readAssignments([UInt8]("[\(section)]\n\(name) = \(value)".utf8))
    if let problem { throw origin.refusal(problem.message) }
    guard found.count == 1, found[0].section == section, found[0].name == name,
      found[0].value == value
    else { throw refusal }
    return found[0]
  }

  private static func trimmed(_ text: String) -> String {
    let rest = text.drop { $0.isWhitespace }
    guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(rest[...last])
  }

  /// The configuration, if its values go together.
  func finish() throws(ConfigurationError) -> LoadedConfiguration {
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
      let place = origins["limits." + smaller]?.last ?? origins["limits." + larger]?.last
      throw (place ?? .initial).refusal(
        "[limits] \(smaller) is \(low), \(larger) is \(high): \(smaller) must not be "
          + "larger than \(larger)")
    }
    return LoadedConfiguration(configuration: configuration, origins: origins)
  }

  private mutating func apply(
    _ assignment: ConfigurationAssignment, _ origin: ConfigurationOrigin
  ) throws(ConfigurationError) {
    let (section, name, value) = (assignment.section, assignment.name, assignment.value)
    if section == ConfigurationKey.classesSection { return try declare(assignment, origin) }
    guard let key = ConfigurationKey.find(section, name) else {
      throw origin.refusal(Self.unknown(section, name))
    }
    let before = key.values(in: configuration)
    if let expected = key.store(value, in: &configuration) {
      let found = value.isEmpty ? "is empty" : "= \(value)"
      throw origin.refusal("[\(section)] \(name) \(found): expected \(expected)")
    }
    note(origin, of: "\(section).\(name)", key, before)
  }

  /// Notes where the lines come from that a key's value has now.
  private mutating func note(
    _ origin: ConfigurationOrigin, of name: String, _ key: ConfigurationKey, _ before: [String]
  ) {
    let after = key.values(in: configuration)
    let isLonger = key.isRepeatable && !after.isEmpty && after.starts(with: before)
    let kept = isLonger ? before.count : 0
    let former = origins[name, default: []].prefix(kept)
    // An empty list has an origin too.
    let added = max(after.count, 1) - kept
    origins[name] = former + Array(repeating: origin, count: max(added, 0))
  }

  /// Takes `Name = NavigationBar` or `Name = Toolbar`.
  private mutating func declare(
    _ assignment: ConfigurationAssignment, _ origin: ConfigurationOrigin
  ) throws(ConfigurationError) {
    let bases = Configuration.BaseClass.allCases.map(\.rawValue)
    guard !bases.contains(assignment.name) else {
      throw origin.refusal("[classes] \(assignment.name): this name is taken by the class itself")
    }
    guard let base = Configuration.BaseClass(rawValue: assignment.value) else {
      throw origin.refusal(
        "[classes] \(assignment.name) = \(assignment.value): expected "
          + bases.joined(separator: " or "))
    }
    let declared = Configuration.DeclaredClass(name: assignment.name, base: base)
    configuration.classes.removeAll { $0.name == declared.name }
    configuration.classes.append(declared)
    origins["\(ConfigurationKey.classesSection).\(declared.name)"] = [origin]
  }

  static func unknown(_ section: String, _ name: String) -> String {
    if section.isEmpty { return "\(name) stands before the first section" }
    guard ConfigurationKey.sections.contains(section) else {
      return "there is no section [\(section)]: expected "
        + ConfigurationKey.sections.map { "[\($0)]" }.joined(separator: " ")
    }
    let names = ConfigurationKey.all.filter { $0.section == section }.map(\.name)
    return "[\(section)] has no key \(name): expected " + names.joined(separator: ", ")
  }
}
