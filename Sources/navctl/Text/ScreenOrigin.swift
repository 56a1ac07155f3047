import NavigationCore

/// Finds in the log which revision put a screen on a nav, and which one took it away.
struct ScreenOrigin: Sendable {
  let screen: String
  /// The newest entry that put the screen on the stack or presented it; nil if the log has none.
  private(set) var arrival: JSONValue?
  /// The first entry after `arrival` that took the screen away; nil if it is still there.
  private(set) var removal: JSONValue?
  private(set) var route: String?
  private(set) var isPresented = false
  var isFound: Bool { arrival != nil }

  init(of screen: String) { self.screen = screen }

  /// The oldest entry read so far whose presentations have the screen.
  private var oldestPresentation: JSONValue?
  /// The oldest entry, newer than `oldestPresentation`, whose presentations lack the screen.
  private var oldestDismissal: JSONValue?

  /// Reads a page of the log, oldest entry first, and returns whether the search is over.
  ///
  /// The caller passes the newest page first.
  mutating func endsSearch(reading entries: [JSONValue]) -> Bool {
    for entry in entries.reversed() where arrival == nil {
      if let record = entry["ins"]?.elements.first(where: { $0["id"]?.string == screen }),
        oldestPresentation == nil
      {
        (arrival, route) = (entry, record["route"]?.string)
      } else if let shown = entry["presented"]?.elements {
        if shown.contains(where: { $0["id"]?.string == screen }) {
          if oldestPresentation == nil { removal = oldestDismissal }
          oldestPresentation = entry
        } else if oldestPresentation != nil {
          endSearch()
        } else {
          oldestDismissal = entry
        }
      } else if oldestPresentation == nil,
        entry["del"]?.elements.contains(where: { $0.string == screen }) == true
      {
        removal = entry
      }
    }
    return arrival != nil
  }

  mutating func endSearch() {
    guard arrival == nil, let oldestPresentation else { return }
    arrival = oldestPresentation
    isPresented = true
    route =
      oldestPresentation["presented"]?.elements.first { $0["id"]?.string == screen }?["route"]?
      .string
  }

  /// The answer of `navctl why` in lines; `oldestRevision` is the oldest that the daemon has.
  func lines(nav: String, oldestRevision: UInt64) -> [String] {
    guard let arrival else {
      return [
        "\(screen) was not put on \(nav) since rev \(oldestRevision), the oldest that navd has",
        "older changes: a backup, or the log of the system: journalctl NAVD_NAV=\(nav)",
      ]
    }
    let verb = isPresented ? "presented" : "put on the stack"
    var lines = ["\(screen) was \(verb) at \(Self.entryText(arrival))"]
    if let route { lines.append("route \(route)") }
    lines.append(
      removal.map { "it was taken away at \(Self.entryText($0))" } ?? "it is there still")
    return lines.map(TerminalText.visible)
  }

  private static func entryText(_ entry: JSONValue) -> String {
    let by = entry["by"]
    let process = by?["pid"]?.integer.map { ", pid \($0)" } ?? ""
    let principal = by?["principal"]?.string.map { " (\($0)\(process))" } ?? ""
    let author = by.map { " by \($0["name"]?.string ?? "a client")\(principal)" } ?? " by navd"
    let operations = entry.list("do").map(\.plainText).joined(separator: ", ")
    let cause = entry["cause"]?.string.flatMap { $0 == "api" ? nil : ", cause \($0)" } ?? ""
    return "rev \(entry["rev"]?.plainText ?? "?"), \(Tables.time(entry["t"])),\(author): "
      + (operations.isEmpty ? "no operation" : operations) + cause
  }

  func members(nav: String, oldestRevision: UInt64) -> JSONObject {
    var members: JSONObject = [
      "nav": .string(nav), "screen": .string(screen),
      "there": .bool(arrival != nil && removal == nil), "presented": .bool(isPresented),
    ]
    members.add("put", arrival.map(\.opaque))
    members.add("taken", removal.map(\.opaque))
    members.add("route", route)
    members.add("floor", .integer(oldestRevision))
    return members
  }
}
