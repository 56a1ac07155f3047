import Foundation
import Testing

@testable import NavigationCore
@testable import NavigationHub

// The settings of the client in Swift: a function for each documented member of a record.
extension GeneratedText {
  /// The settings of some records, with what they are and the operation that takes them.
  static func settings(of names: String...) -> String {
    let types = [
      ("NavigationSetting", "One of the settings of a nav", Setting.all(Settings.self)),
      ("EnvironmentSetting", "One property of the display", Setting.all(Environment.self)),
      ("BarSetting", "One member of a navigation bar", Setting.all(Bar.self)),
      ("ToolbarSetting", "One member of a toolbar", Setting.all(Toolbar.self)),
      ("ScreenSetting", "One member of a screen", Setting.hot + Setting.all(ScreenDetails.self)),
      ("ButtonSetting", "One member of a button", Setting.all(ButtonContent.self)),
    ]
    let texts = types.filter { names.contains($0.0) }.map { name, what, runs in
      let operation = name == "NavigationSetting" ? "configure" : "set\(name.dropLast(7))"
      let labels = ["setScreen", "setButton"].contains(operation) ? "(_:_:)" : "(_:)"
      let others = name == "BarSetting" ? " and the proxy." : "."
      let summary = "\(what), for ``NavigationOperation/\(operation)\(labels)``\(others)"
      return declaration(name, summary, runs) + "\nextension \(name) {\n"
        + runs.map { function($0, of: name) }.joined(separator: "\n") + "}\n"
    }
    return "// Written from the tables of members in the core; see GeneratedTests.\n\n"
      + "import NavigationCore\n\n" + texts.joined(separator: "\n")
  }

  private static func declaration(
    _ name: String, _ summary: String, _ runs: [[Setting]]
  ) -> String {
    let names = runs.map { run in
      let wire = run[0].group ?? run[0].name
      let function = Setting.names[wire] ?? wire
      // One word, so that no line ends inside of it.
      return wire == function ? function : "\(function)\u{A0}=\u{A0}\"\(wire)\""
    }
    let list = lines(names.joined(separator: ", "), width: 91).joined(separator: "\n      ")
    return """
      /// \(summary)
      ///
      /// Members that are not named keep their values; ``reset(_:)`` resets one to its default.
      public struct \(name): Hashable, Sendable {
        let member: JSONObject.Member

        init(_ name: String, _ value: NavigationValue) { self.init(name, json: value.octets) }

        private init(_ name: String, json value: OpaqueJSON) {
          member = .init(name: name, value: value)
        }

        /// Resets a member to its default.
        public static func reset(_ name: Name) -> \(name) { .init(name.rawValue, nil) }

        /// The names of the members, as the functions that set them.
        public enum Name: String, Hashable, Sendable, CaseIterable {
          // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
          /// A member, as the function of the same name sets it.
          case \(list.replacing("\u{A0}", with: " "))
        }
      }

      """
  }

  private static func function(_ run: [Setting], of type: String) -> String {
    let wire = run[0].group ?? run[0].name
    let sentences = run[0].documentation.split(separator: ". ", maxSplits: 1).map(String.init)
    let first = sentences[0] + (sentences.count > 1 ? "." : "")
    let parameters = run.map(\.parameter)
    let name = Setting.names[wire] ?? wire
    var head = "  public static func \(name)(\(parameters.joined(separator: ", "))) -> \(type) {"
    if head.count > 100 {
      let list = parameters.joined(separator: ",\n    ")
      head = "  public static func \(name)(\n    \(list)\n  ) -> \(type) {"
    }
    let inner = run.map { "        \"\($0.name)\": \($0.value),\n" }.joined()
    let value = run[0].group == nil ? run[0].value : "[\n\(inner)      ]"
    let short = "    .init(\"\(wire)\", \(value))\n"
    let isLong = value.contains("\n") || short.count > 101
    return comment(first, sentences.dropFirst().joined()) + head + "\n"
      + (isLong ? "    .init(\n      \"\(wire)\",\n      \(value))\n" : short) + "  }\n"
  }
}

struct Setting {
  let name: String
  var group: String?
  let documentation: String
  let type: String
  var standard = ""
  var words: [String] = []

  /// The documented members of a record, those of a group together.
  static func all<Record: TabledRecord>(_ record: Record.Type) -> [[Setting]] {
    Record.table.memberRanges.map { Record.table.members[$0] }
      .filter { !$0[$0.startIndex].documentation.description.isEmpty }.map { run in
        run.map { member in
          Setting(
            name: member.name.description, group: member.group?.description,
            documentation: member.documentation.description,
            type: "\(member.type)".replacing(/^Optional<(.*)>$/) { $0.1 },
            standard: OpaqueJSON(validated: JSONWriter.value { member.write(Record(), &$0) }).text,
            words: (member.type as? any WireNamed.Type)?.words ?? [])
        }
      }
  }

