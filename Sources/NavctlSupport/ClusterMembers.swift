package import NavigationCore

/// How a cluster is divided among its daemons, as `get` `cluster` answers.
package struct ClusterMembers: Sendable {
  /// One daemon of the cluster.
  package struct Member: Hashable, Sendable {
    /// The name.
    package var name: String
    /// The address; nil if the daemon has none for others.
    package var address: DaemonAddress?
    /// The number of its shards.
    package var owned: UInt64
  }

  /// The name of the daemon that answered.
  package let own: String
  /// The daemons, in the order of the answer.
  package let members: [Member]

  /// Reads the value of the answer; nil if it is not of a cluster.
  package init?(_ value: JSONValue) {
    guard let own = value["member"]?.string, let list = value["members"] else { return nil }
    self.own = own
    members = list.elements.compactMap { member in
      guard let name = member["name"]?.string else { return nil }
      let address = member["endpoint"]?.string.map {
        DaemonAddress(endpoint: $0, key: member["key"]?.string, web: member["web"]?.string)
      }
      return Member(name: name, address: address, owned: member["owned"]?.integer ?? 0)
    }
  }

  /// The other daemons that have shards.
  package var others: [Member] { members.filter { $0.name != own && $0.owned > 0 } }

  /// Joins the lists of navs of several daemons, sorted by name.
  ///
  /// If a nav moves between the two reads, both have it; the later list wins.
  package static func join(_ lists: [[JSONValue]]) -> [JSONValue] {
    var records: [String: JSONValue] = [:]
    for record in lists.joined() {
      if let id = record["id"]?.string { records[id] = record }
    }
    return records.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value)
  }

  /// The list as the state of the directory `$navs`.
  package static func state(_ records: [JSONValue]) -> OpaqueJSON {
    .object([
      "nav": .string("$navs"),
      "value": .object([
        "nav": .string("$navs"),
        "screens": .array(records.map { OpaqueJSON(validated: $0.bytes) }),
      ]),
    ])
  }
}
