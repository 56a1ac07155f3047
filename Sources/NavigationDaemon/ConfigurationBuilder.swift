import NavigationCore

/// Builds a configuration from assignments, and records the origin of each value.
///
/// A wrong assignment changes nothing. The builder records it as a fault and continues.
struct ConfigurationBuilder {
  private var configuration = Configuration()
  /// The faults, file by file in the order of lines.
  private var faults: [ConfigurationError] = []
  /// The keys with a refused value, as "SECTION.NAME".
  private var refusedKeys: Set<String> = []
  /// The origins of each value, by "SECTION.NAME": one for each line that contributes to it.
  private var origins: [Text: [ConfigurationOrigin]] = [:]
  /// The environment variables that navd ignores, because an orchestrator of containers made them.
  var ignoredVariables: [String] = []

  mutating func add(_ contents: [UInt8], of file: String) {
    var (assignments, found) = readAssignments(contents, of: file)
    // An unknown section is one fault, however many lines it has.
    var unknown: Set<String> = []
    for assignment in assignments where !unknown.contains(assignment.section) {
      do throws(ConfigurationError) {
        try apply(assignment, .file(file, line: assignment.line))
      } catch {
        found.append(error)
        refusedKeys.insert("\(assignment.section).\(assignment.name)")
        if !ConfigurationKey.sections.contains(assignment.section) {
          unknown.insert(assignment.section)
        }
      }
    }
    faults += found.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
  }

  mutating func addFault(_ fault: ConfigurationError) { faults.append(fault) }

  /// Applies values that take precedence over files, with the same checks as a line of a file.
  ///
  /// For a key that can be repeated, they replace all lines before.
  mutating func override(
    _ section: String, _ name: String, with values: [String], from origin: ConfigurationOrigin
  ) {
    var lines = values
    if ConfigurationKey.find(section, name)?.isRepeatable == true { lines.insert("", at: 0) }
    for line in lines {
      do throws(ConfigurationError) {
        try apply(try Self.assignment(section, name, line, origin), origin)
      } catch {
        faults.append(error)
        refusedKeys.insert("\(section).\(name)")
      }
    }
  }

