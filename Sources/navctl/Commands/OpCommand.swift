import CommandLineOptions
import NavigationClient
import NavigationCore

enum OpCommand: Command {
  static let declaration = CommandSet.Command(
    "op", "Perform operations given as JSON, all or none", Subject.anything, .init("NAV JSON..."),
    options: Change.options,
    note: """
      An operation is an object with one member, whose name is that of the operation. The names
      are \(names).
      """, example: #"op kiosk '{"popToRoot":{}}' '{"push":{"screen":{"id":"now"}}}'"#)

  private static let names = OperationKind.allCases.filter { $0 != .unknown }.map(\.name)
    .joined(separator: ", ")

  static func run(_ invocation: Invocation) throws {
    let positionals = invocation.line.positionals
    // A first argument that begins like a JSON object is an operation, not the nav.
    let isNavLeftOut = positionals.first?.hasPrefix("{") ?? false
    let count = isNavLeftOut ? positionals.count : positionals.count - 1
    let arguments = try invocation.navArguments(rest: count...count)
    try require(!arguments.rest.isEmpty, "an operation is missing")
    try Change.perform(
      invocation, nav: arguments.nav, try arguments.rest.map { try NavigationOperation(typed: $0) })
  }
}
