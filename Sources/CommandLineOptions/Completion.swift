/// What can stand at the end of an unfinished command line, by the tables that `--help` prints.
///
/// It decides without reading anything: where a value of the program's user can stand, such as a
/// nav, it names the placeholder of the help, and the program looks the values up.
package struct Completion: Hashable, Sendable {
  /// A candidate that the tables have.
  package struct Word: Hashable, Sendable {
    package var text: String
    /// Its effect, in a few words; empty if the tables do not say it.
    package var summary: String

    package init(text: String, summary: String) {
      self.text = text
      self.summary = summary
    }
  }

  /// The words that the tables have, all with `prefix`.
  package private(set) var words: [Word] = []
  /// The placeholders of the values that can stand there, such as `NAV`.
  package private(set) var placeholders: [String] = []
  /// The part of the last word that is no part of a candidate, such as `--nav=`.
  package private(set) var leading = ""
  package private(set) var prefix: String
  /// The options and arguments before the last word.
  package private(set) var line = ParsedCommandLine()
  /// Whether the last word is an argument, neither an option nor the value of one.
  package private(set) var isArgument = false
  package private(set) var command: String?

  /// Completes the last of the words after the program's name; it can be empty.
  ///
  /// With `hasNav`, a variable names the nav, so that an argument need not.
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
      let help = Word(text: "help", summary: "Describe a command")
      offer(set.commands.map { Word(text: $0.name, summary: $0.summary) } + (isHelp ? [] : [help]))
    }
  }

  private mutating func completeOption(_ scan: inout CommandLineGrammar.Scan) {
    if prefix.hasPrefix("--"), let value = prefix.cut(at: "=") {
      leading = value.before + "="
      prefix = String(value.after)
      try? scan.read(String(value.before))
      return offer(scan.optionAwaitingValue?.choices ?? [], [scan.optionAwaitingValue?.argument])
    }
    offer(
      scan.grammar.options.map { Word(text: "--\($0.name)", summary: $0.documentation) }
        + [Word(text: "--help", summary: "Describe the command")])
  }

  private mutating func completeArgument(_ arguments: PositionalArguments, hasNav: Bool) {
    isArgument = true
    let places = arguments.places
    let index = line.positionals.count
    // Where the nav is known, the first argument can be what follows it; an id may be left out.
    let isNavKnown = hasNav && places.first?.alternatives == ["NAV"]
    var last = isNavKnown ? index + 1 : index
    if last < places.count - 1, places[last].alternatives == ["ID"] { last += 1 }
    let alternatives = (index...last).flatMap { index -> [String] in
      index < places.count
        ? places[index].alternatives
        : places.last.flatMap { $0.isRepeated ? $0.alternatives : nil } ?? []
    }
    if alternatives.contains("KEY=VALUE"), let member = prefix.cut(at: "=") {
      leading = member.before + "="
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
    offer(choices.map { Word(text: $0, summary: "") })
    guard choices.isEmpty else { return }
    placeholders += names.compactMap { $0 }.filter { !placeholders.contains($0) }
  }

  private mutating func offer(_ candidates: [Word]) {
    words += candidates.filter { $0.text.hasPrefix(prefix) && !words.contains($0) }
  }
}
