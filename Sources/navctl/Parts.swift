import NavctlSupport
import NavigationClient
import NavigationSync

/// What commands have in common that print a part of the state, or change it.
enum Parts {
  /// Changes a part as the command's own words say; prints it where there are none.
  ///
  /// - Parameters:
  ///   - invocation: the command line.
  ///   - isOwn: whether a word is the command's own and not a nav.
  ///   - part: the part's name in the state.
  ///   - member: the member of the part that the command is about; nil for all of it.
  ///   - operation: the operation that words ask for.
  /// - Returns: the exit status.
  /// - Throws: what to type, or the daemon's refusal.
  static func run(
    _ invocation: Invocation, isOwn: (String) -> Bool, part: String, member: String? = nil,
    operation: ([String]) throws -> OperationText
  ) throws -> Int32 {
    let arguments = try invocation.navArguments(isOwn: isOwn)
    guard arguments.rest.isEmpty else {
      return try Changes.perform(
        invocation, nav: arguments.nav, [try operation(arguments.rest)])
    }
    var connection = try invocation.connect()
    let answer = try Reading.get(invocation, &connection, GetRequest(id: 0, nav: arguments.nav))
    let whole = try Reading.value(answer.reply)[part]
    let value = member.map { whole?[$0] } ?? whole
    if invocation.isJSON {
      try Output.line(value?.bytes ?? Array("{}".utf8))
    } else {
      // When the part last changed is none of its members to set.
      let lines = value.map { Tables.members($0, except: "ver") } ?? []
      for line in lines.isEmpty ? ["every member has its default value"] : lines {
        try Output.line(line)
      }
    }
    return 0
  }
}
