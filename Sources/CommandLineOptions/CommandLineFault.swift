/// What is wrong with a command line, and what to type instead.
package struct CommandLineFault: Error, Hashable, Sendable {
  /// The fault, such as `there is no option '--tittle'; is it '--title'?`.
  package var text: String
  package var remedy: String
}

extension CommandLineGrammar {
  /// The first fault of some words; nil if they fit the grammar, or ask for help.
  package func fault(in words: [String], takesHelp: Bool = true) -> CommandLineFault? {
    do throws(CommandLineFault) {
      let scan = try scan(words, leadingOnly: false).scan
      guard let request = scan.helpRequest, !takesHelp else { return nil }
      return CommandLineFault(
        text: "'\(request.word)' cannot stand here", remedy: "\(program) --help")
    } catch {
      return error
    }
  }

  /// Reads words up to one that asks for help; throws the first fault.
  ///
  /// With `leadingOnly` it stops at the first argument; `rest` has that one and all words after it.
  func scan(
    _ words: [String], leadingOnly: Bool
  ) throws(CommandLineFault) -> (scan: Scan, rest: [String]) {
    var scan = Scan(grammar: self)
    for (index, word) in words.enumerated() {
      if leadingOnly, scan.isArgument(word) { return (scan, Array(words[index...])) }
      try scan.read(word)
      if scan.helpRequest != nil { return (scan, []) }
    }
    if let option = scan.optionAwaitingValue {
      throw CommandLineFault(
        text: "--\(option.name) needs a value",
        remedy: "--\(option.name) \(option.argument ?? "VALUE")")
    }
    if !leadingOnly, let fault = positionalCountFault(scan.line.positionals) { throw fault }
    return (scan, [])
  }

  private func positionalCountFault(_ positionals: [String]) -> CommandLineFault? {
    if positionals.count > arguments.count.upperBound {
      let word = positionals[arguments.count.upperBound]
      let text =
        arguments.count.upperBound == 0
        ? "it takes no argument, but there is '\(word)'"
        : "too many arguments: '\(word)' comes after \(arguments.usage)"
      let surplus = arguments.surplusRemedy?.split(separator: " ").map {
        $0 == "NAV" ? positionals[0][...] : $0 == "ID" ? word[...] : $0
      }
      return CommandLineFault(text: text, remedy: surplus?.joined(separator: " ") ?? usage)
    }
    guard positionals.count < arguments.count.lowerBound else { return nil }
    return CommandLineFault(text: "too few arguments: it needs \(arguments.usage)", remedy: usage)
  }

  /// The usage line, with up to six options that only this command has; if more, `[OPTION...]`.
  package var usage: String {
    let own = options.filter { $0.group == nil }
    let words = own.map { "[--\($0.name)\($0.argument.map { " \($0)" } ?? "")]" }
    let shown = options.isEmpty ? [] : own.count <= 6 ? words : ["[OPTION...]"]
    return ([program, arguments.usage].filter { !$0.isEmpty } + shown).joined(separator: " ")
  }

  /// Reads words in the order of the line, as getopt_long(3) does.
  struct Scan {
    var grammar: CommandLineGrammar
    private(set) var line = ParsedCommandLine()
    /// A word that asks for `help`, `usage` or `version`; nil without one.
    private(set) var helpRequest: (word: String, name: String)?
    /// The option that takes the next word as its value.
    private(set) var optionAwaitingValue: OptionDeclaration?
    private(set) var hasEndedOptions = false

    func isArgument(_ word: String) -> Bool {
      optionAwaitingValue == nil
        && (hasEndedOptions || !word.utf8.starts(with: "-".utf8) || word.utf8.count == 1)
    }

    mutating func read(_ word: String) throws(CommandLineFault) {
      if let option = optionAwaitingValue.take() {
        line.options.append(.init(option.name, word))
      } else if isArgument(word) || grammar.isDashedArgument(word) {
        line.positionals.append(word)
      } else if word == "--" {
        hasEndedOptions = true
      } else if word.utf8.starts(with: "--".utf8) {
        // By scalars, as the shell gives them: a mark that combines with a dash or = is no part of it.
        try readLongOption(String(word.unicodeScalars.dropFirst(2)), of: word)
      } else {
        try readShortOptions(word.unicodeScalars.dropFirst(), of: word)
      }
    }

    private mutating func readLongOption(
      _ text: String, of word: String
    ) throws(CommandLineFault) {
      let value = text.cut(at: "=")
      let name = value.map { String($0.before) } ?? text
      let own = grammar.options.map(\.name)
      // The last two are argp's own: an abbreviation that could be one of them stays unknown.
      let all =
        own + ["help", "usage"] + (grammar.version == nil ? [] : ["version"])
        + ["program-name", "HANG"]
      let matches = all.contains(name) ? [name] : all.filter { $0.hasPrefix(name) }
      guard matches.count == 1 else {
        throw matches.isEmpty
          ? unknown("--\(name)", like: name, among: own)
          : CommandLineFault(
            text: "'--\(name)' is the beginning of several options",
            remedy: matches.map { "--\($0)" }.joined(separator: ", "))
      }
      guard let option = grammar.options.first(where: { $0.name == matches[0] }) else {
        guard ["help", "usage", "version"].contains(matches[0]) else {
          throw unknown("--\(name)", like: name, among: own)
        }
        return helpRequest = (word, matches[0])
      }
      if option.argument != nil, value == nil { return optionAwaitingValue = option }
      if option.argument == nil, value != nil {
        throw CommandLineFault(text: "--\(option.name) takes no value", remedy: "--\(option.name)")
      }
      line.options.append(.init(option.name, value.map { String($0.after) }))
    }

    private mutating func readShortOptions(
      _ letters: Substring.UnicodeScalarView, of word: String
    ) throws(CommandLineFault) {
      var rest = letters
      while let scalar = rest.popFirst() {
        let letter = Character(scalar)
        if letter == "?" || letter == "V" && grammar.version != nil {
          return helpRequest = (word, letter == "?" ? "help" : "version")
        }
        guard let option = grammar.options.first(where: { $0.short == letter }) else {
          throw unknown("-\(letter)", like: String(letters), among: grammar.options.map(\.name))
        }
        if option.argument == nil {
          line.options.append(.init(option.name))
          continue
        }
        if rest.isEmpty { return optionAwaitingValue = option }
        return line.options.append(.init(option.name, String(rest)))
      }
    }

    private func unknown(
      _ typed: String, like name: String, among known: [String]
    ) -> CommandLineFault {
      // A value of an option, such as that of `--output`, is not rarely taken for an option.
      let values = grammar.options.filter { $0.choices.contains(name) }
        .map { "'--\($0.name) \(name)'" }
      let near = values + Suggestion.words(like: name, among: known).prefix(3).map { "'--\($0)'" }
      if values.isEmpty, let meant = grammar.foreignOptions[name]?.first {
        return CommandLineFault(text: "there is no option '\(typed)'", remedy: meant)
      }
      let question = near.isEmpty ? "" : "; is it \(near.joined(separator: " or "))?"
      return CommandLineFault(
        text: "there is no option '\(typed)'\(question)",
        remedy: near.isEmpty && grammar.options.contains { $0.group != nil }
          ? grammar.usage : "\(grammar.program) --help")
    }
  }

  /// Whether a word that begins with a dash is an argument, such as a key.
  fileprivate func isDashedArgument(_ word: String) -> Bool {
    word.count == arguments.dashedArgumentLength
      && !(word.hasPrefix("--")
        && options.contains { $0.name == word.dropFirst(2).prefix { $0 != "=" } })
  }
}
