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
  /// The values that shell completion offers; empty if there is no fixed list.
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

/// Which arguments beside its options a program or command takes.
package struct PositionalArguments: Hashable, Sendable {
  /// The arguments in the usage line, such as "NAV [SCREEN...]".
  package var usage: String
  /// The number of arguments; nil if it follows from `usage`.
  private var statedCount: ClosedRange<Int>?
  /// The length of words that are arguments even if they begin with a dash; nil for none.
  ///
  /// A public key has 40 characters and can begin with a dash. The full name of a long option is
  /// still that option.
  package var dashedArgumentLength: Int?
  /// The words that shell completion offers for a placeholder of `usage`.
  package var choices: [String: [String]]
  /// The remedy for one argument too many; nil for the usage line.
  ///
  /// The error replaces its words NAV and ID by the first argument and by the surplus one.
  package var surplusRemedy: String?

  /// Declares arguments; an upper bound of `Int.max` in `count` means any number.
  ///
  /// Without `count`, the number follows from `usage`. NAV can always be left out, because `--nav`
  /// or `NAVD_NAV` can name the nav.
  package init(
    _ usage: String, count: ClosedRange<Int>? = nil, dashedArgumentLength: Int? = nil,
    choices: [String: [String]] = [:], surplusRemedy: String? = nil
  ) {
    self.usage = usage
    self.surplusRemedy = surplusRemedy
    statedCount = count
    self.dashedArgumentLength = dashedArgumentLength
    self.choices = choices
  }

  /// The number of arguments; read from `usage` at each call, because a program declares many
  /// commands and parses the line of one.
  package var count: ClosedRange<Int> {
    if let statedCount { return statedCount }
    let others = countAfterNav
    return others.lowerBound...(others.upperBound == .max ? .max : others.upperBound + navCount)
  }

  /// One argument of the usage line.
  package struct UsageArgument: Hashable, Sendable {
    package var alternatives: [String]
    package var isRepeated: Bool
    var isOptional: Bool
  }

  /// The arguments of a usage line such as `NAV take|release [ID...]`.
  package var usageArguments: [UsageArgument] {
    var depth = 0
    return usage.split(separator: " ").map { word in
      depth += word.utf8.count { $0 == UInt8(ascii: "[") }
      defer { depth -= word.utf8.count { $0 == UInt8(ascii: "]") } }
      let name = word.utf8.filter { !"[].".utf8.contains($0) }
      return UsageArgument(
        alternatives: name.split(separator: UInt8(ascii: "|")).map {
          String(decoding: $0, as: UTF8.self)
        },
        isRepeated: word.utf8.contains(UInt8(ascii: ".")), isOptional: depth > 0)
    }
  }

  private var navCount: Int { usageArguments.first?.alternatives == ["NAV"] ? 1 : 0 }

  /// How many arguments can stand behind the nav.
  package var countAfterNav: ClosedRange<Int> {
    let others = usageArguments.dropFirst(navCount)
    let most = others.contains(where: \.isRepeated) ? Int.max : others.count
    return others.count { !$0.isOptional }...most
  }

  /// The words that can stand right behind the nav; empty if any word can.
  package var allowedWordsAfterNav: [String] {
    usageArguments.dropFirst(navCount).first?.alternatives.first.flatMap { choices[$0] } ?? []
  }

  package static let none = PositionalArguments("", count: 0...0)
}

/// The grammar of one command line: its options, its arguments and the texts of its help.
package struct CommandLineGrammar: Sendable {
  /// The words that invoke the program or the command, such as "navctl push".
  package var program: String
  /// Makes the purpose of the program; the help prints it before the options.
  package var summary: @Sendable () -> String
  /// Makes the notes and examples, which the help prints after the options.
  package var epilogue: @Sendable () -> String
  /// The lines at the end of the overview of a program with many commands: where to read on.
  package var seeAlsoLines: [String]
  /// The line that `--version` prints; nil if there is no such option.
  package var version: String?
  package var options: [OptionDeclaration]
  package var arguments: PositionalArguments
  /// The remedies for an option of another program, such as `follow`; the error has the first one
  /// that the command supports.
  package var foreignOptions: [String: [String]] = [:]

  package init(
    program: String, summary: @escaping @autoclosure @Sendable () -> String,
    epilogue: @escaping @autoclosure @Sendable () -> String = "",
    seeAlsoLines: [String] = [], version: String? = nil,
    options: [OptionDeclaration] = [], arguments: PositionalArguments = .none
  ) {
    self.program = program
    self.summary = summary
    self.epilogue = epilogue
    self.seeAlsoLines = seeAlsoLines
    self.version = version
    self.options = options
    self.arguments = arguments
  }
}

/// The options and arguments of one command line, in order.
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
