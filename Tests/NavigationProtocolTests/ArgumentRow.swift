@testable import NavigationCore
@testable import NavigationHub
import Testing

/// One member of the arguments of an operation, by the tables of protocol.md §10.
struct ArgumentRow: Sendable, CustomTestStringConvertible {
  /// The kinds of JSON values besides null, each with a value.
  static let values: [(kind: Kind, json: String)] = [
    (.bool, "true"), (.integer, "7"), (.number, "1.5"), (.text, #""zz""#), (.list, "[]"),
    (.object, "{}"),
  ]

  enum Kind: CaseIterable {
    case bool, integer, number, text, list, object
  }

  var operation: String
  var name: String
  /// The kinds whose value in `values` the member takes; null is taken by all.
  var kinds: Set<Kind>
  /// The member's default; nil if that is null itself.
  var initial: String?
  /// More values that it takes, and more that it does not.
  var (good, bad): ([String], [String])
  /// The code of the error for a value of another kind.
  var code = ErrorCode.invalidArgument

  init(
    _ operation: String, _ name: String, _ kinds: Set<Kind>, initial: String? = nil,
    good: [String] = [], bad: [String] = [], code: ErrorCode = .invalidArgument
  ) {
    (self.operation, self.name, self.kinds, self.initial) = (operation, name, kinds, initial)
    (self.good, self.bad, self.code) = (good, bad, code)
  }

  var testDescription: String { "\(operation) \(name)" }

  /// The arguments with this value of the member.
  func arguments(_ value: String) -> String { Self.arguments(operation, #""\#(name)":\#(value)"#) }

  /// The arguments of an operation with these members, and with those that it requires.
  static func arguments(_ operation: String, _ members: String) -> String {
    switch operation {
    case "screen.set", "item.set": #"{"screen":"a",\#(members)}"#
    case "button.set": #"{"button":"a",\#(members)}"#
    default: "{\(members)}"
    }
  }

  /// Reads one operation as the daemon reads it.
  static func read(_ operation: String, _ arguments: String) throws -> Result<
    Operation, ReadFailure
  > {
    var reader = ClientMessageReader(maximumBytes: 1 << 20)
    let body = #"{"id":1,"nav":"n","do":[{"\#(operation)":\#(arguments)}]}"#
    let message = try reader.read(frame: "nsp1.op".utf8.span, body: body.utf8.span)
    guard case .op(let op) = message, let first = op.operations.first else {
      throw ReadFailure(.badVerb, "no op")
    }
    if case .unreadable(let failure) = first.arguments { return .failure(failure) }
    guard let meaning = op.decodedOperation(0) else { throw ReadFailure(.badVerb, "no operation") }
    return .success(meaning)
  }

  func read(_ value: String) throws -> Result<Operation, ReadFailure> {
    try Self.read(operation, arguments(value))
  }
}

extension ArgumentRow {
  static let anything = Set(Kind.allCases)

  private static func flags(_ operation: String, _ names: String...) -> [ArgumentRow] {
    names.map { ArgumentRow(operation, $0, [.bool], initial: "false") }
  }

  private static func texts(_ operation: String, _ names: String...) -> [ArgumentRow] {
    names.map { ArgumentRow(operation, $0, [.text], good: ["\"\"", #""é\u0000""#]) }
  }

  /// A member whose value is one of these words; the first one is the default, unless it is unset.
  private static func words(
    _ operation: String, _ name: String, isUnset: Bool = false, _ words: String...
  ) -> ArgumentRow {
    let quoted = words.map { "\"\($0)\"" }
    return ArgumentRow(
      operation, name, [], initial: isUnset ? nil : quoted.first, good: quoted,
      bad: ["\"\"", "\"\(words[0].capitalizedFirst)\"", "\"\(words[0]) \""])
  }

  /// A whole number in a range.
  private static func integer(
    _ name: String, _ range: ClosedRange<Int>, initial: Int, _ operation: String = "nav.configure"
  ) -> ArgumentRow {
    ArgumentRow(
      operation, name, [.integer], initial: "\(initial)",
      good: ["\(range.lowerBound)", "\(range.upperBound)"],
      bad: ["\(range.lowerBound - 1)", "\(range.upperBound + 1)", "\(range.upperBound).0"])
  }

  private static func colour(_ operation: String, _ name: String) -> ArgumentRow {
    let (most, wide) = (String(repeating: "x", count: 256), String(repeating: "é", count: 128))
    return ArgumentRow(
      operation, name, [.text], good: [#""x""#, "\"\(most)\"", "\"\(wide)\""],
      bad: ["\"\"", "\"\(most)x\"", "\"\(wide)é\""])
  }

  private static func language(_ operation: String) -> ArgumentRow {
    let seven = String(repeating: "-abcdefg", count: 7)
    return ArgumentRow(
      operation, "language", [.text],
      good: [#""en""#, #""zh-Hant-TW""#, #""de-1996""#, #""x-klingon""#, "\"abcdefgh\(seven)\""],
      bad: [
        #""""#, #""-""#, #""en-""#, #""zh_TW""#, #""e1""#, #""englishes""#, #""en-é""#, #""en ""#,
        "\"abcdefgh\(seven)-a\"",
      ])
  }

  private static func image(_ operation: String, _ name: String) -> ArgumentRow {
    ArgumentRow(
      operation, name, [.text], good: [#"{"ref":"a","hasAlpha":true,"empty":false}"#],
      bad: [
        #"{"hasAlpha":true}"#, #"{"ref":1}"#, #"{"ref":null}"#, #"{"ref":"a","x":1}"#,
        #"{"ref":"a","empty":1}"#,
      ])
  }

  private static let screens =
    texts("screen.set", "title", "route", "restorationID")
    + flags("screen.create", "replace")
    + flags(
      "screen.set", "wantsFullScreenLayout", "extendsUnderOpaqueBars",
      "modalInPresentation", "hidesBottomBarWhenPushed") + [
      ArgumentRow("screen.set", "args", anything),
      ArgumentRow("screen.set", "prefersBarHidden", [.bool]),
      ArgumentRow("screen.set", "prefersToolbarHidden", [.bool]),
      ArgumentRow("screen.set", "canPop", [.bool], initial: "true"), language("screen.set"),
      ArgumentRow(
        "screen.set", "edges", [.list], initial: #"["top","left","bottom","right"]"#,
        good: [#"["left"]"#, #"["top","top"]"#], bad: [#"["Top"]"#, "[null]", "[1]"]),
      ArgumentRow(
        "screen.set", "toolbarItems", [.list], initial: "[]", good: [#"["b",{"title":"t"}]"#]),
    ]

  private static let items =
    texts("item.set", "title", "prompt", "backButtonTitle", "accessibilityLabel")
    + texts("item.set", "subtitle", "largeTitle", "largeSubtitle")
    + flags(
      "item.set", "isSearchActive", "hidesBackButton", "leftItemsSupplementBackButton",
      "requireOnStack")
    + ["leftItems", "rightItems"].map {
      ArgumentRow("item.set", $0, [.list], initial: "[]", good: [#"["b"]"#])
    }
    + ["leftBarButtonItem", "rightBarButtonItem", "backBarButtonItem"].map {
      ArgumentRow("item.set", $0, [.text, .object], code: .unknownButton)
    } + [
      words("item.set", "largeTitleDisplayMode", "automatic", "always", "never"),
      words("item.set", "backButtonDisplayMode", "default", "generic", "minimal"),
      words("item.set", "style", "navigator", "browser", "editor"),
      words("item.set", "titleAlignment", "automatic", "leading", "center"),
      ArgumentRow("item.set", "subtitleView", anything),
      ArgumentRow("item.set", "largeSubtitleView", anything), menu("item.set", "titleMenu"),
      language("item.set"),
      ArgumentRow(
        "item.set", "titleView", anything.subtracting([.object]),
        good: [#"{"view":{}}"#, #"{"view":1,"height":0}"#, #"{"view":null,"height":null}"#],
        bad: [
          #"{"height":1}"#, #"{"view":1,"height":-1}"#, #"{"view":1,"h":1}"#,
          #"{"view":1,"height":"1"}"#, #"{"view":1,"height":1,"h":1}"#,
        ]),
      appearance("item.set"),
    ]

  private static func menu(_ operation: String, _ name: String) -> ArgumentRow {
    ArgumentRow(
      operation, name, [.list], initial: "[]",
      good: [
        #"[{"id":"a","title":"A","action":"x","state":"mixed","isEnabled":false}]"#,
        #"[{"title":"A","children":[{"id":"a","title":""}]}]"#,
      ],
      bad: [
        "[1]", #"[{"id":"a"}]"#, #"[{"title":"A"}]"#, #"[{"id":" ","title":"A"}]"#,
        #"[{"id":"a","title":"A","x":1}]"#, #"[{"id":"a","title":"A","state":"no"}]"#,
        #"[{"id":"a","title":"A"},{"id":"a","title":"B"}]"#,
        #"[{"title":"A","action":"x","children":[{"id":"a","title":"B"}]}]"#,
        #"[{"title":"1","children":[{"title":"2","children":[{"title":"3","children":[{"title":"4","children":[{"id":"a","title":"5"}]}]}]}]}]"#,
        "[" + (0..<65).map { #"{"id":"e\#($0)","title":"A"}"# }.joined(separator: ",") + "]",
      ])
  }

  private static func appearance(_ operation: String) -> ArgumentRow {
    ArgumentRow(
      operation, "appearance", [.object], initial: "{}",
      good: [#"{"standard":{"x":1},"compact":null,"scrollEdge":{},"compactScrollEdge":{}}"#],
      bad: [#"{"standard":1}"#, #"{"large":{}}"#])
  }

  private static let buttons =
    texts(
      "button.set", "title", "action", "accessibilityLabel", "accessibilityHint",
      "accessibilityIdentifier")
    + flags("button.set", "isSelected", "changesSelectionAsPrimaryAction", "isHidden") + [
      menu("button.set", "menu"),
      ArgumentRow(
        "button.set", "badge", [.integer, .text, .bool], good: ["0", "3", #""New""#, "true"],
        bad: ["false", "-1", "1.5", "[]"]),
      ArgumentRow("button.set", "isEnabled", [.bool], initial: "true"),
      image("button.set", "image"), image("button.set", "landscapeImage"),
      ArgumentRow("button.set", "customView", anything),
      words("button.set", "style", "plain", "done", "prominent"),
      ArgumentRow(
        "button.set", "systemItem", [.integer], good: ["0", "22", #""done""#, #""redo""#],
        bad: [#""Done""#, "25", "256", "4294967296"]),
    ]

  private static func look(_ operation: String) -> [ArgumentRow] {
    ["shadowImage", "backIndicatorImage", "backIndicatorMask"].map { image(operation, $0) } + [
      words(operation, "barStyle", isUnset: true, "default", "black"),
      ArgumentRow(operation, "translucent", [.bool]), colour(operation, "barTintColor"),
      ArgumentRow(
        operation, "titleTextAttributes", [.object], initial: "{}",
        good: [
          #"{"font":1,"color":"red","shadowColor":[2],"shadowOffset":{}}"#,
          #"{"UITextAttributeFont":"f","UITextAttributeTextColor":"c"}"#, #"{"font":null}"#,
        ],
        bad: [
          #"{"size":1}"#, #"{"color":""}"#, #"{"color":1}"#, #"{"font":1,"UITextAttributeFont":1}"#,
        ]),
      ArgumentRow(
        operation, "titleOffsets", [.object], initial: "{}",
        good: [#"{"default":1.5,"compactPrompt":-2,"compact":null}"#],
        bad: [#"{"large":1}"#, #"{"default":"1"}"#]),
      ArgumentRow(
        operation, "backgroundImages", [.object], initial: "{}",
        good: [#"{"any/default":"a","compact":"b","topAttached/defaultPrompt":{"ref":"c"}}"#],
        bad: [#"{"default":"a","any/default":"b"}"#, #"{"side/default":"a"}"#, #"{"any/x":"a"}"#]),
    ]
  }

  private static let bars =
    look("bar.set") + look("proxy.set") + flags("bar.set", "prefersLargeTitles") + [
      appearance("bar.set"), colour("bar.set", "tintColor"), colour("bar.set", "backgroundColor"),
      words("toolbar.set", "barStyle", isUnset: true, "default", "black"),
      ArgumentRow("toolbar.set", "translucent", [.bool]), colour("toolbar.set", "tintColor"),
      colour("toolbar.set", "barTintColor"),
    ]

  private static let environment =
    flags("env.set", "vCompact", "scrollEdge", "keyboard", "screenReader") + [
      words("env.set", "idiom", "phone", "pad"),
      words("env.set", "accessibilityContrast", "normal", "high"),
      words(
        "env.set", "contentSizeCategory", "large", "extraSmall", "small", "medium", "extraLarge",
        "extraExtraLarge", "extraExtraExtraLarge", "accessibilityMedium", "accessibilityLarge",
        "accessibilityExtraLarge", "accessibilityExtraExtraLarge",
        "accessibilityExtraExtraExtraLarge"),
      words("env.set", "horizontal", isUnset: true, "compact", "regular"),
      words(
        "env.set", "orientation", "portrait", "portraitUpsideDown", "landscapeLeft",
        "landscapeRight"),
      words("env.set", "barPosition", "any", "bottom", "top", "topAttached"),
      words("env.set", "animations", "on", "off", "reduced"),
      integer("statusBar", 0...10_000, initial: 20, "env.set"),
      ArgumentRow(
        "env.set", "backTitleBudget", [.integer], good: ["0", "10000"], bad: ["10001", "-1"]),
      ArgumentRow(
        "env.set", "scale", [.integer, .number], initial: "2", good: ["100", "0.001", "1e2"],
        bad: ["0", "-1", "100.001"]),
      ArgumentRow(
        "env.set", "locale", [.text], initial: #""en""#,
        good: ["\"\(String(repeating: "x", count: 64))\""],
        bad: ["\"\"", "\"\(String(repeating: "x", count: 65))\""]),
    ]

  private static let settings =
    texts("nav.configure", "restorationID")
    + flags(
      "nav.configure", "hidesBarsOnTap", "hidesBarsOnSwipe", "showsBarsOnNextScreen",
      "dismissesOnOpen", "dismissesPopoversWithPage",
      "hidesBarsWhenVerticallyCompact",
      "hidesBarsWhenKeyboardAppears", "interactivePopWithoutBackButton") + [
      ArgumentRow("nav.configure", "container", anything),
      words("nav.configure", "guard", "removal", "none", "all"),
      words("nav.configure", "vetoScope", "pushpop", "all"),
      integer("questionDeadline", 1...60_000, initial: 250),
      integer("transitionDeadline", 1...60_000, initial: 1000),
      integer("gestureDeadline", 1...600_000, initial: 10_000),
      integer("queue", 0...64, initial: 8),
      ArgumentRow(
        "nav.configure", "simultaneous", [.list], good: [#"[["a","b"],[1,2]]"#],
        bad: [#"["a"]"#, #"[["a"]]"#, #"[["a","b","c"]]"#]),
      ArgumentRow("nav.configure", "routes", [.list]),
      ArgumentRow(
        "nav.configure", "backTitles", [.object], initial: "{}",
        good: [#"{"de":"Zurück","zh_TW":"返回"}"#],
        bad: [#"{"de":1}"#, #"{"de":""}"#, #"{"de":"a","de.UTF-8":"b"}"#]),
      ArgumentRow(
        "nav.configure", "interactivePop", [.object], initial: #"{"enabled":true,"mode":"edge"}"#,
        good: [#"{"mode":"fullScreen"}"#], bad: [#"{"mode":"side"}"#, #"{"on":true}"#]),
      ArgumentRow(
        "nav.configure", "veto", [.object],
        initial: #"{"deadline":2000,"policy":"deny","required":false}"#,
        good: [#"{"deadline":1}"#, #"{"deadline":60000,"policy":"allow"}"#],
        bad: [#"{"deadline":0}"#, #"{"deadline":60001}"#, #"{"policy":"ask"}"#, #"{"x":1}"#]),
      ArgumentRow(
        "nav.configure", "profile", [.object],
        initial:
          #"{"os":17,"compactHeight":32,"shadowNeedsBackground":true,"extraSystemItems":false}"#,
        good: [#"{"os":7,"compactHeight":1}"#, #"{"os":99,"compactHeight":1000}"#],
        bad: [
          #"{"os":6}"#, #"{"os":100}"#, #"{"compactHeight":0}"#, #"{"compactHeight":1001}"#,
          #"{"extra":true}"#,
        ]),
    ]

  /// Every member that an operation sets, with the protocol's type, default and limits.
  static let all = screens + items + buttons + bars + environment + settings
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
