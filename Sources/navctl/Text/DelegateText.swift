import CommandLineOptions
import NavigationCore

/// The options of `delegate`, and the texts between it and the command that answers for it.
enum DelegateText {
  /// Reads `--roles` and `--orientations`, and checks that they fit each other and `--exec`.
  static func registration(_ line: ParsedCommandLine) throws(UsageError) -> DelegateRegistration {
    let words = DelegateRole.allCases.map(\.rawValue).joined(separator: ",")
    var roles: Set<DelegateRole> = []
    for text in line.values(of: "roles").flatMap({ $0.split(separator: ",") }) {
      let role = try require(
        DelegateRole(rawValue: String(text)),
        "there is no role '\(TerminalText.visible(String(text)))'",
        remedy: "--roles with one or several of \(words)")
      roles.insert(role)
    }
    let orientations = line.value(of: "orientations")
    if orientations != nil { roles.insert(.orientation) }
    try require(
      !roles.isEmpty, "delegate needs roles", remedy: "--roles with one or several of \(words)")
    try require(
      !roles.contains(.orientation) || orientations != nil,
      "navd asks no questions of the role orientation; its value is needed at once",
      remedy: #"--orientations '{"supported":["portrait"],"preferred":"portrait"}'"#)
    try require(
      roles == [.orientation] || line.value(of: "exec") != nil,
      "delegate needs a command that answers the questions", remedy: "--exec COMMAND")
    var registration = DelegateRegistration(roles: roles)
    if let orientations { try read(orientations, into: &registration) }
    return registration
  }

  private static func read(
    _ text: String, into registration: inout DelegateRegistration
  ) throws(UsageError) {
    let bytes = try Quantities.jsonObject(text, what: "--orientations")
    let value: JSONValue
    do { value = try JSONValue(bytes.bytes) } catch {
      throw UsageError("--orientations is not JSON")
    }
    registration.supportedOrientations = (value["supported"]?.elements ?? []).compactMap(\.string)
    registration.preferredOrientation = value["preferred"]?.string
    let isComplete = value.members.allSatisfy { ["supported", "preferred"].contains($0.name) }
    try require(
      isComplete && !registration.supportedOrientations.isEmpty,
      "--orientations needs supported, a list of one or more, and takes nothing else but preferred",
      remedy: #"as in '{"supported":["portrait"],"preferred":"portrait"}'"#)
  }

  /// A question as JSON, with the members in which the daemon sent it.
  static func json(_ ask: Ask) -> [UInt8] {
    let texts: JSONObject = JSONObject(
      ask.question.form.members.map { .init(name: $0, value: $1.map { .string($0) } ?? .null) })
    return OpaqueJSON.object([
      "ask": .integer(ask.number), "nav": .string(ask.nav),
      "epoch": .string(ask.epoch.text), "rev": .integer(ask.revision.number),
      "within": .integer(ask.within), "q": .object([ask.question.form.name: .object(texts)]),
    ]).bytes
  }

  static func variables(_ ask: Ask) -> [(String, String)] {
    var variables = [
      ("NAVD_NAV", ask.nav), ("NAVD_ASK", "\(ask.number)"), ("NAVD_EPOCH", ask.epoch.text),
      ("NAVD_REV", "\(ask.revision.number)"), ("NAVD_WITHIN", "\(ask.within)"),
      ("NAVD_QUESTION", ask.question.form.name),
    ]
    for (name, value) in ask.question.form.members {
      variables.append(("NAVD_\(name.uppercased())", value ?? ""))
    }
    return variables
  }

  /// A question as text: "ask 7  shouldPop  screen wifi  cause backButton  rev 22  2000 ms".
  static func line(_ ask: Ask) -> String {
    var parts = ["ask \(ask.number)", ask.question.form.name]
    parts += ask.question.form.members.map { "\($0) \($1 ?? "none")" }
    parts += ["rev \(ask.revision.number)", "\(ask.within) ms"]
    return TerminalText.visible(parts.joined(separator: "  "))
  }

  /// The end of a question as text: "settled 7  denied by shell".
  static func line(_ settlement: Settlement) -> String {
    let by = settlement.by.map { " by \($0)" } ?? ""
    return TerminalText.visible("settled \(settlement.number)  \(settlement.outcome)\(by)")
  }

  static func json(_ settlement: Settlement) -> [UInt8] {
    var members: JSONObject = [
      "settled": .integer(settlement.number), "outcome": .string(settlement.outcome),
    ]
    members.add("by", settlement.by)
    return OpaqueJSON.object(members).bytes
  }

  /// The answer that follows from the exit status and the output of the command, and the fault of
  /// the command.
  ///
  /// Without an answer, navctl sends none, and the settings of the nav decide at the deadline.
  static func answer(
    _ question: Question, status: Int32, output: [UInt8]
  ) -> (value: OpaqueJSON?, complaint: String?) {
    switch question {
    case .shouldPush, .shouldPop, .shouldDismiss:
      switch status {
      case 0: return (.bool(true), nil)
      case 1: return (.bool(false), nil)
      default: return (.null, "the command ended with status \(status), not 0 or 1")
      }
    case .animatorFor, .interactionFor:
      guard status == 0 else { return (.null, nil) }
      let text = String(decoding: output, as: UTF8.self)
      guard text.contains(where: { !$0.isWhitespace }) else { return (.null, nil) }
      do throws(UsageError) {
        return (try Quantities.json(text, what: "the output of the command"), nil)
      } catch {
        return (.null, error.message)
      }
    case .unknown(let name): return (nil, "this navctl does not know the question \(name)")
    }
  }
}
