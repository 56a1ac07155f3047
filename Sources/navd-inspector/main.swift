import CLinux
import CommandLineOptions
import NavigationGateway
import RuntimePaths
import WebServer

let grammar = CommandLineGrammar(
  program: "navd-inspector",
  summary: "Shows the navigation stacks of navd in a browser, and can change nothing.",
  epilogue: """
    Prints an address that opens the page once, within 60 s, with the rights of the user that runs \
    this. Ends at Ctrl-C. `navctl inspect` runs it. See navd-inspector(8).
    """,
  version: "navd-inspector 0.1.0",
  options: [
    OptionDeclaration(
      "endpoint", short: "e", argument: "ADDRESS",
      "Address of navd, or several with commas; else NAVD_ENDPOINT"),
    OptionDeclaration(
      "listen", short: "l", argument: "ADDRESS",
      "Listen on ADDRESS:PORT or unix:/PATH; else a free port of 127.0.0.1"),
    OptionDeclaration(
      "allow-host", argument: "NAME", "Answer requests to NAME too, for a proxy; repeatable"),
    OptionDeclaration(
      "tokens", argument: "FILE", "Serve pages with these tokens, and print no address"),
    OptionDeclaration("nav", argument: "NAV", "Show NAV at the start"),
    OptionDeclaration("open", "Open the address in the browser of the desktop"),
    OptionDeclaration("page", argument: "DIR", "The files of the page"),
  ])

/// Writes one line to a descriptor; ignores errors, since there is nowhere else to report them.
func write(line: String, to descriptor: Int32) {
  let bytes = Array("\(line)\n".utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
}

/// Writes one line to stderr.
func say(_ text: String) { write(line: "navd-inspector: \(text)", to: 2) }

let remoteRefusal =
  "navd-inspector does not encrypt; use ssh -L, or a proxy in front of unix:/PATH"
let line = grammar.parse(Array(CommandLine.arguments.dropFirst()))
do {
  let rules = PathRules.current()
  let address = try ListenAddress(
    line.value(of: "listen") ?? "127.0.0.1:0", remoteRefusal: remoteRefusal)
  var configuration = Gateway.Configuration(
    address: address, rules: rules,
    scripts: ["/chart.js": "/usr/share/javascript/chart.js/chart.min.js"])
  configuration.purpose = .inspection
  configuration.endpoint = line.value(of: "endpoint")
  configuration.gate = RequestGate(allowedHosts: Set(line.values(of: "allow-host")))
  configuration.tokenFile =
    line.value(of: "tokens")
    ?? rules.environment["CREDENTIALS_DIRECTORY"].map { $0 + "/navd-inspector.tokens" }
  configuration.pageDirectory = try InspectorFiles.directory(option: line.value(of: "page"))
  if configuration.tokenFile == nil {
    if case .local = address {
      grammar.refuse("a browser cannot open a Unix socket: use --tokens with a proxy")
    }
    configuration.launch = Gateway.launchActor(role: "read")
  }
  // An address that cannot be found later either is an error now.
  _ = try rules.clientEndpoint(option: configuration.endpoint)
  let opener = line.contains("open") ? Opener(rules.environment) : nil
  defer { opener?.tidy() }
  try Gateway.run(
    configuration, say: say,
    launched: { url in
      let start = line.value(of: "nav").map { "&nav=" + Opener.escaped($0) } ?? ""
      write(line: url + start, to: 1)
      opener?.open(url + start)
    },
    ready: { if configuration.tokenFile != nil { say("serving on \($0)") } })
} catch {
  exit(Gateway.exitStatus(after: error, say: say))
}
