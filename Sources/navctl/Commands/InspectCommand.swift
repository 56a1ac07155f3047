import CommandLineOptions
import Glibc
import NavigationClient
import NavigationCore
import RuntimePaths

enum InspectCommand: Command {
  static let declaration = CommandSet.Command(
    "inspect", "Show the navs, their history and any moment of it in a browser", Subject.look,
    .init("NAV"),
    options: [
      .init("print", "Print the address, and start no browser"),
      .init("listen", argument: "ADDRESS", "Listen on ADDRESS:PORT; else a free port of 127.0.0.1"),
    ],
    note: """
      The page has the rights of its caller and can change nothing. The address works once, within
      60 s; Ctrl-C ends the inspector. The command runs navd-web --inspector, of the package navd-inspector.
      On another machine: ssh -L 9721:127.0.0.1:9721 DEVICE navctl inspect --print --listen
      127.0.0.1:9721
      """, example: "inspect kiosk")

  static func run(_ invocation: Invocation) throws {
    let nav = invocation.namesNav ? try invocation.navArguments().nav : nil
    // An error of the connection ends the command before a browser shows it.
    let daemon = try invocation.connect()
    try daemon.openSession()
    try daemon.connection.leave()
    var words = ["--inspector", "--endpoint", daemon.endpoint]
    if let nav { words += ["--nav", nav] }
    if let address = invocation.line.value(of: "listen") { words += ["--listen", address] }
    let environment = invocation.environment
    let hasDesktop = environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil
    if hasDesktop, !invocation.line.contains("print") { words.append("--open") }
    for (option, variable) in [("key", "NAVD_KEY"), ("server-key", "NAVD_SERVER_KEY")] {
      if let value = invocation.line.value(of: option) { unsafe setenv(variable, value, 1) }
    }
    throw start("navd-web", words)
  }

  /// Replaces this process by a program beside navctl, else in `PATH`; returns why it did not.
  private static func start(_ program: String, _ words: [String]) -> PlainFailure {
    var arguments = unsafe ([program] + words).map { unsafe strdup($0) } + [nil]
    unsafe execvp(RunningProgram.path(of: program), &arguments)
    let isMissing = errno == ENOENT
    return PlainFailure(
      lines: [
        "command: cannot start \(program): \(SystemError.text(of: errno))",
        "try: install the package navd-inspector, or put the directory of \(program) into PATH",
      ], status: isMissing ? 127 : 126)
  }
}
