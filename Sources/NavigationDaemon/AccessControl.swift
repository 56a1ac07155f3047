import CLinux
import ZeroMQ
import NavigationCore
import NavigationHub
import RuntimePaths
import TransportGuard

/// The roles, grants and keys of the configuration, with names of users and groups looked up.
struct AccessControl: PeerAuthority, Sendable {
  private(set) var access: Access
  /// The reasons why files in the directory of keys are ignored.
  private(set) var problems: [String] = []
  private var keyNames: [CurvePublicKey: String] = [:]
  private let directory: KeyDirectory
  /// The name of this machine in a cluster; nil outside a cluster.
  let host: String?

  init(
    _ configuration: Configuration.Access, daemonUser user: UInt32, host: String? = nil,
    unmappedUser: UInt32? = Self.unmappedUser
  ) {
    self.host = host
    access = Access(daemonUser: user, unmappedUser: unmappedUser)
    directory = KeyDirectory(path: configuration.keyDirectory)
    for line in configuration.roles {
      access.roles.append(
        Access.RoleRule(Role(line.role), line.members.flatMap { Self.subjects($0) }))
    }
    for line in configuration.grants {
      for subject in Self.subjects(line.who) {
        access.grants.append(Access.Grant(subject, line.navs, line.rights))
      }
    }
    for line in configuration.gateways {
      access.gateways += line.members.flatMap { Self.subjects($0) }
    }
    readKeys()
  }

  mutating func readKeys() {
    let listing = directory.list(trusting: access.daemonUser)
    problems = listing.problems
    keyNames = [:]
    access.keys = [:]
    for key in listing.keys {
      keyNames[key.publicKey] = key.name
      access.keys[key.name] = .some(key.role.map { Role($0) })
    }
  }

  func name(of key: CurvePublicKey) -> String? { keyNames[key] }

  func admits(_ peer: Peer) -> Bool { access.admits(peer) }

  /// Stands for a user or group that does not exist: no client has a key with an empty name.
  ///
  /// A grant to `nobody` is a grant too: it ends the default rights of users without a role.
  private static let nobody = Access.Subject.key("")

  private static func subjects(_ who: Configuration.Access.Who) -> [Access.Subject] {
    existingSubjects(who) ?? [nobody]
  }

  /// The subjects that a word of the configuration names; nil if the user or group does not exist.
  private static func existingSubjects(_ who: Configuration.Access.Who) -> [Access.Subject]? {
    switch who {
    case .userID(let number): return [.user(number)]
    case .groupID(let number): return [.group(number)]
    case .key(let name): return [.key(name)]
    case .role(let name): return [.role(Role(name))]
    case .user(let name):
      let number = unsafe navd_user_id(name)
      return number >= 0 ? [.user(UInt32(number))] : nil
    case .group(let name):
      let number = unsafe navd_group_id(name)
      guard number >= 0 else { return nil }
      return [.group(UInt32(number))] + members(of: name).map { .user($0) }
    }
  }

  /// The warning about a user or group that does not exist; nil if it exists.
  static func warning(about who: Configuration.Access.Who) -> String? {
    let name: String
    switch who {
    case .userID, .groupID, .key, .role: return nil
    case .user(let text): name = "user \(text)"
    case .group(let text): name = "group \(text)"
    }
    return existingSubjects(who) == nil
      ? "there is no \(name), which gets nothing: create it and reload" : nil
  }

  /// The members of a group, except users that have it only as their primary group.
  private static func members(of group: String) -> [UInt32] {
    var numbers: [UInt32] = []
    var index: Int32 = 0
    while true {
      let number = unsafe navd_group_member(group, index)
      guard number != -1 else { return numbers }
      if number >= 0 { numbers.append(UInt32(number)) }
      index += 1
    }
  }

  /// The user id that the kernel reports for every user outside the user namespace of this process;
  /// nil if the namespace maps all users.
  static var unmappedUser: UInt32? {
    unmappedUser(
      map: try? readSmallText("/proc/self/uid_map"),
      overflow: try? readSmallText("/proc/sys/kernel/overflowuid"))
  }

  /// Computes `unmappedUser` from the texts of uid_map and overflowuid, see proc(5); without `map`,
  /// the namespace maps all users.
  static func unmappedUser(map: String?, overflow: String?) -> UInt32? {
    guard let map else { return nil }
    let mapped = map.split(separator: "\n").reduce(into: UInt64(0)) { sum, line in
      sum += line.split(separator: " ").dropFirst(2).first.flatMap { UInt64($0) } ?? 0
    }
    // The number 2^32-1 stands for no user.
    guard mapped < UInt64(UInt32.max) else { return nil }
    // navd.service hides /proc/sys.
    return overflow.flatMap { UInt32($0.filter(\.isNumber)) } ?? 65534
  }
}
