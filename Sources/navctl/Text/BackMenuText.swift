import NavigationCore

/// The menu of the back button, as `navctl back --menu` prints it.
enum BackMenuText {
  /// The entries of a `resolved` value, nearest first: the id and the text of each screen, or a
  /// line that says that the bar shows no back button.
  static func lines(_ resolved: JSONValue) -> [String] {
    let back = resolved["left"]?.elements.first?["back"]
    guard let entries = back?["menu"]?.elements, !entries.isEmpty else { return ["no back button"] }
    let ids = entries.map { $0["screen"]?.string ?? "" }
    let width = ids.map(TerminalText.width).max() ?? 0
    return zip(ids, entries).map { id, entry in
      let text = TerminalText.visible(entry["text"]?.string ?? "-")
      return id + String(repeating: " ", count: width - TerminalText.width(id) + 2) + text
    }
  }
}
