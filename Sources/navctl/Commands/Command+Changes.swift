import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

// The commands that change a nav and do more than send operations, and `save`.
extension Command {
  static let saveStack = Command(
    "save", "Save the stack for restore, to a file or stdout", HelpGroup.stack, .init("NAV [FILE]"),
    note: """
      navctl saves only screens with a restoration id, and only if the nav has one too; see
      set. It names the others on stderr. It replaces an existing FILE as a whole or not at
      all.
      """, example: "save kiosk kiosk.json"
  ) { invocation in
    let arguments = try invocation.navArguments()
    let daemon = try invocation.connect()
    let answer = try daemon.get(.restoration, arguments.nav)
    let payload = try answer.reply.json()
    let entries = payload.list("entries")
    guard !entries.isEmpty else {
      // An empty payload is useless, and could replace a file that still has screens.
      let nav = arguments.nav
      throw PlainFailure(
        "nothing: \(nav) or its screens have no restoration id, so there is nothing to save",
        "try: navctl set \(nav) settings restorationID=\(nav); "
          + "navctl set \(nav) screen ID restorationID=ID")
    }
    try reportUnsavedScreens(daemon, arguments.nav, entries, answer.reply.revision)
    guard let path = arguments.rest.first, path != "-" else {
      return try Output.json(payload.bytes)
    }
    do throws(SystemError) {
      try writeFileAtomically(path, payload.bytes + [0x0A], mode: 0o644)
    } catch {
      throw PlainFailure("file: \(error)")
    }
    if invocation.isJSON { return try Output.record(JSONRecord(.saved, answer.body)) }
    let revision = answer.reply.revision.map { "  rev \($0.number)" } ?? ""
    try Output.line(TerminalText.visible("\(arguments.nav)\(revision)  saved to \(path)"))
  }

  static let openRoute = changing(
    "open", "Replace the stack by the screens of a route", HelpGroup.stack, .init("NAV ROUTE"),
    options: [
      .init("expect", argument: "SCREEN", "Then wait until the top has this id or route"),
      .init("within", argument: "TIME", "How long to wait for --expect, such as 500ms; default 2s"),
      .init("over", "First dismiss what is presented"),
    ] + Change.options,
    note: """
      The setting routes defines them; see set and routes. Screens that agree with the route
      stay. With --expect, the status is 4 if something else is on top when the time is up.
      """, example: "open kiosk settings/wifi --expect settings/wifi",
    afterChange: awaitExpectedScreen
  ) { invocation in
    let within = try invocation.line.milliseconds(of: "within")
    try require(
      within == nil || invocation.line.contains("expect"), "--within goes with --expect",
      remedy: "--expect SCREEN --within 2s")
    let arguments = try invocation.navArguments()
    let isOver = invocation.line.contains("over")
    return (arguments.nav, [.open(arguments.rest[0], dismissing: isOver ? true : nil)])
  }

  static let setMembers = changing(
    "set", "Set members of a screen, a button, a bar …", HelpGroup.members,
    .init(
      "NAV OBJECT [ID] [KEY=VALUE...]", choices: ["OBJECT": NavObject.allCases.map(\.rawValue)]),
    options: [LeaseCommand.option] + Change.options,
    note: """
      Without KEY, navctl prints the members. VALUE is read as JSON if it is valid JSON, else as text.
      KEY= resets a member, KEY='""' is the empty text. A dot in KEY leads into an object. Of veto,
      interactivePop and profile the other members stay; any other object then has just those of this
      command, and a list is replaced. A list of buttons is ID,ID=TITLE or in JSON; TITLE makes a new
      button. Deadlines are in milliseconds. OBJECT and its keys:

      \(NavObject.allCases.map(settableKeysLine).joined(separator: "\n\n"))

      Without SCREEN, an appearance is that of the bar: set kiosk appearance
      standard.backgroundColor=red. navd takes any member of a slot such as standard. proxy is of all bars of CLASS, NavigationBar by default, and takes
      no NAV: set proxy barStyle=black. While a session holds the display, no other can set display;
      --lease holds it for this command.
      """, example: "set kiosk item wifi prompt='Choose one' rightItems=scan=Scan",
    otherwise: printMemberValues
  ) { invocation in
    let (object, id, members, nav) = try setting(invocation)
    if members.isEmpty, object.requiredID == nil || id != nil { return nil }
    try object.checkKeys(of: members, id: id, of: nav)
    return (nav, try object.operations(id: id, members))
  }

  static let back = changing(
    "back", "Tap back, or use the button's menu", HelpGroup.touching, .init("NAV"),
    options: [
      .init("key", "Press the Back key: dismiss what is presented, or pop"),
      .init("to", argument: "ID", "Go back to this screen of the button's menu"),
      .init("menu", "Print the button's menu, nearest first, and change nothing"),
    ] + Change.options,
    note: """
      The tap needs the top screen to be the one you last saw; --to and --menu do not. The command
      fails if the bar shows no back button or a presented screen covers it. It also fails if the
      top screen does not let a person pop it (canPop). A pop does not look at any of this. --key
      needs the visible screen to be the one you last saw, and changes nothing at the root.
      """, example: "back kiosk --top wifi", otherwise: printBackMenu
  ) { invocation in
    let operation = try OperationParser.back(invocation.line, changeOptions: Change.options)
    return try operation.map { (try invocation.navArguments().nav, [$0]) }
  }

