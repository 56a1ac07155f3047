import NavigationClient
import NavigationCore

/// A virtual nav of the daemon, which clients read like a nav.
struct Directory {
  static let navs = Directory(nav: "$navs", isOptional: false)
  /// The positions of the navs.
  static let heads = Directory(nav: "$heads", isOptional: true)
  static let clients = Directory(nav: "$clients", isOptional: false)

  let nav: String
  /// Whether a refusal counts as no records: a right is missing, or an old daemon has no such nav.
  let isOptional: Bool

  static func navNames(_ daemon: Daemon) throws -> [String] {
    try readFromAllMembers([navs], daemon)[0].compactMap { $0["id"]?.string }
  }

  /// Reads the records of several directories, each daemon of a cluster over one connection.
  static func readFromAllMembers(
    _ directories: [Directory], _ daemon: Daemon
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
    return lists.map { $0.count == 1 ? $0[0] : ClusterMembers.join($0) }
  }

  /// Reads the records of one daemon; none if it refuses those of an optional directory.
  func read(_ daemon: Daemon) throws -> [JSONValue] {
    do {
      return try readAll(daemon)
    } catch let refusal as Refusal
      where isOptional && [.forbidden, .noNav].contains(refusal.error.knownCode)
    {
      return []
    }
  }

  /// Records that exceed the size of a reply are read from the snapshot of a watch.
  private func readAll(_ daemon: Daemon) throws -> [JSONValue] {
    do {
      return try daemon.get(.state, nav).reply.json().list("screens")
    } catch let refusal as Refusal where refusal.error.knownCode == .limit {
      return try JSONValue(readSnapshot(daemon)).list("screens")
    }
  }

  private func readSnapshot(_ daemon: Daemon) throws -> [UInt8] {
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
    throw PlainFailure(.busy, ConnectionText.timeout(daemon.endpoint, isChange: false))
  }

  /// Adds the position of each nav, which `$heads` has, to its record of `$navs`.
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
