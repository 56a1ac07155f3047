package import NavigationCore

// Readers of presentations, standalone bars and stack replacements, in messages and in journal
// rows.

extension OperationReader {
  func presentationOperation(
    _ kind: OperationKind, _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    switch kind {
    case .present:
      return .present(
        try screen(tape, at), from: try presenter(tape, at), style: try style(tape, at))
    case .dismiss:
      return try returning(.dismiss(from: try presenter(tape, at)), tape, at)
    case .segue:
      return try segue(tape, at)
    case .open:
      guard let route = tape.member("route", of: at).flatMap({ tape.string($0) }) else {
        throw ReadFailure(.invalidArgument, "route, a text, is required")
      }
      return .open(route: route)
    case .restore:
      return try restoration(tape, at)
    case .revert:
      guard let revision = tape.member("rev", of: at).flatMap({ tape.integer($0) }) else {
        throw ReadFailure(.invalidArgument, "rev, a whole number, is required")
      }
      return .revert(to: Revision(revision), stack: nil)
    default: throw ReadFailure(.unsupported, "this daemon does not know the op \(name)")
    }
  }

  /// Reads UIKit's names of `push`, `pop` and `setStack` on a standalone bar.
  func barItemsOperation(
    _ kind: OperationKind, _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    switch kind {
    case .pushItem:
      guard let value = tape.member("item", of: at) else {
        throw ReadFailure(.nilScreen, "an item is required: its id or a record")
      }
      return .push(try reader.screenArgument(tape, value), onDuplicate: .error)
    case .popItem:
      return .pop
    default:
      guard let list = tape.member("items", of: at),
        tape.kind(list) == .array || tape.kind(list) == .null
      else { throw ReadFailure(.invalidArgument, "items is a list of items, or null for none") }
      guard tape.kind(list) == .array else { return .setStack([]) }
      return .setStack(
        try tape.elements(of: list) { at throws(ReadFailure) in
          try reader.screenArgument(tape, at)
        })
    }
  }

  private func presenter(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> ScreenID? {
    guard let value = tape.member("from", of: at), tape.kind(value) != .null else { return nil }
    return try reader.screenID(tape, value)
  }

  private func style(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> String? {
    guard let value = tape.member("style", of: at),
      let style = try reader.text(tape, value, "style")
    else { return nil }
    guard Grammar.isID(style.utf8.span) else {
      throw ReadFailure(.invalidArgument, "style is the name of a presentation style")
    }
    return style
  }

  private func segue(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Operation {
    switch tape.member("kind", of: at).flatMap({ tape.string($0) }) {
    case "show":
      let policy = try duplicates(tape, tape.member("onDuplicate", of: at))
      return .push(try screen(tape, at), onDuplicate: policy)
    case "showDetail":
      guard tape.member("onDuplicate", of: at) == nil else {
        throw ReadFailure(.invalidArgument, "showDetail presents, and takes no onDuplicate")
      }
      return .present(try screen(tape, at), from: nil, style: nil)
    default:
      throw ReadFailure(
        .invalidArgument, "kind is show or showDetail; a client performs other segues itself")
    }
  }

  private func restoration(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    guard let payload = tape.member("payload", of: at) else {
      throw ReadFailure(.invalidArgument, "payload, as get restoration gave it, is required")
    }
    let entries = try entries(tape, payload)
    guard let root = tape.member("root", of: at), tape.kind(root) != .null else {
      return .restore(entries, root: nil)
    }
    return .restore(entries, root: try reader.screenArgument(tape, root))
  }

  /// Reads the entries of a restoration payload.
  ///
  /// The record of an unreadable screen is nil, because the rules of `restore` skip such screens.
  private func entries(
    _ tape: borrowing JSONTape, _ payload: Int
  ) throws(ReadFailure) -> [RestorationEntry] {
    guard tape.kind(payload) == .object else { throw damaged("it is no record") }
    // `get restoration` of a nav without a restoration identifier returns an empty object.
    if tape.count(payload) == 0 { return [] }
    guard let version = tape.member("v", of: payload).flatMap({ tape.integer($0) }), version > 0
    else { throw damaged("it has no version") }
    guard version <= RestorationPayload.version else {
      throw damaged("its version \(version) is newer than \(RestorationPayload.version)")
    }
    guard let list = tape.member("entries", of: payload), tape.kind(list) == .array else {
      throw damaged("it has no entries")
    }
    var entries: [RestorationEntry] = []
    var paths: Set<Text> = []
    var ids: Set<ScreenID> = []
    try tape.forEachElement(of: list) { element throws(ReadFailure) in
      guard let path = tape.member("path", of: element).flatMap({ tape.string($0) }),
        let screen = tape.member("screen", of: element)
      else { throw damaged("an entry lacks path or screen") }
      guard paths.insert(Text(path)).inserted else {
        throw damaged("the path \(path) stands twice")
      }
      let record = readable(tape, screen)
      if let id = record?.id, !ids.insert(id).inserted {
        throw damaged("the screen \(id.text) stands twice")
      }
      entries.append(RestorationEntry(path: path, record: record))
    }
    return entries
  }

  private func readable(_ tape: borrowing JSONTape, _ at: Int) -> ScreenRecord? {
    guard tape.kind(at) == .object else { return nil }
    do {
      return try reader.screenRecord(tape, at)
    } catch {
      return nil
    }
  }

  private func damaged(_ what: String) -> ReadFailure {
    ReadFailure(.restoreFailed, "the payload cannot be restored: \(what)")
  }
}

extension RecordReader {
  package func storedPresentation(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Presentation {
    var presentation = Presentation()
    guard let list = tape.member("chain", of: at) else { return presentation }
    guard tape.kind(list) == .array else {
      throw ReadFailure(.invalidArgument, "a chain is no list")
    }
    presentation.chain = try tape.elements(of: list) { element throws(ReadFailure) in
      guard let screen = tape.member("screen", of: element) else {
        throw ReadFailure(.invalidArgument, "a presentation without screen")
      }
      let from = tape.member("from", of: element)
      let style = tape.member("style", of: element)
      return Presented(
        screen: try storedScreen(tape, screen),
        from: try from.map { at throws(ReadFailure) in try screenID(tape, at) },
        style: style.flatMap { tape.string($0) })
    }
    return presentation
  }
}
