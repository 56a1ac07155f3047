extension ScriptReader {
  static func expectation(
    _ word: String, _ cursor: inout ScriptCursor
  ) throws(Unreadable) -> ScriptExpectation? {
    switch word {
    case "ok+": .changed
    case "ok=": .unchanged
    case "ok": .ok
    case "pending": .pending
    case "same": .same
    case "nonav": .missingNav
    case "err":
      .refused(try cursor.word(), fields: cursor.isAtEnd ? "{}" : try template(&cursor))
    case "queued": .queued(try integer(&cursor))
    case "revisions": .revisions(try integer(&cursor))
    case "ev": .events(try cursor.list())
    case "event": .event(try cursor.word(), fields: try template(&cursor))
    case "ephemeral": .ephemeral(try cursor.list())
    case "touches": .touches(try cursor.list())
    case "stack": .stack(try cursor.list())
    case "L": .slots(.left, try cursor.list())
    case "R": .slots(.right, try cursor.list())
    case "top", "back", "visible": try shown(word, &cursor)
    case "recorded": .recorded(try cursor.word())
    case "asked": .asked(try cursor.word(), try cursor.list())
    case "settled": .settled(try cursor.word(), try cursor.list())
    case "got": .got(try cursor.word(), try cursor.list())
    default: try value(word, &cursor)
    }
  }

  private static func shown(
    _ word: String, _ cursor: inout ScriptCursor
  ) throws(Unreadable) -> ScriptExpectation {
    let id = try cursor.word()
    return .shown(word, id == "nil" ? nil : id)
  }

  /// `SOURCE PATH = JSON`, also `~` (has), `!=`, `absent`, `kept NAME`.
  private static func value(
    _ word: String, _ cursor: inout ScriptCursor
  ) throws(Unreadable) -> ScriptExpectation? {
    guard let source = try source(word, &cursor) else { return nil }
    var path = try cursor.word()
    if path == "whole" { path = "" }
    let relation = try cursor.word()
    switch relation {
    case "=": return .value(source, path: path, .equals(try template(&cursor)))
    case "~": return .value(source, path: path, .has(try template(&cursor)))
    case "!=": return .value(source, path: path, .differs(try template(&cursor)))
    case "absent": return .value(source, path: path, .isAbsent)
    case "kept": return .kept(try cursor.word(), source, path: path)
    default: throw Unreadable(text: "unknown relation \(relation)")
    }
  }
}
