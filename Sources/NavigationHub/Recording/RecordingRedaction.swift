package import NavigationCore

/// Replaces the contents of entries, so that a recording can be shown to others.
///
/// It keeps ids, versions, routes, names of operations, and words and numbers that navd defines. Every
/// other text becomes `placeholder`, and members that the tables do not name are left out. The tables
/// name what stays, so a member of a later version cannot slip through. Entries are redacted before the
/// resolved bar is computed; so the bar has no text that the state has not.
package struct RecordingRedaction: Sendable {
  /// The text in the place of each replaced one.
  package static let placeholder = "redacted"

  /// The routes of screens that keep their contents.
  private let kept: [NavGlob]

  /// Makes a redaction; a screen keeps its contents if a pattern in `kept` matches its route.
  package init(keeping kept: [NavGlob] = []) { self.kept = kept }

  /// The names of the rules, as the header of a recording lists them.
  package var names: [String] {
    ["contents", "clients", "principals"] + kept.map { "keep \($0.text)" }
  }

  /// The entry without its contents.
  package func entry(_ entry: [UInt8]) throws(StoredDataError) -> [UInt8] {
    var tape = JSONTape()
    do throws(JSONError) { try tape.read(entry, maximumDepth: 48) } catch {
      throw StoredDataError(what: error.reason.rawValue)
    }
    guard tape.kind(0) == .object else { throw StoredDataError(what: "not an object") }
    var json = JSONWriter(reserving: entry.count)
    write(0, .members(RedactionRule.entry), tape, &json)
    return json.bytes
  }

  /// Writes a value by a rule, which has decided before that there is something to write.
  private func write(
    _ at: Int, _ rule: RedactionRule, _ tape: borrowing JSONTape, _ json: inout JSONWriter
  ) {
    switch rule {
    case .keep, .word: json.raw(tape.raw(at))
    case .text: json.string(Self.placeholder)
    case .opaque:
      json.beginObject()
      json.member("redacted", true)
      json.endObject()
    case .list(let element):
      json.beginArray()
      tape.forEachElement(of: at) { index in
        guard stays(index, element, tape) else { return }
        write(index, element, tape, &json)
      }
      json.endArray()
    case .members(let table): object(at, table, tape, &json)
    case .screen:
      guard !keepsContents(at, tape) else { return json.raw(tape.raw(at)) }
      object(at, RedactionRule.screenMembers, tape, &json)
    case .change: change(at, tape, &json)
    }
  }

  private func object(
    _ at: Int, _ table: [String: RedactionRule], _ tape: borrowing JSONTape,
    _ json: inout JSONWriter
  ) {
    json.beginObject()
    tape.forEachMember(of: at) { name, value in
      guard let rule = table[name], stays(value, rule, tape) else { return }
      json.dynamicName(name)
      write(value, rule, tape, &json)
    }
    json.endObject()
  }

  /// Whether a rule applies to a value: one of another kind is left out.
  private func stays(_ at: Int, _ rule: RedactionRule, _ tape: borrowing JSONTape) -> Bool {
    switch rule {
    case .keep: tape.kind(at) != .object && tape.kind(at) != .array
    case .word(let words): tape.string(at).map(words.contains) ?? false
    case .text: tape.kind(at) == .string
    case .opaque: tape.kind(at) != .null
    case .list: tape.kind(at) == .array
    case .members, .screen, .change: tape.kind(at) == .object
    }
  }

  /// Writes a change: a splice, or a screen or part that is set.
  private func change(_ at: Int, _ tape: borrowing JSONTape, _ json: inout JSONWriter) {
    guard let set = tape.member("set", of: at) else {
      return object(at, RedactionRule.splice, tape, &json)
    }
    let part = tape.string(set).flatMap { RedactionRule.parts[$0] }
    object(at, ["set": .keep, "to": part ?? .members([:])], tape, &json)
  }

  private func keepsContents(_ screen: Int, _ tape: borrowing JSONTape) -> Bool {
    guard let route = tape.member("route", of: screen).flatMap({ tape.string($0) }) else {
      return false
    }
    return kept.contains { $0.matches(route) }
  }
}
