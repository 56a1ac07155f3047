import CommandLineOptions
import NavigationClient
import NavigationCore

/// The commands that send operations and do nothing else.
enum ChangeCommands {
  private typealias OperationMaker =
    @Sendable (_ line: ParsedCommandLine, _ words: [String]) throws -> [NavigationOperation]

  private static func change(
    _ name: String, _ summary: String, _ group: String, _ arguments: PositionalArguments,
    options: [OptionDeclaration] = [], shared: [OptionDeclaration] = Change.options,
    note: String = "", example: String, _ make: @escaping OperationMaker
  ) -> Command {
    .changing(
      name, summary, group, arguments, options: options + shared, note: note, example: example
    ) { invocation in
      let arguments = try invocation.navArguments()
      return (arguments.nav, try make(invocation.line, arguments.rest))
    }
  }

  static let navCommands = [
    change(
      "create", "Create a nav and put it on display", HelpGroup.navs, .init("NAV"),
      options: [
        .init(
          "kind", argument: "KIND", "controller, or bar for a standalone bar",
          choices: ["controller", "bar"]),
        .init("root", argument: "ID", "Id of the root screen, or a record in JSON"),
        .init("title", argument: "TEXT", "Title of the root screen"),
        .init("route", argument: "ROUTE", "Route of the root screen"),
        .init("args", argument: "JSON", "Arguments of the root screen"),
        .init("restoration-id", argument: "ID", "Restoration id of the root screen"),
        .init("bar-class", argument: "NAME", "Class of the bar; needs --detached"),
        .init("toolbar-class", argument: "NAME", "Class of the toolbar; needs --detached"),
        .init("settings", argument: "JSON", "Settings of the nav"),
        .init("detached", "Do not put it on display; a root is optional"),
        .init("if-absent", "It is no error if the nav exists"),
      ], shared: [Change.dryRunOption], example: "create kiosk --root home --title Home"
    ) { line, _ in try OperationParser.create(line) },
    change(
      "close", "Remove a nav, if it is still as you last saw it", HelpGroup.navs, .init("NAV"),
      example: "close kiosk --any"
    ) { _, _ in [.close()] },
    change(
      "attach", "Put a nav on display", HelpGroup.navs, .init("NAV"), example: "attach kiosk"
    ) { _, _ in [.attach()] },
    change(
      "detach", "Take a nav off the display", HelpGroup.navs, .init("NAV"), example: "detach kiosk"
    ) { _, _ in [.detach()] },
  ]

  static let stackCommands = [
    change(
      "push", "Put a known or a new screen on top", HelpGroup.stack, .init("NAV [SCREEN]"),
      options: [
        .init("if-absent", "It is no error if the screen is on the stack"),
        .init(
          "on-duplicate", argument: "WAY",
          "If the screen is on the stack: error, ignore, popTo, update, moveToTop or ignoreRoute"),
        .init("show", "Use the operation show, which is animated"),
        .init("sender", argument: "TEXT", "Origin of the request, for the log; needs --show"),
      ] + newScreenOptions, note: newScreenNote,
      example: "push kiosk wifi --title Wi-Fi --route settings/wifi"
    ) { [try OperationParser.push($0, id: $1.first)] },
    change(
      "pop", "Pop the top screen, if it is still the one you last saw", HelpGroup.stack,
      .init(
        "NAV",
        surplusRemedy:
          "navctl pop NAV --top ID if it is on top, or to go back to it navctl pop-to NAV ID"
      ),
      options: [OperationParser.resultOption], example: "pop kiosk --top wifi"
    ) { line, _ in [.pop(result: try OperationParser.resultValue(line))] },
    change(
      "pop-to", "Remove all screens above a screen", HelpGroup.stack, .init("NAV [ID]"),
      options: [
        .init("route", argument: "ROUTE", "The top-most screen with this route"),
        .init("unique", "Refuse if several screens have the route"),
        OptionDeclaration("inclusive", "Remove the screen itself too"),
        OperationParser.resultOption,
      ], example: "pop-to kiosk --route settings"
    ) { [try OperationParser.popTo($0, id: $1.first)] },
    change(
      "pop-to-root", "Remove all screens above the root", HelpGroup.stack, .init("NAV"),
      example: "pop-to-root kiosk"
    ) { _, _ in [.popToRoot()] },
    change(
      "replace", "Put a screen in the place of the top, if it is still the one you last saw",
      HelpGroup.stack, .init("NAV [SCREEN]"),
      options: [
        .init("screen", argument: "ID", "Replace this screen of the stack, not the top"),
        .init("back", "Animate a new top as a pop, not as a push"),
        OperationParser.resultOption,
      ] + newScreenOptions, note: newScreenNote,
      example: "replace kiosk done --title Done --screen wifi"
    ) { [try OperationParser.replace($0, id: $1.first)] },
    change(
      "insert", "Put a screen into the stack", HelpGroup.stack, .init("NAV [SCREEN]"),
      options: [
        .init("below", argument: "ID", "Directly below this screen"),
        .init("above", argument: "ID", "Directly above this screen"),
        .init(
          "at", argument: "N", "At this place, 0 at the bottom, in the stack that you last saw"),
      ] + newScreenOptions, note: newScreenNote,
      example: "insert kiosk help --title Help --below wifi"
    ) { [try OperationParser.insert($0, id: $1.first)] },
    change(
      "remove", "Take screens out of the stack, wherever they are", HelpGroup.stack,
      .init("NAV ID..."), note: "If NAVD_NAV is set, all arguments are ids.",
      example: "remove kiosk wifi"
    ) { [.remove($1)] },
    change(
      "stack", "Replace the stack, if it is still the one you last saw", HelpGroup.stack,
      .init("NAV [SCREEN...]"),
      note: """
        The first SCREEN is the bottom; each is an id or a record in JSON. If NAVD_NAV is set, all
        arguments are screens.
        """, example: #"stack kiosk home '{"id":"about","title":"About"}'"#
    ) { [try OperationParser.stack($1)] },
    change(
      "segue", "Show a screen as a segue does", HelpGroup.stack, .init("NAV [SCREEN]"),
      options: [OptionDeclaration("detail", "Use the kind showDetail, which presents; not show")]
        + newScreenOptions, note: newScreenNote, example: "segue kiosk wifi --title Wi-Fi"
    ) { [try OperationParser.segue($0, id: $1.first)] },
    change(
      "revert", "Replace the stack by that of an earlier revision", HelpGroup.stack,
      .init("NAV REV"),
      note: """
        REV is a revision of this epoch. history lists them, and history --at draws one. The command
        restores ids and order; the screens keep their present content.
        """, example: "revert kiosk 2"
    ) { [try OperationParser.revert(to: $1[0])] },
  ]

