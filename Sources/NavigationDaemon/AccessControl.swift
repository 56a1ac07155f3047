import CLinux
import CurveKeys
import NavigationSync
import RuntimePaths
import ZeroMQ

/// Who may connect and do what, with the names of the configuration looked up and the keys read.
struct AccessControl: Sendable {
  /// What the hub decides by.
  private(set) var access: Access
  /// Why keys are left out.
  private(set) var problems: [String] = []
  /// The names of the authorised keys.
  private var names: [CurvePublicKey: String] = [:]
  private let directory: KeyDirectory

  /// Reads the keys and looks the names up.
  ///
  /// - Parameters:
  ///   - configuration: section `[access]`.
  ///   - user: whom the daemon runs as.
  /// - Throws: a user or a group that there is not; nobody is let in by guessing.
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

  /// Reads the directory of keys once more.
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

  /// Who is behind a connection, and by which key; nil for nobody who may connect.
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

  /// Who asks to be let in, and the user id that its messages will carry; or why it is refused.
  func admit(_ request: ZAPRequest) -> Result<(peer: Peer, userID: String), Refusal> {
    switch (request.domain, request.mechanism, request.address) {
    case (Listener.localDomain, .null, .process(let user, let group, let process)):
      let peer = Peer.local(user: user, group: group, process: process)
      guard access.admits(peer) else { return .failure(Refusal("nothing is granted to it", peer)) }
      return .success((peer, "uid:\(user)"))
    case (Listener.networkDomain, .curve(let key), .network(let address)):
      guard let name = names[key] else {
        return .failure(Refusal("its key is not authorised: \(key)", nil, address))
      }
      let peer = Peer.key(name: name, address: address)
      guard access.admits(peer) else { return .failure(Refusal("nothing is granted to it", peer)) }
      return .success((peer, key.description))
    default:
      return .failure(Refusal("it proves nothing that is asked of it", nil))
    }
  }

  /// Why somebody is not let in.
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

  /// Why a name stands for nobody, and what to do; nil if it stands for somebody.
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
    return "there is no \(kind) \(name): make it, or name another one"
  }

  private static func unknown(_ who: Configuration.Access.Who) -> DaemonError {
    let reason = reasonUnknown(who) ?? "who is named cannot be looked up: try again"
    return .configuration(ConfigurationError(file: "[access]", line: nil, message: reason))
  }

  /// The users whom the group has as members beside those whose primary group it is.
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