  /// Parses a value as a line of a file, and refuses it unless the line has this value alone.
  ///
  /// A line break or a comment in the value of a variable would otherwise change its meaning.
  private static func assignment(
    _ section: String, _ name: String, _ value: String, _ origin: ConfigurationOrigin
  ) throws(ConfigurationError) -> ConfigurationAssignment {
    let value = trimmed(value)
    let refusal = origin.refusal(
      "[\(section)] \(name) = \(value): expected one line, without a ; behind a space")
    guard !value.contains(where: \.isNewline) else { throw refusal }
    let (found, problems) = readAssignments(
      [UInt8]("[\(section)]\n\(name) = \(value)".utf8), of: "")
    if let problem = problems.first { throw origin.refusal(problem.message) }
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

  /// Returns the configuration and all faults, after a check of values that depend on each other.
  consuming func finish() -> (loaded: LoadedConfiguration, faults: [ConfigurationError]) {
    let ordered = [
      ("inflight", "remembered-ops"), ("connections-per-principal", "connections"),
      ("remembered-clients-per-principal", "remembered-clients"),
      ("resume-bytes", "resume-total-bytes"),
    ]
    for (smaller, larger) in ordered {
      // If one of the two values was refused, the comparison would be about a default.
      let (low, high) = (numericLimit(smaller), numericLimit(larger))
      guard low > high,
        refusedKeys.isDisjoint(with: ["limits." + smaller, "limits." + larger])
      else { continue }
      let place =
        origins[Text("limits." + smaller)]?.last ?? origins[Text("limits." + larger)]?.last
      faults.append(
        (place ?? .initial).refusal(
          "[limits] \(smaller) is \(low), \(larger) is \(high): \(smaller) must not be "
            + "larger than \(larger)"))
    }
    let every = "backup.every"
    if configuration.backup.intervalMilliseconds > 0, configuration.cluster.database != nil,
      refusedKeys.isDisjoint(with: [every, "cluster.database"])
    {
      faults.append(
        (origins[Text(every)]?.last ?? .initial).refusal(
          "[backup] every is \(configuration.backup.intervalMilliseconds[.seconds]): the database "
            + "server of [cluster] keeps the journal; back it up with pg_basebackup or pg_dump"))
    }
    return (
      LoadedConfiguration(
        configuration: configuration, origins: origins, ignoredVariables: ignoredVariables), faults
    )
  }

  private func numericLimit(_ name: String) -> Int {
    guard let number = ConfigurationKey.find("limits", name)?.value.number else {
      preconditionFailure("[limits] has no number \(name)")
    }
    return configuration[keyPath: number.path]
  }

  private mutating func apply(
    _ assignment: ConfigurationAssignment, _ origin: ConfigurationOrigin
  ) throws(ConfigurationError) {
    let (section, name, value) = (assignment.section, assignment.name, assignment.value)
    if section == ConfigurationKey.classesSection { return try declare(assignment, origin) }
    guard let key = ConfigurationKey.find(section, name) else {
      throw origin.refusal(Self.unknownKeyMessage(section, name))
    }
    let before = key.values(in: configuration)
    if let expected = key.store(value, in: &configuration) {
      let found = value.isEmpty ? "is empty" : "= \(value)"
      let hint = Self.hint(value, of: name)
      throw origin.refusal("[\(section)] \(name) \(found): expected \(expected)\(hint)")
    }
    recordOrigin(origin, of: "\(section).\(name)", key, before)
  }

  /// What the author of a wrong value may have meant; empty if unknown.
  private static func hint(_ value: String, of name: String) -> String {
    // A # begins a comment at the beginning of a line alone.
    if value.contains(" #") { return "; a comment behind a value begins with ; behind a space" }
    guard name == "grant", let subject = value.split(separator: " ").first,
      Configuration.Access.Who(subject) == nil
    else { return "" }
    return "; is it role:\(subject)?"
  }

  /// Records where the lines of a key's new value come from; `before` are its former lines.
  private mutating func recordOrigin(
    _ origin: ConfigurationOrigin, of name: String, _ key: ConfigurationKey, _ before: [String]
  ) {
    let after = key.values(in: configuration)
    let isLonger = key.isRepeatable && !after.isEmpty && after.starts(with: before) { $0 == $1 }
    let kept = isLonger ? before.count : 0
    let former = origins[Text(name), default: []].prefix(kept)
    // An empty list has an origin too: the line that cleared it.
    let added = max(after.count, 1) - kept
    origins[Text(name)] = former + Array(repeating: origin, count: max(added, 0))
  }

  /// Applies a line of `[classes]`: `NAME = NavigationBar` or `NAME = Toolbar`.
  private mutating func declare(
    _ assignment: ConfigurationAssignment, _ origin: ConfigurationOrigin
  ) throws(ConfigurationError) {
    let bases = Configuration.BaseClass.allCases.map(\.rawValue)
    guard !bases.contains(assignment.name) else {
      throw origin.refusal("[classes] \(assignment.name): this is the name of a built-in class")
    }
    guard let base = Configuration.BaseClass(rawValue: assignment.value) else {
      throw origin.refusal(
        "[classes] \(assignment.name) = \(assignment.value): expected "
          + bases.joined(separator: " or "))
    }
    let declared = Configuration.DeclaredClass(name: assignment.name, base: base)
    configuration.classes.removeAll { $0.name == declared.name }
    configuration.classes.append(declared)
    origins[Text("\(ConfigurationKey.classesSection).\(declared.name)")] = [origin]
  }

  static func unknownKeyMessage(_ section: String, _ name: String) -> String {
    if section.isEmpty {
      let homes = ConfigurationKey.all.filter { $0.name == name }.map { "[\($0.section)]" }
      return "\(name) stands before the first section"
        + (homes.isEmpty ? "" : "; write \(homes.joined(separator: " or ")) above it")
    }
    guard ConfigurationKey.sections.contains(section) else {
      return "there is no section [\(section)]: expected "
        + ConfigurationKey.sections.map { "[\($0)]" }.joined(separator: " ")
    }
    let names = ConfigurationKey.all.filter { $0.section == section }.map(\.name)
    return "[\(section)] has no key \(name): expected " + names.joined(separator: ", ")
  }
}
