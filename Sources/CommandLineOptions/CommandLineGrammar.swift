/// One option a program or command understands.
package struct OptionDeclaration: Hashable, Sendable {
  /// The long name without dashes, which is also the option's key in the result.
  package var name: String
  /// The one-letter form, `nil` when there is none.
  package var short: Character?
  /// The name of the option's value in the help, `nil` for an option without a value.
  package var argument: String?
  /// What the option does, one sentence without a full stop.
  package var documentation: String
  /// The heading the help lists it under; options with the same heading stand together.
  package var group: String?

  /// Makes a declaration.
  package init(
    _ name: String, short: Character? = nil, argument: String? = nil, _ documentation: String,
    group: String? = nil
  ) {
    self.name = name
    self.short = short
    self.argument = argument
    self.documentation = documentation
    self.group = group
  }
}

/// The positional arguments a program or command takes.
package struct PositionalArguments: Hashable, Sendable {
  /// How the usage line shows them: "NAV [SCREEN...]".
  package var usage: String
  /// How many there may be.
  package var count: ClosedRange<Int>
  /// How many characters a word has that is an argument although it begins with a dash; nil where
  /// none is.
  ///
  /// Keys are such words. One that is a long option of the command is that option nevertheless.
  package var dashedWidth: Int?

  /// Makes a declaration; `count` has no upper bound with `Int.max`.
  package init(_ usage: String, count: ClosedRange<Int>, dashedWidth: Int? = nil) {
    self.usage = usage
    self.count = count
    self.dashedWidth = dashedWidth
  }

  /// No positional arguments at all.
  package static let none = PositionalArguments("", count: 0...0)
}

/// What one command line may say: the options, the arguments and the texts of the help.
package struct CommandLineGrammar: Hashable, Sendable {
  /// The words that invoke it: "navd", "navctl push".
  package var program: String
  /// What it is for; the help shows it before the options.
  package var summary: String
  /// Notes and examples; the help shows them after the options, line breaks kept.
  package var epilogue: String
  /// The line `--version` prints; `nil` where there is no such option.
  package var version: String?
  /// The options.
  package var options: [OptionDeclaration]
  /// The positional arguments.
  package var arguments: PositionalArguments

  /// Makes a grammar.
  package init(
    program: String, summary: String, epilogue: String = "", version: String? = nil,
    options: [OptionDeclaration] = [], arguments: PositionalArguments = .none
  ) {
    self.program = program
    self.summary = summary
    self.epilogue = epilogue
    self.version = version
    self.options = options
    self.arguments = arguments
  }
}

/// What a command line said.
package struct ParsedCommandLine: Hashable, Sendable {
  /// One option as it was given; abbreviations and short forms are resolved to the long name.
  package struct Occurrence: Hashable, Sendable {
    /// The option's long name.
    package var name: String
    /// Its value, `nil` for an option without one.
    package var value: String?

    /// Makes an occurrence.
    package init(_ name: String, _ value: String? = nil) {
      self.name = name
      self.value = value
    }
  }

  /// The options, in the order given.
  package var options: [Occurrence]
  /// The positional arguments, in the order given.
  package var positionals: [String]

  /// Makes a result.
  package init(options: [Occurrence] = [], positionals: [String] = []) {
    self.options = options
    self.positionals = positionals
  }

  /// Whether an option was given.
  package func contains(_ name: String) -> Bool { options.contains { $0.name == name } }

  /// The value of an option, the last one when it was repeated.
  package func value(of name: String) -> String? {
    options.last { $0.name == name && $0.value != nil }?.value
  }

  /// All values of an option, in the order given.
  package func values(of name: String) -> [String] {
    options.compactMap { $0.name == name ? $0.value : nil }
  }
}
