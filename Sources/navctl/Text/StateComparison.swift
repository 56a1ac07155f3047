import NavigationCore
import NavigationHub

struct StateComparison: Sendable {
  struct Difference: Hashable, Sendable {
    /// The name of what differs, such as `stack`, `screen wifi title` or `bar barTintColor`.
    var subject: String
    var before: String?
    var after: String?
  }

  /// The differences: the stack first, then screens, then parts.
  private(set) var differences: [Difference] = []

  init(_ before: JSONValue, _ after: JSONValue) {
    let (old, new) = (before.list("screens"), after.list("screens"))
    let (oldIDs, newIDs) = (Self.ids(old), Self.ids(new))
    if oldIDs != newIDs {
      differences.append(
        .init(
          subject: "stack", before: "[\(oldIDs.joined(separator: " "))]",
          after: "[\(newIDs.joined(separator: " "))]"))
    }
    for screen in new {
      guard let id = screen["id"]?.string, let former = old.first(where: { $0["id"]?.string == id })
      else { continue }
      compare("screen \(id)", former, screen)
    }
    for part in PartName.allCases.map(\.text) { compare(part, before[part], after[part]) }
  }

  private static func ids(_ screens: [JSONValue]) -> [String] {
    screens.compactMap { $0["id"]?.string }
  }

  private mutating func compare(_ subject: String, _ before: JSONValue?, _ after: JSONValue?) {
    let old = before?.members ?? []
    let new = after?.members ?? []
    let names =
      old.map(\.name) + new.map(\.name).filter { name in !old.contains { $0.name == name } }
    for name in names where !["ver", "new"].contains(name) {
      let former = old.first { $0.name == name }?.value.bytes
      let later = new.first { $0.name == name }?.value.bytes
      guard former != later else { continue }
      differences.append(
        .init(
          subject: "\(subject) \(name)", before: former.map { String(decoding: $0, as: UTF8.self) },
          after: later.map { String(decoding: $0, as: UTF8.self) }))
    }
  }

  var lines: [StyledLine] {
    differences.flatMap { difference in
      [StyledLine(TerminalText.visible(difference.subject))]
        + [("- ", difference.before), ("+ ", difference.after)].compactMap { sign, value in
          value.map { StyledLine("  \(sign)\(TerminalText.visible($0))") }
        }
    }
  }

  var json: OpaqueJSON {
    .array(
      differences.map { difference in
        var members: JSONObject = ["subject": .string(difference.subject)]
        members.add("before", difference.before)
        members.add("after", difference.after)
        return .object(members)
      })
  }
}