  /// The members of a screen that its table lacks, because operations read them by hand.
  static let hot = [
    ("title", "The title, which the bar shows, and the back button of the screen above.", "String"),
    ("route", "The route, by which the application finds the content.", "String"),
    ("args", "Further data for the application, at most 64 KiB.", "OpaqueJSON"),
  ].map { [Setting(name: $0.0, documentation: $0.1, type: $0.2)] }

  /// The functions and parameters that have another name than on the wire.
  static let names = [
    "translucent": "isTranslucent", "guard": "guards",
    "modalInPresentation": "isModalInPresentation", "vCompact": "isVerticallyCompact",
    "scrollEdge": "isAtScrollEdge", "keyboard": "hasKeyboard", "screenReader": "hasScreenReader",
    "accessibilityContrast": "hasHighContrast", "enabled": "isEnabled", "required": "isRequired",
  ]

  /// The parameters, by the name of the member or else by its type.
  private static let parameters = [
    "Bool accessibilityContrast": "isOn: Bool", "idiom": "idiom: Idiom",
    "String Text": "text: String", "restorationID": "id: String", "language": "tag: String",
    "action locale accessibilityIdentifier": "name: String", "route": "route: String",
    "tintColor barTintColor backgroundColor": "color: String", "scale": "scale: Double",
    "UInt64": "count: Int", "statusBar": "height: Int", "backTitleBudget": "width: Int",
    "deadline": "deadline: Duration",
    "questionDeadline transitionDeadline gestureDeadline": "time: Duration",
    "OpaqueJSON": "value: NavigationValue", "customView": "view: NavigationValue",
    "ImageReference": "image: ImageDescription", "BarStyle": "style: BarSetting.Style",
    "SystemItem": "item: SystemItem", "Orientation": "orientation: NavigationOrientation",
    "BarPosition": "position: BarPosition", "GuardPolicy": "policy: GuardPolicy",
    "VetoScope": "scope: VetoScope", "Animations": "animations: Animations",
    "ContentSizeCategory": "size: ContentSizeCategory", "mode": "_ mode: NavigationGestureKind",
    "policy": "onTimeout policy: VetoPolicy", "toolbarItems": "buttons: [ButtonDescription]",
    "menu": "menu: [MenuElement]", "badge": "badge: Badge",
    "ButtonStyle": "style: ButtonDescription.Style",
    "BusyPolicy": "policy: NavigationBusyPolicy",
    "edges": "edges: [ScreenDescription.Edge]",
    "titleTextAttributes": "attributes: [TitleTextAttribute: NavigationValue]",
    "titleOffsets": "offsets: [BarMetrics: Double]",
    "backgroundImages": "images: [BackgroundPlace: ImageDescription]",
    "backTitles": "titles: [String: String]", "routes": "routes: [NavigationRoute]",
    "simultaneous": "pairs: [(NavigationGestureKind, NavigationGestureKind)]",
  ]

  private static func parameter(of name: String) -> String? {
    parameters.first { $0.key.split(separator: " ").contains { $0 == name } }?.value
  }

  /// The values that do not follow from the type of the parameter.
  private static let values = [
    "accessibilityContrast": #".string(isOn ? "high" : "normal")"#,
    "toolbarItems": #"json: .array(buttons.map(\.wireValue))"#,
    "menu": #"json: .array(menu.map(\.wireValue))"#, "badge": "json: badge.wireValue",
    "edges": ".array(edges.map { .string($0.rawValue) })",
    "titleTextAttributes": #".object(named(attributes, \.rawValue))"#,
    "titleOffsets": #".object(named(offsets.mapValues { .number($0) }, \.rawValue))"#,
    "backgroundImages": #".object(named(images.mapValues(\.value), \.text))"#,
    "backTitles": ".object(titles.mapValues { .string($0) })",
    "routes": #"json: .array(routes.map(\.wireValue))"#,
    "simultaneous":
      ".array(pairs.map { .array([.string($0.0.rawValue), .string($0.1.rawValue)]) })",
  ]

  private var pair: (name: String, type: String) {
    let own = Self.parameter(of: name)
    let words = (own ?? Self.parameter(of: type) ?? name).split(separator: ": ", maxSplits: 1)
    let isNamed = group != nil && own == nil
    return (isNamed ? Self.names[name] ?? name : String(words[0]), words.dropFirst().joined())
  }

