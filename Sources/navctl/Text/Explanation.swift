import CommandLineOptions
import NavigationCore

/// The meaning, the cause and the remedy of a code of an error, of navd's log or of a session end.
struct Explanation: Hashable, Sendable {
  let code: String
  /// The exit status of a command that fails with it; nil if no command fails with it.
  let exitStatus: Int32?
  let refusal: ErrorCode?
  let meaning: String
  let cause: String
  let remedy: String
  /// A command line that shows or corrects such a case.
  let example: String

  init(_ code: ErrorCode) {
    let row = code.row
    self.init(
      code.rawValue, exitStatus: row.exitStatus, refusal: code, row.meaning, cause: row.cause,
      remedy: Remedies.remedy(for: code), example: row.example)
  }

  init(
    _ code: String, exitStatus: Int32?, refusal: ErrorCode? = nil, _ meaning: String,
    cause: String, remedy: String, example: String
  ) {
    (self.code, self.exitStatus, self.refusal, self.meaning) = (code, exitStatus, refusal, meaning)
    (self.cause, self.remedy, self.example) = (cause, remedy, example)
  }

  /// Every code that navctl or navd prints: those of navctl first, then those of the protocol.
  static let all = others + ErrorCode.allCases.map { Explanation($0) }

  /// Finds the explanation of a code; throws the most similar codes, if it is unknown.
  static func find(_ code: String) throws(UsageError) -> Explanation {
    if let found = all.first(where: { $0.code == code }) { return found }
    let near = nearest(to: code)
    let question = near.isEmpty ? "" : "; is it '\(near.joined(separator: "', '"))'?"
    throw UsageError(
      "there is no code '\(TerminalText.visible(code))'\(question)",
      remedy: "navctl explain, which lists all codes")
  }

  /// At most three codes that are similar to a misspelt one, the most similar first.
  static func nearest(to code: String) -> [String] {
    let wanted = code.lowercased()
    let ranked = all.map(\.code).map { known in
      let isPart = !wanted.isEmpty && (known.contains(wanted) || wanted.contains(known))
      let difference = abs(known.utf8.count - wanted.utf8.count)
      return (known, isPart ? 1 : Suggestion.distance(wanted, known), difference)
    }
    return ranked.filter { known, distance, _ in distance <= min(3, known.utf8.count - 1) }
      .sorted { ($0.1, $0.2, Text($0.0)) < ($1.1, $1.2, Text($1.0)) }.prefix(3).map(\.0)
  }

  /// The explanation as text: the code and its exit status first, the remedy last.
  ///
  /// Lines break at `columns`, except the example and the remedy.
  func lines(columns: Int) -> [String] {
    var lines = [
      exitStatus.map { "\(code)  exit status \($0)" } ?? "\(code)  no error of a command"
    ]
    lines += TerminalText.wrapped(meaning, columns: columns - 2).map { "  \($0)" }
    lines += TerminalText.wrapped("why: \(cause)", columns: columns - 2).map { "  \($0)" }
    if let refusal {
      lines.append("  effect \(refusal.effect.rawValue), retry \(refusal.retry.rawValue)")
    }
    lines.append("  example: \(example)")
    lines.append("  try: \(remedy)")
    return lines
  }

  var json: OpaqueJSON {
    var members: JSONObject = ["code": .string(code)]
    members.add("exit", exitStatus.map { .integer(UInt64($0)) })
    if let refusal {
      members.add("effect", refusal.effect.rawValue)
      members.add("retry", refusal.retry.rawValue)
    }
    for (name, text) in [
      ("meaning", meaning), ("why", cause), ("example", example), ("try", remedy),
    ] {
      members.add(name, text)
    }
    return .object(members)
  }
}
