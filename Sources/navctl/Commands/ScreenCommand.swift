import CommandLineOptions
import NavctlSupport

/// `screen`: creates a screen without showing it, changes a screen or releases one.
enum ScreenCommand: Command {
  private static let verbs = ["create", "set", "release"]

  static let declaration = CommandSet.Command(
    "screen", "Create, change or release a screen", group: Subject.content,
    arguments: PositionalArguments("NAV VERB [ID] [KEY=VALUE...]", count: 1...Int.max),
    options: Change.options,
    epilogue: """
      VERB is create, set or release; only a screen that is not shown can be released. KEY is a
      member of a screen record: title, route, args, restorationID, prefersBarHidden, edges,
      toolbarItems, wantsFullScreenLayout, extendsUnderOpaqueBars.

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
