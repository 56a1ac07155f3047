import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

enum RoutesCommand {
  private typealias CaseOutcome = (name: String, fault: String?)

  static let command = Command(
    "routes", "Check the routes of a nav, and test where they lead", HelpGroup.stack,
    .init("NAV check|test|reverse [FILE]"),
    options: [OptionDeclaration("junit", argument: "FILE", "Also write a report for CI servers")],
    note: """
      check names templates that can never match, and those that share some routes with an
      earlier one of which neither is the narrower. test opens each route of FILE as a dry run, on the
      stack that the nav has now, and compares where it leads: a line such as
      {"open":"settings/wifi","stack":["home","settings/wifi"]} has ids or routes, bottom first, or
      null if the route must be refused. reverse prints the route that leads to the present stack.
      Nothing is changed. The status is 1 if a case fails, or if no route leads to the stack.
      """, example: "routes kiosk check", run: run)

  static func run(_ invocation: Invocation) throws {
    let arguments = try invocation.navArguments { ["check", "test", "reverse"].contains($0) }
    let words = arguments.rest
    switch (words.first, words.count) {
    case ("check", 1): try checkRoutes(invocation, arguments.nav)
    case ("reverse", 1): try printRouteToStack(invocation, arguments.nav)
    case ("test", 2): try testRoutes(invocation, arguments.nav, file: words[1])
    default:
      throw UsageError(
        "routes needs check, reverse, or test and a file",
        remedy: "navctl routes NAV check, navctl routes NAV reverse, navctl routes NAV test FILE")
    }
  }

  private static func checkRoutes(_ invocation: Invocation, _ nav: String) throws {
    let state = try invocation.connect().get(.state, nav).reply.json()
    let routes = state["settings"]?.list("routes") ?? []
    try report(invocation, nav, zip(routes, faults(routes)).map { ($0["match"]?.string ?? "", $1) })
  }

  /// Prints the route of the top, if opening it would leave the stack as it is.
  private static func printRouteToStack(_ invocation: Invocation, _ nav: String) throws {
    let daemon = try invocation.connect()
    let state = try daemon.get(.state, nav).reply.json()
    let screens = state.list("screens")
    try daemon.openSession()
    let route = screens.last?["route"]?.string
    let there = try route.flatMap { try stackAfterOpening($0, nav, daemon) }
    let ids = { (list: [JSONValue]) in list.compactMap { $0["id"]?.string } }
    let found = there.map { ids($0) == ids(screens) } == true ? route : nil
    if invocation.isJSON {
      try Output.record(record(nav, found.map { [($0, nil)] } ?? [], hasPassed: found != nil))
    } else if let found {
      try Output.line(TerminalText.visible(found))
    } else {
      Output.error(
        TerminalText.visible(
          "navctl: no route leads to the stack [\(ids(screens).joined(separator: " "))]"))
    }
    try ExitStatus.throwIfNonzero(found == nil ? 1 : 0)
  }

  private static func testRoutes(_ invocation: Invocation, _ nav: String, file: String) throws {
    let text = try InputLines.text(of: file, remedy: "navctl routes NAV test FILE, or - for stdin")
    var cases: [RouteCase] = []
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated()
    where line.contains(where: { !$0.isWhitespace }) && !line.hasPrefix("#") {
      cases.append(
        try UsageError.located("\(file):\(index + 1)") { () throws(UsageError) in
          try RouteCase(String(line))
        })
    }
    let daemon = try invocation.connect()
    try daemon.openSession()
    var results: [CaseOutcome] = []
    for each in cases {
      results.append((each.route, each.mismatch(try stackAfterOpening(each.route, nav, daemon))))
    }
    try report(invocation, nav, results)
  }

  private static func stackAfterOpening(
    _ route: String, _ nav: String, _ daemon: Daemon
  ) throws -> [JSONValue]? {
    var request = OpRequest(id: 0, nav: nav)
    request.guards.any = true
    request.isDry = true
    let reply = try daemon.connection.perform(
      request, operations: [NavigationOperation.open(route).octets.bytes], timeout: daemon.timeout
    ) { _ in }
    switch reply.result {
    case .success:
      guard let state = try JSONValue(reply.body)["state"] else {
        throw PlainFailure(
          .forbidden,
          "forbidden: navd does not show the state that \(TerminalText.visible(route)) leads to",
          "try: the right read on \(nav); a state above the limit of a message cannot be tested")
      }
      return state.list("screens")
    case .failure(let error) where error.knownCode == .noRoute: return nil
    case .failure(let error): throw Refusal(error: error, nav: nav)
    }
  }

  private static func report(
    _ invocation: Invocation, _ nav: String, _ cases: [CaseOutcome]
  ) throws {
    if let path = invocation.line.value(of: "junit") {
      do throws(SystemError) {
        try writeFileAtomically(path, Array(junit("routes \(nav)", cases).utf8))
      } catch {
        throw UsageError("cannot write the report: \(error)", remedy: "--junit FILE")
      }
    }
    let failures = cases.count { $0.fault != nil }
    if invocation.isJSON {
      try Output.record(record(nav, cases, hasPassed: failures == 0))
    } else {
      for (name, fault) in cases {
        try Output.line(
          TerminalText.visible(fault.map { "fail  \(name)  \($0)" } ?? "ok    \(name)"))
      }
      if cases.isEmpty { try Output.line("\(nav) has no routes") }
    }
    try ExitStatus.throwIfNonzero(failures == 0 ? 0 : 1)
  }

