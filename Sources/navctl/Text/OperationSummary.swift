import NavigationClient
import NavigationCore

enum OperationSummary {
  /// The line of a reply, such as "kiosk  rev 19  top dns  depth 3  pushed dns".
  static func line(_ reply: OkReply, operations: [NavigationOperation]) -> String {
    var parts = [reply.nav ?? ""]
    if let revision = reply.revision { parts.append("rev \(revision.number)") }
    if let top = reply.top { parts.append("top \(top ?? "none")") }
    if let depth = reply.depth { parts.append("depth \(depth)") }
    if reply.changed == false { parts.append("unchanged") }
    let outputs = reply.results.flatMap { try? JSONValue($0.bytes).elements } ?? []
    parts += zip(outputs, operations).compactMap { output, operation in
      text(output, operation.kind, isChanged: reply.changed != false)
    }
    if operations.contains(where: { $0.kind == .navClose }) { parts.append("closed") }
    return TerminalText.visible(parts.filter { !$0.isEmpty }.joined(separator: "  "))
  }

  private static func text(_ output: JSONValue, _ kind: OperationKind, isChanged: Bool) -> String? {
    var parts: [String] = []
    for name in ["popped", "dismissed", "skipped", "ids"] {
      let ids = output[name].map { $0.kind == .array ? $0.elements : [$0] } ?? []
      guard !ids.isEmpty else { continue }
      let texts = ids.map(\.plainText).joined(separator: " ")
      parts.append("\(name == "ids" ? "stack" : name) \(texts)")
    }
    if let tid = output["tid"]?.integer { parts.append("transition \(tid)") }
    // The reply names the screen even if it was there before and nothing changed.
    if isChanged, let id = output["id"]?.string { parts.append("\(verb(kind)) \(id)") }
    if let delivered = output["delivered"]?.integer { parts.append("delivered to \(delivered)") }
    return parts.isEmpty ? nil : parts.joined(separator: "  ")
  }

  private static func verb(_ kind: OperationKind) -> String {
    switch kind {
    case .push, .show, .segue, .pushItem: "pushed"
    case .replace: "put in its place"
    case .insert: "inserted"
    case .present: "presented"
    default: "made"
    }
  }
}
