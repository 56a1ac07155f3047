import CommandLineOptions
import NavigationClient
import NavigationCore

enum WhyCommand: Command {
  static let declaration = CommandSet.Command(
    "why", "Show which client put a screen there, when and how", Subject.look, .init("NAV SCREEN"),
    note: """
      The answer comes from the log of the nav, so it goes back as far as the log does. For a screen
      that is gone, it also has the revision that took it away. The status is 6 if the log has
      nothing about the screen.
      """, example: "why kiosk wifi")

  private static let page: UInt64 = 1000

  static func run(_ invocation: Invocation) throws {
    let arguments = try invocation.navArguments()
    let (nav, screen) = (arguments.nav, arguments.rest[0])
    let daemon = try invocation.connect()
    var origin = ScreenOrigin(of: screen)
    var floor: UInt64 = 1
    var answer = try daemon.someLog(nav: nav, from: nil, limit: page)
    while true {
      floor = answer.floor?.number ?? floor
      let entries = try answer.json().elements
      let first = entries.first?["rev"]?.integer ?? floor
      if origin.take(entries) || first <= floor { break }
      // Two pages share an entry, so that the one before each entry is known.
      let from = max(floor, first - min(first, page - 1))
      guard from < first else { break }
      answer = try daemon.someLog(nav: nav, from: from, limit: first - from + 1)
    }
    origin.finish()
    if invocation.isJSON {
      try Output.record(.why, origin.members(nav: nav, floor: floor))
    } else {
      try Output.lines(origin.lines(nav: nav, floor: floor))
    }
    try ExitStatus.end(origin.isFound ? 0 : ErrorCode.noNav.exitStatus)
  }
}