  /// The parameter of the function, in a group with the default of the record.
  var parameter: String {
    let (name, type) = pair
    guard group != nil else { return "_ \(name): \(type)" }
    let word = standard.hasPrefix("\"") ? ".\(standard.dropFirst().dropLast())" : standard
    let seconds = (UInt64(standard) ?? 0) / 1000
    return "\(name): \(type) = \(type == "Duration" ? ".seconds(\(seconds))" : word)"
  }

  var value: String {
    let (names, type) = pair
    let name = names.split(separator: " ").last ?? ""
    let usual = [
      "Bool": ".bool(\(name))", "String": ".string(\(name))", "Double": ".number(\(name))",
      "Int": ".integer(Int64(clamping: \(name)))", "NavigationValue": "\(name)",
      "Duration": ".integer(\(name).milliseconds)", "ImageDescription": "\(name).value",
    ]
    return Self.values[self.name] ?? usual[type] ?? ".string(\(name).rawValue)"
  }
}

// The descriptions of the client in Swift: an initialiser with a parameter for each member.
extension GeneratedText {
  static var descriptions: String {
    let names = Setting.all(NavigationItem.self).map { $0[0].name }
    let list = lines(names.joined(separator: ", "), width: 91).joined(separator: "\n      ")
    return "// Written from the tables of members in the core; see GeneratedTests.\n\n"
      + "import NavigationCore\n\nextension ScreenDescription {\n"
      + initialiser(
        "Describes a new screen.", Setting.hot + Setting.all(ScreenDetails.self), screenParameters,
        "self.init(members)")
        + """
        }

        extension ItemDescription {
          /// The names of the members, for those to reset to their defaults.
          public enum Name: String, Hashable, Sendable, CaseIterable {
            // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
            /// A member of an item, by its word in the protocol.
            case \(list)
          }


        """
      + initialiser(
        "Describes an item.", Setting.all(NavigationItem.self), itemParameters,
        "self.init(members, resetting)")
      + "}\n"
  }

  /// The parameters in their order, each with what the documentation of its member does not say.
  private static let screenParameters = [
    ("id", "its id, `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`; nil lets the daemon choose one."),
    ("title", ""), ("route", ""),
    ("args", "Every client that can read the nav sees it, so it must not contain secrets."),
    ("restorationID", "nil for a screen that is not saved."),
    ("item", "its content in the bar."), ("toolbarItems", ""),
    ("prefersBarHidden", ""), ("prefersToolbarHidden", ""),
    ("hidesBottomBarWhenPushed", ""), ("edges", "nil for all."),
    ("extendsUnderOpaqueBars", ""), ("wantsFullScreenLayout", ""), ("canPop", ""),
    ("modalInPresentation", ""), ("accessibilityLabel", ""),
    ("language", "nil for that of the display."),
  ]

  private static let itemParameters = [
    ("title", ""), ("prompt", ""), ("hidesBackButton", ""), ("leftItemsSupplementBackButton", ""),
    ("leftItems", ""), ("rightItems", ""), ("backBarButtonItem", ""),
    ("backButtonTitle", "an empty one is no text."), ("backButtonDisplayMode", ""),
    ("titleView", ""),
    ("largeTitleDisplayMode", ""), ("appearance", ""), ("accessibilityLabel", ""),
    ("language", ""), ("resetting", "members to reset to their defaults."),
  ]

  /// The parameters in their order, with the members that no list names behind the others.
  private static func parameters(
    _ listed: [(String, String)], _ members: [Setting]
  ) -> [(String, String)] {
    let rest = members.map(\.name).filter { name in !listed.contains { $0.0 == name } }
    return listed.filter { $0.0 != "resetting" } + rest.map { ($0, "") }
      + listed.filter { $0.0 == "resetting" }
  }

