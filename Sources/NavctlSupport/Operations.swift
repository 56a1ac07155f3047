package import CommandLineOptions
import NavigationProtocol

/// Makes operations from command lines, one function for each command that changes a nav.
package enum Operations {
  /// Makes the operations of `create`: creates a nav, and puts it on display without `--detached`.
  ///
  /// With `--detached` and no option about the root, the stack begins empty.
  package static func create(_ line: ParsedCommandLine) throws(UsageError) -> [OperationText] {
    let isDetached = line.contains("detached")
    var arguments = [try subject(line, isDetached: isDetached)]
    if let settings = line.value(of: "settings") {
      arguments.append(("settings", try Quantities.jsonObject(settings, what: "--settings")))
    }
    let create = OperationText(.navCreate, arguments)
    // A standalone bar has no controller, and only a controller can be on display.
    let isComplete = isDetached || arguments[0].0 == "kind"
    return isComplete ? [create] : [create, OperationText(.attach)]
  }

  /// The member of `nav.create` that describes the nav: `root`, `classes` of its bars, or `kind`.
  private static func subject(
    _ line: ParsedCommandLine, isDetached: Bool
  ) throws(UsageError) -> (String, [UInt8]) {
    let id = line.value(of: "root")
    let others = try screenMembers(line, id: nil)
    let classes = [("bar", "bar-class"), ("toolbar", "toolbar-class")].compactMap { name, option in
      line.value(of: option).map { (name, OperationText.string($0)) }
    }
    let hasRoot = id != nil || !others.isEmpty
    switch line.value(of: "kind") ?? "controller" {
    case "controller": break
    case "bar":
      guard !hasRoot, classes.isEmpty, !isDetached else {
        throw UsageError(
          "a standalone bar begins without items and without a root",
          remedy: "navctl create NAV --kind bar, then navctl push-item NAV --title TEXT")
      }
      return ("kind", OperationText.string("bar"))
    case let other: throw UsageError("--kind takes controller or bar, not '\(other)'")
    }
    if !classes.isEmpty || !hasRoot && isDetached {
      guard !hasRoot, isDetached else {
        throw UsageError(
          "--bar-class and --toolbar-class need --detached and exclude a root",
          remedy: "navctl create NAV --bar-class NAME --detached, then push and attach")
      }
      return ("classes", OperationText.object(classes))
    }
    if let id, id.hasPrefix("{") {
      guard others.isEmpty else {
        throw UsageError("a root in JSON excludes options about the root")
      }
      return ("root", try Quantities.jsonObject(id, what: "--root"))
    }
    return ("root", OperationText.object(try screenMembers(line, id: id)))
  }

  /// Makes the operation of `push`, or with `--show` the operation `show`.
  ///
  /// An id alone refers to a known screen; with any option about the screen, navd creates it.
  package static func push(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> OperationText
  {
    var arguments = [("screen", try newScreen(line, id: id, command: "push"))]
    if line.contains("if-absent") {
      arguments.append(("onDuplicate", OperationText.string("ignore")))
    }
    if let sender = line.value(of: "sender") {
      guard line.contains("show") else { throw UsageError("--sender goes with --show") }
      arguments.append(("sender", try self.sender(sender)))
    }
    return OperationText(line.contains("show") ? .show : .push, arguments)
  }

  /// The sender of a `show`: JSON if the text begins like JSON, else a string.
  private static func sender(_ text: String) throws(UsageError) -> [UInt8] {
    ["{", "[", "\""].contains { text.hasPrefix($0) }
      ? try Quantities.json(text, what: "--sender") : OperationText.string(text)
  }

  /// Makes the operation of `pop-to`: to a screen, or with `--route` to the screen with a route.
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
      throw UsageError("pop-to takes either a screen's id or --route")
    }
  }

  /// Makes the operation of `set`, which replaces the stack; the first screen is the bottom.
  package static func set(_ screens: [String]) throws(UsageError) -> OperationText {
    var list: [[UInt8]] = []
    for text in screens { list.append(try screen(text)) }
    return OperationText(.setStack, [("screens", OperationText.array(list))])
  }

  /// Makes the operation of `title`, which sets the title of one screen.
  package static func title(screen: String, text: String) -> OperationText {
    OperationText(
      .screenSet,
      [("screen", OperationText.string(screen)), ("title", OperationText.string(text))])
  }

  /// Makes the operation of `item`, which sets members of one screen's navigation item.
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
    if let text = line.value(of: "back-button") {
      guard line.value(of: "back-title") == nil else {
        throw UsageError("--back-title and --back-button exclude each other")
      }
      members.append(
        ("backBarButtonItem", try Quantities.jsonObject(text, what: "--back-button")))
    }
    if let view = line.value(of: "title-view") {
      members.append(("titleView", try Quantities.json(view, what: "--title-view")))
    }
    if let mode = line.value(of: "large-title") {
      members.append(("largeTitleDisplayMode", OperationText.string(mode)))
    }
    for name in line.values(of: "unset") { members.append((name, OperationText.null)) }
    guard members.contains(where: { $0.0 != "screen" && $0.0 != "requireOnStack" }) else {
      throw UsageError("item needs an option", remedy: "for example --title TEXT")
    }
    return OperationText(.itemSet, members)
  }

  /// Makes the operation of `button`: creates, changes, releases or taps a button.
  package static func button(_ line: ParsedCommandLine, verb: String, id: String?)
    throws(UsageError) -> OperationText
  {
    let members = try buttonMembers(line)
    if verb == "create" {
      guard !members.isEmpty else {
        throw UsageError(
          "a button needs a title, an image, a system item or a custom view",
          remedy: "one of --title, --image, --system-item, --view")
      }
      let name = id.map { [("id", OperationText.string($0))] } ?? []
      return OperationText(.buttonCreate, name + members)
    }
    let kinds: [String: OperationKind] = [
      "set": .buttonSet, "release": .buttonRelease, "activate": .buttonActivate,
    ]
    guard let kind = kinds[verb] else {
      throw UsageError("button takes create, set, release or activate, not '\(verb)'")
    }
    guard let id else {
      throw UsageError(
        "button \(verb) needs the id of a button", remedy: "navctl button NAV \(verb) ID")
    }
    if kind == .buttonSet, members.isEmpty {
      throw UsageError("button set needs an option", remedy: "for example --title TEXT")
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

  /// The buttons of one side from its options; nil without one, and an empty list for one empty
  /// text.
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

  static func screenMembers(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> [(String, [UInt8])]
  {
    var members: [(String, [UInt8])] = []
    if let id { members.append(("id", OperationText.string(id))) }
    for (option, name) in [
      ("title", "title"), ("route", "route"), ("restoration-id", "restorationID"),
    ] {
      if let text = line.value(of: option) { members.append((name, OperationText.string(text))) }
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
      ("title", "title"), ("image", "image"), ("landscape-image", "landscapeImage"),
      ("system-item", "systemItem"), ("style", "style"), ("action", "action"),
    ]
    for (option, name) in texts {
      guard let text = line.value(of: option) else { continue }
      let isRecord = name.lowercased().hasSuffix("image") && text.hasPrefix("{")
      members.append(
        (
          name,
          isRecord
            ? try Quantities.jsonObject(text, what: "--\(option)") : OperationText.string(text)
        ))
    }
    for name in line.values(of: "unset") { members.append((name, OperationText.null)) }
    if let view = line.value(of: "view") {
      members.append(("customView", try Quantities.json(view, what: "--view")))
    }
    return members
  }
}
