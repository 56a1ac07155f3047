import CommandLineOptions
import NavigationCore

/// Explains a code of an error, of navd's log or of the end of a session.
struct Explanation: Hashable, Sendable {
  let code: String
  /// The exit status of a command that fails with it; nil if no command fails with it.
  let exitStatus: Int32?
  let errorCode: ErrorCode?
  let meaning: String
  let cause: String
  let remedy: String
  let example: String

  /// Every code that navctl or navd prints: those of navctl first, then those of the protocol.
  static let all = ownCodes + ErrorCode.allCases.map { Explanation($0) }

  /// Finds the explanation of a code; the error for an unknown code suggests similar ones.
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

  /// The explanation in lines of at most `columns`, except the example and the remedy.
  func lines(columns: Int) -> [String] {
    var lines = [
      exitStatus.map { "\(code)  exit status \($0)" } ?? "\(code)  no error of a command"
    ]
    lines += TerminalText.wrapped(meaning, columns: columns - 2).map { "  \($0)" }
    lines += TerminalText.wrapped("why: \(cause)", columns: columns - 2).map { "  \($0)" }
    if let errorCode {
      lines.append("  effect \(errorCode.effect.rawValue), retry \(errorCode.retry.rawValue)")
    }
    lines.append("  example: \(example)")
    lines.append("  try: \(remedy)")
    return lines
  }

  var json: OpaqueJSON {
    var members: JSONObject = ["code": .string(code)]
    members.add("exit", exitStatus.map { .integer(UInt64($0)) })
    if let errorCode {
      members.add("effect", errorCode.effect.rawValue)
      members.add("retry", errorCode.retry.rawValue)
    }
    return .object(
      members + [
        "meaning": .string(meaning), "why": .string(cause), "example": .string(example),
        "try": .string(remedy),
      ])
  }

  /// The codes of navctl's own errors, of notes in navd's log, and of the ends of sessions.
  ///
  /// codes.txt has four lines for each: code, exit status and meaning; cause; remedy; example.
  static let ownCodes: [Explanation] = {
    let table = String(decoding: PackageResources.codes_txt, as: UTF8.self)
    let lines = table.split(separator: "\n").map(String.init)
    return stride(from: 0, to: lines.count, by: 4).map { row in
      let head = lines[row].split(separator: " ", maxSplits: 2).map(String.init)
      return Explanation(
        code: head[0], exitStatus: Int32(head[1]), errorCode: nil, meaning: head[2],
        cause: lines[row + 1], remedy: lines[row + 2], example: lines[row + 3])
    }
  }()
}

extension Explanation {
  init(_ code: ErrorCode) {
    let row = code.row
    self.init(
      code: code.rawValue, exitStatus: row.exitStatus, errorCode: code, meaning: row.meaning,
      cause: row.cause, remedy: Remedies.remedy(for: code), example: row.example)
  }
}
