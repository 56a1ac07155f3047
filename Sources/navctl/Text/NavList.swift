import NavigationCore

/// The navs of a daemon or a cluster, as `list` shows them.
enum NavList {
  /// Adds to each record of `$navs` the position that `$heads` has of the nav: `rev`, `depth`,
  /// `top`, `t` and `watches`.
  static func join(navs: [JSONValue], heads: [JSONValue]) -> [JSONValue] {
    var byName: [String: JSONValue] = [:]
    for head in heads { if let id = head["id"]?.string { byName[id] = head } }
    return navs.map { nav in
      guard let head = nav["id"]?.string.flatMap({ byName[$0] }) else { return nav }
      let added = head.object.members.filter { nav[$0.name] == nil }
      let whole = OpaqueJSON.object(JSONObject(nav.object.members + added))
      return (try? JSONValue(whole.bytes)) ?? nav
    }
  }
}
