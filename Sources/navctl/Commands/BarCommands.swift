import NavigationCore
import CommandLineOptions
import NavctlSupport
import NavigationCore

/// `bar`: prints, changes, hides or shows the navigation bar.
enum BarCommand: Command {
  static let declaration = CommandSet.Command(
    "bar", "Change, hide or show the navigation bar", group: Subject.bars,
    arguments: PositionalArguments(
      "NAV [VERB [KEY=VALUE...]]", count: 0...Int.max, choices: ["VERB": ["set", "hide", "show"]]),
    options: Change.options,
    epilogue: """
      VERB is set, hide or show. Without VERB, navctl prints the members. KEY is barStyle,
      translucent, barTintColor, tintColor, backgroundColor, shadowImage, backIndicatorImage,
      backIndicatorMask, titleTextAttributes, titleOffsets, backgroundImages or prefersLargeTitles.

      \(MemberWords.note)

      Example: navctl bar kiosk set prefersLargeTitles=true barTintColor=red
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Parts.run(invocation, isOwn: Operations.isBarWord, part: "bar") {
      try Operations.bar("bar", $0)
    }
  }
}

/// `toolbar`: prints, changes, hides or shows the toolbar.
enum ToolbarCommand: Command {
  static let declaration = CommandSet.Command(
    "toolbar", "Change, hide or show the toolbar", group: Subject.bars,
    arguments: PositionalArguments(
      "NAV [VERB [KEY=VALUE...]]", count: 0...Int.max, choices: ["VERB": ["set", "hide", "show"]]),
    options: Change.options,
    epilogue: """
      VERB is set, hide or show. Without VERB, navctl prints the members. KEY is barStyle,
      tintColor, barTintColor or translucent. The buttons belong to a screen: screen NAV set ID
      toolbarItems=...

      \(MemberWords.note)

      Example: navctl toolbar kiosk show
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Parts.run(invocation, isOwn: Operations.isBarWord, part: "toolbar") {
      try Operations.bar("toolbar", $0)
    }
  }
}

/// `appearance`: prints or sets the colours and fonts of the bar in one of its states.
enum AppearanceCommand: Command {
  static let declaration = CommandSet.Command(
    "appearance", "Set the appearance of the bar in one state", group: Subject.bars,
    arguments: PositionalArguments("NAV [SLOT JSON]", count: 0...3),
    options: [OptionDeclaration("screen", argument: "ID", "Only while this screen is on top")]
      + Change.options,
    epilogue: """
      SLOT is \(Operations.appearanceSlots.joined(separator: ", ")). JSON is an
      appearance object, or none. Without both, navctl prints the appearances of the bar.

      Example: navctl appearance kiosk scrollEdge '{"background":"clear"}'
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Parts.run(
      invocation, isOwn: Operations.appearanceSlots.contains, part: "bar", member: "appearance"
    ) { words in
      guard words.count == 2 else {
        throw UsageError(
          "an appearance needs a slot and an object",
          remedy: "navctl appearance NAV standard '{\"background\":\"clear\"}', or none")
      }
      return try Operations.appearance(invocation.line, slot: words[0], object: words[1])
    }
  }
}

/// `proxy`: prints or sets the look of all bars of a class, in all navs.
enum ProxyCommand: Command {
  static let declaration = CommandSet.Command(
    "proxy", "Set the look of all bars of a class, in all navs", group: Subject.bars,
    arguments: PositionalArguments("[KEY=VALUE...]", count: 0...Int.max),
    options: [OptionDeclaration("class", argument: "NAME", "The class; default NavigationBar")]
      + Change.options,
    epilogue: """
      A value that a bar has itself takes precedence. Without KEY, navctl prints the looks. KEY is
      barStyle, translucent or barTintColor, and for bars titleTextAttributes, titleOffsets,
      backgroundImages, shadowImage, backIndicatorImage or backIndicatorMask too.

      \(MemberWords.note)

      Example: navctl proxy barTintColor=red
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Parts.run(
      invocation, nav: NavName.appearance.text, isOwn: Members.isMember, part: "settings",
      member: "proxy"
    ) {
      try Operations.proxy(invocation.line, $0)
    }
  }
}
