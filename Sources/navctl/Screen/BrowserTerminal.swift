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
    let name = term ?? ""
    guard name != "dumb", !name.isEmpty else { return unfit(name, watch) }
    return nil
  }

  /// The error for a terminal that cannot place the cursor, as its description has it.
  static func unfit(_ term: String?, nav: String?) -> UsageError {
    unfit(term ?? "", "navctl watch \(nav.map(TerminalText.visible) ?? "NAV")")
  }

  private static func unfit(_ term: String, _ watch: String) -> UsageError {
    let found = term.isEmpty ? "TERM is not set" : "TERM is \(TerminalText.visible(term))"
    return UsageError(
      "ui needs a terminal that can place the cursor, and \(found)",
      remedy: "\(watch), navctl list; or TERM=xterm navctl ui")
  }
}
