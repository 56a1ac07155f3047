import CLinux
import CommandLineOptions
import Glibc
import NavigationClient
import NavigationCore
import RuntimePaths
import Synchronization

enum UICommand {
  static let command = Command(
    "ui", "Browse the navs live on the whole terminal", HelpGroup.look, .init("NAV"),
    options: [.init("write", "Let the keys p, P, b and r change the open nav")],
    note: """
      The list has the navs, and NAV is open at the start. The other panes have its stack, as show
      draws it, and its changes, as watch prints them. The key ? shows all keys, q quits. A change is
      guarded by the state on the screen. Without --write nothing is ever sent. There is no JSON,
      since ui draws for people: see watch -o json.
      """, example: "ui kiosk", run: run)

  static func run(_ invocation: Invocation) throws {
    let nav = try invocation.optionalNav()
    try require(
      nav?.hasPrefix("$") != true, "\(nav ?? "") is a directory, not a nav", remedy: "navctl ui")
    let term = invocation.environment["TERM"]
    try obstacle(
      isTerminal: Output.isTerminal && isatty(0) == 1, term: term, isJSON: invocation.isJSON,
      nav: nav
    ).map { throw $0 }
    let signals = try Signals(also: [SIGHUP, SIGQUIT, SIGWINCH])
    // An error of the first connection ends the command before the terminal is taken over.
    let daemon = try invocation.connect()
    try daemon.openSession()
    guard let events = EventDescriptor.make() else {
      throw SystemError("make", "a descriptor for events", code: navd_errno())
    }
    let isUTF8 = CursesTerminal.useLocaleWithUTF8()
    let browser = NavBrowser(
      isWritable: invocation.line.contains("write"), endpoint: daemon.endpoint,
      isASCII: !isUTF8 || Output.isASCII.withLock { $0 })
    guard let terminal = CursesTerminal(isColoured: invocation.isColoured) else {
      throw unfitTerminalError(term, nav: nav)
    }
    var view = NavBrowserRunner(
      invocation: invocation, browser: browser, terminal: terminal, events: events)
    try view.run(daemon, signals, nav)
    let shown = view.finish()
    try daemon.connection.leave()
    let seenStates = SeenStates(invocation.environment, endpoint: daemon.endpoint)
    if let shown { seenStates.remember(shown.seen, of: shown.nav) }
  }

  /// Why `navctl ui` cannot run, with what to type instead; nil if it can.
  static func obstacle(isTerminal: Bool, term: String?, isJSON: Bool, nav: String?) -> UsageError? {
    let watch = "navctl watch \(nav.map(TerminalText.visible) ?? "NAV")"
    if isJSON {
      return UsageError(
        "ui draws a screen for people and prints no JSON",
        remedy: "\(watch) -o json, navctl list -o json")
    }
    guard isTerminal else {
      return UsageError(
        "ui needs a terminal, and stdin or stdout is none", remedy: "\(watch), navctl list")
    }
    return ["dumb", ""].contains(term ?? "") ? unfitTerminalError(term, nav: nav) : nil
  }

  static func unfitTerminalError(_ term: String?, nav: String?) -> UsageError {
    let name = term.flatMap { $0.isEmpty ? nil : TerminalText.visible($0) }
    return UsageError(
      "ui needs a terminal that can place the cursor, and "
        + (name.map { "TERM is \($0)" } ?? "TERM is not set"),
      remedy: "navctl watch \(nav.map(TerminalText.visible) ?? "NAV"), navctl list; "
        + "or TERM=xterm navctl ui")
  }
}

private struct NavBrowserRunner: ~Copyable {
  let invocation: Invocation
  var browser: NavBrowser
  let terminal: CursesTerminal
  var events: EventDescriptor
  var escapes = EscapeFilter()

  consuming func finish() -> (nav: String, seen: SeenState)? { browser.drawnNav }

  /// Shows frames until the user or a signal ends the command.
  mutating func run(_ daemon: Daemon, _ signals: borrowing Signals, _ nav: String?) throws {
    resize()
    guard try perform(browser.firstEffects(nav), on: daemon) else { return }
    while true {
      let frame = browser.frame()
      terminal.show(frame)
      try daemon.connection.update(&events, isReady: false)
      var entries = [0, signals.descriptor, events.descriptor].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      _ = unsafe poll(&entries, nfds_t(entries.count), -1)
      guard continues(after: signals) else { return }
      // Keys come first: they are about the frame that the user sees, not about newer events.
      var keys: [BrowserKey] = []
      while let key = terminal.nextKey() { keys.append(key) }
      for key in escapes.filter(keys) {
        guard try perform(browser.press(key), on: daemon) else { return }
      }
      // The other end of the terminal is gone.
      if entries[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { return }
      try daemon.connection.serve(limit: 256)
      while let event = daemon.connection.takeEvent() {
        guard try perform(browser.handle(event), on: daemon) else { return }
      }
    }
  }

  /// Handles the pending signals; returns false if one of them ends the command.
  private mutating func continues(after signals: borrowing Signals) -> Bool {
    while let signal = signals.next() {
      switch signal {
      case SIGWINCH: resize()
      case SIGCHLD: break
      default: return false
      }
    }
    return true
  }

  private mutating func resize() {
    if let size = Output.terminalSize { terminal.resize(columns: size.columns, rows: size.rows) }
    let size = terminal.size
    browser.resize(columns: size.columns, rows: size.rows)
  }

  /// Performs effects; returns false if one of them ends the command.
  private mutating func perform(_ effects: [NavBrowser.Effect], on daemon: Daemon) throws -> Bool {
    for effect in effects {
      switch effect {
      case .watch(let nav): try daemon.connection.request { $0.watch(nav) }
      case .unwatch(let nav): try daemon.connection.request { $0.unwatch(nav) }
      case .send(let change):
        var request = OpRequest(id: 0, nav: change.nav, guards: change.guards)
        request.setTimeLimit(
          .milliseconds(invocation.timeoutMilliseconds), ifLocal: daemon.endpoint)
        let id = try daemon.connection.submit(request, operations: [change.operation.octets.bytes])
        browser.noteSent(id: id)
      case .redraw: terminal.redraw()
      case .quit: return false
      }
    }
    return true
  }
}