  private static func record(_ nav: String, _ cases: [CaseOutcome], hasPassed: Bool) -> JSONRecord {
    let list = cases.map { name, fault in
      var members: JSONObject = ["route": .string(name), "ok": .bool(fault == nil)]
      members.add("fault", fault)
      return OpaqueJSON.object(members)
    }
    return JSONRecord(
      .routes, ["nav": .string(nav), "ok": .bool(hasPassed), "routes": .array(list)])
  }

  /// For each template, an error if an earlier template matches all of its routes, or if both match
  /// some route and neither is the narrower one; else nil.
  static func faults(_ routes: [JSONValue]) -> [String?] {
    let patterns = routes.map { RouteAddress($0["match"]?.string ?? "") }
    let texts = routes.map { $0["match"]?.string ?? "" }
    return patterns.enumerated().map { index, pattern in
      // A template with conditions leaves the route to the next one where they do not hold.
      let earlier = (0..<index).filter { routes[$0]["needs"] == nil }
      if let first = earlier.first(where: { patterns[$0].covers(pattern) }) {
        return "\(texts[index]) never matches: \(texts[first]) comes first and matches all of it"
      }
      let other = earlier.first { patterns[$0].meets(pattern) && !pattern.covers(patterns[$0]) }
      return other.map {
        "\(texts[index]) is ambiguous: \(texts[$0]) comes first and matches some of it"
      }
    }
  }

  /// The report of a test run in the form that CI servers read.
  private static func junit(_ suite: String, _ cases: [CaseOutcome]) -> String {
    let failures = cases.count { $0.fault != nil }
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8"?>"#,
      #"<testsuite name="\#(escaped(suite))" tests="\#(cases.count)" failures="\#(failures)">"#,
    ]
    for (name, fault) in cases {
      let head = #"  <testcase classname="\#(escaped(suite))" name="\#(escaped(name))""#
      lines.append(
        fault.map { #"\#(head)><failure message="\#(escaped($0))"/></testcase>"# } ?? "\(head)/>")
    }
    return (lines + ["</testsuite>", ""]).joined(separator: "\n")
  }

  private static func escaped(_ text: String) -> String {
    let signs: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]
    return text.reduce(into: "") { result, character in
      // XML has no form for most control characters.
      let isControl = character.unicodeScalars.contains { $0.value < 0x20 }
      result += signs[character] ?? (isControl ? "?" : String(character))
    }
  }
}

extension RouteAddress {
  private var fixedQuery: [Pair] { query.filter { !$0.value.hasPrefix(":") } }

  private var fixedFragment: String? { fragment.flatMap { $0.hasPrefix(":") ? nil : $0 } }

  /// Whether this pattern matches all routes that another one matches.
  fileprivate func covers(_ other: RouteAddress) -> Bool {
    path.count == other.path.count
      && zip(path, other.path).allSatisfy { $0.hasPrefix(":") && !$1.isEmpty || $0 == $1 }
      && fixedQuery.allSatisfy { pair in
        other.fixedQuery.contains { $0.name == pair.name && $0.value == pair.value }
      }
      && fixedFragment.map { $0 == other.fixedFragment } ?? true
  }

  /// Whether some route matches this pattern and another one.
  fileprivate func meets(_ other: RouteAddress) -> Bool {
    path.count == other.path.count
      && zip(path, other.path).allSatisfy {
        $0.hasPrefix(":") && !$1.isEmpty || $1.hasPrefix(":") && !$0.isEmpty || $0 == $1
      }
      && fixedQuery.allSatisfy { pair in
        !other.fixedQuery.contains { $0.name == pair.name && $0.value != pair.value }
      }
      && (fixedFragment ?? other.fixedFragment) == (other.fixedFragment ?? fixedFragment)
  }
}

/// A case of `navctl routes test`: a route, and the stack that opening it must lead to.
struct RouteCase: Sendable {
  var route: String
  /// The ids or routes of the screens, bottom first; nil if the route must be refused.
  var stack: [String]?

  /// Reads a line such as `{"open":"settings/wifi","stack":["home","settings/wifi"]}`.
  init(_ line: String) throws(UsageError) {
    let value = try ArgumentReader.object(line, what: "the line")
    let names = value.members.map(\.name).sorted()
    guard let route = value["open"]?.string, names == ["open", "stack"],
      value["stack"].map({ $0.kind == .array }) ?? true
    else {
      throw UsageError(
        "a case has open, a route, and stack, a list of ids or routes, or null",
        remedy: #"{"open":"settings/wifi","stack":["home","settings/wifi"]}"#)
    }
    self.route = route
    stack = value["stack"]?.elements.map(\.plainText)
  }

  /// Compares the screens that a route leads to, nil for a refusal, with the case; returns the
  /// difference in words, nil if there is none.
  func mismatch(_ screens: [JSONValue]?) -> String? {
    guard let screens else {
      return stack.map { _ in "no route matches it, or its conditions do not hold" }
    }
    let found = screens.map { $0["route"]?.string ?? $0["id"]?.string ?? "?" }
    guard let stack else { return "it leads to [\(found.joined(separator: ", "))]" }
    let fits =
      stack.count == screens.count
      && zip(stack, screens).allSatisfy { wanted, screen in
        screen["id"]?.string == wanted || screen["route"]?.string == wanted
      }
    return fits
      ? nil
      : "it leads to [\(found.joined(separator: ", "))], not [\(stack.joined(separator: ", "))]"
  }
}
