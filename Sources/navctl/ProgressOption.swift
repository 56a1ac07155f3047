import CommandLineOptions
import RuntimePaths

/// The option `--progress` of commands that take long.
enum ProgressOption {
  static let declaration = OptionDeclaration(
    "progress", argument: "HOW", "auto (if stderr is a terminal), json (lines on stderr) or none",
    choices: ProgressDisplay.Form.words)

  static func form(_ invocation: Invocation) throws -> ProgressDisplay.Form {
    let word = invocation.line.value(of: "progress")
    return try require(
      ProgressDisplay.Form(word: word, isTerminal: ProgressLine.isTerminal),
      "--progress takes auto, json or none, not '\(word ?? "")'")
  }
}
