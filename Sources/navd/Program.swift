import CommandLineOptions
import NavigationDaemon
import RuntimePaths

/// The command line of navd: what it understands, and how a run of it ends.
///
/// Not in main.swift: what stands there is bound to the main actor, whose runtime would be linked,
/// loaded and kept in memory by a daemon that has no use for it.
enum Program {
  static let grammar = CommandLineGrammar(
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
        "listen", short: "l", argument: "ENDPOINT",
        "Listen on ENDPOINT, ipc:///PATH; may be repeated"
      ),
      OptionDeclaration("state", short: "s", argument: "DIR", "Keep the journal in DIR"),
      OptionDeclaration(
        "durability", argument: "MODE", "Acknowledge when stored (sync) or relaxed"),
      OptionDeclaration(
        "restore", argument: "FILE", "Put the backup FILE in the place of the journal and exit"),
      OptionDeclaration("check-config", "Check the configuration and exit"),
      OptionDeclaration("print-config", "Print each value with its origin and exit"),
    ])

  /// Does what a command line asks for, and ends the process.
  static func run(_ arguments: [String]) -> Never {
    let line = grammar.parse(arguments)
    let environment = ProcessEnvironment.current()
    let isCommand = ["check-config", "print-config", "restore"].contains { line.contains($0) }
    let destination = Log.destination(environment: environment, isService: !isCommand)
    let sources = ConfigurationSources(
      file: line.value(of: "config"), environment: environment,
      options: ConfigurationSources.optionNames.map {
        ConfigurationSources.Option(name: $0, values: line.values(of: $0))
      })
    var (loaded, faults) = sources.examine()
    if line.contains("check-config") { faults += Daemon.faults(of: loaded) }
    let log = Log(level: loaded.configuration.logLevel, destination: destination)
    if !faults.isEmpty { refuse(faults, destination) }
    if line.contains("print-config") { print(loaded.text(.current()), terminator: "") }
    if line.contains("check-config") || line.contains("print-config") {
      ExitStatus.orderly.exitProcess()
    }
    do {
      try serve(loaded.configuration, from: sources, restoring: line.value(of: "restore"), log)
    } catch {
      fail(error, log)
    }
    ExitStatus.orderly.exitProcess()
  }

  /// Says what is wrong with the configuration, and ends the process.
  private static func refuse(
    _ faults: [ConfigurationError], _ destination: Log.Destination
  ) -> Never {
    for fault in faults {
      // A log of each: none of them is one of a storm.
      Log(level: .error, destination: destination)(LogEntry(.error, fault.description))
    }
    ExitStatus.configuration.exitProcess()
  }

  private static func serve(
    _ configuration: Configuration, from sources: ConfigurationSources, restoring file: String?,
    _ log: Log
  ) throws {
    if let file { return try Daemon.restore(file, configuration, rules: .current(), log: log) }
    try Daemon.run(configuration, from: sources, rules: .current(), log: log)
  }

  /// Says why the daemon ends, and ends it.
  private static func fail(_ error: any Error, _ log: Log) -> Never {
    let failure = DaemonFailure(error)
    log(LogEntry(.error, failure.text, kind: failure.kind))
    log.flush()
    failure.status.exitProcess()
  }
}
