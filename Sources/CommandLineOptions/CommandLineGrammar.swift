/// One option of a program or command.
package struct OptionDeclaration: Hashable, Sendable {
  /// The long name without dashes; the result has the option under this name.
  package var name: String
  package var short: Character?
  /// The placeholder of the option's value in the help; nil for an option without a value.
  package var argument: String?
  /// The effect of the option, in one sentence without a full stop.
  package var documentation: String
  /// The heading in the help; options with the same heading stand together.
  package var group: String?
  /// The values that the shell offers; empty if they are not known here.
  package var choices: [String]

  package init(
    _ name: String, short: Character? = nil, argument: String? = nil, _ documentation: String,
    group: String? = nil, choices: [String] = []
  ) {
    self.name = name
    self.short = short
    self.argument = argument
    self.documentation = documentation
    self.group = group
    self.choices = choices
  }
}

/// The positional arguments of a program or command.
package struct PositionalArguments: Hashable, Sendable {
  /// Their form in the usage line, such as "NAV [SCREEN...]".
  package var usage: String
  package var count: ClosedRange<Int>
  /// The length of words that are arguments even if they begin with a dash; nil for none.
  ///
  /// Keys have 40 characters and can begin with a dash. A word that is a long option of the command
  /// by its full name remains that option.
  package var dashedWidth: Int?
  /// The words that the shell offers for a placeholder of `usage`.
  package var choices: [String: [String]]
  /// What to type in place of a line with one argument too many; nil for the usage line.
  ///
  /// NAV stands for the first argument, ID for the one too many.
  package var surplusRemedy: String?

  /// Declares arguments; an upper bound of `Int.max` in `count` means any number.
  ///
  /// Without `count`, the usage line decides. A nav can always be left out, because an option or a
  /// variable can name it.
  package init(
    _ usage: String, count: ClosedRange<Int>? = nil, dashedWidth: Int? = nil,
    choices: [String: [String]] = [:], surplusRemedy: String? = nil
  ) {
    self.usage = usage
    self.surplusRemedy = surplusRemedy
    self.count = 0...Int.max
    self.dashedWidth = dashedWidth
    self.choices = choices
    let others = countAfterNav
    self.count =
      count ?? others.lowerBound...(others.upperBound == .max ? .max : others.upperBound + navCount)
  }

  /// One argument of the usage line.
  package struct Place: Hashable, Sendable {
    package var alternatives: [String]
    package var isRepeated: Bool
    var isOptional: Bool
  }

  /// The arguments of a usage line such as `NAV take|release [ID...]`.
  package var places: [Place] {
    var depth = 0
    return usage.split(separator: " ").map { word in
      depth += word.count { $0 == "[" }
      defer { depth -= word.count { $0 == "]" } }
      let name = word.filter { !"[].".contains($0) }
      return Place(
        alternatives: name.split(separator: "|").map(String.init), isRepeated: word.contains("..."),
        isOptional: depth > 0)
    }
  }

  private var navCount: Int { places.first?.alternatives == ["NAV"] ? 1 : 0 }

  /// How many arguments can stand behind the nav.
  package var countAfterNav: ClosedRange<Int> {
    let others = places.dropFirst(navCount)
    let most = others.contains(where: \.isRepeated) ? Int.max : others.count
    return others.count { !$0.isOptional }...most
  }

  /// The words that can stand right behind the nav; empty if any word can.
  package var wordsAfterNav: [String] {
    places.dropFirst(navCount).first?.alternatives.first.flatMap { choices[$0] } ?? []
  }

  package static let none = PositionalArguments("", count: 0...0)
}

/// The grammar of one command line: its options, its arguments and the texts of its help.
package struct CommandLineGrammar: Sendable {
  /// The words that invoke it, such as "navctl push".
  package var program: String
  /// The purpose of the program; the help prints it before the options.
  package var summary: String
  /// Makes the notes and examples, which the help prints after the options.
  package var epilogue: @Sendable () -> String
  /// The lines at the end of the overview of a program with many commands: where to read on.
  package var seeAlso: [String]
  /// The line that `--version` prints; nil if there is no such option.
  package var version: String?
  package var options: [OptionDeclaration]
  package var arguments: PositionalArguments
  /// What to type in place of options of other programs, by their names without dashes: the first
  /// that the command has.
  package var foreignOptions: [String: [String]] = [:]

  package init(
    program: String, summary: String, epilogue: @escaping @autoclosure @Sendable () -> String = "",
    seeAlso: [String] = [], version: String? = nil,
    options: [OptionDeclaration] = [], arguments: PositionalArguments = .none
  ) {
    self.program = program
    self.summary = summary
    self.epilogue = epilogue
    self.seeAlso = seeAlso
    self.version = version
    self.options = options
    self.arguments = arguments
  }
}

/// A parsed command line.
package struct ParsedCommandLine: Hashable, Sendable {
  /// One option of the line; an abbreviation or a letter is replaced by the long name.
  package struct Occurrence: Hashable, Sendable {
    package var name: String
    package var value: String?

    package init(_ name: String, _ value: String? = nil) {
      self.name = name
      self.value = value
    }
  }

  package var options: [Occurrence]
  package var positionals: [String]

  package init(options: [Occurrence] = [], positionals: [String] = []) {
    self.options = options
    self.positionals = positionals
  }

  package func contains(_ name: String) -> Bool { options.contains { $0.name == name } }

  /// The value of an option; the last one if it is repeated.
  package func value(of name: String) -> String? {
    options.last { $0.name == name && $0.value != nil }?.value
  }

  package func values(of name: String) -> [String] {
    options.compactMap { $0.name == name ? $0.value : nil }
  }
}
