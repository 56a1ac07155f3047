/// The rules of access once more, naively: strings, no tables, no order of convenience.
///
/// Written from the manual page alone, so that what it says and what the hub does are compared.
struct AccessTwin {
  /// Somebody who may be let in.
  struct Somebody: Hashable {
    var uid: Int?
    var gid: Int?
    var key: String?
    /// For whom this one speaks, if it does.
    var actor: Actor?

    var principal: String { (key ?? "uid:\(uid ?? -1)") + (actor.map { "/" + $0.name } ?? "") }
  }

  /// For whom a gateway speaks.
  struct Actor: Hashable {
    var name: String
    var role: String
    var navs: [String]
  }

  var ownUser: Int
  /// Each line: a role, then whom it names, `uid:N`, `gid:N` or `key:NAME`.
  var roleLines: [[String]]
  /// Each line: whom, `uid:N`, `gid:N`, `key:NAME` or `role:ROLE`; a pattern; rights.
  var grantLines: [[String]]
  /// The keys in the directory, each with the role that its file says, if it does.
  var keyRoles: [String: String?] = [:]

  /// Each line: who are gateways, `uid:N`, `gid:N` or `key:NAME`.
  var gatewayLines: [[String]] = []

  /// Whether somebody without an actor may speak for one, and whether it may do nothing else.
  func speaks(_ peer: Somebody) -> (may: Bool, only: Bool) {
    if peer.key == nil, peer.uid == 0 || peer.uid == ownUser { return (true, false) }
    if let key = peer.key, keyRoles[key] == nil { return (false, false) }
    let isGateway = gatewayLines.contains { $0.contains { names(peer, $0) } }
    return (isGateway, isGateway)
  }

  /// Whether somebody may do what concerns no nav.
  func administers(_ peer: Somebody) -> Bool {
    guard let actor = peer.actor else { return role(of: peer) == "admin" }
    var gateway = peer
    gateway.actor = nil
    return actor.role == "admin" && actor.navs.contains("*") && administers(gateway)
  }

  func role(of peer: Somebody) -> String? {
    if peer.key == nil, peer.uid == 0 || peer.uid == ownUser { return "admin" }
    if let key = peer.key {
      guard let fileRole = keyRoles[key] else { return nil }
      if let fileRole { return fileRole }
    }
    for line in roleLines where line.dropFirst().contains(where: { names(peer, $0) }) {
      return line[0]
    }
    if peer.key == nil, grantLines.isEmpty { return "ui" }
    return nil
  }

  func may(_ peer: Somebody, _ right: String, on nav: String, owner: String?) -> Bool {
    if let actor = peer.actor {
      guard actor.navs.contains(where: { Self.includes($0, nav, "read") }) else { return false }
      let isOwner = owner == peer.principal && holds(actor.role, "push", nav)
      guard isOwner || holds(actor.role, right, nav) else { return false }
      var gateway = peer
      gateway.actor = nil
      return may(gateway, right, on: nav, owner: owner)
    }
    if let key = peer.key, keyRoles[key] == nil { return false }
    if role(of: peer) == "admin" { return true }
    if granted(peer, right, nav) { return true }
    return owner == peer.principal && granted(peer, "push", nav)
  }

  private func granted(_ peer: Somebody, _ right: String, _ nav: String) -> Bool {
    let role = role(of: peer)
    for line in grantLines where line.dropFirst(2).contains(right) {
      let isMeant = role.map { line[0] == "role:\($0)" } ?? false
      if isMeant || names(peer, line[0]), Self.includes(line[1], nav, right) { return true }
    }
    return role.map { isBuiltIn($0, right, nav) } ?? false
  }

  /// Whether a role by itself has a right: what is granted to it, or what it has without that.
  private func holds(_ role: String, _ right: String, _ nav: String) -> Bool {
    if role == "admin" { return true }
    for line in grantLines where line[0] == "role:\(role)" && line.dropFirst(2).contains(right) {
      if Self.includes(line[1], nav, right) { return true }
    }
    return isBuiltIn(role, right, nav)
  }

  private func isBuiltIn(_ role: String, _ right: String, _ nav: String) -> Bool {
    guard role == "ui" || role == "read", !grantLines.contains(where: { $0[0] == "role:\(role)" })
    else { return false }
    if nav.hasPrefix("$") { return ["$navs", "$heads"].contains(nav) && right == "read" }
    return role == "ui" ? right != "admin" : right == "read"
  }

  private func names(_ peer: Somebody, _ who: String) -> Bool {
    if let key = peer.key { return who == "key:\(key)" }
    if who == "uid:\(peer.uid ?? -1)" { return true }
    return who == "gid:\(peer.gid ?? -1)"
  }

  /// Whether a line for navs is about this one: the pattern of all navs is about `$heads` too.
  private static func includes(_ pattern: String, _ nav: String, _ right: String) -> Bool {
    matches(pattern, nav) || pattern == "*" && nav == "$heads" && right == "read"
  }

  /// Whether the pattern means the name: the definition, by recursion.
  static func matches(_ pattern: String, _ name: String) -> Bool {
    if name.hasPrefix("$"), !pattern.hasPrefix("$") { return false }
    return matches(Substring(pattern).utf8, Substring(name).utf8)
  }

  private static func matches(_ pattern: Substring.UTF8View, _ name: Substring.UTF8View) -> Bool {
    guard let first = pattern.first else { return name.isEmpty }
    let rest = pattern.dropFirst()
    if first == UInt8(ascii: "*") {
      return matches(rest, name) || (!name.isEmpty && matches(pattern, name.dropFirst()))
    }
    guard let octet = name.first else { return false }
    return (first == UInt8(ascii: "?") || first == octet) && matches(rest, name.dropFirst())
  }
}
