import NavigationCore
import RuntimePaths

enum Tables {
  /// The table of `navctl list`; `-` stands for a position that the caller may not read.
  static func navs(_ records: [JSONValue], columns: Int? = nil) -> [String] {
    let rows = records.map { record in
      let cells = ["id", "rev", "depth", "top", "watches"].map { record[$0]?.plainText ?? "-" }
      return cells + [time(record["t"]), record["owner"]?.plainText ?? "-"]
    }
    return table(
      ["NAV", "REV", "DEPTH", "TOP", "WATCHES", "CHANGED", "OWNER"], rows, columns: columns)
  }

  /// The log of a nav: a heading, and a line for each entry, the oldest first.
  static func log(_ entries: [JSONValue], columns: Int? = nil) -> [String] {
    table(
      ["REV", "TIME", "CAUSE", "BY", "OPERATIONS", "DIGEST"],
      entries.map { entry in
        if let bad = entry["bad"] {
          return ["!", time(entry["t"]), "diverged", author(entry["by"]), bad.plainText, "-"]
        }
        return [
          entry["rev"]?.plainText ?? "-", time(entry["t"]), entry["cause"]?.string ?? "-",
          author(entry["by"]), newEpochText(entry) ?? operations(entry["do"]),
          entry["dig"]?.string ?? "-",
        ]
      }, columns: columns)
  }

  /// The table of `navctl history`; `tops` has the top screen after each entry, nil if unknown.
  static func history(_ entries: [JSONValue], tops: [String?], columns: Int = 80) -> [String] {
    let heading = ["REV", "TIME", "WHO", "WHAT", "TOP"]
    let rows = zip(entries, tops).map { entry, top in
      if let bad = entry["bad"] {
        return ["!", time(entry["t"]), author(entry["by"]), "diverged \(bad.plainText)", "-"]
      }
      let cause = entry["cause"]?.string ?? "-"
      let done = operations(entry["do"])
      let what =
        newEpochText(entry) ?? (cause == "api" ? done : done == "-" ? cause : "\(cause): \(done)")
      return [
        entry["rev"]?.plainText ?? "-", time(entry["t"]), author(entry["by"]), what, top ?? "-",
      ]
    }
    // The width that the revision, the time and four gaps of two columns leave for the others.
    let widths = (0..<5).map { column in
      ([heading] + rows).map { TerminalText.width(TerminalText.visible($0[column])) }.max() ?? 0
    }
    let room = max(12, columns - widths[0] - widths[1] - 8)
    let (who, top) = (min(widths[2], room / 3), min(widths[4], room / 3))
    let limits = [who, room - who - top, top]
    let cut = rows.map { row in
      row.enumerated().map { index, cell in
        index < 2
          ? cell : TerminalText.fitted(TerminalText.visible(cell), columns: limits[index - 2])
      }
    }
    return table(heading, cut)
  }

  static func clients(_ records: [JSONValue], columns: Int? = nil) -> [String] {
    table(
      ["CLIENT", "NAME", "VIA", "UID/KEY", "PID/FROM", "ROLE", "WATCHES", "BEHIND"],
      records.map { record in
        let isNetwork = record["key"] != nil
        let cells = [
          "id", "name", "via", isNetwork ? "key" : "uid", isNetwork ? "address" : "pid", "role",
          "watches",
        ].map { record[$0]?.plainText ?? "-" }
        let behind = record["behind"]?.plainText ?? "-"
        return cells + [record["stalled"]?.bool == true ? "\(behind), stalled" : behind]
      }, columns: columns)
  }

  /// The menu of the back button, nearest screen first: the id and the text of each.
  static func backMenu(_ resolved: JSONValue) -> [String] {
    let back = resolved["left"]?.elements.first?["back"]
    guard let entries = back?["menu"]?.elements else { return ["no back button"] }
    if entries.isEmpty { return ["a person cannot pop the top (canPop)"] }
    return aligned(entries.map { [$0["screen"]?.string ?? "", $0["text"]?.string ?? "-"] })
  }

  /// The members of an object without `except`, one a line; nested ones have names with dots.
  static func members(_ value: JSONValue, except: String? = nil) -> [String] {
    aligned(value.members.filter { $0.name != except }.flatMap { rows(of: $0.value, $0.name) })
  }

  /// Aligns rows below a heading; if a line exceeds `columns`, each row becomes a block of lines.
  static func table(_ heading: [String], _ rows: [[String]], columns: Int? = nil) -> [String] {
    let lines = aligned([heading] + rows)
    guard let columns, lines.contains(where: { TerminalText.width($0) > columns }) else {
      return lines
    }
    let width = heading.map(TerminalText.width).max() ?? 0
    return rows.enumerated().flatMap { index, row in
      (index == 0 ? [] : [""])
        + zip(heading, row).map { name, cell in
          "\(TerminalText.padded(name, columns: width))  \(TerminalText.visible(cell))"
        }
    }
  }

  static func utc(milliseconds: UInt64) -> String {
    Timestamp.rfc3339(ofSeconds: Int(milliseconds / 1000))
  }

  static func time(_ value: JSONValue?) -> String {
    value?.integer.map { utc(milliseconds: $0) } ?? "-"
  }

  private static func author(_ value: JSONValue?) -> String {
    guard let value else { return "-" }
    let name = value["name"]?.string ?? ""
    let principal = value["principal"]?.string ?? ""
    let text = [name, principal].filter { !$0.isEmpty }.joined(separator: " ")
    return text.isEmpty ? "-" : text
  }

  private static func newEpochText(_ entry: JSONValue) -> String? {
    guard let epoch = entry["epoch"]?.string else { return nil }
    return switch entry["cause"]?.string {
    case "backup": "restored from a backup, new epoch \(epoch)"
    case "older": "an older copy of the journal was put back, new epoch \(epoch)"
    case "crash": "revisions may be lost, new epoch \(epoch)"
    default: "new epoch \(epoch)"
    }
  }

  private static func operations(_ value: JSONValue?) -> String {
    let names = value?.elements.map(\.plainText) ?? []
    return names.isEmpty ? "-" : names.joined(separator: ",")
  }

  private static func rows(of value: JSONValue, _ name: String) -> [[String]] {
    guard value.kind == .object, !value.members.isEmpty else { return [[name, value.plainText]] }
    return value.members.flatMap { rows(of: $0.value, "\(name).\($0.name)") }
  }

  private static func aligned(_ rows: [[String]]) -> [String] {
    let rows = rows.map { $0.map(TerminalText.visible) }
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.map { column < $0.count ? TerminalText.width($0[column]) : 0 }.max() ?? 0
    }
    return rows.map { row in
      let cells = row.enumerated().map { column, text in
        column + 1 == row.count ? text : TerminalText.padded(text, columns: widths[column])
      }
      return cells.joined(separator: "  ")
    }
  }
}
