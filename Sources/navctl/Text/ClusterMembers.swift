import NavigationCore

/// How the shards of a cluster are divided among its daemons, by the answer to `get` `cluster`.
struct ClusterMembers: Sendable {
  struct Member: Hashable, Sendable {
    var name: String
    /// The address at which clients reach the daemon; nil if it has none.
    var address: DaemonAddress?
    var ownedShards: UInt64
    /// The first and the last number of each range of its shards.
    var ranges: [ClosedRange<UInt64>] = []
    /// Whether the daemon gives its shards away and takes none.
    var isDraining = false
    /// The milliseconds until the lease of the daemon ends; 0 if it has ended.
    var leaseMilliseconds: UInt64 = 0

    var state: String { leaseMilliseconds == 0 ? "away" : isDraining ? "draining" : "serving" }

    /// The first four ranges of its shards, such as `0-340 512`.
    var rangeText: String {
      let most = 4
      let texts = ranges.prefix(most).map {
        $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
      }
      return (texts + (ranges.count > most ? ["…"] : [])).joined(separator: " ")
    }
  }

  let ownName: String
  let shardCount: UInt64
  let members: [Member]

  init?(_ value: JSONValue) {
    guard let ownName = value["member"]?.string, let list = value["members"] else { return nil }
    self.ownName = ownName
    shardCount = max(value["shards"]?.integer ?? 1, 1)
    members = list.elements.compactMap { member in
      guard let name = member["name"]?.string else { return nil }
      let address = member["endpoint"]?.string.map {
        DaemonAddress(endpoint: $0, key: member["key"]?.string, web: member["web"]?.string)
      }
      let ranges = member.list("ranges").compactMap { range in
        let ends = range.elements.compactMap(\.integer)
        return ends.count == 2 && ends[0] <= ends[1] ? ends[0]...ends[1] : nil
      }
      return Member(
        name: name, address: address, ownedShards: member["owned"]?.integer ?? 0, ranges: ranges,
        isDraining: member["draining"]?.bool ?? false,
        leaseMilliseconds: member["lease"]?.integer ?? 0)
    }
  }

  /// The shard of a nav: the CRC-32 of its name, modulo the number of shards (protocol §17).
  func shard(of nav: String) -> UInt64 { UInt64(crc32(Array(nav.utf8))) % shardCount }

  func owner(of shard: UInt64) -> Member? {
    members.first { member in member.ranges.contains { $0.contains(shard) } }
  }

  var table: [String] {
    Tables.table(
      ["MEMBER", "STATE", "SHARDS", "LEASE", "ADDRESS", "WHICH"],
      members.map { member in
        [
          member.name, member.state, "\(member.ownedShards)",
          member.leaseMilliseconds == 0 ? "-" : "\(member.leaseMilliseconds) ms",
          member.address?.endpoint ?? "-",
          member.rangeText.isEmpty ? "-" : member.rangeText,
        ]
      })
  }

  var others: [Member] { members.filter { $0.name != ownName && $0.ownedShards > 0 } }

  /// Joins the navs of several daemons, sorted by name; of two with one name, the later wins.
  static func joinNavs(_ lists: [[JSONValue]]) -> [JSONValue] {
    var records: [String: JSONValue] = [:]
    for record in lists.joined() { if let id = record["id"]?.string { records[id] = record } }
    return records.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value)
  }
}
