import NavigationCore

/// The rows of a list of navs: a branch for each part of a name before a `/`, and the navs in it.
enum NavTree {
  struct Row: Hashable, Sendable {
    /// The name of the nav, or the part of the names that all navs of the branch begin with.
    var path: String
    var label: String
    var depth: Int
    var isNav: Bool
    var isBranch: Bool
  }

  /// The rows in the order of the names' parts; with a filter, also those in collapsed branches.
  static func rows(_ names: [String], filter: String = "", collapsed: Set<String> = []) -> [Row] {
    let wanted = filter.lowercased()
    let shown = wanted.isEmpty ? names : names.filter { $0.lowercased().contains(wanted) }
    let all = rows(sorted: sorted(shown))
    guard wanted.isEmpty, !collapsed.isEmpty else { return all }
    var hidden: Int?
    return all.filter { row in
      if let depth = hidden {
        if row.depth > depth { return false }
        hidden = nil
      }
      if row.isBranch, collapsed.contains(row.path) { hidden = row.depth }
      return true
    }
  }

  /// The names in the order of their parts: `a`, `a/b`, `a-b`.
  private static func sorted(_ names: [String]) -> [String] {
    let keys = names.map { name in
      (name: name, key: name.utf8.map { $0 == UInt8(ascii: "/") ? 0 : $0 })
    }
    return keys.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.name)
  }

  private static func rows(sorted names: [String]) -> [Row] {
    var rows: [Row] = []
    // The parts of the name before, with their rows.
    var chain: [(part: String, row: Int)] = []
    for name in names {
      let parts = name.slashSeparatedParts
      var common = 0
      while common < min(chain.count, parts.count), chain[common].part == parts[common] {
        common += 1
      }
      chain.removeSubrange(common...)
      for index in common..<parts.count {
        if let parent = chain.last { rows[parent.row].isBranch = true }
        chain.append((parts[index], rows.count))
        rows.append(
          Row(
            path: parts[...index].joined(separator: "/"), label: parts[index],
            depth: index, isNav: index + 1 == parts.count, isBranch: false))
      }
    }
    return rows
  }
}
