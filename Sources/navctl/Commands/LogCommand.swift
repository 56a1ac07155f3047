import CommandLineOptions
import NavctlSupport
import Navigation
import NavigationSync

/// `log`: who changed a nav, and how.
enum LogCommand: Command {
  static let declaration = CommandSet.Command(
    "log", "Show who changed a nav, and how", group: Subject.look,
    arguments: PositionalArguments("NAV", count: 0...1),
    options: [
      OptionDeclaration("from", argument: "REV", "The first revision; else the oldest kept"),
      OptionDeclaration("limit", argument: "N", "How many entries at most; 100 unless said"),
    ],
    epilogue: "Example: navctl log kiosk --from 10 --limit 20")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let line = invocation.line
    var request = GetRequest(id: 0, nav: try invocation.navArguments().nav, what: .log)
    request.from = try line.value(of: "from").map {
      Revision(try Quantities.integer($0, option: "from"))
    }
    if let text = line.value(of: "limit") {
      request.limit = try Quantities.integer(text, option: "limit")
    }
    var connection = try invocation.connect()
    let answer = try Reading.get(invocation, &connection, request)
    if invocation.isJSON {
      try Output.line(answer.body)
    } else {
      for line in Tables.log(try Reading.value(answer.reply).elements) { try Output.line(line) }
    }
    return 0
  }
}