  static let restoreCommands = [
    change(
      "restore", "Replace the stack by a saved one", HelpGroup.stack, .init("NAV FILE"),
      options: [.init("root", argument: "SCREEN", "The root if no saved screen can be restored")],
      note: "FILE is the output of save, or - for stdin.", example: "restore kiosk kiosk.json"
    ) { line, words in
      let remedy = "navctl restore NAV FILE, where save wrote FILE"
      let text = try InputLines.text(of: words[0], remedy: remedy)
      return [try OperationParser.restore(text, root: line.value(of: "root"))]
    }
  ]

  static let presentationCommands = [
    change(
      "present", "Present a screen above the visible one", HelpGroup.presentation,
      .init("NAV [SCREEN]"),
      options: [
        .init("from", argument: "ID", "The presenting screen; default the visible one"),
        .init("style", argument: "STYLE", "Such as formSheet or overCurrentContext"),
      ] + newScreenOptions, note: newScreenNote,
      example: "present kiosk pin --title PIN --style overCurrentContext"
    ) { [try OperationParser.present($0, id: $1.first)] },
    change(
      "dismiss", "End all presentations, if they are those you last saw", HelpGroup.presentation,
      .init("NAV"),
      options: [
        .init("from", argument: "ID", "Only what this screen presents; if nothing, itself"),
        .init("swipe", "Swipe the outermost screen down, as a person does"),
        OperationParser.resultOption,
      ], example: "dismiss kiosk --from wifi"
    ) { line, _ in [try OperationParser.dismiss(line)] },
  ]

  static let screenAndButtonCommands = [
    change(
      "screen", "Create a screen without showing it, or release one", HelpGroup.members,
      .init("NAV VERB [ID] [KEY=VALUE...]", choices: ["VERB": ["create", "release"]]),
      note: """
        VERB is create or release; only a screen that is not shown can be released. KEY is that of
        set. With replace=true, create replaces a screen that is not shown and has the same id but
        other contents.
        """, example: "screen kiosk create later title=Later args='{\"page\":1}'"
    ) { [try OperationParser.record(.screen, verb: $1[0], Array($1.dropFirst()))] },
    change(
      "button", "Create, release or tap a button", HelpGroup.members,
      .init(
        "NAV VERB [ID] [KEY=VALUE...]", choices: ["VERB": ["create", "release", "activate"]]),
      note: """
        VERB is create, release or activate. KEY is that of set. With element=ID, activate chooses
        from the menu of the button, or without a button from that at the title.
        """,
      example: "button kiosk create scan title=Scan action=wifi.scan"
    ) { [try OperationParser.record(.button, verb: $1[0], Array($1.dropFirst()))] },
  ]

  static let tapAndSwipeCommands = [
    change(
      "tap", "Tap the content, which may hide the bars", HelpGroup.touching, .init("NAV"),
      note: "A tap hides or shows the bars if the setting hidesBarsOnTap is true.",
      example: "tap kiosk"
    ) { _, _ in [.tap()] },
    change(
      "swipe", "Swipe over the content, which may hide the bars", HelpGroup.touching,
      .init("NAV DIRECTION", choices: ["DIRECTION": ["up", "down"]]),
      note: """
        DIRECTION is up, which hides the bars, or down, which shows them, if the setting
        hidesBarsOnSwipe is true.
        """, example: "swipe kiosk up"
    ) { [try OperationParser.swipe($1[0])] },
  ]

  private static let newScreenOptions: [OptionDeclaration] = [
    ("title", "TEXT", "Title of the new screen"), ("route", "ROUTE", "Route of the new screen"),
    ("args", "JSON", "Arguments of the new screen"),
    ("item-title", "TEXT", "Title of its navigation item"),
    ("prompt", "TEXT", "Line above that title"),
    ("restoration-id", "ID", "Id for save and restore"),
    ("new", nil, "Create the screen, even with its id alone"),
  ].map { OptionDeclaration($0, argument: $1, $2, group: "A new screen:") }

  private static let newScreenNote = """
    SCREEN is the id of a screen that the nav knows, or a record in JSON. With any option about a
    new screen, SCREEN is the id of the screen that the command creates.
    """
}
