import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationCore

/// `push`: puts a screen on top.
enum PushCommand: Command {
  static let declaration = CommandSet.Command(
    "push", "Put a known or a new screen on top", group: Subject.stack,
    arguments: PositionalArguments("NAV [SCREEN]", count: 0...2),
    options: [
      OptionDeclaration("if-absent", "It is no error if the screen is on the stack"),
      OptionDeclaration(
        "on-duplicate", argument: "WAY",
        "If the screen is on the stack: error, ignore, popTo, update or moveToTop"),
      OptionDeclaration("show", "Use the operation show, which is animated"),
      OptionDeclaration(
        "sender", argument: "TEXT", "Origin of the request, for the log; needs --show"),
    ] + NewScreen.options + Change.options,
    epilogue: NewScreen.note + """

      Example: navctl push kiosk wifi --title Wi-Fi --route settings/wifi
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 0...1) {
      [try Operations.push(invocation.line, id: $0.first)]
    }
  }
}

/// Options of commands that show a screen and can create it.
enum NewScreen {
  static let options: [OptionDeclaration] = [
    OptionDeclaration("title", argument: "TEXT", "Title of the new screen", group: group),
    OptionDeclaration("route", argument: "ROUTE", "Route of the new screen", group: group),
    OptionDeclaration("args", argument: "JSON", "Arguments of the new screen", group: group),
    OptionDeclaration(
      "item-title", argument: "TEXT", "Title of its navigation item", group: group),
    OptionDeclaration(
      "restoration-id", argument: "ID", "Id for save and restore", group: group),
    OptionDeclaration("new", "Create the screen, even with its id alone", group: group),
  ]

  static let note = """
    SCREEN is the id of a screen that the nav knows, or a record in JSON. With any option about a
    new screen, SCREEN is the id of the screen that the command creates.

    """

  private static let group = "A new screen:"
}

/// `pop`: removes the top screen.
enum PopCommand: Command {
  static let declaration = CommandSet.Command(
    "pop", "Pop the top screen, if it is still the one you last saw", group: Subject.stack,
    arguments: PositionalArguments("NAV", count: 0...1),
    options: [Operations.resultOption] + Change.options,
    epilogue: "Example: navctl pop kiosk --top wifi")

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation) { _ in [try Operations.pop(invocation.line)] }
  }
}

/// `pop-to`: removes all screens above a screen.
enum PopToCommand: Command {
  static let declaration = CommandSet.Command(
    "pop-to", "Remove all screens above a screen", group: Subject.stack,
    arguments: PositionalArguments("NAV [ID]", count: 0...2),
    options: [
      OptionDeclaration("route", argument: "ROUTE", "The top-most screen with this route"),
      OptionDeclaration("unique", "Refuse if several screens have the route"),
      OptionDeclaration("inclusive", "Remove the screen itself too"), Operations.resultOption,
    ] + Change.options,
    epilogue: "Example: navctl pop-to kiosk --route settings")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let rest = invocation.line.contains("route") ? 0...0 : 1...1
    return try Change.perform(invocation, rest: rest) {
      [try Operations.popTo(invocation.line, id: $0.first)]
    }
  }
}

/// `pop-to-root`: removes all screens above the root.
enum PopToRootCommand: Command {
  static let declaration = CommandSet.Command(
    "pop-to-root", "Remove all screens above the root", group: Subject.stack,
    arguments: PositionalArguments("NAV", count: 0...1),
    options: Change.options,
    epilogue: "Example: navctl pop-to-root kiosk")

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation) { _ in [.popToRoot()] }
  }
}

/// `replace`: puts a screen in the place of another one.
enum ReplaceCommand: Command {
  static let declaration = CommandSet.Command(
    "replace", "Put a screen in the place of the top, if it is still the one you last saw",
    group: Subject.stack,
    arguments: PositionalArguments("NAV [SCREEN]", count: 0...2),
    options: [
      OptionDeclaration("screen", argument: "ID", "Replace this screen of the stack, not the top"),
      OptionDeclaration("back", "Animate a new top as a pop, not as a push"),
    ] + NewScreen.options + Change.options,
    epilogue: NewScreen.note + """

      Example: navctl replace kiosk done --title Done --screen wifi
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 0...1) {
      [try Operations.replace(invocation.line, id: $0.first)]
    }
  }
}

/// `insert`: puts a screen into the stack.
enum InsertCommand: Command {
  static let declaration = CommandSet.Command(
    "insert", "Put a screen into the stack", group: Subject.stack,
    arguments: PositionalArguments("NAV [SCREEN]", count: 0...2),
    options: [
      OptionDeclaration("below", argument: "ID", "Directly below this screen"),
      OptionDeclaration("above", argument: "ID", "Directly above this screen"),
      OptionDeclaration(
        "at", argument: "N", "At this place, 0 at the bottom, in the stack that you last saw"),
    ] + NewScreen.options + Change.options,
    epilogue: NewScreen.note + """

      Example: navctl insert kiosk help --title Help --below wifi
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 0...1) {
      [try Operations.insert(invocation.line, id: $0.first)]
    }
  }
}

/// `remove`: takes screens out of the stack.
enum RemoveCommand: Command {
  static let declaration = CommandSet.Command(
    "remove", "Take screens out of the stack, wherever they are", group: Subject.stack,
    arguments: PositionalArguments("NAV [ID...]", count: 0...Int.max),
    options: Change.options,
    epilogue: """
      If NAVD_NAV is set, all arguments are ids.

      Example: navctl remove kiosk wifi
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 1...Int.max) { [.remove($0)] }
  }
}

/// `set`: replaces the whole stack.
enum SetCommand: Command {
  static let declaration = CommandSet.Command(
    "set", "Replace the stack, if it is still the one you last saw", group: Subject.stack,
    arguments: PositionalArguments("NAV [SCREEN...]", count: 0...Int.max),
    options: Change.options,
    epilogue: """
      The first SCREEN is the bottom; each is an id or a record in JSON. If NAVD_NAV is set, all
      arguments are screens.

      Example: navctl set kiosk home '{"id":"about","title":"About"}'
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 0...Int.max) { [try Operations.set($0)] }
  }
}

/// `segue`: shows a screen as a segue of an interface file does.
enum SegueCommand: Command {
  static let declaration = CommandSet.Command(
    "segue", "Show a screen as a segue does", group: Subject.stack,
    arguments: PositionalArguments("NAV [SCREEN]", count: 0...2),
    options: [OptionDeclaration("detail", "Use the kind showDetail, which presents; not show")]
      + NewScreen.options + Change.options,
    epilogue: NewScreen.note + """

      Example: navctl segue kiosk wifi --title Wi-Fi
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 0...1) {
      [try Operations.segue(invocation.line, id: $0.first)]
    }
  }
}
