import CLinux
import CommandLineOptions
import CurveKeys
import NavigationClient
import NavigationCore
import NavigationPublisher
import RuntimePaths

let grammar = CommandLineGrammar(
  program: "navd-publish",
  summary: "Publishes navs of this device to another navd, or to a cluster.",
  epilogue: """
    The receiver has each nav as DEVICE/NAV, with the same revisions, and read-only. navd keeps \
    working while the receiver is away. See navd-publish(8).
    """,
  version: "navd-publish " + Publisher.version,
  options: [
    OptionDeclaration("device", short: "d", argument: "NAME", "The name of this device"),
    OptionDeclaration("to", short: "t", argument: "ADDRESS[,...]", "Addresses of the receiver"),
    OptionDeclaration(
      "nav", short: "n", argument: "PATTERN", "Publish navs that match PATTERN; all without it"),
    OptionDeclaration(
      "endpoint", short: "e", argument: "ADDRESS", "Address of navd; else NAVD_ENDPOINT"),
    OptionDeclaration(
      "server-key", argument: "KEY", "Public key of the receiver, or a file; else NAVD_SERVER_KEY"),
    OptionDeclaration("key", argument: "FILE", "Secret key of this device; else NAVD_KEY"),
    OptionDeclaration(
      "state", argument: "DIRECTORY", "Directory for the names of published navs"),
  ])

/// Writes one line to stderr; ignores errors, since there is nowhere else to report them.
func say(_ text: String) {
  let line = Array("navd-publish: \(text)\n".utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
}

let line = grammar.parse(Array(CommandLine.arguments.dropFirst()))
guard let device = line.value(of: "device") else { grammar.refuse("--device is required") }
guard NavName(device + "/n") != nil, !device.contains("/") else {
  grammar.refuse("--device: \(device) is not a name of a-z 0-9 . _ -")
}
guard let receiver = line.value(of: "to") else { grammar.refuse("--to is required") }
let patterns = line.values(of: "nav").map { text in
  guard let pattern = NavGlob(text) else { grammar.refuse("--nav: \(text) is no pattern") }
  return pattern
}
let rules = PathRules.current()
do {
  let source = try rules.clientEndpoint(option: line.value(of: "endpoint"))
  let directory = line.value(of: "state") ?? rules.environment.absolutePath("STATE_DIRECTORY")
  let keyFile =
    line.value(of: "key")
    ?? rules.environment["CREDENTIALS_DIRECTORY"].map { $0 + "/navd-publish.key" }
  let options = Publisher.Options(
    device: device, source: source,
    sourceIdentity: try NetworkIdentity.read(for: source, environment: rules.environment),
    receiver: receiver,
    receiverIdentity: try NetworkIdentity.read(
      for: receiver, serverKey: line.value(of: "server-key"), keyFile: keyFile,
      environment: rules.environment),
    navs: patterns.isEmpty ? [NavGlob("*")].compactMap(\.self) : patterns,
    memory: directory.map { $0 + "/published" })
  say("publishing \(source) as \(device) to \(receiver)")
  Publisher(options, say: say).run()
} catch {
  say("\(error)")
  exit(1)
}
