import NavigationCore

/// Makes the lines of `navctl watch`: one for each revision, and one for a complete state.
struct WatchLines: Sendable {
  private var lastPosition: (epoch: String, revision: UInt64)?

  /// Without a position, the first complete state is a `snapshot`; all others are a `resync`.
  init(after position: MirrorPosition? = nil) {
    lastPosition = position.map { ($0.epoch?.text ?? "", $0.revision.number) }
  }

  /// The line for a complete state; `time` is in milliseconds since 1970, `why` such as `join`.
  mutating func snapshot(
    _ state: JSONValue, why: String, at time: UInt64
  ) -> (text: String, json: JSONRecord) {
    let kind = lastPosition == nil ? JSONRecord.Kind.snapshot : .resync
    let word = kind.rawValue
    let epoch = state["epoch"]?.string ?? ""
    let revision = state["rev"]?.integer ?? 0
    let ids = state.list("screens").compactMap { $0["id"]?.string }
    var text = "\(word)  rev \(revision)"
    if let lastPosition { text += "  after rev \(lastPosition.revision)" }
    text += "  \(why)  [\(ids.joined(separator: " "))]"
    var members: JSONObject = ["why": .string(why)]
    members.add(
      "after",
      lastPosition.map { .object(["epoch": .string($0.epoch), "rev": .integer($0.revision)]) })
    members.add("state", OpaqueJSON(validated: state.bytes))
    lastPosition = (epoch, revision)
    return (TerminalText.visible(text), JSONRecord(kind, members, at: time))
  }

  /// The line for a revision: `rev 20  pop wifi → network by remote, back button  depth 2`.
  mutating func diff(_ diff: Diff, top: String?) -> String {
    lastPosition = (diff.epoch.text, diff.revision.number)
    var parts = ["rev \(diff.revision.number)", Self.sentence(diff, top: top)]
    parts.append("depth \(diff.depth)")
    return TerminalText.visible(parts.joined(separator: "  "))
  }

  private static func sentence(_ diff: Diff, top: String?) -> String {
    var sentence = ""
    var others: [String] = []
    for change in diff.changes {
      switch change {
      case .splice(let index, let removed, let inserted):
        let edit = editText(at: index, removed, inserted.map(\.id), depth: diff.depth, top: top)
        sentence += sentence.isEmpty ? edit : ", \(edit)"
      case .setScreen(let record): others.append(record.id)
      case .setPart(let record): others.append(":\(record.id)")
      }
    }
    if sentence.isEmpty {
      sentence = others.isEmpty ? "no change" : "change \(others.joined(separator: " "))"
    }
    if let name = diff.byName, !name.isEmpty { sentence += " by \(name)" }
    if diff.cause != "api" { sentence += ", \(spacedWords(diff.cause))" }
    return sentence
  }

  private static func editText(
    at index: UInt64, _ removed: [String], _ inserted: [String], depth: UInt64, top: String?
  ) -> String {
    let gone = removed.joined(separator: " ")
    let new = inserted.joined(separator: " ")
    let isAtEnd = index + UInt64(inserted.count) == depth
    if removed.isEmpty { return isAtEnd ? "push \(new)" : "insert \(new) at \(index)" }
    if inserted.isEmpty {
      guard isAtEnd else { return "remove \(gone)" }
      return "pop \(gone)" + (top.map { " → \($0)" } ?? "")
    }
    return isAtEnd && index == 0 ? "set \(new) for \(gone)" : "replace \(gone) → \(new)"
  }

  /// A name of the protocol in words: `backButton` is "back button".
  private static func spacedWords(_ name: String) -> String {
    name.reduce(into: "") { text, character in
      if character.isUppercase { text += " " }
      text += character.lowercased()
    }
  }

  mutating func latest(_ latest: Latest) -> String {
    lastPosition = (latest.epoch.text, latest.revision.number)
    guard let value = try? JSONValue(latest.value.bytes) else {
      return "rev \(latest.revision.number)"
    }
    var text = "rev \(latest.revision.number)  "
    if latest.view == "bar" {
      let bar = BarDrawing(columns: 60).line(value).plain
      text += bar.isEmpty ? "(an empty bar)" : bar
    } else {
      text += "top \(value["id"]?.string ?? "none")"
      if let title = value["title"]?.string { text += "  \"\(title)\"" }
    }
    return TerminalText.visible(text)
  }

  /// The line about a lost connection; if a write took 2 s, navd has disconnected a slow reader.
  static func lossText(afterWriteOf milliseconds: UInt64) -> String {
    milliseconds < 2000
      ? "connection lost; watch continues when navd is back"
      : "the output was not read for \(milliseconds / 1000) s; watch continues behind the last line"
  }

  static func event(_ event: EphemeralEvent) -> String {
    var parts = ["event", "rev \(event.revision.number)"]
    let list = try? JSONValue(event.events.bytes).elements
    for (name, value) in (list ?? []).flatMap(\.members) {
      let members = value.members.map { "\($0.name) \($0.value.plainText)" }
      parts.append(([name] + members).joined(separator: " "))
    }
    return TerminalText.visible(parts.joined(separator: "  "))
  }
}
