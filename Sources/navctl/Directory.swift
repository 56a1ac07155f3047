import NavigationClient
import NavigationCore

/// A virtual nav of the daemon, such as `$navs`, which has a record of each nav as its screens.
struct DirectoryNav {
  static let navs = DirectoryNav(nav: "$navs", mayBeRefused: false)
  /// The position of each nav: its revision, depth and top.
  static let positions = DirectoryNav(nav: "$heads", mayBeRefused: true)
  static let clients = DirectoryNav(nav: "$clients", mayBeRefused: false)

  let nav: String
  /// Whether navctl reads a refusal as an empty list: a right can be missing, or navd be too old.
  let mayBeRefused: Bool

  static func navNames(_ daemon: Daemon) throws -> [String] {
    try readFromAllMembers([navs], daemon)[0].compactMap { $0["id"]?.string }
  }

  /// Reads several directories from each daemon of the cluster, over one connection to each.
  static func readFromAllMembers(
    _ directories: [DirectoryNav], _ daemon: Daemon
  ) throws -> [[JSONValue]] {
    let others: [ClusterMembers.Member]
    do { others = try daemon.cluster().members?.others ?? [] } catch is Refusal { others = [] }
    var lists = try directories.map { [try $0.read(daemon)] }
    for member in others {
      guard let address = member.address else { continue }
      do {
        let daemon = try daemon.invocation.connect(to: address)
        let found = try directories.map { try $0.read(daemon) }
        for (index, records) in found.enumerated() { lists[index].append(records) }
      } catch let error as ConnectionError {
        let name = TerminalText.visible(member.name)
        Output.error("navctl: the navs of \(name) are missing: \(error)")
      }
    }
    return lists.map { $0.count == 1 ? $0[0] : ClusterMembers.joinNavs($0) }
  }

  /// Reads the records of one daemon; none if it refuses them and `mayBeRefused` is true.
  func read(_ daemon: Daemon) throws -> [JSONValue] {
    do {
      return try readAll(daemon)
    } catch let refusal as Refusal
      where mayBeRefused && [.forbidden, .noNav].contains(refusal.error.knownCode)
    {
      return []
    }
  }

  /// Reads the records; if they exceed the size of a reply, from the snapshot of a watch.
  private func readAll(_ daemon: Daemon) throws -> [JSONValue] {
    do {
      return try daemon.get(.state, nav).reply.json().list("screens")
    } catch let refusal as Refusal where refusal.error.knownCode == .limit {
      return try JSONValue(readSnapshotByWatch(daemon)).list("screens")
    }
  }

  private func readSnapshotByWatch(_ daemon: Daemon) throws -> [UInt8] {
    let timeout = daemon.timeout
    try daemon.connection.openSession(timeout: timeout)
    try daemon.connection.request { $0.watch(nav) }
    while let event = try daemon.connection.next(timeout: timeout) {
      switch event {
      case .changed(_, .replaced(let mirror, _)): return mirror.snapshot(of: nav).bytes
      case .watchEnded(_, _, .refused(let error)): throw Refusal(error: error, nav: nav)
      default: continue
      }
    }
    throw PlainFailure(.busy, ConnectionErrorText.timeout(daemon.endpoint, isChange: false))
  }

  /// Adds the position of each nav, which `$heads` has, to its record of `$navs`.
  static func join(navs: [JSONValue], positions: [JSONValue]) -> [JSONValue] {
    var byName: [String: JSONValue] = [:]
    for position in positions { if let id = position["id"]?.string { byName[id] = position } }
    return navs.map { nav in
      guard let position = nav["id"]?.string.flatMap({ byName[$0] }) else { return nav }
      let added = position.object.members.filter { nav[$0.name] == nil }
      let whole = OpaqueJSON.object(JSONObject(nav.object.members + added))
      return (try? JSONValue(whole.bytes)) ?? nav
    }
  }
}
