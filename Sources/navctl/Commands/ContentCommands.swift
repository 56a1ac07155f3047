import NavigationCore
import CommandLineOptions
import NavctlSupport

/// `screen`: creates a screen without showing it, changes a screen or releases one.
enum ScreenCommand: Command {
  private static let verbs = ["create", "set", "release"]

  static let declaration = CommandSet.Command(
    "screen", "Create, change or release a screen", group: Subject.content,
    arguments: PositionalArguments(
      "NAV VERB [ID] [KEY=VALUE...]", count: 1...Int.max,
      choices: ["VERB": ["create", "set", "release"]]),
    options: Change.options,
    epilogue: """
      VERB is create, set or release; only a screen that is not shown can be released. KEY is a
      member of a screen record: title, route, args, restorationID, prefersBarHidden, edges,
      toolbarItems, wantsFullScreenLayout, extendsUnderOpaqueBars, canPop,
      modalInPresentation, accessibilityLabel, language. With replace=true, create replaces a screen that is not shown and has
      the same id but other contents.

      \(MemberWords.note)

      Example: navctl screen kiosk set wifi title='Wi-Fi (on)' args='{"ssid":"attic"}'
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments(isOwn: verbs.contains)
    guard let verb = arguments.rest.first else {
      throw UsageError("screen needs a verb", remedy: "navctl screen NAV create, set or release")
    }
    return try Change.perform(
      invocation, nav: arguments.nav,
      [try Operations.screen(verb: verb, words: Array(arguments.rest.dropFirst()))])
  }
}

/// The note on KEY=VALUE in the help of commands that set members of a record.
enum MemberWords {
  static let note = """
    navctl reads VALUE as JSON if it is valid JSON, else as text. null stands for the default. A dot
    in KEY leads into an object.
    """
}

/// `title`: changes the title of a screen.
enum TitleCommand: Command {
  static let declaration = CommandSet.Command(
    "title", "Change the title of a screen", group: Subject.content,
    arguments: PositionalArguments("NAV SCREEN TEXT", count: 2...3), options: Change.options,
    epilogue: "Example: navctl title kiosk wifi 'Wi-Fi (on)'")

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 2...2) { [Operations.title(screen: $0[0], text: $0[1])] }
  }
}

/// `item`: changes the navigation item of a screen, which is its content in the bar.
enum ItemCommand: Command {
  static let declaration = CommandSet.Command(
    "item", "Change the content that a screen gives the bar", group: Subject.content,
    arguments: PositionalArguments("NAV SCREEN", count: 1...2),
    options: [
      OptionDeclaration("title", argument: "TEXT", "Title in the bar"),
      OptionDeclaration("prompt", argument: "TEXT", "Line above the title"),
      OptionDeclaration("left", argument: "BUTTON", "Button on the left; can be repeated"),
      OptionDeclaration("right", argument: "BUTTON", "Button on the right; the right-most first"),
      OptionDeclaration(
        "back-title", argument: "TEXT", "Title of the back button of the next screen"),
      OptionDeclaration("back-button", argument: "JSON", "That back button as a record"),
      OptionDeclaration("title-view", argument: "JSON", "A view in place of the title"),
      OptionDeclaration("hides-back-button", argument: "BOOL", "No back button while on top"),
      OptionDeclaration(
        "supplement", argument: "BOOL", "Show left buttons beside the back button"),
      OptionDeclaration(
        "large-title", argument: "MODE", "automatic, always or never",
        choices: ["automatic", "always", "never"]),
      OptionDeclaration("label", argument: "TEXT", "What a screen reader says for the title"),
      OptionDeclaration("language", argument: "TAG", "Language of title and prompt"),
      OptionDeclaration("unset", argument: "MEMBER", "Reset a member, by its name in JSON"),
      OptionDeclaration("on-stack", argument: "BOOL", "Refuse if the screen is not on the stack"),
    ] + Change.options,
    epilogue: """
      BUTTON is the id of a button, ID=TITLE for a new button, a record in JSON, or '' for no button
      on that side.

      Example: navctl item kiosk wifi --right scan=Scan --prompt 'Choose a network'
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 1...1) {
      [try Operations.item(invocation.line, screen: $0[0])]
    }
  }
}

/// `button`: creates, changes, releases or taps a button.
enum ButtonCommand: Command {
  static let declaration = CommandSet.Command(
    "button", "Create, change, release or tap a button", group: Subject.content,
    arguments: PositionalArguments(
      "NAV VERB [BUTTON]", count: 1...3,
      choices: ["VERB": ["create", "set", "release", "activate"]]),
    options: [
      OptionDeclaration("title", argument: "TEXT", "Title"),
      OptionDeclaration("image", argument: "REF", "Name of an image, or a record in JSON"),
      OptionDeclaration("landscape-image", argument: "REF", "Image for a flat display"),
      OptionDeclaration("system-item", argument: "NAME", "A predefined button, such as done"),
      OptionDeclaration("view", argument: "JSON", "A custom view of the application"),
      OptionDeclaration(
        "style", argument: "STYLE", "plain or done", choices: ["plain", "done"]),
      OptionDeclaration("action", argument: "NAME", "Name of the action of a tap; nav.pop pops"),
      OptionDeclaration("enabled", argument: "BOOL", "Whether a tap does anything"),
      OptionDeclaration("selected", argument: "BOOL", "Whether it is shown as selected"),
      OptionDeclaration("label", argument: "TEXT", "What a screen reader says for it"),
      OptionDeclaration("hint", argument: "TEXT", "What it does, said after that"),
      OptionDeclaration("identifier", argument: "NAME", "Name for tests, never said"),
      OptionDeclaration("unset", argument: "MEMBER", "Reset a member, by its name in JSON"),
    ] + Change.options,
    epilogue: """
      VERB is create, set, release or activate.

      Example: navctl button kiosk create scan --title Scan --action wifi.scan
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 1...2) {
      [
        try Operations.button(
          invocation.line, verb: $0[0], id: $0.dropFirst().first)
      ]
    }
  }
}
