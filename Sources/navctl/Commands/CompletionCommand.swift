import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

enum CompletionCommand {
  static let command = Command(
    "completion", "Print the completion of a shell", HelpGroup.administration,
    .init(
      "SHELL [-- WORD...]", count: 1...Int.max, choices: ["SHELL": Shell.allCases.map(\.rawValue)]),
    note: """
      SHELL is bash, zsh or fish. The packages install the completion of all three. With words, the
      command prints the candidates for the last one, which can be empty: commands, options, and
      the navs, screens, buttons and routes that navd has at the moment.
      """, example: "completion bash", run: run)

  static func run(_ invocation: Invocation) throws {
    let words = invocation.line.positionals
    let shell = try require(
      Shell(rawValue: words[0]), "there is no completion for '\(words[0])'",
      remedy: "navctl completion bash|zsh|fish")
    if words.count == 1 { return try Output.line(shell.script) }
    let typed = shell.rejoined(Array(words.dropFirst()))
    // A proxy is of all navs, so it stands where otherwise the nav does.
    let completion = Completion(
      typed, of: Program.grammar,
      hasNav: invocation.environment["NAVD_NAV"] != nil
        || typed.dropLast().contains(NavObject.proxy.rawValue))
    // One write, because a write for each of ten thousand navs would take longer than all the rest.
    let lines = candidates(completion, invocation).map {
      shell.candidateLine($0, behind: completion) + "\n"
    }
    try Output.text(lines.joined())
  }

  /// The candidates of navctl itself, and the names that a running navd knows.
  private static func candidates(
    _ completion: Completion, _ invocation: Invocation
  ) -> [Completion.Candidate] {
    var words = completion.candidates
    let object = NavObject(
      rawValue: completion.command == "set"
        ? completion.line.positionals.first { NavObject(rawValue: $0) != nil } ?? ""
        : completion.command ?? "")
    for placeholder in completion.placeholders {
      switch placeholder {
      case "CODE": words += ErrorCode.allCases.map { .init(text: $0.rawValue, summary: "") }
      case "COMMAND":
        words += Program.grammar.commands.map { .init(text: $0.name, summary: $0.summary) }
      case "FILE", "DIR": words.append(Shell.filesPlaceholder)
      case "KEY": words += object?.keys.map { .init(text: $0 + "=", summary: "") } ?? []
      case "VALUE":
        let key = String(completion.textBeforeCandidate.dropLast())
        words += object?.allowedValues(of: key).map { .init(text: $0, summary: "") } ?? []
      default:
        let name =
          placeholder == "ID"
          ? (object.map { $0.requiredID ?? $0.optionalID ?? "" } ?? "ID") : placeholder
        words += (try? daemonCandidates(name, completion, invocation)) ?? []
      }
    }
    if completion.command == "set", completion.line.positionals.isEmpty {
      words.append(.init(text: NavObject.proxy.rawValue, summary: "The look of all bars"))
    }
    var known: Set<String> = []
    return words.filter {
      ($0 == Shell.filesPlaceholder || $0.text.hasPrefix(completion.prefix))
        && known.insert($0.text).inserted
    }
  }

  /// Asks navd for the names that a placeholder can stand for; gives up after 0.5 s.
  private static func daemonCandidates(
    _ placeholder: String, _ completion: Completion, _ invocation: Invocation
  ) throws -> [Completion.Candidate] {
    guard daemonPlaceholders.contains(placeholder) else { return [] }
    var line = completion.line
    line.options.append(.init("timeout", "500ms"))
    if completion.completesArgument { line.positionals.append(completion.prefix) }
    let command = Program.grammar.commands.first { $0.name == completion.command }
    let quick = try Invocation(command: command ?? invocation.command, line: line)
    let daemon = try quick.connect()
    switch placeholder {
    case "NAV": return try DirectoryNav.navNames(daemon).map { .init(text: $0, summary: "") }
    case "MEMBER":
      return try daemon.cluster().members?.members.map { .init(text: $0.name, summary: "") } ?? []
    default:
      let nav = try quick.navArguments(rest: 0...quick.command.arguments.countAfterNav.upperBound)
        .nav
      return names(placeholder, in: try daemon.get(.state, nav).reply.json())
    }
  }

  /// The placeholders of the help, such as SCREEN, for whose names navctl asks navd.
  static let daemonPlaceholders = ["NAV", "SCREEN", "ID", "BUTTON", "ROUTE", "MEMBER"]

  static func names(_ placeholder: String, in state: JSONValue) -> [Completion.Candidate] {
    switch placeholder {
    case "SCREEN", "ID": return state.shownScreens.compactMap(candidate)
    case "BUTTON": return state.shownScreens.flatMap(\.buttons).compactMap(candidate)
    case "ROUTE":
      return (state["settings"]?.list("routes") ?? []).compactMap {
        $0["match"]?.string.map { .init(text: $0, summary: "") }
      }
    default: return []
    }
  }

  private static func candidate(_ record: JSONValue) -> Completion.Candidate? {
    record["id"]?.string.map {
      .init(text: $0, summary: record["title"]?.string ?? record["item"]?["title"]?.string ?? "")
    }
  }
}
