import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

/// `verify`: lets the daemon check a nav, or all navs and its connection counts.
enum VerifyCommand: Command {
  static let declaration = CommandSet.Command(
    "verify", "Check the digests and invariants of one or all navs", Subject.look, .init("[NAV]"),
    options: [ProgressOption.declaration],
    note: """
      Without NAV, navd checks all navs, and compares its count of connections with those it has.
      """, example: "verify kiosk")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let form = try ProgressOption.form(invocation)
    let named = invocation.namesNav ? try invocation.navArguments().nav : nil
    if let named, named.hasSuffix(".navrec") {
      throw UsageError(
        "\(named) is a recording, not a nav", remedy: "navctl play \(named) --verify")
    }
    var connection = try invocation.connect()
    var navs: [String] = []
    if let named {
      navs = [named]
    } else {
      navs = try Directory.navs.read(invocation, &connection).compactMap { $0["id"]?.string }
    }
    var status: Int32 = 0
    if named == nil, try !writeConnections(invocation, &connection) {
      status = ErrorCode.internal.exitStatus
    }
    var line = ProgressLine(.verify, as: named == nil ? form : .none)
    defer { line.end() }
    for (index, nav) in navs.enumerated() {
      line.show(UInt64(index), of: UInt64(navs.count))
      let answer: (reply: OkReply, body: [UInt8])
      do {
        answer = try Reading.get(
          invocation, &connection, GetRequest(id: 0, nav: nav, what: .verify))
      } catch let refusal as Refusal where named == nil && refusal.error.knownCode != .internal {
        // The nav was closed since the directory was read, or this user may not read it.
        if Output.isTerminal { line.pause() }
        Output.error("navctl: \(nav): \(refusal.error.code)")
        continue
      }
      if Output.isTerminal { line.pause() }
      if try !write(invocation, nav, answer) { status = ErrorCode.internal.exitStatus }
    }
    line.show(UInt64(navs.count), of: UInt64(navs.count))
    return status
  }

  /// Prints whether the daemon's count of connections is right; returns that.
  private static func writeConnections(
    _ invocation: Invocation, _ connection: inout NavigationConnection
  ) throws -> Bool {
    let answer = try Reading.get(
      invocation, &connection, GetRequest(id: 0, nav: nil, what: .verify))
    if invocation.isJSON {
      try Output.record(.verify, answer.body)
      return try Reading.value(answer.reply)["ok"]?.bool ?? false
    }
    let value = try Reading.value(answer.reply)
    let isSound = value["ok"]?.bool ?? false
    func figure(_ name: String) -> String { value[name]?.plainText ?? "0" }
    var text = "connections  \(isSound ? "ok" : "MISCOUNTED")  \(figure("counted")) counted"
    text += "  \(figure("open")) open"
    if !isSound { text += "  \(figure("differences")) differed since the start" }
    try Output.line(text)
    return isSound
  }

  /// Prints the result for one nav; returns false if navd found it damaged.
  private static func write(
    _ invocation: Invocation, _ nav: String, _ answer: (reply: OkReply, body: [UInt8])
  ) throws -> Bool {
    let value = try Reading.value(answer.reply)
    let isSound = value["ok"]?.bool ?? false
    if invocation.isJSON {
      try Output.record(.verify, answer.body)
    } else {
      let word = isSound ? "ok" : "DAMAGED"
      var text = "\(nav)  \(word)  rev \(answer.reply.revision?.number ?? 0)"
      if let digest = value["dig"]?.string { text += "  digest \(digest)" }
      for problem in value["violated"]?.elements ?? [] { text += "  \(problem.plainText)" }
      try Output.line(TerminalText.visible(text))
    }
    return isSound
  }
}
