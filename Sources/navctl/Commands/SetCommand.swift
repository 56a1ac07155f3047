import CommandLineOptions
import NavigationClient
import NavigationCore

enum SetCommand: Command {
  static let declaration = CommandSet.Command(
    "set", "Set members of a screen, a button, a bar …", Subject.content,
    .init(
      "NAV OBJECT [ID] [KEY=VALUE...]", choices: ["OBJECT": NavObject.allCases.map(\.rawValue)]),
    options: [Lease.option] + Change.options,
    note: """
      Without KEY, navctl prints the members. VALUE is read as JSON if it is valid JSON, else as text.
      KEY= resets a member, KEY='""' is the empty text. A dot in KEY leads into an object. Of veto,
      interactivePop and profile the other members stay; any other object then has just those of this
      command, and a list is replaced. A list of buttons is ID,ID=TITLE or in JSON; TITLE makes a new
      button. Deadlines are in milliseconds. OBJECT and its keys:

      \(NavObject.allCases.map(line).joined(separator: "\n\n"))

      Without SCREEN, an appearance is that of the bar: set kiosk appearance
      standard.backgroundColor=red. navd takes any member of a slot such as standard. proxy is of all bars of CLASS, NavigationBar by default, and takes
      no NAV: set proxy barStyle=black. While a session holds the display, no other can set display;
      --lease holds it for this command.
      """, example: "set kiosk item wifi prompt='Choose one' rightItems=scan=Scan")

  private static func line(_ object: NavObject) -> String {
    let id = object.neededID.map { " \($0)" } ?? object.optionalID.map { " [\($0)]" } ?? ""
    let keys = object.keys.map { key in
      var values = object.values(of: key)
      // A line of a terminal has room for no more; a refusal lists them all.
      if values.count > 8 { values = values.prefix(3) + ["..."] }
      return values.isEmpty ? key : "\(key)=\(values.joined(separator: "|"))"
    }
    return "\(object.rawValue)\(id): \(keys.joined(separator: ", "))"
  }

  static func run(_ invocation: Invocation) throws {
    let isProxy = invocation.line.positionals.first == NavObject.proxy.rawValue
    let arguments = try invocation.navArguments(of: isProxy ? NavName.appearance.text : nil)
    let words = Array(arguments.rest.dropFirst())
    guard let object = NavObject(rawValue: arguments.rest[0]) else {
      throw NavObject.unknown(arguments.rest[0], nav: arguments.nav)
    }
    try require(
      object != .proxy || arguments.nav == NavName.appearance.text, "a proxy is of all navs",
      remedy: "navctl set proxy \(words.joined(separator: " "))")
    let takesID = object.neededID != nil || object.optionalID != nil
    let id = words.first.flatMap { !takesID || Members.isMember($0) ? nil : $0 }
    let members = Array(words.dropFirst(id == nil ? 0 : 1))
    guard members.isEmpty, object.neededID == nil || id != nil else {
      try object.check(members, id: id, of: arguments.nav)
      return try Change.perform(invocation, nav: arguments.nav, object.operations(id: id, members))
    }
    if let other = declaration.options.first(where: { invocation.line.contains($0.name) }) {
      throw UsageError("set without KEY only prints, so it takes no --\(other.name)")
    }
    try print(object, id, of: arguments.nav, invocation)
  }

  private static func print(
    _ object: NavObject, _ id: String?, of nav: String, _ invocation: Invocation
  ) throws {
    let daemon = try invocation.connect()
    let isOfScreen = object != .button && object != .proxy && id != nil
    var request = GetRequest(id: 0, nav: nav, what: isOfScreen ? .screen : .state)
    if isOfScreen { request.screen = id }
    let answer = try daemon.get(request)
    var value = object.value(id: id, in: try answer.reply.json())
    if object == .button, value == nil {
      request.what = .detached
      let answer = try daemon.get(request)
      value = object.value(id: id, in: try answer.reply.json())
      guard value != nil else {
        let remedy = Remedies.remedy(for: .unknownButton, nav: nav)
        throw PlainFailure(
          lines: ["unknown-button: there is no button \(id ?? "")", "try: \(remedy)"],
          status: ErrorCode.unknownButton.exitStatus)
      }
    }
    guard !invocation.isJSON else {
      let members = (value?.members ?? []).map {
        JSONObject.Member(name: $0.name, value: OpaqueJSON(validated: $0.value.bytes))
      }
      return try Output.record(
        .part, JSONObject([.init(name: "part", value: .string(object.rawValue))] + members))
    }
    // `ver` is the revision of the last change; users cannot set it.
    let lines = value.map { Tables.members($0, except: "ver") } ?? []
    for line in lines.isEmpty ? ["no member is set"] : lines {
      try Output.line(line)
    }
  }
}
