import CLinux

extension CommandLineGrammar {
  package static let usageStatus: Int32 = 2

  /// Parses a command line; for help, version and errors it prints and exits as GNU programs do.
  ///
  /// Options can be abbreviated and can stand between arguments; `--` ends them. `--help`,
  /// `--usage` and `--version` print to stdout and exit with 0. A wrong command line prints an
  /// error to stderr and exits with 2. argp has global state, so call it before the process has
  /// other threads.
  package func parse(_ arguments: [String]) -> ParsedCommandLine {
    if let fault = fault(in: arguments) { refuse(fault) }
    return run(arguments, leadingOnly: false).line
  }

  /// Parses the options before the first positional argument, and returns the words from there on.
  package func parseLeading(_ arguments: [String]) -> (line: ParsedCommandLine, rest: [String]) {
    if let fault = fault(in: arguments, leadingOnly: true) { refuse(fault) }
    return run(arguments, leadingOnly: true)
  }

  /// Prints an error and what to type to stderr, and exits with status 2.
  package func refuse(_ fault: CommandLineFault) -> Never {
    unsafe navd_put_line(1, "\(program): \(fault.text)")
    unsafe navd_put_line(1, "  try: \(fault.remedy)")
    exit(Self.usageStatus)
  }

  /// Prints an error with a hint at `--help` to stderr, and exits with status 2.
  package func refuse(_ message: String) -> Never {
    refuse(CommandLineFault(text: message, remedy: "\(program) --help"))
  }

  /// Prints lines to stdout, and exits with status 0.
  package static func answer(_ lines: [String]) -> Never {
    for line in lines { unsafe navd_put_line(0, line) }
    exit(0)
  }

  private func run(_ arguments: [String], leadingOnly: Bool)
    -> (line: ParsedCommandLine, rest: [String])
  {
    navd_argp_set_error_status(Self.usageStatus)
    let collector = Collector(grammar: self, leadingOnly: leadingOnly)
    let memory = StringMemory()
    var table = unsafe optionTable(memory)
    var words: [UnsafeMutablePointer<CChar>?] =
      unsafe ([program] + arguments.map(marked)).map { unsafe memory.hold($0) } + [nil]
    let texts = epilogue.isEmpty ? summary : summary + "\u{b}" + epilogue
    let flags = UInt32(leadingOnly ? ARGP_IN_ORDER : 0)
    // The pointers stay valid during the call: the collector and the strings are used after it.
    let result = unsafe table.withUnsafeMutableBufferPointer { options in
      unsafe words.withUnsafeMutableBufferPointer { words in
        var parser = unsafe argp()
        unsafe parser.options = UnsafePointer(options.baseAddress)
        unsafe parser.parser = parseCallback
        unsafe parser.args_doc =
          self.arguments.usage.isEmpty ? nil : UnsafePointer(memory.hold(self.arguments.usage))
        unsafe parser.doc = UnsafePointer(memory.hold(texts))
        unsafe parser.help_filter = filterCallback
        return unsafe argp_parse(
          &parser, Int32(words.count - 1), words.baseAddress, flags, nil,
          Unmanaged.passUnretained(collector).toOpaque())
      }
    }
    memory.release()
    // argp exits by itself on a wrong line, so the only other error is ENOMEM.
    if result != 0 { refuse("the command line cannot be read (error \(result))") }
    let rest = collector.stoppedAt.map { Array(arguments[($0 - 1)...]) } ?? []
    return (collector.line, rest)
  }

  /// A prefix that hides a leading dash from argp; U+0001 does not begin a real argument.
  fileprivate static let mark = "\u{1}"

  /// Prefixes a word that begins with a dash and is an argument, such as a key.
  ///
  /// A word of the length of a key is an option only with the full name of an option. An
  /// abbreviation does not count, because a key can begin with two dashes, a letter and an equals
  /// sign.
  private func marked(_ word: String) -> String {
    guard word.hasPrefix("-"), word.count == self.arguments.dashedWidth else { return word }
    let isOption =
      word.hasPrefix("--")
      && options.contains { $0.name == word.dropFirst(2).prefix { $0 != "=" } }
    return isOption ? word : Self.mark + word
  }

