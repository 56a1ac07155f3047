import CommandLineOptions
import NavigationClient
import NavigationCore

/// Makes operations from command lines, one function for each command that changes a nav.
enum OperationParser {
  typealias Line = ParsedCommandLine

  static func create(_ line: Line) throws(UsageError) -> [NavigationOperation] {
    let isDetached = line.contains("detached")
    let root = try rootArgument(line, isDetached: isDetached)
    var arguments: JSONObject = [root.name: root.value]
    if let settings = line.value(of: "settings") {
      arguments.add("settings", try ArgumentReader.jsonObject(settings, what: "--settings"))
    }
    let create = NavigationOperation(.navCreate, arguments)
    // A standalone bar has no controller, and only a controller can be on display.
    let isComplete = isDetached || root.name == "kind"
    return isComplete ? [create] : [create, .attach()]
  }

  private static func rootArgument(
    _ line: Line, isDetached: Bool
  ) throws(UsageError) -> (name: String, value: OpaqueJSON) {
    let id = line.value(of: "root")
    let others = try screenMembers(line, id: nil)
    var classes: JSONObject = [:]
    classes.add("bar", line.value(of: "bar-class"))
    classes.add("toolbar", line.value(of: "toolbar-class"))
    let hasRoot = id != nil || !others.isEmpty
    if try line.choice(of: "kind", ["controller", "bar"]) == "bar" {
      try require(
        !hasRoot && classes.isEmpty && !isDetached,
        "a standalone bar begins without items and without a root",
        remedy: "navctl create NAV --kind bar, then navctl push NAV --title TEXT")
      return ("kind", .string("bar"))
    }
    if !classes.isEmpty || !hasRoot && isDetached {
      try require(
        !hasRoot && isDetached,
        "--bar-class and --toolbar-class need --detached and exclude a root",
        remedy: "navctl create NAV --bar-class NAME --detached, then push and attach")
      return ("classes", .object(classes))
    }
    if let id, id.hasPrefix("{") {
      try require(others.isEmpty, "a root in JSON excludes options about the root")
      return ("root", try ArgumentReader.jsonObject(id, what: "--root"))
    }
    return ("root", .object(try screenMembers(line, id: id)))
  }

  static func push(_ line: Line, id: String?) throws(UsageError) -> NavigationOperation {
    var arguments: JSONObject = ["screen": try knownOrNewScreen(line, id: id, command: "push")]
    if line.contains("if-absent") {
      try require(
        !line.contains("on-duplicate"), "--if-absent is --on-duplicate ignore; give one of them")
      arguments.add("onDuplicate", "ignore")
    }
    arguments.add("onDuplicate", line.value(of: "on-duplicate"))
    if let sender = line.value(of: "sender") {
      try require(line.contains("show"), "--sender goes with --show")
      let isJSON = ["{", "[", "\""].contains { sender.hasPrefix($0) }
      arguments.add(
        "sender", isJSON ? try ArgumentReader.json(sender, what: "--sender") : .string(sender))
    }
    return NavigationOperation(line.contains("show") ? .show : .push, arguments)
  }

  static func popTo(_ line: Line, id: String?) throws(UsageError) -> NavigationOperation {
    let route = line.value(of: "route")
    switch (id, route) {
    case (let id?, nil):
      try require(!line.contains("unique"), "--unique goes with --route")
      return .popTo(id, inclusive: line.contains("inclusive"), result: try resultValue(line))
    case (nil, let route?):
      return .popTo(
        route: route, match: line.contains("unique") ? .unique : .top,
        inclusive: line.contains("inclusive"), result: try resultValue(line))
    case (nil, nil), (_?, _?): throw UsageError("pop-to takes either a screen's id or --route")
    }
  }

  static func replace(_ line: Line, id: String?) throws(UsageError) -> NavigationOperation {
    var arguments: JSONObject = ["with": try knownOrNewScreen(line, id: id, command: "replace")]
    arguments.add("screen", line.value(of: "screen"))
    if line.contains("back") { arguments.add("direction", "back") }
    let result = try line.value(of: "result").map { text throws(UsageError) in
      try ArgumentReader.json(text, what: "--result")
    }
    arguments.add("result", result)
    return NavigationOperation(.replace, arguments)
  }

  static func insert(_ line: Line, id: String?) throws(UsageError) -> NavigationOperation {
    var arguments: JSONObject = ["screen": try knownOrNewScreen(line, id: id, command: "insert")]
    let places = ["below", "above", "at"].filter(line.contains)
    try require(
      places.count == 1, "insert takes one of --below, --above and --at",
      remedy: "for example navctl insert kiosk help --below wifi")
    for name in ["below", "above"] { arguments.add(name, line.value(of: name)) }
    if let index = line.value(of: "at") {
      arguments.add("at", .integer(try ArgumentReader.integer(index, option: "at")))
    }
    return NavigationOperation(.insert, arguments)
  }

