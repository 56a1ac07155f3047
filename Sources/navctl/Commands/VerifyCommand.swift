import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

enum VerifyCommand: Command {
  static let declaration = CommandSet.Command(
    "verify", "Check the digests and invariants of one or all navs", Subject.look, .init("[NAV]"),
    options: [ProgressOption.declaration],
    note: """
      Without NAV, navd checks all navs, and compares its count of connections with those it has.
      """, example: "verify kiosk")

  static func run(_ invocation: Invocation) throws {
    let form = try ProgressOption.form(invocation)
    let named = invocation.namesNav ? try invocation.navArguments().nav : nil
    if let named, named.hasSuffix(".navrec") {
      throw UsageError(
        "\(named) is a recording, not a nav", remedy: "navctl play \(named) --verify")
    }
    let daemon = try invocation.connect()
    let navs = try named.map { [$0] } ?? Directory.navs.names(daemon)
    var isSound = try named != nil || writeConnections(daemon)
    var line = ProgressLine(.verify, as: named == nil ? form : .none)
    defer { line.end() }
    for (index, nav) in navs.enumerated() {
      line.show(UInt64(index), of: UInt64(navs.count))
      let answer: (reply: OkReply, body: [UInt8])
      do {
        answer = try daemon.get(.verify, nav)
      } catch let refusal as Refusal where named == nil && refusal.error.knownCode != .internal {
        // The nav was closed since the directory was read, or this user may not read it.
        if Output.isTerminal { line.pause() }
        Output.error("navctl: \(nav): \(refusal.error.code)")
        continue
      }
      if Output.isTerminal { line.pause() }
      if try !write(invocation, nav, answer) { isSound = false }
    }
    line.show(UInt64(navs.count), of: UInt64(navs.count))
    try ExitStatus.end(isSound ? 0 : ErrorCode.internal.exitStatus)
  }

  /// Prints whether the daemon's count of connections is right; returns that.
  private static func writeConnections(_ daemon: Daemon) throws -> Bool {
    let answer = try daemon.get(.verify, nil)
    let value = try answer.reply.json()
    let isSound = value["ok"]?.bool ?? false
    if daemon.invocation.isJSON {
      try Output.record(.verify, answer.body)
      return isSound
    }
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
    let value = try answer.reply.json()
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