  /// The options in argp's form; the key of one without a letter is `Collector.firstKey` plus its
  /// index.
  private func optionTable(_ memory: StringMemory) -> [argp_option] {
    var table: [argp_option] = unsafe []
    var group: Int32 = 1
    var heading: String?
    for (index, option) in options.enumerated() {
      if option.group != heading {
        group += 1
        heading = option.group
        var header = unsafe argp_option()
        unsafe header.doc = UnsafePointer(memory.hold(option.group ?? "Other options:"))
        unsafe header.group = group
        unsafe table.append(header)
      }
      var entry = unsafe argp_option()
      unsafe entry.name = UnsafePointer(memory.hold(option.name))
      unsafe entry.key = Collector.key(of: option, at: index)
      unsafe entry.arg = option.argument.map { unsafe UnsafePointer(memory.hold($0)) }
      unsafe entry.doc = UnsafePointer(memory.hold(option.documentation))
      unsafe entry.group = group
      unsafe table.append(entry)
    }
    if version != nil {
      var entry = unsafe argp_option()
      unsafe entry.name = UnsafePointer(memory.hold("version"))
      unsafe entry.key = Int32(UInt8(ascii: "V"))
      unsafe entry.doc = UnsafePointer(memory.hold("Print program version"))
      unsafe entry.group = -1
      unsafe table.append(entry)
    }
    unsafe table.append(argp_option())
    return unsafe table
  }
}

/// Collects the options and arguments that argp reports to `parseCallback`.
private final class Collector {
  /// The first key for options without a letter, above all characters.
  static let firstKey: Int32 = 0x1000

  let grammar: CommandLineGrammar
  let leadingOnly: Bool
  var line = ParsedCommandLine()
  /// The index of the first positional argument; the program's name has index 0.
  var stoppedAt: Int?

  init(grammar: CommandLineGrammar, leadingOnly: Bool) {
    self.grammar = grammar
    self.leadingOnly = leadingOnly
  }

  static func key(of option: OptionDeclaration, at index: Int) -> Int32 {
    option.short?.asciiValue.map { Int32($0) } ?? firstKey + Int32(index)
  }

  func option(forKey key: Int32) -> OptionDeclaration? {
    for (index, option) in grammar.options.enumerated()
    where Self.key(of: option, at: index) == key {
      return option
    }
    return nil
  }

  /// The error if there are too few or too many positional arguments, else nil.
  var complaint: String? {
    let count = line.positionals.count
    if count > grammar.arguments.count.upperBound {
      return "too many arguments: unexpected '\(line.positionals[count - 1])'"
    }
    if count < grammar.arguments.count.lowerBound {
      return "too few arguments: expected \(grammar.arguments.usage)"
    }
    return nil
  }
}

/// The function that argp calls for each option and argument, on the thread that called `parse`.
private let parseCallback:
  @convention(c) (Int32, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<argp_state>?) -> error_t =
    { key, text, state in
      guard let state = unsafe state, let input = unsafe state.pointee.input else { return 0 }
      // `run` passes the collector as `input` and keeps it alive during the call.
      let collector = unsafe Unmanaged<Collector>.fromOpaque(input).takeUnretainedValue()
      let value = unsafe text.map { unsafe String(cString: $0) }
      if let option = collector.option(forKey: key) {
        collector.line.options.append(ParsedCommandLine.Occurrence(option.name, value))
        return 0
      }
      if key == UInt8(ascii: "V"), let version = collector.grammar.version {
        unsafe navd_put_line(0, version)
        exit(0)
      }
      switch key {
      case ARGP_KEY_ARG:
        if collector.leadingOnly {
          collector.stoppedAt = unsafe Int(state.pointee.next) - 1
          unsafe state.pointee.next = state.pointee.argc
        } else if let value {
          let isMarked = value.hasPrefix(CommandLineGrammar.mark)
          collector.line.positionals.append(isMarked ? String(value.dropFirst()) : value)
        }
        return 0
      case ARGP_KEY_END:
        if !collector.leadingOnly, let complaint = collector.complaint {
          unsafe navd_argp_error(state, complaint)
        }
        return 0
      default:
        return navd_argp_unknown()
      }
    }

/// The function that argp calls for each text of the help; it removes argp's note about options.
private let filterCallback:
  @convention(c) (Int32, UnsafePointer<CChar>?, UnsafeMutableRawPointer?)
    -> UnsafeMutablePointer<CChar>? = { key, text, _ in
      key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? nil : unsafe UnsafeMutablePointer(mutating: text)
    }

/// Owns copies of strings as C strings, and frees all of them together.
@safe
private final class StringMemory {
  private var strings: [UnsafeMutablePointer<CChar>] = unsafe []

  func hold(_ text: String) -> UnsafeMutablePointer<CChar> {
    let bytes = text.utf8CString
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    for (index, byte) in bytes.enumerated() { unsafe copy[index] = byte }
    unsafe strings.append(copy)
    return unsafe copy
  }

  func release() {
    unsafe strings.forEach { unsafe $0.deallocate() }
    unsafe strings = []
  }
}