  static let gesture = Command(
    "gesture", "Swipe back from the screen you last saw", HelpGroup.touching,
    .init("NAV [STEP...]", choices: ["STEP": ["begin", "update", "finish", "cancel"]]),
    options: [
      .init(
        "kind", argument: "KIND", "edge (default) or fullScreen", choices: ["edge", "fullScreen"]),
      .init("translation", argument: "N", "Distance to the right at begin; default 1"),
      LeaseCommand.option,
    ] + Change.options.filter { $0.name != "dry-run" },
    note: """
      STEP is begin, update VALUE with a number from 0 to 1, finish or cancel. A gesture belongs to
      the session that began it, and navd cancels it with that session. So one command performs all
      steps. If the last is neither finish nor cancel, navctl reads more from stdin, line by line.
      """, example: "gesture kiosk begin update 0.4 finish"
  ) { invocation in
    let words: Set<String> = ["begin", "update", "finish", "cancel"]
    let arguments = try invocation.navArguments { words.contains($0) || Double($0) != nil }
    var steps = try GestureStep.steps(arguments.rest)
    try require(
      !steps.isEmpty, "gesture needs a step", remedy: "navctl gesture NAV begin update 0.4 finish")
    // Makes the first step before it connects, so that its usage errors need no daemon.
    let first = steps.removeFirst()
    let change = try Change(
      invocation, nav: arguments.nav, [try OperationParser.gesture(first, invocation.line)])
    let daemon = try invocation.connect()
    try daemon.openSession()
    try change.perform(on: daemon)
    var isGestureOver = first.isLast
    var input = InputLines()
    while !isGestureOver {
      for step in steps {
        // The typed conditions describe the state before the gesture, so they guard only step one.
        let operation = try OperationParser.gesture(step, invocation.line)
        try Change(invocation, nav: arguments.nav, [operation], isGuarded: false)
          .perform(on: daemon)
        isGestureOver = step.isLast
      }
      guard !isGestureOver else { break }
      // Answers heartbeats meanwhile, so that navd keeps the session.
      let idle = { while try daemon.connection.next(timeout: .zero) != nil {} }
      guard let line = try input.next(idle: idle) else {
        Output.error("navctl: stdin ended before finish or cancel; the gesture is cancelled")
        break
      }
      steps = try GestureStep.steps(line.split(separator: " ").map(String.init))
    }
    try daemon.connection.leave()
  }

  static let transition = changing(
    "transition", "Show or complete the running transition", HelpGroup.touching,
    .init("NAV [complete TID]"),
    options: [LeaseCommand.option] + Change.options,
    note: """
      Without complete, navctl prints the running transition with its number TID. complete reports
      to navd that the display has shown it.
      """, example: "transition kiosk", otherwise: showTransition
  ) { invocation in
    let arguments = try invocation.navArguments { $0 == "complete" }
    if arguments.rest.isEmpty { return nil }
    try require(
      arguments.rest.count == 2 && arguments.rest[0] == "complete",
      "transition complete needs a transition's id", remedy: "navctl transition NAV complete TID")
    return (arguments.nav, [try OperationParser.completeTransition(arguments.rest[1])])
  }

  static let op = changing(
    "op", "Perform operations given as JSON, all or none", HelpGroup.anything, .init("NAV JSON..."),
    options: Change.options,
    note: """
      An operation is an object with one member, whose name is that of the operation. The names
      are \(OperationKind.allCases.filter { $0 != .unknown }.map(\.name).joined(separator: ", ")).
      """, example: #"op kiosk '{"popToRoot":{}}' '{"push":{"screen":{"id":"now"}}}'"#
  ) { invocation in
    let positionals = invocation.line.positionals
    // A first argument that begins like a JSON object is an operation, not the nav.
    let isNavLeftOut = positionals.first?.hasPrefix("{") ?? false
    let count = isNavLeftOut ? positionals.count : positionals.count - 1
    let arguments = try invocation.navArguments(rest: count...count)
    try require(!arguments.rest.isEmpty, "an operation is missing")
    return (arguments.nav, try arguments.rest.map { try NavigationOperation(typed: $0) })
  }
}

/// Waits, after `open`, until the screen that `--expect` names is on top.
private func awaitExpectedScreen(_ invocation: Invocation) throws {
  let line = invocation.line
  guard let expected = line.value(of: "expect"), !line.contains("dry-run") else { return }
  let within = try line.milliseconds(of: "within") ?? 2000
  _ = try WaitCommand.awaitMirror(
    of: invocation.navArguments().nav, meeting: .topHasIDOrRoute(expected), invocation.connect(),
    Countdown(within))
}

