/// Completes an unfinished command line with the commands, options and values that `--help` lists.
///
/// A completion does no I/O: for a value that only the daemon knows, such as a nav's name, it has
/// the placeholder, such as `NAV`, and the program looks the values up.
package struct Completion: Hashable, Sendable {
  /// A word that can complete the line.
  package struct Candidate: Hashable, Sendable {
    package var text: String
    /// The description in the shell's list; empty if the help has none.
    package var summary: String

    package init(text: String, summary: String) {
      self.text = text
      self.summary = summary
    }
  }

  /// The words that can complete the line; each begins with `prefix`.
  package private(set) var candidates: [Candidate] = []
  /// The placeholders of the values that can complete the line, such as `NAV`.
  package private(set) var placeholders: [String] = []
  /// The part of the last word before the candidate, such as `--nav=`; else empty.
  package private(set) var textBeforeCandidate = ""
  package private(set) var prefix: String
  /// The options and arguments before the last word.
  package private(set) var line = ParsedCommandLine()
  /// Whether the last word is an argument, neither an option nor the value of one.
  package private(set) var completesArgument = false
  package private(set) var command: String?

  /// Completes the last of the words after the program's name; that word can be empty.
  ///
  /// With `hasNav`, `NAVD_NAV` names the nav, so the first argument can be the one behind NAV.
  package init(_ typed: [String], of set: CommandSet, hasNav: Bool = false) {
    prefix = typed.last ?? ""
    var command: CommandSet.Command?
    var scan = CommandLineGrammar.Scan(grammar: set.program)
    var isHelp = false
    var isUnknown = false
    for word in typed.dropLast() {
      guard command == nil, !isHelp, !isUnknown, scan.isArgument(word) else {
        // Completion goes on after a wrong word.
        try? scan.read(word)
        continue
      }
      isHelp = word == "help"
      command = set.commands.first { $0.name == word }
      isUnknown = command == nil && !isHelp
      if let command { scan.grammar = set.grammar(of: command) }
    }
    self.command = command?.name
    line = scan.line
    if let pending = scan.optionAwaitingValue {
      offer(pending.choices, [pending.argument])
    } else if !scan.hasEndedOptions, prefix.hasPrefix("-") {
      completeOption(&scan)
    } else if let command {
      completeArgument(command.arguments, hasNav: hasNav || line.contains("nav"))
    } else if !isUnknown, line.positionals.isEmpty {
      let help = Candidate(text: "help", summary: "Describe a command")
      offer(
        set.commands.map { Candidate(text: $0.name, summary: $0.summary) } + (isHelp ? [] : [help]))
    }
  }

  private mutating func completeOption(_ scan: inout CommandLineGrammar.Scan) {
    if prefix.hasPrefix("--"), let value = prefix.cut(at: "=") {
      textBeforeCandidate = value.before + "="
      prefix = String(value.after)
      try? scan.read(String(value.before))
      return offer(scan.optionAwaitingValue?.choices ?? [], [scan.optionAwaitingValue?.argument])
    }
    offer(
      scan.grammar.options.map { Candidate(text: "--\($0.name)", summary: $0.documentation) }
        + [Candidate(text: "--help", summary: "Describe the command")])
  }

  private mutating func completeArgument(_ arguments: PositionalArguments, hasNav: Bool) {
    completesArgument = true
    let usageArguments = arguments.usageArguments
    let index = line.positionals.count
    // Where the nav is known, the first argument can be what follows it; an id may be left out.
    let isNavKnown = hasNav && usageArguments.first?.alternatives == ["NAV"]
    var last = isNavKnown ? index + 1 : index
    if last < usageArguments.count - 1, usageArguments[last].alternatives == ["ID"] { last += 1 }
    let alternatives = (index...last).flatMap { index -> [String] in
      index < usageArguments.count
        ? usageArguments[index].alternatives
        : usageArguments.last.flatMap { $0.isRepeated ? $0.alternatives : nil } ?? []
    }
    if alternatives.contains("KEY=VALUE"), let member = prefix.cut(at: "=") {
      textBeforeCandidate = member.before + "="
      prefix = String(member.after)
      return offer([], ["VALUE"])
    }
    for alternative in alternatives {
      if alternative == "KEY=VALUE" {
        offer([], ["KEY"])
      } else if alternative.contains(where: \.isLowercase) {
        offer([alternative], [])
      } else {
        offer(arguments.choices[alternative] ?? [], [alternative])
      }
    }
  }

  private mutating func offer(_ choices: [String], _ names: [String?]) {
    offer(choices.map { Candidate(text: $0, summary: "") })
    guard choices.isEmpty else { return }
    placeholders += names.compactMap { $0 }.filter { !placeholders.contains($0) }
  }

  private mutating func offer(_ found: [Candidate]) {
    candidates += found.filter { $0.text.hasPrefix(prefix) && !candidates.contains($0) }
  }
}
