/// What is wrong with a command line, and what to type instead.
///
/// argp would complain about the same, but in words of its own, and it cannot say what was meant.
package struct CommandLineFault: Error, Hashable, Sendable {
  /// What was found, such as `there is no option '--tittle'; is it '--title'?`.
  package var text: String
  package var remedy: String
}

extension CommandLineGrammar {
  /// The first fault of some words; nil if they fit the grammar, or ask for help.
  ///
  /// With `leadingOnly`, only the options before the first argument count.
  package func fault(
    in words: [String], leadingOnly: Bool = false, takesHelp: Bool = true
  ) -> CommandLineFault? {
    var scan = Scan(grammar: self)
    for word in words {
      if leadingOnly, scan.isAtArgument(word) { return nil }
      if let fault = scan.take(word) { return fault }
      if scan.asksForHelp {
        return takesHelp
          ? nil : CommandLineFault(text: "'\(word)' cannot stand here", remedy: "\(program) --help")
      }
    }
    return leadingOnly ? scan.missingValue : scan.missingValue ?? wrongCount(scan.positionals)
  }

  private func wrongCount(_ positionals: [String]) -> CommandLineFault? {
    if positionals.count > arguments.count.upperBound {
      let word = positionals[arguments.count.upperBound]
      let text =
        arguments.count.upperBound == 0
        ? "it takes no argument, but there is '\(word)'"
        : "too many arguments: '\(word)' comes after \(arguments.usage)"
      let surplus = arguments.surplus?.split(separator: " ").map {
        $0 == "NAV" ? positionals[0][...] : $0 == "ID" ? word[...] : $0
      }
      return CommandLineFault(text: text, remedy: surplus?.joined(separator: " ") ?? usage)
    }
    guard positionals.count < arguments.count.lowerBound else { return nil }
    return CommandLineFault(text: "too few arguments: it needs \(arguments.usage)", remedy: usage)
  }

  /// The line of the command with its own options; without them where there are many.
  package var usage: String {
    let own = options.filter { $0.group == nil }
    let words = own.map { "[--\($0.name)\($0.argument.map { " \($0)" } ?? "")]" }
    let shown = options.isEmpty ? [] : own.count <= 6 ? words : ["[OPTION...]"]
    return ([program, arguments.usage].filter { !$0.isEmpty } + shown).joined(separator: " ")
  }

  /// Reads words in the order of the line.
  private struct Scan {
    let grammar: CommandLineGrammar
    var positionals: [String] = []
    var asksForHelp = false
    /// The option that takes the next word as its value.
    private var pending: OptionDeclaration?
    private var isOnlyArguments = false

    init(grammar: CommandLineGrammar) { self.grammar = grammar }

    var missingValue: CommandLineFault? {
      pending.map {
        CommandLineFault(
          text: "--\($0.name) needs a value", remedy: "--\($0.name) \($0.argument ?? "VALUE")")
      }
    }

    func isAtArgument(_ word: String) -> Bool {
      pending == nil
        && (isOnlyArguments || !word.utf8.starts(with: "-".utf8) || word.utf8.count == 1)
    }

    mutating func take(_ word: String) -> CommandLineFault? {
      if pending != nil {
        pending = nil
        return nil
      }
      if isAtArgument(word) || grammar.isDashedArgument(word) {
        positionals.append(word)
        return nil
      }
      if word == "--" {
        isOnlyArguments = true
        return nil
      }
      // By scalars, as argp reads bytes: a mark that combines with a dash or = is no part of it.
      return word.utf8.starts(with: "--".utf8)
        ? takeLong(String(word.unicodeScalars.dropFirst(2)))
        : takeShort(word.unicodeScalars.dropFirst())
    }

    private mutating func takeLong(_ word: String) -> CommandLineFault? {
      let value = word.cut(at: "=")
      let name = value.map { String($0.before) } ?? word
      let own = grammar.options.map(\.name)
      // argp has the last two for tests of itself; an abbreviation must not be one of them too.
      let all =
        own + ["help", "usage"] + (grammar.version == nil ? [] : ["version"])
        + ["program-name", "HANG"]
      let matches = all.contains(name) ? [name] : all.filter { $0.hasPrefix(name) }
      guard matches.count == 1 else {
        return matches.isEmpty
          ? unknown("--\(name)", like: name, among: own) : ambiguous(name, matches)
      }
      guard let option = grammar.options.first(where: { $0.name == matches[0] }) else {
        asksForHelp = ["help", "usage", "version"].contains(matches[0])
        return asksForHelp ? nil : unknown("--\(name)", like: name, among: own)
      }
      if option.argument != nil {
        if value == nil { pending = option }
      } else if value != nil {
        return CommandLineFault(text: "--\(option.name) takes no value", remedy: "--\(option.name)")
      }
      return nil
    }

    private mutating func takeShort(
      _ letters: Substring.UnicodeScalarView
    ) -> CommandLineFault? {
      var rest = letters
      while let scalar = rest.popFirst() {
        let letter = Character(scalar)
        if letter == "?" || letter == "V" && grammar.version != nil {
          asksForHelp = true
          return nil
        }
        guard let option = grammar.options.first(where: { $0.short == letter }) else {
          return unknown("-\(letter)", like: String(letters), among: grammar.options.map(\.name))
        }
        guard option.argument != nil else { continue }
        if rest.isEmpty { pending = option }
        return nil
      }
      return nil
    }

    private func unknown(
      _ typed: String, like name: String, among known: [String]
    ) -> CommandLineFault {
      // A value of an option, such as that of `--output`, is not rarely taken for an option.
      let values = grammar.options.filter { $0.choices.contains(name) }
        .map { "'--\($0.name) \(name)'" }
      let near = values + Suggestion.words(like: name, among: known).prefix(3).map { "'--\($0)'" }
      if values.isEmpty, let meant = grammar.foreign[name]?.first {
        return CommandLineFault(text: "there is no option '\(typed)'", remedy: meant)
      }
      let question = near.isEmpty ? "" : "; is it \(near.joined(separator: " or "))?"
      return CommandLineFault(
        text: "there is no option '\(typed)'\(question)",
        remedy: near.isEmpty && grammar.options.contains { $0.group != nil }
          ? grammar.usage : "\(grammar.program) --help")
    }

    private func ambiguous(_ name: String, _ matches: [String]) -> CommandLineFault {
      CommandLineFault(
        text: "'--\(name)' is the beginning of several options",
        remedy: matches.map { "--\($0)" }.joined(separator: ", "))
    }
  }

  /// Whether a word that begins with a dash is an argument, such as a key.
  fileprivate func isDashedArgument(_ word: String) -> Bool {
    word.count == arguments.dashedWidth
      && !(word.hasPrefix("--")
        && options.contains { $0.name == word.dropFirst(2).prefix { $0 != "=" } })
  }
}
