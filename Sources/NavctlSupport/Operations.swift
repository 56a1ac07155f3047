package import CommandLineOptions
package import NavigationClient
import NavigationCore

/// Makes operations from command lines, one function for each command that changes a nav.
package enum Operations {
  /// Makes the operations of `create`: creates a nav, and puts it on display without `--detached`.
  ///
  /// With `--detached` and no option about the root, the stack begins empty.
  package static func create(_ line: ParsedCommandLine) throws(UsageError) -> [NavigationOperation]
  {
    let isDetached = line.contains("detached")
    let subject = try subject(line, isDetached: isDetached)
    var arguments: JSONObject = [subject.name: subject.value]
    if let settings = line.value(of: "settings") {
      arguments.add("settings", try Quantities.jsonObject(settings, what: "--settings"))
    }
    let create = NavigationOperation(.navCreate, arguments)
    // A standalone bar has no controller, and only a controller can be on display.
    let isComplete = isDetached || subject.name == "kind"
    return isComplete ? [create] : [create, .attach()]
  }

  /// The member of `nav.create` that describes the nav: `root`, `classes` of its bars, or `kind`.
  private static func subject(
    _ line: ParsedCommandLine, isDetached: Bool
  ) throws(UsageError) -> (name: String, value: OpaqueJSON) {
    let id = line.value(of: "root")
    let others = try screenMembers(line, id: nil)
    var classes: JSONObject = [:]
    classes.add("bar", line.value(of: "bar-class"))
    classes.add("toolbar", line.value(of: "toolbar-class"))
    let hasRoot = id != nil || !others.isEmpty
    switch line.value(of: "kind") ?? "controller" {
    case "controller": break
    case "bar":
      guard !hasRoot, classes.isEmpty, !isDetached else {
        throw UsageError(
          "a standalone bar begins without items and without a root",
          remedy: "navctl create NAV --kind bar, then navctl push-item NAV --title TEXT")
      }
      return ("kind", .string("bar"))
    case let other: throw UsageError("--kind takes controller or bar, not '\(other)'")
    }
    if !classes.isEmpty || !hasRoot && isDetached {
      guard !hasRoot, isDetached else {
        throw UsageError(
          "--bar-class and --toolbar-class need --detached and exclude a root",
          remedy: "navctl create NAV --bar-class NAME --detached, then push and attach")
      }
      return ("classes", .object(classes))
    }
    if let id, id.hasPrefix("{") {
      guard others.isEmpty else {
        throw UsageError("a root in JSON excludes options about the root")
      }
      return ("root", try Quantities.jsonObject(id, what: "--root"))
    }
    return ("root", .object(try screenMembers(line, id: id)))
  }

  /// Makes the operation of `push`, or with `--show` the operation `show`.
  ///
  /// An id alone refers to a known screen; with any option about the screen, navd creates it.
  package static func push(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> NavigationOperation
  {
    var arguments: JSONObject = ["screen": try newScreen(line, id: id, command: "push")]
    if line.contains("if-absent") {
      guard !line.contains("on-duplicate") else {
        throw UsageError("--if-absent is --on-duplicate ignore; give one of them")
      }
      arguments.add("onDuplicate", "ignore")
    }
    arguments.add("onDuplicate", line.value(of: "on-duplicate"))
    if let sender = line.value(of: "sender") {
      guard line.contains("show") else { throw UsageError("--sender goes with --show") }
      arguments.add("sender", try self.sender(sender))
    }
    return NavigationOperation(line.contains("show") ? .show : .push, arguments)
  }

  /// The sender of a `show`: JSON if the text begins like JSON, else a string.
  private static func sender(_ text: String) throws(UsageError) -> OpaqueJSON {
    ["{", "[", "\""].contains { text.hasPrefix($0) }
      ? try Quantities.json(text, what: "--sender") : .string(text)
  }

  /// Makes the operation of `pop-to`: to a screen, or with `--route` to the screen with a route.
  package static func popTo(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> NavigationOperation
  {
    let route = line.value(of: "route")
    switch (id, route) {
    case (let id?, nil):
      guard !line.contains("unique") else { throw UsageError("--unique goes with --route") }
      return .popTo(id, inclusive: line.contains("inclusive"), result: try result(line))
    case (nil, let route?):
      return .popTo(
        route: route, match: line.contains("unique") ? .unique : .top,
        inclusive: line.contains("inclusive"), result: try result(line))
    case (nil, nil), (_?, _?):
      throw UsageError("pop-to takes either a screen's id or --route")
    }
  }

  /// Makes the operation of `replace`; a known screen is named by its id, as for `push`.
  package static func replace(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> NavigationOperation
  {
    var arguments: JSONObject = ["with": try newScreen(line, id: id, command: "replace")]
    arguments.add("screen", line.value(of: "screen"))
    if line.contains("back") { arguments.add("direction", "back") }
    return NavigationOperation(.replace, arguments)
  }

  /// Makes the operation of `insert`, at the place that one of three options names.
  package static func insert(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> NavigationOperation
  {
    var arguments: JSONObject = ["screen": try newScreen(line, id: id, command: "insert")]
    let places = ["below", "above", "at"].filter(line.contains)
    guard places.count == 1 else {
      throw UsageError(
        "insert takes one of --below, --above and --at",
        remedy: "for example navctl insert kiosk help --below wifi")
    }
    arguments.add("below", line.value(of: "below"))
    arguments.add("above", line.value(of: "above"))
    if let index = line.value(of: "at") {
      arguments.add("at", .integer(try Quantities.integer(index, option: "at")))
    }
    return NavigationOperation(.insert, arguments)
  }

  /// Makes the operation of `set`, which replaces the stack; the first screen is the bottom.
  package static func set(_ screens: [String]) throws(UsageError) -> NavigationOperation {
    NavigationOperation(.setStack, ["screens": try Self.screens(screens)])
  }

  package static func title(screen: String, text: String) -> NavigationOperation {
    .setScreen(screen, [.title(text)])
  }

  /// Makes the operation of `item`, which sets members of one screen's navigation item.
  package static func item(_ line: ParsedCommandLine, screen: String) throws(UsageError)
    -> NavigationOperation
  {
    var members: JSONObject = ["screen": .string(screen)]
    for name in ["title", "prompt"] { members.add(name, line.value(of: name)) }
    let flags = [
      ("hides-back-button", "hidesBackButton"), ("supplement", "leftItemsSupplementBackButton"),
      ("on-stack", "requireOnStack"),
    ]
    for (option, name) in flags {
      if let text = line.value(of: option) {
        members.add(name, try Quantities.bool(text, option: option))
      }
    }
    for (option, name) in [("left", "leftItems"), ("right", "rightItems")] {
      members.add(name, try buttons(line.values(of: option), option: option))
    }
    if let text = line.value(of: "back-title") {
      members.add("backBarButtonItem", .object(["title": .string(text)]))
    }
    if let text = line.value(of: "back-button") {
      guard line.value(of: "back-title") == nil else {
        throw UsageError("--back-title and --back-button exclude each other")
      }
      members.add(
        "backBarButtonItem", try Quantities.jsonObject(text, what: "--back-button"))
    }
    if let view = line.value(of: "title-view") {
      members.add("titleView", try Quantities.json(view, what: "--title-view"))
    }
    members.add("largeTitleDisplayMode", line.value(of: "large-title"))
    members.add("accessibilityLabel", line.value(of: "label"))
    members.add("language", line.value(of: "language"))
    for name in line.values(of: "unset") { members.add(name, OpaqueJSON.null) }
    let isChange = members.members.contains { $0.name != "screen" && $0.name != "requireOnStack" }
    guard isChange else {
      throw UsageError("item needs an option", remedy: "for example --title TEXT")
    }
    return NavigationOperation(.itemSet, members)
  }

  /// Makes the operation of `button`: creates, changes, releases or taps a button.
  package static func button(_ line: ParsedCommandLine, verb: String, id: String?)
    throws(UsageError) -> NavigationOperation
  {
    let members = try buttonMembers(line)
    if verb == "create" {
      guard !members.isEmpty else {
        throw UsageError(
          "a button needs a title, an image, a system item or a custom view",
          remedy: "one of --title, --image, --system-item, --view")
      }
      return NavigationOperation(.buttonCreate, record(id) + members)
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
    if kind != .buttonSet, let member = members.members.first {
      throw UsageError("button \(verb) takes no \(member.name)")
    }
    return NavigationOperation(kind, ["button": .string(id)] + members)
  }

  /// A screen on the command line: an id, or a record in JSON.
  static func screen(_ text: String) throws(UsageError) -> OpaqueJSON {
    text.hasPrefix("{")
      ? try Quantities.jsonObject(text, what: "a screen") : .string(text)
  }

  static func screens(_ texts: [String]) throws(UsageError) -> OpaqueJSON {
    var list: [OpaqueJSON] = []
    for text in texts { list.append(try screen(text)) }
    return .array(list)
  }

  /// A new record, with its id if it has one.
  static func record(_ id: String?) -> JSONObject {
    var members: JSONObject = [:]
    members.add("id", id)
    return members
  }

  /// The buttons of one side from its options; nil without one, and an empty list for one empty
  /// text.
  ///
  /// Each is an id, `ID=TITLE` for a new one, or a record in JSON.
  private static func buttons(_ texts: [String], option: String) throws(UsageError) -> OpaqueJSON? {
    guard !texts.isEmpty else { return nil }
    if texts == [""] { return .array([]) }
    var list: [OpaqueJSON] = []
    for text in texts {
      if text.hasPrefix("{") {
        list.append(try Quantities.jsonObject(text, what: "--\(option)"))
      } else if let parts = text.cut(at: "=") {
        list.append(
          .object([
            "id": .string(String(parts.before)), "title": .string(String(parts.after)),
          ]))
      } else {
        list.append(.string(text))
      }
    }
    return .array(list)
  }

  static func screenMembers(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> JSONObject
  {
    var members = record(id)
    members.add("title", line.value(of: "title"))
    members.add("route", line.value(of: "route"))
    members.add("restorationID", line.value(of: "restoration-id"))
    if let args = line.value(of: "args") {
      members.add("args", try Quantities.json(args, what: "--args"))
    }
    if let title = line.value(of: "item-title") {
      members.add("item", .object(["title": .string(title)]))
    }
    return members
  }

  private static func buttonMembers(_ line: ParsedCommandLine) throws(UsageError)
    -> JSONObject
  {
    var members: JSONObject = [:]
    let texts = [
      ("title", "title"), ("image", "image"), ("landscape-image", "landscapeImage"),
      ("system-item", "systemItem"), ("style", "style"), ("action", "action"),
      ("label", "accessibilityLabel"), ("hint", "accessibilityHint"),
      ("identifier", "accessibilityIdentifier"),
    ]
    for (option, name) in texts {
      guard let text = line.value(of: option) else { continue }
      let isRecord = name.lowercased().hasSuffix("image") && text.hasPrefix("{")
      members.add(
        name,
        isRecord ? try Quantities.jsonObject(text, what: "--\(option)") : .string(text))
    }
    for (option, name) in [("enabled", "isEnabled"), ("selected", "isSelected")] {
      if let text = line.value(of: option) {
        members.add(name, try Quantities.bool(text, option: option))
      }
    }
    for name in line.values(of: "unset") { members.add(name, OpaqueJSON.null) }
    if let view = line.value(of: "view") {
      members.add("customView", try Quantities.json(view, what: "--view"))
    }
    return members
  }
}