  /// The same by the type of the member, with the name for `$`.
  private static let describedTypes: [String: (String, String)] = [
    "Button": ("ButtonDescription", "$?.wireValue"), "OpaqueJSON": ("NavigationValue", "$?.octets"),
    "SearchBarPlacement": ("SearchBarPlacement", "$?.rawValue"),
    "ItemStyle": ("ItemStyle", "$?.rawValue"), "TitleAlignment": ("TitleAlignment", "$?.rawValue"),
    "Menu": ("[MenuElement]", #"$.map { .array($0.map(\.wireValue)) }"#),
  ]

  /// The types and values of parameters that are neither texts nor truth values.
  private static let described: [String: (String, String)] = [
    "args": ("NavigationValue", "args?.octets"),
    "item": ("ItemDescription", "item.map { .object($0.members) }"),
    "toolbarItems": ("[ButtonDescription]", #"toolbarItems.map { .array($0.map(\.wireValue)) }"#),
    "edges": ("[Edge]", "edges.map { .array($0.map { .string($0.rawValue) }) }"),
    "leftItems": ("[ButtonDescription]", #"leftItems.map { .array($0.map(\.wireValue)) }"#),
    "rightItems": ("[ButtonDescription]", #"rightItems.map { .array($0.map(\.wireValue)) }"#),
    "backBarButtonItem": ("ButtonDescription", "backBarButtonItem?.wireValue"),
    "titleView": ("TitleView", "titleView?.value.octets"),
    "largeTitleDisplayMode": ("LargeTitleDisplayMode", "largeTitleDisplayMode?.rawValue"),
    "backButtonDisplayMode": ("BackButtonDisplayMode", "backButtonDisplayMode?.rawValue"),
    "appearance": (
      "[AppearanceSlot: NavigationValue]",
      #"appearance.map { NavigationValue.object(BarSetting.named($0, \.rawValue)).octets }"#
    ),
  ]

  private static func initialiser(
    _ summary: String, _ settings: [[Setting]], _ parameters: [(String, String)], _ end: String
  ) -> String {
    let members = settings.map { $0[0] }
    var (comments, heads, body) = ("", [String](), "    var members: JSONObject = [:]\n")
    for (wire, note) in Self.parameters(parameters, members) {
      let member = members.first { $0.name == wire }
      let name = Setting.names[wire] ?? wire
      var text = member?.documentation ?? ""
      if let first = note.first {
        if !text.isEmpty, !first.isUppercase { text = "\(text.dropLast());" }
        text += (text.isEmpty ? "" : " ") + note
      }
      let item = "- \(name): \(text.prefix(1).lowercased())\(text.dropFirst())"
      let comment = lines(item, width: 90)
      comments += "  ///   " + comment.joined(separator: "\n  ///     ") + "\n"
      let byType = (member.flatMap { describedTypes[$0.type] }).map {
        ($0.0, $0.1.replacing(/^\$/, with: name))
      }
      let (type, value) =
        described[wire] ?? byType ?? (member?.type == "Bool" ? "Bool" : "String", name)
      // One word, so that no line ends inside of it.
      heads.append(
        wire == "resetting" ? "resetting: [Name] = []" : "\(name): \(type)? = nil")
      guard wire != "resetting" else { continue }
      let short = "    members.add(\"\(wire)\", \(value))\n"
      body +=
        short.count > 101 ? "    members.add(\n      \"\(wire)\",\n      \(value))\n" : short
    }
    let words = heads.map { $0.replacing(" ", with: "\u{A0}") }.joined(separator: ", ")
    let head = lines(words, width: 96).joined(separator: "\n    ").replacing("\u{A0}", with: " ")
    return "  /// \(summary)\n  ///\n  /// - Parameters:\n\(comments)  public init(\n    \(head)\n"
      + "  ) {\n\(body)    \(end)\n  }\n"
  }
}

// The words of the protocol: with the comments of the core in Swift, and for TypeScript.
extension GeneratedText {
  /// A file of a module, an enumeration in it, the type of the client and its kind: a `list` names
  /// all cases, an `open` one can have the word of a newer daemon, and one of `names` is that for the
  /// cases of an enumeration with values.
  private static let enumerations = """
    Hub/Navigation/Bar AppearanceSlot AppearanceSlot enum
    Hub/Navigation/Bar BarMetrics BarMetrics list
    Hub/Navigation/Bar BarPosition BarPosition list
    Hub/Navigation/Bar BarStyle BarSetting.Style enum
    Hub/Navigation/Settings GuardPolicy NavigationSetting.GuardPolicy enum
    Hub/Navigation/Settings VetoScope NavigationSetting.VetoScope enum
    Hub/Navigation/Environment Animations EnvironmentSetting.Animations enum
    Hub/Navigation/Bar SwipeDirection NavigationOperation.SwipeDirection enum
    Hub/Navigation/Operation DuplicatePolicy NavigationOperation.DuplicatePolicy enum
    Core/Navigation/Identifiers PartName NavigationState.Part list
    Hub/Navigation/NavigationItem LargeTitleDisplayMode ItemDescription.LargeTitleDisplayMode open
    Hub/Navigation/NavigationItem BackButtonDisplayMode ItemDescription.BackButtonDisplayMode open
    Hub/Navigation/NavigationItem ItemStyle ItemDescription.ItemStyle open
    Hub/Navigation/NavigationItem SearchBarPlacement ItemDescription.SearchBarPlacement open
    Hub/Navigation/NavigationItem TitleAlignment ItemDescription.TitleAlignment open
    Hub/Navigation/Button ButtonStyle ButtonDescription.Style open
    Hub/Navigation/Transition TransitionOutcome NavigationEvent.TransitionOutcome open
    Hub/Navigation/Transition Kind NavigationTransitionOperation open
    Hub/Navigation/Environment Orientation NavigationOrientation open
    Hub/Navigation/Button SystemItem SystemItem open
    Core/Protocol/Wire/WireValue Cause NavigationCause open
    Core/Protocol/Wire/Delegation DelegateRole NavigationRehearsal.Delegate.Role open
    Client/Operations/NavigationEvent Kind NavigationEvent.Name names
    """

  /// The words that operations describe records with, or the others.
  static func words(ofDescriptions: Bool) throws -> String {
    let rows = enumerations.split(separator: "\n").filter {
      $0.contains("Description") == ofDescriptions
    }
    let texts = try rows.map { row in
      let cells = row.split(separator: " ").map(String.init)
      let path = cells[2].split(separator: ".").map(String.init)
      let text = try declaration(path[path.count - 1], cells[3], of: cells[1], in: cells[0])
      guard path.count > 1 else { return text.joined(separator: "\n") + "\n" }
      let inner = text.map { $0.isEmpty ? "" : "  " + $0 }.joined(separator: "\n")
      return "extension \(path.dropLast().joined(separator: ".")) {\n\(inner)\n}\n"
    }
    return "// Written from the enumerations of the core; see GeneratedTests.\n\n"
      + texts.joined(separator: "\n")
  }

  private static func declaration(
    _ type: String, _ kind: String, of name: String, in file: String
  ) throws -> [String] {
    let url = root.appending(path: "Sources/Navigation\(file).swift")
    let source = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }
    let start = try #require(source.firstIndex { $0.contains("enum \(name):") }, "\(name)")
    let summary: [String] =
      kind == "names"
      ? ["/// The name of an event, without its details."]
      : source[..<start].reversed().prefix { $0.hasPrefix("///") }.reversed()
    let cases = source[(start + 1)...].prefix { $0.hasPrefix("///") || $0.hasPrefix("case ") }
    let list = kind == "list" ? ", CaseIterable" : ""
    let closed = ["public enum \(type): String, Hashable, Sendable\(list) {"]
    guard ["open", "names"].contains(kind) else {
      return summary + closed + cases.map { "  " + $0 } + ["}"]
    }
    let constants = cases.map { line in
      let name = line.dropFirst(5).prefix { $0 != "(" }
      guard line.hasPrefix("case ") else { return line }
      return "public static let \(name) = Self(rawValue: \"\(name)\")"
    }
    return summary + openType(type, constants)
  }

  /// The declaration of an open type behind its summary, with names for some words.
  static func openType(_ type: String, _ constants: [String]) -> [String] {
    let head = """
      ///
      /// A newer daemon can send others than those that have a name here.
      public struct \(type): RawRepresentable, Hashable, Sendable,
        CustomStringConvertible
      {
        /// The word of the protocol.
        public let rawValue: String

        /// Makes a value from its word in the protocol.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The text of ``rawValue``.
        public var description: String { rawValue }

      """.components(separatedBy: "\n")
    return head + constants.map { "  " + $0 } + ["}"]
  }

  static var typescript: String {
    let lists: [(name: String, comment: String, words: [String])] = [
      ("OperationName", "The operations (§9.6 of the protocol).", kinds.map(\.name)),
      ("ErrorCode", "The codes of §13 of the protocol.", ErrorCode.allCases.map(\.rawValue)),
      ("Retry", "What may be sent again (§13).", allRetries.map(\.rawValue)),
      ("Aspect", "What `get` reads (§12).", GetRequest.What.words),
      ("Role", "The roles of a delegate (§11).", DelegateRole.allCases.map(\.rawValue)),
      ("PartName", "The parts of a state (§10.2).", PartName.allCases.map(\.text)),
    ]
    let texts = lists.map { name, comment, words in
      let list = lines(words.map { "\"\($0)\"" }.joined(separator: " | "), width: 96)
      return "\n/** \(comment) */\nexport type \(name) =\n  \(list.joined(separator: "\n  "));\n"
    }
    return "// Written from the tables of the protocol in the core; see GeneratedTests.\n"
      + texts.joined()
  }
}
