import CommandLineOptions
import NavigationDaemon
import RuntimePaths

let grammar = CommandLineGrammar(
  program: "navd",
  summary: "Hold the authoritative navigation stack of every client and share it over ZeroMQ.",
  epilogue: """
    Without options navd listens on navd.sock in its runtime directory and keeps its journal in its \
    state directory; no file is read. See navd(8) and navd.conf(5).
    """,
  version: "navd " + Daemon.version,
  options: [
    OptionDeclaration("config", short: "c", argument: "FILE", "Read the configuration from FILE"),
    OptionDeclaration(
      "listen", short: "l", argument: "ENDPOINT", "Listen on ENDPOINT, ipc:///PATH; may be repeated"
    ),
    OptionDeclaration("state", short: "s", argument: "DIR", "Keep the journal in DIR"),
    OptionDeclaration("durability", argument: "MODE", "Acknowledge when stored (sync) or relaxed"),
    OptionDeclaration("check-config", "Check the configuration and exit"),
  ])

let line = grammar.parse(Array(CommandLine.arguments.dropFirst()))

/// Says why the daemon ends, and ends it.
func fail(_ error: any Error, _ log: Log) -> Never {
  let failure = DaemonFailure(error)
  log(LogEntry(.error, failure.text, kind: failure.kind))
  log.flush()
  failure.status.exitProcess()
}

let environment = ProcessEnvironment.current()
let destination = Log.destination(environment: environment)
do {
  var configuration = Configuration()
  if let file = line.value(of: "config") { configuration = try Configuration.load(path: file) }
  try configuration.override(
    endpoints: line.values(of: "listen"), state: line.value(of: "state"),
    durability: line.value(of: "durability"))
  if line.contains("check-config") { ExitStatus.orderly.exitProcess() }
  let log = Log(level: configuration.logLevel, destination: destination)
  do {
    try Daemon.run(configuration, rules: .current(), log: log)
  } catch {
    fail(error, log)
  }
} catch {
  fail(error, Log(level: .info, destination: destination))
}
