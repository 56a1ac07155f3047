import NavigationCore

/// Where a screen of a nav came from and where it went, by the entries of the log.
struct ScreenOrigin: Sendable {
  let screen: String
  /// The newest revision that put it on the stack or presented it; nil if the log has none.
  private(set) var put: JSONValue?
  /// The first revision after `put` that took it away; nil if it is still there.
  private(set) var taken: JSONValue?
  private(set) var route: String?
  private(set) var isPresented = false
  var isFound: Bool { put != nil }

  init(of screen: String) { self.screen = screen }

  /// The oldest entry so far that shows the screen presented, while older ones may do so too.
  private var presenting: JSONValue?
  /// The oldest entry so far that shows presentations without the screen, before any with it.
  private var dismissing: JSONValue?

  /// Takes a page of the log, oldest entry first, while the pages come newest first; returns
  /// whether older pages can say nothing more.
  mutating func take(_ entries: [JSONValue]) -> Bool {
    for entry in entries.reversed() where put == nil {
      if let record = entry["ins"]?.elements.first(where: { $0["id"]?.string == screen }),
        presenting == nil
      {
        (put, route) = (entry, record["route"]?.string)
      } else if let shown = entry["presented"]?.elements {
        if shown.contains(where: { $0["id"]?.string == screen }) {
          if presenting == nil { taken = dismissing }
          presenting = entry
        } else if presenting != nil {
          finish()
        } else {
          dismissing = entry
        }
      } else if presenting == nil,
        entry["del"]?.elements.contains(where: { $0.string == screen }) == true
      {
        taken = entry
      }
    }
    return put != nil
  }

  mutating func finish() {
    guard put == nil, let presenting else { return }
    put = presenting
    isPresented = true
    route = presenting["presented"]?.elements.first { $0["id"]?.string == screen }?["route"]?.string
  }

  /// The lines for people; `floor` is the oldest revision that the daemon has.
  func lines(nav: String, floor: UInt64) -> [String] {
    guard let put else {
      return [
        "\(screen) was not put on \(nav) since rev \(floor), the oldest that navd has",
        "older changes: a backup, or the log of the system: journalctl NAVD_NAV=\(nav)",
      ]
    }
    let verb = isPresented ? "presented" : "put on the stack"
    var lines = ["\(screen) was \(verb) at \(Self.text(put))"]
    if let route { lines.append("route \(route)") }
    lines.append(taken.map { "it was taken away at \(Self.text($0))" } ?? "it is there still")
    return lines.map(TerminalText.visible)
  }

  private static func text(_ entry: JSONValue) -> String {
    let by = entry["by"]
    let process = by?["pid"]?.integer.map { ", pid \($0)" } ?? ""
    let principal = by?["principal"]?.string.map { " (\($0)\(process))" } ?? ""
    let author = by.map { " by \($0["name"]?.string ?? "a client")\(principal)" } ?? " by navd"
    let operations = entry.list("do").map(\.plainText).joined(separator: ", ")
    let cause = entry["cause"]?.string.flatMap { $0 == "api" ? nil : ", cause \($0)" } ?? ""
    return "rev \(entry["rev"]?.plainText ?? "?"), \(Tables.time(entry["t"])),\(author): "
      + (operations.isEmpty ? "no operation" : operations) + cause
  }

  func members(nav: String, floor: UInt64) -> JSONObject {
    var members: JSONObject = [
      "nav": .string(nav), "screen": .string(screen),
      "there": .bool(put != nil && taken == nil), "presented": .bool(isPresented),
    ]
    members.add("put", put.map(\.opaque))
    members.add("taken", taken.map(\.opaque))
    members.add("route", route)
    members.add("floor", .integer(floor))
    return members
  }
}
