import CLinux
import CommandLineOptions
import NavigationExporter
import RuntimePaths

let grammar = CommandLineGrammar(
  program: "navd-exporter",
  summary: "Serve the metrics of navd for Prometheus, and whether it lives and is ready.",
  epilogue: """
    Answers GET of /metrics, /livez and /readyz. Without options it listens on \
    \(Exporter.defaultAddress) and asks the navd that navctl would ask. See navd-exporter(8).
    """,
  version: "navd-exporter " + Exporter.version,
  options: [
    OptionDeclaration(
      "endpoint", short: "e", argument: "ADDRESS", "Where navd is; else NAVD_ENDPOINT"),
    OptionDeclaration(
      "listen", short: "l", argument: "ADDRESS", "Listen on ADDRESS:PORT or unix:/PATH"),
    OptionDeclaration("allow-remote", "Let --listen name an address that others can reach"),
  ])

/// Writes one line for people to stderr; where there is no stderr there is nobody to tell.
func say(_ text: String) {
  let line = Array("navd-exporter: \(text)\n".utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
}

let line = grammar.parse(Array(CommandLine.arguments.dropFirst()))
do {
  let address = try ListenAddress(
    line.value(of: "listen") ?? Exporter.defaultAddress,
    allowsRemote: line.contains("allow-remote"))
  let endpoint = line.value(of: "endpoint")
  try Exporter.run(address, endpoint: endpoint, rules: .current()) { say("serving on \($0)") }
} catch let error as ListenError {
  say("usage: --listen: \(error)")
  exit(2)
} catch {
  say("\(error)")
  exit(1)
}
