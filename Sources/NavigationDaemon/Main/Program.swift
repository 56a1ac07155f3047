import CommandLineOptions
import NavigationCore
import RuntimePaths

/// The command line of navd and navd-cluster, and the function that runs it.
///
/// It is not in main.swift, because code there is bound to the main actor. navd would then link
/// and load the concurrency runtime, which it does not use.
package enum Program {
  static func grammar(_ keeper: JournalKeeper) -> CommandLineGrammar {
    CommandLineGrammar(
      program: keeper.program,
      summary: "Holds authoritative navigation stacks and shares them with clients over ZeroMQ.",
      epilogue: """
        Without options, navd listens on navd.sock in its runtime directory, keeps its journal in \
        its state directory and reads no file. An option takes precedence over a variable \
        NAVD_SECTION_KEY of the environment, the variable over FILE.d/*.conf, and these files over \
        FILE. See navd(8) and navd.conf(5).
        """,
      version: "\(keeper.program) \(Daemon.version)",
      options: [
        OptionDeclaration(
          "config", short: "c", argument: "FILE", "Read the configuration from FILE"),
        OptionDeclaration(
          "listen", short: "l", argument: "ENDPOINT",
          "Listen on ENDPOINT, such as ipc:///PATH; can be repeated"
        ),
        OptionDeclaration("state", short: "s", argument: "DIR", "Keep the journal in DIR"),
        OptionDeclaration(
          "durability", argument: "MODE", "Answer after stable storage (sync) or before (relaxed)"),
        OptionDeclaration(
          "restore", argument: "FILE", "Replace the journal by the backup FILE and exit"),
        OptionDeclaration(
          "migrate",
          "With --dry-run: print what the next start would change in the format of the "
            + "journal, and exit"),
        OptionDeclaration("dry-run", "Change nothing; see --migrate"),
        OptionDeclaration(
          "progress", argument: "HOW",
          "Show the progress of a restoration or a start: auto (if stderr is a terminal), json "
            + "(lines on stderr) or none", choices: ProgressDisplay.Form.words),
        OptionDeclaration("check-config", "Check the configuration and exit"),
        OptionDeclaration("print-config", "Print the effective values with their origins and exit"),
      ]
        + (keeper.qualify == nil
          ? []
          : [
            OptionDeclaration(
              "qualify", argument: "CONNINFO", "Check the server of a connection string and exit")
          ]))
  }

  /// Runs the command line of the process and ends it with the exit status.
  package static func run(keeper: JournalKeeper) -> Never {
    let line = grammar(keeper).parse(ProcessArguments.afterName)
    if let conninfo = line.value(of: "qualify"), let qualify = keeper.qualify { qualify(conninfo) }
    let environment = ProcessEnvironment.current()
    let isService = environment["INVOCATION_ID"] != nil
    let word = line.value(of: "progress")
    guard
      let form = ProgressDisplay.Form(
        word: word, isTerminal: ProgressLine.isTerminal && !isService)
    else {
      grammar(keeper).refuse("--progress takes auto, json or none, not '\(word ?? "")'")
    }
    if line.contains("migrate") != line.contains("dry-run") {
      grammar(keeper).refuse(
        "a start migrates the journal by itself; --migrate --dry-run prints what it would change")
    }
    let isCommand = ["check-config", "print-config", "restore", "migrate"].contains {
      line.contains($0)
    }
    let destination = Log.destination(environment: environment, isService: !isCommand)
    let sources = ConfigurationSources(
      file: line.value(of: "config"), environment: environment,
      options: ConfigurationSources.optionNames.map { ($0, line.values(of: $0)) })
    var (loaded, faults) = sources.examine()
    let isCheck = line.contains("check-config")
    faults +=
      isCheck
      ? Daemon.faults(of: loaded, rules: .current()) : Daemon.temporaryPathFaults(in: loaded)
    if faults.isEmpty, let fault = keeper.configurationFault(loaded) { faults.append(fault) }
    let log = Log(level: loaded.configuration.logLevel, destination: destination)
    report(faults, .error, Log.destination(environment: environment, isService: false))
    // After a failed read alone, the status lets systemd try again. Any other fault ends the attempts.
    if !faults.isEmpty {
      (faults.first { !$0.isFailedRead } ?? faults[0]).exitStatus.exitProcess()
    }
    if isCheck || !isCommand && loaded.configuration.logLevel >= .warning {
      report(Daemon.warnings(about: loaded), .warning, destination)
    }
    if line.contains("print-config") { print(loaded.text(.current()), terminator: "") }
    if isCheck || line.contains("print-config") {
      ExitStatus.orderly.exitProcess()
    }
    do {
      for option in ["migrate", "restore"] where line.contains(option) {
        if let refusal = keeper.optionRefusal(option) { throw refusal }
      }
      let (configuration, rules) = (loaded.configuration, PathRules.current())
      if line.contains("migrate") {
        // What a start would change in the format of the journal.
        let (lines, status) = try Daemon.migrationPlan(configuration, rules: rules)
        for line in lines { print(line) }
        status.exitProcess()
      }
      if let file = line.value(of: "restore") {
        try Daemon.restore(file, configuration, rules: rules, progress: form, log: log)
      } else {
        try Daemon.run(
          configuration, from: sources, rules: rules, keeper: keeper, progress: form, log: log)
      }
    } catch {
      let failure = DaemonError(error)
      log(.error, failure.description, kind: failure.kind)
      log.flush()
      failure.exitStatus.exitProcess()
    }
    ExitStatus.orderly.exitProcess()
  }

  /// Logs each fault of a configuration with a log of its own, so that no rate limit suppresses it.
  private static func report(
    _ faults: [ConfigurationError], _ level: LogLevel, _ destination: Log.Destination
  ) {
    for fault in faults {
      Log(level: level, destination: destination)(LogEntry(level, fault.description))
    }
  }
}