/// Names the screens that were not saved, unless the nav has changed since the save.
private func reportUnsavedScreens(
  _ daemon: Daemon, _ nav: String, _ entries: [JSONValue], _ revision: Revision?
) throws {
  let state = try daemon.get(.state, nav)
  guard state.reply.revision == revision else { return }
  let saved = Set(entries.compactMap { $0["screen"]?["id"]?.string })
  let omitted = try state.reply.json().list("screens")
    .compactMap { $0["id"]?.string }.filter { !saved.contains($0) }
  guard !omitted.isEmpty else { return }
  Output.error(
    TerminalText.visible(
      "navctl: not saved, because they have no restoration id: \(omitted.joined(separator: ", "))"
    ))
  Output.error("  try: navctl set \(nav) screen \(omitted[0]) restorationID=\(omitted[0])")
}

private func settableKeysLine(_ object: NavObject) -> String {
  let id = object.requiredID.map { " \($0)" } ?? object.optionalID.map { " [\($0)]" } ?? ""
  let keys = object.keys.map { key in
    var values = object.allowedValues(of: key)
    // A line of a terminal has room for no more; a refusal lists them all.
    if values.count > 8 || values.joined().count > 60 { values = values.prefix(3) + ["..."] }
    return values.isEmpty ? key : "\(key)=\(values.joined(separator: "|"))"
  }
  return "\(object.rawValue)\(id): \(keys.joined(separator: ", "))"
}

private func setting(
  _ invocation: Invocation
) throws -> (object: NavObject, id: String?, members: [String], nav: String) {
  let isProxy = invocation.line.positionals.first == NavObject.proxy.rawValue
  let arguments = try invocation.navArguments(of: isProxy ? NavName.appearance.text : nil)
  let words = Array(arguments.rest.dropFirst())
  guard let object = NavObject(rawValue: arguments.rest[0]) else {
    throw NavObject.unknownObject(arguments.rest[0], nav: arguments.nav)
  }
  try require(
    object != .proxy || arguments.nav == NavName.appearance.text, "a proxy is of all navs",
    remedy: "navctl set proxy \(words.joined(separator: " "))")
  let takesID = object.requiredID != nil || object.optionalID != nil
  let id = words.first.flatMap { !takesID || KeyValues.isKeyValue($0) ? nil : $0 }
  return (object, id, Array(words.dropFirst(id == nil ? 0 : 1)), arguments.nav)
}

private func printMemberValues(_ invocation: Invocation) throws {
  let (object, id, _, nav) = try setting(invocation)
  if let other = ([LeaseCommand.option] + Change.options).first(where: {
    invocation.line.contains($0.name)
  }) {
    throw UsageError("set without KEY only prints, so it takes no --\(other.name)")
  }
  let daemon = try invocation.connect()
  let isOfScreen = object != .button && object != .proxy && id != nil
  var request = GetRequest(id: 0, nav: nav, what: isOfScreen ? .screen : .state)
  if isOfScreen { request.screen = id }
  var value = object.value(id: id, in: try daemon.get(request).reply.json())
  if object == .button, value == nil {
    request.what = .detached
    value = object.value(id: id, in: try daemon.get(request).reply.json())
    guard value != nil else {
      let remedy = Remedies.remedy(for: .unknownButton, nav: nav)
      throw PlainFailure(
        .unknownButton, "unknown-button: there is no button \(id ?? "")", "try: \(remedy)")
    }
  }
  if invocation.isJSON {
    return try Output.record(
      JSONRecord(.part, ["part": .string(object.rawValue)] + (value?.object ?? [:])))
  }
  // `ver` is the revision of the last change; users cannot set it.
  let lines = value.map { Tables.members($0, except: "ver") } ?? []
  try Output.lines(lines.isEmpty ? ["no member is set"] : lines)
}

private func printBackMenu(_ invocation: Invocation) throws {
  let nav = try invocation.navArguments().nav
  let (reply, body) = try invocation.connect().get(.bar, nav)
  if invocation.isJSON { return try Output.record(JSONRecord(.backMenu, body)) }
  try Output.lines(Tables.backMenu(try reply.json()))
}

private func showTransition(_ invocation: Invocation) throws {
  let nav = try invocation.navArguments { $0 == "complete" }.nav
  let daemon = try invocation.connect()
  let state = try daemon.get(.state, nav).reply.json()
  if invocation.isJSON {
    return try Output.record(
      JSONRecord(.transition, state["transition"]?.bytes ?? Array("{}".utf8)))
  }
  let elapsed = daemon.transitionAge(nav: nav, state: state)
  let lines = StateDrawing(columns: invocation.columns)
    .transition(state["transition"], elapsed: elapsed)
  if lines.isEmpty { try Output.line("\(nav): no transition is running") }
  try invocation.write(lines)
}
