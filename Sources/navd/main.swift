import CommandLineOptions
import NavigationDaemon
import RuntimePaths

let grammar = CommandLineGrammar(
  program: "navd",
  summary: "Hold the authoritative navigation stack of every client and share it over ZeroMQ.",
  epilogue: """
    Without options navd listens on navd.sock in its runtime directory and keeps its journal in its \
    state directory; no file is read. An option goes before a variable NAVD_SECTION_KEY of the \
    environment, that before FILE.d/*.conf, and those before FILE. See navd(8) and navd.conf(5).
    """,
  version: "navd " + Daemon.version,
  options: [
    OptionDeclaration("config", short: "c", argument: "FILE", "Read the configuration from FILE"),
    OptionDeclaration(
      "listen", short: "l", argument: "ENDPOINT", "Listen on ENDPOINT, ipc:///PATH; may be repeated"
    ),
    OptionDeclaration("state", short: "s", argument: "DIR", "Keep the journal in DIR"),
    OptionDeclaration("durability", argument: "MODE", "Acknowledge when stored (sync) or relaxed"),
    OptionDeclaration(
      "restore", argument: "FILE", "Put the backup FILE in the place of the journal and exit"),
    OptionDeclaration("check-config", "Check the configuration and exit"),
    OptionDeclaration("print-config", "Print each value with its origin and exit"),
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
  let sources = ConfigurationSources(
    file: line.value(of: "config"), environment: environment,
    options: ConfigurationSources.optionNames.map {
      ConfigurationSources.Option(name: $0, values: line.values(of: $0))
    })
  let loaded = try sources.load()
  if line.contains("print-config") { print(loaded.text, terminator: "") }
  if line.contains("check-config") || line.contains("print-config") {
    ExitStatus.orderly.exitProcess()
  }
  let configuration = loaded.configuration
  let log = Log(level: configuration.logLevel, destination: destination)
  do {
    if let file = line.value(of: "restore") {
      try Daemon.restore(file, configuration, rules: .current(), log: log)
      ExitStatus.orderly.exitProcess()
    }
    try Daemon.run(configuration, from: sources, rules: .current(), log: log)
  } catch {
    fail(error, log)
  }
} catch {
  fail(error, Log(level: .info, destination: destination))
}