  static func stack(_ screens: [String]) throws(UsageError) -> NavigationOperation {
    NavigationOperation(
      .setStack,
      ["screens": .array(try screens.map { text throws(UsageError) in try screen(text) })])
  }

  /// Makes the operation of `navctl screen` or `button` from an id and KEY=VALUE, or a JSON record.
  static func record(
    _ object: NavObject, verb: String, _ words: [String]
  ) throws(UsageError) -> NavigationOperation {
    let isScreen = object == .screen
    let id = words.first.flatMap { KeyValues.isKeyValue($0) ? nil : $0 }
    let usage = "navctl \(object.rawValue) NAV \(verb) ID"
    let isJSON = id?.hasPrefix("{") == true
    let members = try KeyValues.parse(
      Array(words.dropFirst(id == nil ? 0 : 1)), beside: isJSON ? [:] : idMember(id),
      usage: "\(usage) KEY=VALUE...")
    let kind: OperationKind
    switch verb {
    case "create":
      let creation: OperationKind = isScreen ? .screenCreate : .buttonCreate
      guard let id, isJSON else { return NavigationOperation(creation, idMember(id) + members) }
      try require(members.isEmpty, "a record in JSON excludes KEY=VALUE", remedy: usage)
      let json = try ArgumentReader.jsonObject(id, what: "a record")
      return NavigationOperation(creation, octets: .object([creation.name: json]))
    case "release": kind = isScreen ? .screenRelease : .buttonRelease
    case "activate" where !isScreen:
      try require(
        members.members.allSatisfy { $0.name == "element" } && (id != nil || !members.isEmpty),
        "button activate takes the id of a button, the element of a menu, or both",
        remedy: "navctl button NAV activate [ID] [element=ELEMENT]")
      return NavigationOperation(
        .buttonActivate, (id.map { ["button": .string($0)] } ?? [:]) + members)
    default:
      throw UsageError(
        "\(object.rawValue) takes create or release\(isScreen ? "" : " or activate"), not "
          + "'\(TerminalText.visible(verb))'",
        remedy: "navctl \(object.rawValue) NAV create|release\(isScreen ? "" : "|activate") ID")
    }
    guard let id, members.isEmpty else {
      throw UsageError("\(object.rawValue) \(verb) takes an id, and nothing else", remedy: usage)
    }
    return NavigationOperation(kind, [object.rawValue: .string(id)])
  }

  static func screen(_ text: String) throws(UsageError) -> OpaqueJSON {
    text.hasPrefix("{") ? try ArgumentReader.jsonObject(text, what: "a screen") : .string(text)
  }

  static func idMember(_ id: String?) -> JSONObject {
    var members: JSONObject = [:]
    members.add("id", id)
    return members
  }

  static func screenMembers(_ line: Line, id: String?) throws(UsageError) -> JSONObject {
    var members = idMember(id)
    for name in ["title", "route"] { members.add(name, line.value(of: name)) }
    members.add("restorationID", line.value(of: "restoration-id"))
    if let args = line.value(of: "args") {
      members.add("args", try ArgumentReader.json(args, what: "--args"))
    }
    var item: JSONObject = [:]
    item.add("title", line.value(of: "item-title"))
    item.add("prompt", line.value(of: "prompt"))
    if !item.isEmpty { members.add("item", .object(item)) }
    return members
  }

  static func present(_ line: Line, id: String?) throws(UsageError) -> NavigationOperation {
    var arguments: JSONObject = ["screen": try knownOrNewScreen(line, id: id, command: "present")]
    for name in ["from", "style"] { arguments.add(name, line.value(of: name)) }
    return NavigationOperation(.present, arguments)
  }

  static func dismiss(_ line: Line) throws(UsageError) -> NavigationOperation {
    let result = try resultValue(line)
    guard line.contains("swipe") else {
      return .dismiss(from: line.value(of: "from"), result: result)
    }
    try require(
      !line.contains("from"), "--swipe is about the outermost screen, so it takes no --from")
    return .swipeDown(result: result)
  }

  /// Makes the operation of `navctl back`; nil with `--menu`, which only prints the menu.
  static func back(
    _ line: Line, changeOptions: [OptionDeclaration]
  ) throws(UsageError) -> NavigationOperation? {
    guard line.contains("menu") else {
      guard line.contains("key") else {
        return line.value(of: "to").map { .backMenu($0) } ?? .backTap()
      }
      try require(!line.contains("to"), "--key presses a key, so it takes no --to")
      return .backKey()
    }
    let others = ["to", "key"] + changeOptions.map(\.name)
    if let other = others.first(where: line.contains) {
      throw UsageError("--menu changes nothing, so it takes no --\(other)")
    }
    return nil
  }

  static let resultOption = OptionDeclaration(
    "result", argument: "JSON", "Result of the lowest removed screen, for the client that waits")

  static func resultValue(_ line: Line) throws(UsageError) -> NavigationValue? {
    guard let text = line.value(of: "result") else { return nil }
    do {
      return try NavigationValue(json: text)
    } catch {
      throw UsageError("--result is not JSON: \(error.message)")
    }
  }

