import CLinux
import CommandLineOptions
import RuntimePaths
import Web

let grammar = CommandLineGrammar(
  program: "navd-exporter",
  summary: "Serves the metrics and the health of navd over HTTP, for Prometheus.",
  epilogue: """
    Answers GET requests for /metrics, /livez and /readyz. By default it listens on \
    \(Exporter.defaultAddress) and connects to the same navd as navctl. See navd-exporter(8).
    """,
  version: "navd-exporter " + Exporter.version,
  options: [
    OptionDeclaration(
      "endpoint", short: "e", argument: "ADDRESS", "Address of navd; else NAVD_ENDPOINT"),
    OptionDeclaration(
      "listen", short: "l", argument: "ADDRESS", "Listen on ADDRESS:PORT or unix:/PATH"),
    OptionDeclaration("allow-remote", "Permit an address in --listen that others can reach"),
  ])

func report(_ text: String) { writeText("navd-exporter: \(text)\n") }

let line = grammar.parse(ProcessArguments.afterName)
do {
  let address = try ListenAddress(
    line.value(of: "listen") ?? Exporter.defaultAddress,
    remoteRefusal: line.contains("allow-remote")
      ? nil : "the exporter does not authenticate clients; to permit that, add --allow-remote")
  let endpoint = line.value(of: "endpoint")
  try Exporter.run(address, endpoint: endpoint, rules: .current()) { report("serving on \($0)") }
} catch let error as ListenError {
  report("usage: --listen: \(error)")
  exit(2)
} catch {
  report("\(error)")
  exit(1)
}
