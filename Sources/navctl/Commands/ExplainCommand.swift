import CommandLineOptions
import NavctlSupport
import NavigationSync

/// `explain`: what an error code means for the next step; needs no daemon.
enum ExplainCommand: Command {
  static let declaration = CommandSet.Command(
    "explain", "Say what to do about an error code", group: Subject.look,
    arguments: PositionalArguments("CODE", count: 1...1),
    epilogue: "Example: navctl explain desync")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let text = invocation.line.positionals[0]
    guard let code = ErrorCode(rawValue: text) else {
      throw UsageError(
        "there is no error code '\(TerminalText.visible(text))'", remedy: "navctl explain desync")
    }
    guard !invocation.isJSON else {
      try Output.line(json(code))
      return 0
    }
    try Output.line("\(code.rawValue)  exit status \(code.exitStatus)")
    try Output.line("  effect \(code.effect.rawValue), retry \(code.retry.rawValue)")
    try Output.line("  try: \(Remedies.remedy(for: code))")
    return 0
  }

  private static func json(_ code: ErrorCode) -> [UInt8] {
    OperationText.object([
      ("code", OperationText.string(code.rawValue)), ("exit", Array("\(code.exitStatus)".utf8)),
      ("effect", OperationText.string(code.effect.rawValue)),
      ("retry", OperationText.string(code.retry.rawValue)),
      ("try", OperationText.string(Remedies.remedy(for: code))),
    ])
  }
}
