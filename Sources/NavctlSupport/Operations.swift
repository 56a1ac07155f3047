package import CommandLineOptions
import NavigationSync

/// What each command asks for: command lines turned into operations.
package enum Operations {
  /// `create`: makes a nav, and puts it on display unless `--detached` says not to.
  ///
  /// Without anything about a root and with `--detached` the stack begins empty.
  package static func create(_ line: ParsedCommandLine) throws(UsageError) -> [OperationText] {
    let root = try screenMembers(line, id: line.value(of: "root"))
    let isDetached = line.contains("detached")
    var arguments = [
      root.isEmpty && isDetached
        ? ("classes", OperationText.object([])) : ("root", OperationText.object(root))
    ]
    if let settings = line.value(of: "settings") {
      arguments.append(("settings", try Quantities.jsonObject(settings, what: "--settings")))
    }
    let create = OperationText(.navCreate, arguments)
    return isDetached ? [create] : [create, OperationText(.attach)]
  }

  /// `push`, and with `--show` the operation `show`.
  ///
  /// An id alone names a screen that is known; with anything else about it, one is made.
  package static func push(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> OperationText
  {
    let others = try screenMembers(line, id: nil)
    let screen: [UInt8]
    if let id, others.isEmpty, !line.contains("new") {
      screen = try self.screen(id)
    } else {
      screen = OperationText.object(try screenMembers(line, id: id))
    }
    guard id != nil || !others.isEmpty || line.contains("new") else {
      throw UsageError(
        "push what?", remedy: "name a screen, or describe a new one with --title or --route")
    }
    var arguments = [("screen", screen)]
    if line.contains("if-absent") {
      arguments.append(("onDuplicate", OperationText.string("ignore")))
    }
    return OperationText(line.contains("show") ? .show : .push, arguments)
  }

  /// `pop-to`: to a screen, or with `--route` to the screen with that route.
  package static func popTo(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> OperationText
  {
    let route = line.value(of: "route")
    switch (id, route) {
    case (let id?, nil):
      guard !line.contains("unique") else { throw UsageError("--unique goes with --route") }
      return OperationText(.popTo, [("screen", OperationText.string(id))])
    case (nil, let route?):
      let match = line.contains("unique") ? "unique" : "top"
      return OperationText(
        .popTo, [("route", OperationText.string(route)), ("match", OperationText.string(match))])
    case (nil, nil), (_?, _?):
      throw UsageError("pop-to takes a screen's id or --route, one of them")
    }
  }

  /// `set`: the whole stack, bottom first.
  package static func set(_ screens: [String]) throws(UsageError) -> OperationText {
    var list: [[UInt8]] = []
    for text in screens { list.append(try screen(text)) }
    return OperationText(.setStack, [("screens", OperationText.array(list))])
  }

  /// `title`: the title of one screen.
  package static func title(screen: String, text: String) -> OperationText {
    OperationText(
      .screenSet,
      [("screen", OperationText.string(screen)), ("title", OperationText.string(text))])
  }

  /// `item`: members of one screen's navigation item.
  package static func item(_ line: ParsedCommandLine, screen: String) throws(UsageError)
    -> OperationText
  {
    var members = [("screen", OperationText.string(screen))]
    for name in ["title", "prompt"] {
      if let text = line.value(of: name) { members.append((name, OperationText.string(text))) }
    }
    let flags = [
      ("hides-back-button", "hidesBackButton"), ("supplement", "leftItemsSupplementBackButton"),
      ("on-stack", "requireOnStack"),
    ]
    for (option, name) in flags {
      if let text = line.value(of: option) {
        members.append((name, OperationText.bool(try Quantities.bool(text, option: option))))
      }
    }
    for (option, name) in [("left", "leftItems"), ("right", "rightItems")] {
      if let list = try buttons(line.values(of: option), option: option) {
        members.append((name, list))
      }
    }
    if let text = line.value(of: "back-title") {
      members.append(
        ("backBarButtonItem", OperationText.object([("title", OperationText.string(text))])))
    }
    if let mode = line.value(of: "large-title") {
      members.append(("largeTitleDisplayMode", OperationText.string(mode)))
    }
    for name in line.values(of: "unset") { members.append((name, OperationText.null)) }
    guard members.contains(where: { $0.0 != "screen" && $0.0 != "requireOnStack" }) else {
      throw UsageError("item changes nothing", remedy: "say what, as in --title TEXT")
    }
    return OperationText(.itemSet, members)
  }

  /// `button`: makes, changes, forgets or taps a button.
  package static func button(_ line: ParsedCommandLine, verb: String, id: String?)
    throws(UsageError) -> OperationText
  {
    let members = try buttonMembers(line)
    if verb == "create" {
      guard !members.isEmpty else {
        throw UsageError(
          "a button needs a face", remedy: "one of --title, --image, --system-item, --view")
      }
      let name = id.map { [("id", OperationText.string($0))] } ?? []
      return OperationText(.buttonCreate, name + members)
    }
    let kinds: [String: OperationKind] = [
      "set": .buttonSet, "release": .buttonRelease, "activate": .buttonActivate,
    ]
    guard let kind = kinds[verb] else {
      throw UsageError("button can create, set, release or activate, not '\(verb)'")
    }
    guard let id else { throw UsageError("which button?", remedy: "button NAV \(verb) ID") }
    if kind == .buttonSet, members.isEmpty {
      throw UsageError("button set changes nothing", remedy: "say what, as in --title TEXT")
    }
    if kind != .buttonSet, let member = members.first {
      throw UsageError("button \(verb) takes no \(member.0)")
    }
    return OperationText(kind, [("button", OperationText.string(id))] + members)
  }

  /// A screen on the command line: an id, or a record in JSON.
  static func screen(_ text: String) throws(UsageError) -> [UInt8] {
    text.hasPrefix("{")
      ? try Quantities.jsonObject(text, what: "a screen") : OperationText.string(text)
  }

  /// Buttons on the command line; nil where there are none, an empty text for the empty list.
  ///
  /// Each is an id, `ID=TITLE` for a new one, or a record in JSON.
  private static func buttons(_ texts: [String], option: String) throws(UsageError) -> [UInt8]? {
    guard !texts.isEmpty else { return nil }
    if texts == [""] { return OperationText.array([]) }
    var list: [[UInt8]] = []
    for text in texts {
      if text.hasPrefix("{") {
        list.append(try Quantities.jsonObject(text, what: "--\(option)"))
      } else if let equals = text.firstIndex(of: "=") {
        list.append(
          OperationText.object([
            ("id", OperationText.string(String(text[..<equals]))),
            ("title", OperationText.string(String(text[text.index(after: equals)...]))),
          ]))
      } else {
        list.append(OperationText.string(text))
      }
    }
    return OperationText.array(list)
  }

  private static func screenMembers(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> [(String, [UInt8])]
  {
    var members: [(String, [UInt8])] = []
    if let id { members.append(("id", OperationText.string(id))) }
    for name in ["title", "route"] {
      if let text = line.value(of: name) { members.append((name, OperationText.string(text))) }
    }
    if let args = line.value(of: "args") {
      members.append(("args", try Quantities.json(args, what: "--args")))
    }
    if let title = line.value(of: "item-title") {
      members.append(("item", OperationText.object([("title", OperationText.string(title))])))
    }
    return members
  }

  private static func buttonMembers(_ line: ParsedCommandLine) throws(UsageError)
    -> [(String, [UInt8])]
  {
    var members: [(String, [UInt8])] = []
    let texts = [
      ("title", "title"), ("image", "image"), ("system-item", "systemItem"), ("style", "style"),
      ("action", "action"),
    ]
    for (option, name) in texts {
      if let text = line.value(of: option) { members.append((name, OperationText.string(text))) }
    }
    if let view = line.value(of: "view") {
      members.append(("customView", try Quantities.json(view, what: "--view")))
    }
    return members
  }
}
