package import NavigationCore

/// Makes the lines of `navctl watch`: one for each revision, and one in place of skipped revisions.
package struct WatchLines: Sendable {
  /// The position of the last line; nil before the first.
  private var last: (epoch: String, revision: UInt64)?

  /// Begins before any line is printed.
  ///
  /// If the first line is a complete state, it is a `snapshot`. A later one is a `resync`.
  package init() {}

  /// Begins after a position; the first complete state is then a `resync`.
  package init(after position: MirrorPosition) {
    last = (position.epoch?.text ?? "", position.revision.number)
  }

  /// The line for a complete state.
  ///
  /// It is a `snapshot` if the watch has no earlier position, else a `resync`, which replaces the
  /// revisions since that position.
  /// - Parameters:
  ///   - state: the body of the snapshot.
  ///   - why: the reason of the daemon, such as `join` or `lag`.
  /// - Returns: the line as text, and as a JSON record that contains the state.
  package mutating func snapshot(_ state: JSONValue, why: String) -> (text: String, json: [UInt8]) {
    let word = last == nil ? "snapshot" : "resync"
    let epoch = state["epoch"]?.string ?? ""
    let revision = state["rev"]?.integer ?? 0
    let ids = (state["screens"]?.elements ?? []).compactMap { $0["id"]?.string }
    var text = "\(word)  rev \(revision)"
    if let last { text += "  after rev \(last.revision)" }
    text += "  \(why)  [\(ids.joined(separator: " "))]"
    var members: JSONObject = ["why": .string(why)]
    members.add(
      "after",
      last.map { .object(["epoch": .string($0.epoch), "rev": .integer($0.revision)]) })
    members.add("state", OpaqueJSON(validated: state.bytes))
    last = (epoch, revision)
    return (
      TerminalText.visible(text), OpaqueJSON.object([word: .object(members)]).bytes
    )
  }

  /// The line for one revision.
  package mutating func diff(_ diff: Diff) -> String {
    last = (diff.epoch.text, diff.revision.number)
    var text = "rev \(diff.revision.number)  \(diff.cause)"
    if let name = diff.byName, !name.isEmpty { text += " by \(name)" }
    let changes = diff.changes.map(Self.text).filter { !$0.isEmpty }
    text += "  depth \(diff.depth)"
    if !changes.isEmpty { text += "  " + changes.joined(separator: "  ") }
    return TerminalText.visible(text)
  }

  /// The line for the newest value of the view `bar` or `top`.
  package mutating func latest(_ latest: Latest) -> String {
    last = (latest.epoch.text, latest.revision.number)
    let value: JSONValue
    do { value = try JSONValue(latest.value.bytes) } catch {
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

  /// The line for an event that made no revision, such as a tap.
  package static func event(_ event: EphemeralEvent) -> String {
    var parts = ["event", "rev \(event.revision.number)"]
    let list: [JSONValue]
    do { list = try JSONValue(event.events.bytes).elements } catch { list = [] }
    for (name, value) in list.flatMap(\.members) {
      let members = value.members.map { "\($0.name) \($0.value.plainText)" }
      parts.append(([name] + members).joined(separator: " "))
    }
    return TerminalText.visible(parts.joined(separator: "  "))
  }

  private static func text(_ change: Diff.Change) -> String {
    switch change {
    case .splice(let index, let removed, let inserted):
      let parts = removed.map { "-\($0)" } + inserted.map { "+\($0.id)" }
      return parts.isEmpty ? "" : "[\(parts.joined(separator: " "))] at \(index)"
    case .setScreen(let record): return "~\(record.id)"
    case .setPart(let record): return "~:\(record.id)"
    }
  }
}
