import NavctlSupport
import NavigationClient
import NavigationCore

/// The form of commands such as `bar` and `env`: print a part of the state, or change it.
enum Parts {
  /// Changes a part by the words of the command line, or prints it if there are none.
  ///
  /// `isOwn` says whether a word belongs to the change, and so does not name the nav, unless `nav`
  /// does. nil as `member` prints the whole part.
  static func run(
    _ invocation: Invocation, nav: String? = nil, isOwn: (String) -> Bool, part: String,
    member: String? = nil, operation: ([String]) throws -> NavigationOperation
  ) throws -> Int32 {
    let arguments = try invocation.navArguments(of: nav, isOwn: isOwn)
    guard arguments.rest.isEmpty else {
      return try Change.perform(
        invocation, nav: arguments.nav, [try operation(arguments.rest)])
    }
    var connection = try invocation.connect()
    let answer = try Reading.get(invocation, &connection, GetRequest(id: 0, nav: arguments.nav))
    let whole = try Reading.value(answer.reply)[part]
    let value = member.map { whole?[$0] } ?? whole
    if invocation.isJSON {
      try Output.record(
        Record(
          .part,
          JSONObject(
            [.init(name: "part", value: .string(member ?? part))]
              + (value?.members ?? []).map {
                .init(name: $0.name, value: OpaqueJSON(validated: $0.value.bytes))
              })))
    } else {
      // `ver` is the revision of the part's last change; users cannot set it.
      let lines = value.map { Tables.members($0, except: "ver") } ?? []
      for line in lines.isEmpty ? ["every member has its default value"] : lines {
        try Output.line(line)
      }
    }
    return 0
  }
}