  static func segue(_ line: Line, id: String?) throws(UsageError) -> NavigationOperation {
    let kind: OpaqueJSON = .string(line.contains("detail") ? "showDetail" : "show")
    return NavigationOperation(
      .segue, ["kind": kind, "screen": try knownOrNewScreen(line, id: id, command: "segue")])
  }

  static func revert(to text: String) throws(UsageError) -> NavigationOperation {
    guard let revision = ArgumentReader.integer(text), revision > 0 else {
      throw UsageError(
        "revert takes the number of a revision, not '\(TerminalText.visible(text))'",
        remedy: "navctl history NAV, which lists them")
    }
    return .revert(to: revision)
  }

  static func restore(_ text: String, root: String?) throws(UsageError) -> NavigationOperation {
    var arguments: JSONObject = ["payload": try ArgumentReader.jsonObject(text, what: "the file")]
    if let root { arguments.add("root", try screen(root)) }
    return NavigationOperation(.restore, arguments)
  }

  /// The screen of an operation: an id alone names a known one; options or JSON describe a new one.
  static func knownOrNewScreen(
    _ line: Line, id: String?, command: String
  ) throws(UsageError) -> OpaqueJSON {
    let others = try screenMembers(line, id: nil)
    if let id, others.isEmpty, !line.contains("new") { return try screen(id) }
    try require(
      id != nil || !others.isEmpty || line.contains("new"), "\(command) needs a screen",
      remedy: "give the id of a screen, or describe a new one with --title or --route")
    try require(
      id?.hasPrefix("{") != true, "a record in JSON excludes options about the screen")
    return .object(try screenMembers(line, id: id))
  }

  static func gesture(_ step: GestureStep, _ line: Line) throws(UsageError) -> NavigationOperation {
    switch step {
    case .begin:
      let kind = try line.choice(of: "kind", ["edge", "fullScreen"])
      var arguments: JSONObject = ["kind": .string(kind)]
      if let text = line.value(of: "translation") {
        let value = try ArgumentReader.json(text, what: "--translation")
        try require(Double(text) != nil, "--translation takes a number")
        arguments.add("translation", value)
      }
      return NavigationOperation(.gestureBegin, arguments)
    case .update(let value):
      return NavigationOperation(
        .gestureUpdate, ["value": OpaqueJSON(validated: Array(value.utf8))])
    case .finish: return .finishGesture()
    case .cancel: return .cancelGesture()
    }
  }

  static func completeTransition(_ text: String) throws(UsageError) -> NavigationOperation {
    let tid = try require(
      ArgumentReader.integer(text),
      "'\(TerminalText.visible(text))' is not the number of a transition",
      remedy: "navctl transition NAV, which prints the running one with its number")
    return .completeTransition(tid)
  }

  static func swipe(_ direction: String) throws(UsageError) -> NavigationOperation {
    let direction = try require(
      NavigationOperation.SwipeDirection(rawValue: direction),
      "swipe takes up or down, not '\(TerminalText.visible(direction))'",
      remedy: "navctl swipe NAV up")
    return .swipe(direction)
  }
}

enum GestureStep: Hashable, Sendable {
  case begin
  /// The finger has moved by this part of the width: a JSON number from 0 to 1.
  case update(fraction: String)
  case finish
  case cancel

  var isLast: Bool { self == .finish || self == .cancel }

  /// Reads steps: `begin`, `update VALUE` or just `VALUE`, `finish` and `cancel`.
  static func steps(_ words: [String]) throws(UsageError) -> [GestureStep] {
    let usage = "for example begin update 0.4 finish"
    var steps: [GestureStep] = []
    var isValue = false
    for word in words {
      try require(steps.last?.isLast != true, "no step can follow finish or cancel", remedy: usage)
      switch word {
      case _ where isValue || word.first?.isNumber == true:
        steps.append(.update(fraction: try fraction(word)))
        isValue = false
      case "update": isValue = true
      case "begin":
        try require(steps.isEmpty, "a gesture begins once", remedy: usage)
        steps.append(.begin)
      case "finish": steps.append(.finish)
      case "cancel": steps.append(.cancel)
      default:
        throw UsageError(
          "'\(TerminalText.visible(word))' is not a step of a gesture", remedy: usage)
      }
    }
    try require(!isValue, "gesture update needs a number from 0 to 1", remedy: usage)
    return steps
  }

  private static func fraction(_ text: String) throws(UsageError) -> String {
    // `Double` accepts .5 and 0x1, which are not JSON numbers; both checks are needed.
    guard let value = Double(text), value >= 0, value <= 1,
      try ArgumentReader.json(text, what: "the value of update").bytes.first != UInt8(ascii: "\"")
    else {
      throw UsageError("update takes a number from 0 to 1, not '\(TerminalText.visible(text))'")
    }
    return text
  }
}
