import CommandLineOptions
import NavigationClient
import NavigationCore
import NavigationHub

/// What `navctl set` changes: a record or a part of a nav, by its members.
enum NavObject: String, CaseIterable, Sendable {
  case screen, item, button, bar, toolbar, appearance, proxy, display, settings

  private struct Row {
    /// The placeholder of the object's id in the help; nil if the object has no id.
    var id: String?
    var isOptional = false
    var idArgument = ""
    var kind: OperationKind
    /// The members that a client can set, with dots for those of objects.
    var keys: [String]
  }

  private var row: Row {
    switch self {
    case .screen:
      let details = ScreenDetails.table.names.filter { $0 != "item" }
      return Row(
        id: "SCREEN", idArgument: "screen", kind: .screenSet,
        keys: ["title", "route", "args"] + details)
    case .item:
      let inner = ["backBarButtonItem.title", "backAction.title"]
      let keys = NavigationItem.table.names + inner + ["requireOnStack"]
      return Row(id: "SCREEN", idArgument: "screen", kind: .itemSet, keys: keys)
    case .button:
      return Row(
        id: "BUTTON", idArgument: "button", kind: .buttonSet, keys: ButtonContent.table.names)
    case .bar: return Row(kind: .barSet, keys: ["hidden"] + Bar.table.names)
    case .toolbar: return Row(kind: .toolbarSet, keys: ["hidden"] + Toolbar.table.names)
    case .appearance:
      return Row(
        id: "SCREEN", isOptional: true, idArgument: "screen", kind: .appearanceSet,
        keys: AppearanceSet.table.names)
    case .proxy:
      return Row(
        id: "CLASS", isOptional: true, idArgument: "class", kind: .proxySet, keys: Bar.lookMembers)
    case .display: return Row(kind: .envSet, keys: Environment.table.names + ["horizontal"])
    case .settings: return Row(kind: .navConfigure, keys: Settings.table.names)
    }
  }

  /// The placeholder of the id in the help; nil if the command needs no id.
  var requiredID: String? { row.isOptional ? nil : row.id }

  var optionalID: String? { row.isOptional ? row.id : nil }

  var keys: [String] { row.keys }

  static func unknownObject(_ word: String, nav: String) -> UsageError {
    if let object = NavObject(rawValue: nav), KeyValues.isKeyValue(word) {
      return UsageError("NAV is missing", remedy: "navctl set NAV \(object.usageWords) KEY=VALUE")
    }
    let near = Suggestion.nearest(word, among: allCases.map(\.rawValue)).flatMap(Self.init)
    let others = allCases.filter { $0 != .proxy }.map(\.usageWords).joined(separator: "|")
    return UsageError(
      "there is no object '\(TerminalText.visible(word))' to set"
        + (near.map { "; is it '\($0.rawValue)'?" } ?? ""),
      remedy: "navctl set \(nav) \(near?.usageWords ?? others) KEY=VALUE")
  }

  var usageWords: String { ([rawValue] + [requiredID].compactMap(\.self)).joined(separator: " ") }

  /// The values that a member can have, from the message that refuses `{}` as its value.
  func allowedValues(of key: String) -> [String] {
    Self.allowedWords(in: refusal(of: "\(key)={}") ?? "")
  }

  /// The values that a refusal such as `idiom is phone or pad` lists.
  static func allowedWords(in refusal: String) -> [String] {
    let words = refusal.split(separator: " ").map { String($0.filter { $0 != "," }) }
    if let place = words.firstIndex(where: { $0 == "of" }), place > 0, words[place - 1] == "one" {
      return Array(words[(place + 1)...])
    }
    return words.count == 5 && words[1] == "is" && words[3] == "or" ? [words[2], words[4]] : []
  }

  func refusal(of member: String) -> String? { try? operations(id: "x", [member]).first?.refusal }

  /// Throws for a key that names another object, or a slot that an appearance does not have.
  func checkKeys(of words: [String], id: String?, of nav: String) throws(UsageError) {
    for key in words.compactMap({ $0.cut(at: "=")?.before }).map(String.init) {
      let name = key.split(separator: ".").first.map(String.init) ?? key
      if self == .appearance, !keys.contains(name) {
        let line = "navctl set \(nav) \(usageWords)\(id.map { " \($0)" } ?? "")"
        throw UsageError(
          "an appearance has no slot \(name), but \(keys.joined(separator: ", "))",
          remedy: Suggestion.nearest(name, among: keys).map { "is it '\($0)'?" }
            ?? "\(line) standard.\(key)=VALUE")
      }
      if keys.contains(name) { continue }
      guard let object = NavObject(rawValue: name), object != self else { continue }
      let line = object == .proxy ? "proxy" : "\(nav) \(object.usageWords)"
      throw UsageError("\(name) is an object of its own", remedy: "navctl set \(line) KEY=VALUE")
    }
  }

  /// Makes the operations that set members; `words` are KEY=VALUE.
  func operations(id: String?, _ words: [String]) throws(UsageError) -> [NavigationOperation] {
    let usage = "navctl set NAV \(usageWords)"
    try require(
      requiredID == nil || id != nil, "\(requiredID ?? "") is missing",
      remedy: "\(usage) KEY=VALUE...")
    let row = row
    var arguments: JSONObject = [:]
    if self == .appearance {
      return try KeyValues.parse(words, usage: "\(usage) KEY=VALUE...").members.map {
        var slot: JSONObject = ["slot": .string($0.name), "object": $0.value]
        slot.add(row.idArgument, id)
        return NavigationOperation(row.kind, slot)
      }
    }
    if row.id != nil { arguments.add(row.idArgument, id) }
    let members = try KeyValues.parse(words, beside: arguments, usage: "\(usage) KEY=VALUE...")
    // Whether a bar is hidden is an operation of its own. null stands for the default of each.
    let isBar = self == .bar || self == .toolbar
    let hiding = members.members.filter { isBar && $0.name == "hidden" }
    let others = members.members.filter { !isBar || $0.name != "hidden" }
    return (others.isEmpty ? [] : [NavigationOperation(row.kind, arguments + JSONObject(others))])
      + hiding.map {
        NavigationOperation(
          self == .bar ? .barSetHidden : .toolbarSetHidden,
          ["hidden": $0.value == .null ? .bool(self == .toolbar) : $0.value])
      }
  }

  /// Finds the object in the JSON of a state, of the detached records or of a screen.
  func value(id: String?, in state: JSONValue) -> JSONValue? {
    switch self {
    case .screen: return state
    case .item: return state["item"]
    case .button:
      return (state.list("buttons") + state.shownScreens.flatMap(\.buttons))
        .first { $0["id"]?.string == id }
    case .bar, .toolbar, .settings: return state[rawValue]
    case .display: return state["environment"]
    case .appearance: return state[id == nil ? "bar" : "item"]?["appearance"]
    case .proxy:
      let looks = state["settings"]?["proxy"]
      return id.map { looks?[$0] } ?? looks
    }
  }
}

extension NavigationOperation {
  /// Why the daemon would refuse the arguments of the operation in any state; nil if it would not.
  var refusal: String? {
    let body = ClientMessageWriter.op(OpRequest(id: 1, nav: "x"), operations: [octets.bytes])
    var reader = ClientMessageReader(maximumBytes: 65_536)
    guard
      case .op(let request)? = try? reader.read(frame: ClientVerb.op.frame.span, body: body.span),
      case .unreadable(let failure)? = request.operations.first?.arguments
    else { return nil }
    return failure.text
  }
}
