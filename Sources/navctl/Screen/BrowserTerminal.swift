import NavigationCore

/// The terminal that `navctl ui` needs.
enum BrowserTerminal {
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
    return ["dumb", "", nil].contains(term) ? unfit(term, nav: nav) : nil
  }

  /// The error for a terminal that cannot place the cursor, as its description has it.
  static func unfit(_ term: String?, nav: String?) -> UsageError {
    let name = term.flatMap { $0.isEmpty ? nil : TerminalText.visible($0) }
    return UsageError(
      "ui needs a terminal that can place the cursor, and "
        + (name.map { "TERM is \($0)" } ?? "TERM is not set"),
      remedy: "navctl watch \(nav.map(TerminalText.visible) ?? "NAV"), navctl list; "
        + "or TERM=xterm navctl ui")
  }
}
