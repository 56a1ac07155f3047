import CLinux
import CurveKeys
import NavigationSync
import RuntimePaths
import ZeroMQ

/// The access rules in force: section `[access]` with its names looked up, and the authorised keys.
struct AccessControl: Sendable {
  /// The roles and rights, in the form that the hub uses.
  private(set) var access: Access
  /// The reasons why files in the directory of keys are ignored.
  private(set) var problems: [String] = []
  /// The names of the authorised keys.
  private var names: [CurvePublicKey: String] = [:]
  private let directory: KeyDirectory

  /// Looks up the users and groups, and reads the keys.
  ///
  /// - Parameters:
  ///   - configuration: section `[access]`.
  ///   - user: the user id of the daemon.
  /// - Throws: `DaemonError` if a user or a group does not exist.
  init(_ configuration: Configuration.Access, daemonUser user: UInt32) throws(DaemonError) {
    access = Access(daemonUser: user)
    directory = KeyDirectory(path: configuration.keyDirectory)
    for line in configuration.roles {
      var members: [Access.Subject] = []
      for who in line.members { members += try Self.subjects(who) }
      access.roles.append(Access.RoleRule(Role(line.role), members))
    }
    for line in configuration.grants {
      for subject in try Self.subjects(line.who) {
        access.grants.append(Access.Grant(subject, line.navs, line.rights))
      }
    }
    readKeys()
  }

  /// Reads the directory of keys again.
  mutating func readKeys() {
    let listing = directory.list(trusting: access.daemonUser)
    problems = listing.problems
    names = [:]
    access.keys = [:]
    for key in listing.keys {
      names[key.publicKey] = key.name
      access.keys[key.name] = .some(key.role.map { Role($0) })
    }
  }

  /// The name under which a key is authorised.
  func name(of key: CurvePublicKey) -> String? { names[key] }

  /// Identifies the client of a connection, and its key; nil if it must not connect.
  func peer(_ address: PeerAddress, userID: @autoclosure () -> String?) -> (
    peer: Peer, key: CurvePublicKey?
  )? {
    switch address {
    case .process(let user, let group, let process):
      return (.local(user: user, group: group, process: process), nil)
    case .network(let address):
      guard let key = userID().flatMap({ CurvePublicKey(z85: $0) }), let name = names[key] else {
        return nil
      }
      return (.key(name: name, address: address), key)
    }
  }

  /// Decides a ZAP request: the client and the user id of its messages, or the refusal.
  func admit(_ request: ZAPRequest) -> Result<(peer: Peer, userID: String), Refusal> {
    switch (request.domain, request.mechanism, request.address) {
    case (Listener.localDomain, .null, .process(let user, let group, let process)):
      let peer = Peer.local(user: user, group: group, process: process)
      guard access.admits(peer) else { return .failure(Refusal("it has no right", peer)) }
      return .success((peer, "uid:\(user)"))
    case (Listener.networkDomain, .curve(let key), .network(let address)):
      guard let name = names[key] else {
        return .failure(Refusal("its key is not authorised: \(key)", nil, address))
      }
      let peer = Peer.key(name: name, address: address)
      guard access.admits(peer) else { return .failure(Refusal("nothing is granted to it", peer)) }
      return .success((peer, key.description))
    default:
      return .failure(Refusal("its authentication does not fit the socket", nil))
    }
  }

  /// The reason why navd refuses a connection.
  struct Refusal: Error {
    var reason: String
    var peer: Peer?
    var address: String?

    init(_ reason: String, _ peer: Peer?, _ address: String? = nil) {
      (self.reason, self.peer, self.address) = (reason, peer, address)
    }
  }

  private static func subjects(
    _ who: Configuration.Access.Who
  ) throws(DaemonError) -> [Access.Subject] {
    switch who {
    case .userID(let number): return [.user(number)]
    case .groupID(let number): return [.group(number)]
    case .key(let name): return [.key(name)]
    case .role(let name): return [.role(Role(name))]
    case .user(let name):
      let number = unsafe navd_user_id(name)
      guard number >= 0 else { throw unknown(who) }
      return [.user(UInt32(number))]
    case .group(let name):
      let number = unsafe navd_group_id(name)
      guard number >= 0 else { throw unknown(who) }
      return [.group(UInt32(number))] + members(of: name).map { .user($0) }
    }
  }

  /// The error about a user or group that does not exist, with a remedy; nil if it exists.
  static func reasonUnknown(_ who: Configuration.Access.Who) -> String? {
    let (kind, name): (String, String)
    switch who {
    case .userID, .groupID, .key, .role: return nil
    case .user(let text):
      if unsafe navd_user_id(text) >= 0 { return nil }
      (kind, name) = ("user", text)
    case .group(let text):
      if unsafe navd_group_id(text) >= 0 { return nil }
      (kind, name) = ("group", text)
    }
    return "there is no \(kind) \(name): create it, or name another one"
  }

  private static func unknown(_ who: Configuration.Access.Who) -> DaemonError {
    let reason = reasonUnknown(who) ?? "cannot look up a user or group: try again"
    return .configuration(ConfigurationError(file: "[access]", line: nil, message: reason))
  }

  /// The members of a group, without the users whose primary group it is.
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
}
