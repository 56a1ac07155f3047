import FuzzSupport
@testable import CommandLineOptions
import NavigationClient
import NavigationCore
@testable import NavigationDaemon
import RuntimePaths
import ZeroMQ
@testable import navctl

/// Reads files of configuration and of keys, and command lines; the first octet selects which.
///
/// Laws:
/// - What is printed of a configuration reads as the same configuration.
/// - A key that was read is written as the same text.
/// - A command line that fits its grammar has the words of the line and no others.
struct ConfigurationTarget: FuzzTarget {
  private let rules = PathRules(environment: ProcessEnvironment([:]), userID: 1000)
  private let grammars: [(grammar: CommandLineGrammar, command: navctl.Command)]

  init() {
    grammars = Program.commands.map {
      (Program.grammar.grammar(of: $0.declaration), $0)
    }
  }

  mutating func run(_ input: Span<UInt8>) {
    guard input.count > 0 else { return }
    let rest = input.extracting(droppingFirst: 1).octets
    switch Character(Unicode.Scalar(input[0])) {
    case "f": checkFile(rest)
    case "v": checkVariables(rest)
    case "k": checkKeys(rest)
    case "n": checkDaemonLine(rest)
    case "p": checkPlan(rest)
    default: checkCommandLine(input.octets)
    }
  }

  // Files.

  private func checkFile(_ contents: [UInt8]) {
    var builder = ConfigurationBuilder()
    builder.add(contents, of: "navd.conf")
    let (loaded, faults) = builder.finish()
    for fault in faults { observe(fault.description.utf8.count) }
    checkPrinted(loaded, hasFaults: !faults.isEmpty)
  }

  private func checkVariables(_ text: [UInt8]) {
    var variables: [String: String] = [:]
    for line in text.lines {
      let name = Array(line.prefix { $0 != 0x3D })
      variables[name.text] = Array(line.dropFirst(name.count + 1)).text
    }
    let sources = ConfigurationSources(environment: ProcessEnvironment(variables))
    let (loaded, faults) = sources.examine()
    for fault in faults { observe(fault.description.utf8.count) }
    checkPrinted(loaded, hasFaults: !faults.isEmpty)
  }

  private func checkPrinted(_ loaded: LoadedConfiguration, hasFaults: Bool) {
    // Without the origins, which the values of a file have and defaults have not.
    let text = LoadedConfiguration(configuration: loaded.configuration, origins: [:]).text(rules)
    var builder = ConfigurationBuilder()
    builder.add(Array(text.utf8), of: "printed.conf")
    let (again, faults) = builder.finish()
    demand(faults.isEmpty || hasFaults, "what is printed has faults: \(faults)")
    if faults.isEmpty {
      let second = LoadedConfiguration(configuration: again.configuration, origins: [:]).text(rules)
      demand(second == text, "what is printed is read as another configuration: \(text)\(second)")
    }
    observe(loaded.text(rules).utf8.count)
    var tape = JSONTape()
    demand((try? tape.read(loaded.json(rules))) != nil, "the values are no JSON")
  }

  private func checkKeys(_ contents: [UInt8]) {
    do throws(KeyError) {
      let key = try AuthorizedKey(name: "till", parsing: contents)
      let again = try AuthorizedKey(name: "till", parsing: key.contents)
      demand(again == key, "\(key) is read as \(again)")
    } catch {
      observe(error.description.utf8.count)
    }
    let text = contents.text
    if let bytes = Z85.decode(text) {
      demand(bytes.count == text.utf8.count / 5 * 4, "\(bytes.count) octets of Z85")
      guard let written = Z85.encode(bytes) else { fail("octets that were read are not written") }
      demand(written == text, "\(text) is written as \(written)")
    }
    if let encoded = Z85.encode(contents) {
      demand(Z85.decode(encoded) == contents, "octets that were written are not read: \(encoded)")
    }
  }

  // Command lines.

  private func words(_ text: [UInt8]) -> [String] {
    text.split(separator: 0x0A, omittingEmptySubsequences: false).prefix(24).map { Array($0).text }
  }

  private func checkDaemonLine(_ text: [UInt8]) {
    let grammar = NavigationDaemon.Program.grammar(.directory)
    guard let line = check(words(text), grammar) else { return }
    let sources = ConfigurationSources(
      file: nil, options: ConfigurationSources.optionNames.map { ($0, line.values(of: $0)) })
    let (loaded, faults) = sources.examine()
    checkPrinted(loaded, hasFaults: !faults.isEmpty)
  }

  private func checkCommandLine(_ text: [UInt8]) {
    let words = words(text)
    observe(Completion(words, of: Program.grammar).candidates.count)
    for shell in Shell.allCases { observe(shell.rejoined(words).count) }
    guard let outer = try? Program.grammar.outerGrammar.scan(words, leadingOnly: true),
      outer.scan.helpRequest == nil, let name = outer.rest.first
    else { return }
    guard let (grammar, command) = grammars.first(where: { $0.command.declaration.name == name })
    else { return observe(Program.grammar.suggestion(for: name).utf8.count) }
    guard let line = check(Array(outer.rest.dropFirst()), grammar) else { return }
    // It reads a file.
    guard name != "restore" else { return }
    var whole = outer.scan.line
    whole.options += line.options
    whole.positionals = line.positionals
    guard let invocation = try? Invocation(command: command.declaration, line: whole),
      let made = try? command.makeOperations?(invocation)
    else { return }
    for operation in made.operations { checkOperation(operation) }
  }

  /// Scans words by a grammar; nil if they have a fault or ask for help.
  private func check(_ words: [String], _ grammar: CommandLineGrammar) -> ParsedCommandLine? {
    let scan: CommandLineGrammar.Scan
    do throws(CommandLineFault) {
      scan = try grammar.scan(words, leadingOnly: false).scan
    } catch {
      demand(!error.text.isEmpty && !error.remedy.isEmpty, "a fault without a remedy")
      return nil
    }
    guard scan.helpRequest == nil else { return nil }
    let line = scan.line
    demand(grammar.arguments.count.contains(line.positionals.count), "\(line.positionals)")
    for positional in line.positionals {
      demand(words.contains { $0.utf8.elementsEqual(positional.utf8) }, "the word \(positional)")
    }
    for option in line.options {
      let declared = grammar.options.first { $0.name == option.name }
      demand(declared.map { ($0.argument != nil) == (option.value != nil) } ?? false, "\(option)")
    }
    return line
  }

  private func checkPlan(_ text: [UInt8]) {
    guard let plan = try? OperationPlan(text.text, name: "plan") else { return }
    demand(plan.steps.count <= OperationPlan.maximumOperations, "\(plan.steps.count) steps")
    for case (_, .operation(let operation)) in plan.steps { checkOperation(operation) }
  }

  /// What navctl makes is JSON, whether or not the daemon takes it.
  private func checkOperation(_ operation: NavigationOperation) {
    var tape = JSONTape()
    let bytes = Array(operation.json.utf8)
    demand((try? tape.read(bytes, maximumDepth: 64)) != nil, "no JSON: \(bytes.text)")
    demand(tape.kind(0) == .object && tape.count(0) == 1, "no operation: \(bytes.text)")
  }
}
