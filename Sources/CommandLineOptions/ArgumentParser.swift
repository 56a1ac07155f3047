import CLinux

extension CommandLineGrammar {
  /// Parses a command line; for help, version and errors it prints and exits as GNU programs do.
  ///
  /// Options can be abbreviated and can stand between arguments; `--` ends them. `--help`,
  /// `--usage` and `--version` print to stdout and exit with 0. A wrong command line prints an
  /// error to stderr and exits with 2. argp, which prints the help, has global state, so call it
  /// before the process has other threads.
  package func parse(_ arguments: [String]) -> ParsedCommandLine {
    parse(arguments, leadingOnly: false).line
  }

  /// Parses as `parse(_:)` does; with `leadingOnly`, only the options before the first positional
  /// argument, and returns the words from there on.
  package func parse(
    _ arguments: [String], leadingOnly: Bool
  ) -> (line: ParsedCommandLine, rest: [String]) {
    do throws(CommandLineFault) {
      let (scan, rest) = try scan(arguments, leadingOnly: leadingOnly)
      guard let request = scan.helpRequest?.name else { return (scan.line, rest) }
      if request == "version", let version { Self.printAndExit([version]) }
      printHelp(requestedBy: "--\(request)")
    } catch {
      refuse(error)
    }
  }

  package func refuse(_ fault: CommandLineFault) -> Never {
    unsafe navd_put_line(1, "\(program): \(fault.text)")
    unsafe navd_put_line(1, "  try: \(fault.remedy)")
    exit(2)
  }

  /// Prints an error with a hint at `--help` to stderr, and exits with status 2.
  package func refuse(_ message: String) -> Never {
    refuse(CommandLineFault(text: message, remedy: "\(program) --help"))
  }

  package static func printAndExit(_ lines: [String]) -> Never {
    for line in lines { unsafe navd_put_line(0, line) }
    exit(0)
  }

  /// Lets argp print `--help` or `--usage`, and exits with status 0.
  private func printHelp(requestedBy option: String) -> Never {
    let (summary, epilogue) = (summary(), epilogue())
    // Nothing is freed: argp exits by itself, unless there is no memory.
    var table = unsafe optionTable()
    var words: [UnsafeMutablePointer<CChar>?] = unsafe [strdup(program), strdup(option), nil]
    let result = unsafe table.withUnsafeMutableBufferPointer { options in
      unsafe words.withUnsafeMutableBufferPointer { words in
        var parser = unsafe argp()
        unsafe parser.options = UnsafePointer(options.baseAddress)
        unsafe parser.args_doc =
          arguments.usage.isEmpty ? nil : UnsafePointer(strdup(arguments.usage))
        unsafe parser.doc = UnsafePointer(
          strdup(epilogue.isEmpty ? summary : summary + "\u{b}" + epilogue))
        unsafe parser.help_filter = argpNoteRemovingFilter
        return unsafe argp_parse(&parser, 2, words.baseAddress, 0, nil, nil)
      }
    }
    refuse("the command line cannot be read (error \(result))")
  }

  /// Converts the options for argp; an option without a letter gets a key from 0x1000 on.
  private func optionTable() -> [argp_option] {
    var table: [argp_option] = unsafe []
    var group: Int32 = 1
    var heading: String?
    for (index, option) in options.enumerated() {
      if option.group != heading {
        group += 1
        heading = option.group
        unsafe table.append(entry(nil, 0, option.group ?? "Other options:", group))
      }
      let key = option.short?.asciiValue.map { Int32($0) } ?? 0x1000 + Int32(index)
      unsafe table.append(
        entry(option.name, key, option.documentation, group, argument: option.argument))
    }
    if version != nil {
      let key = Int32(UInt8(ascii: "V"))
      unsafe table.append(entry("version", key, "Print program version", -1))
    }
    return unsafe table + [argp_option()]
  }

  private func entry(
    _ name: String?, _ key: Int32, _ text: String, _ group: Int32, argument: String? = nil
  ) -> argp_option {
    var entry = unsafe argp_option()
    unsafe entry.name = name.flatMap { unsafe UnsafePointer(strdup($0)) }
    unsafe entry.key = key
    unsafe entry.arg = argument.flatMap { unsafe UnsafePointer(strdup($0)) }
    unsafe entry.doc = UnsafePointer(strdup(text))
    unsafe entry.group = group
    return unsafe entry
  }
}

/// argp calls it for each text of the help; it drops argp's note about arguments of short options.
private let argpNoteRemovingFilter:
  @convention(c) (Int32, UnsafePointer<CChar>?, UnsafeMutableRawPointer?)
    -> UnsafeMutablePointer<CChar>? = { key, text, _ in
      key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? nil : unsafe UnsafeMutablePointer(mutating: text)
    }
