@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Rules at random, for the daemon and for its twin, from the same words.
struct AccessSample {
  var twin: AccessTwin
  var access: Access

  static let users = [0, 7, 1000, 1001]
  static let groups = [0, 20, 1000]
  static let keys = ["panel", "remote", "stray"]
  static let roles = ["admin", "ui", "read", "operator", "audit"]
  static let patterns = [
    "*", "kiosk*", "k?osk", "kiosk/1", "*/1", "*o*k*", "hud", "$*", "$navs", "$clients", "$heads",
    "?navs",
    "**", "a*b*c",
  ]
  static let rights = ["read", "push", "pop", "admin"]
  static let navs = [
    "kiosk", "kiosk/1", "hud", "hall/1", "aXbXc", "nobody", "$navs", "$clients", "$heads",
  ]

  init(using source: inout some RandomNumberGenerator) {
    twin = AccessTwin(ownUser: 7, roleLines: [], grantLines: [])
    access = Access(daemonUser: 7)
    for key in Self.keys.dropLast() {
      let role = Bool.random(using: &source) ? Self.roles.randomElement(using: &source) : nil
      twin.keyRoles[key] = .some(role)
      access.keys[key] = .some(role.map { Role($0) })
    }
    for _ in 0..<Int.random(in: 0...2, using: &source) { addRole(using: &source) }
    for _ in 0..<Int.random(in: 0...5, using: &source) { addGrant(using: &source) }
    for _ in 0..<Int.random(in: 0...2, using: &source) {
      let (word, subject) = Self.who(using: &source)
      twin.gatewayLines.append([word])
      access.gateways.append(subject)
    }
  }

  private static func who(using source: inout some RandomNumberGenerator) -> (
    String, Access.Subject
  ) {
    switch Int.random(in: 0..<3, using: &source) {
    case 0:
      let user = users.randomElement(using: &source) ?? 0
      return ("uid:\(user)", .user(UInt32(user)))
    case 1:
      let group = groups.randomElement(using: &source) ?? 0
      return ("gid:\(group)", .group(UInt32(group)))
    default:
      let key = keys.randomElement(using: &source) ?? ""
      return ("key:\(key)", .key(key))
    }
  }

  private mutating func addRole(using source: inout some RandomNumberGenerator) {
    let role = Self.roles.randomElement(using: &source) ?? ""
    let members = (0..<Int.random(in: 1...2, using: &source)).map { _ in Self.who(using: &source) }
    twin.roleLines.append([role] + members.map(\.0))
    access.roles.append(Access.RoleRule(Role(role), members.map(\.1)))
  }

  private mutating func addGrant(using source: inout some RandomNumberGenerator) {
    var (word, subject) = Self.who(using: &source)
    if Bool.random(using: &source) {
      let role = Self.roles.randomElement(using: &source) ?? ""
      (word, subject) = ("role:\(role)", .role(Role(role)))
    }
    let pattern = Self.patterns.randomElement(using: &source) ?? "*"
    let rights = Self.rights.filter { _ in Bool.random(using: &source) }
    twin.grantLines.append([word, pattern] + rights)
    guard let glob = NavGlob(pattern) else { return }
    access.grants.append(Access.Grant(subject, glob, Self.rights(rights)))
  }

  static func rights(_ words: [String]) -> Rights {
    let values: [String: Rights] = [
      "read": .read, "push": .push, "pop": .pop, "admin": .admin,
    ]
    return words.reduce(into: []) { $0.formUnion(values[$1] ?? []) }
  }

  /// Everybody who may ask: users in some group, and keys, of which the last is not authorised.
  func everybody(using source: inout some RandomNumberGenerator) -> [(AccessTwin.Somebody, Peer)] {
    let local = Self.users.map { user -> (AccessTwin.Somebody, Peer) in
      let group = Self.groups.randomElement(using: &source) ?? 0
      return (
        AccessTwin.Somebody(uid: user, gid: group),
        .local(user: UInt32(user), group: UInt32(group), process: 1)
      )
    }
    return local
      + Self.keys.map { (AccessTwin.Somebody(key: $0), .key(name: $0, address: "192.0.2.1")) }
  }

  /// An actor with a role and patterns at random.
  static func actor(
    _ number: Int, using source: inout some RandomNumberGenerator
  ) throws -> (AccessTwin.Actor, SessionActor) {
    let role = roles.randomElement(using: &source) ?? ""
    let navs = (0..<Int.random(in: 1...3, using: &source)).map { _ in
      Bool.random(using: &source) ? "*" : patterns.randomElement(using: &source) ?? "*"
    }
    let name = "page-\(number)"
    let actor = SessionActor(name: name, role: Role(role), navs: navs.compactMap { NavGlob($0) })
    return (AccessTwin.Actor(name: name, role: role, navs: navs), try #require(actor))
  }
}
