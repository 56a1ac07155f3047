package import NavigationCore

/// A daemon of a cluster, as the database knows it.
package struct ClusterMember: Hashable, Sendable {
  package var name: String
  /// The address at which clients reach it.
  package var endpoint: String
  /// The public key of the daemon in Z85; nil if it has none.
  package var key: String?
  /// The address of the daemon's gateway for browsers; nil if it has none.
  package var web: String?
  /// Whether the daemon gives its shards away and takes none.
  package var isDraining: Bool
  /// The remaining milliseconds of the daemon's lease when the view was read; 0 or less if the
  /// lease has ended.
  package var leaseLeft: Int64
  /// The shards that the daemon owns, ascending.
  package var shards: [Shard]

  package init(
    name: String, endpoint: String, key: String? = nil, web: String? = nil,
    isDraining: Bool = false, leaseLeft: Int64, shards: [Shard] = []
  ) {
    self.name = name
    self.endpoint = endpoint
    self.key = key
    self.web = web
    self.isDraining = isDraining
    self.leaseLeft = leaseLeft
    self.shards = shards
  }

  package var isAlive: Bool { leaseLeft > 0 }

  /// The daemon's shards as ranges of numbers, such as `[[0,511],[600,600]]`.
  var shardRanges: [(first: Int, last: Int)] {
    var ranges: [(first: Int, last: Int)] = []
    for shard in shards {
      if let last = ranges.last?.last, last + 1 == shard.number {
        ranges[ranges.count - 1].last = shard.number
      } else {
        ranges.append((shard.number, shard.number))
      }
    }
    return ranges
  }
}

/// The division of a cluster's shards at some moment, as one of its daemons read it.
package struct ClusterView: Hashable, Sendable {
  /// The name of the daemon that read this view from the database.
  package var ownName: String
  /// All daemons, in the order of their names.
  package var members: [ClusterMember]
  /// The duration of a lease in milliseconds; a running daemon renews its lease after a third of
  /// it.
  package var leaseDuration: UInt64

  package init(ownName: String, members: [ClusterMember], leaseDuration: UInt64 = 0) {
    self.ownName = ownName
    self.members = members
    self.leaseDuration = leaseDuration
  }

  /// Whether a daemon has not renewed its lease for half of the duration, so that it may have
  /// ended.
  func isSilent(_ member: ClusterMember) -> Bool { member.leaseLeft <= Int64(leaseDuration / 2) }

  /// The value of `get` `cluster` (protocol §17).
  var json: [UInt8] {
    JSONWriter.object { json in
      json.member("member", ownName)
      json.member("shards", UInt64(Shard.count))
      json.array("members", members) { $0.member($1) }
    }
  }
}

/// A request of an administrator to move a shard, or to begin or end the draining of a member.
package enum ClusterCommand: Hashable, Sendable {
  case move(Shard, to: String)
  /// With `on`, the member gives all its shards away; without, it takes shards again.
  case drain(String, on: Bool)
}

extension JSONWriter {
  fileprivate mutating func member(_ member: ClusterMember) {
    object { json in
      json.member("name", member.name)
      json.member("endpoint", member.endpoint)
      json.optional("key", member.key)
      json.optional("web", member.web)
      json.member("owned", UInt64(member.shards.count))
      json.array("ranges", member.shardRanges) { json, range in
        json.array([range.first, range.last]) { $0.integer(UInt64($1)) }
      }
      json.member("draining", member.isDraining)
      json.member("lease", UInt64(max(member.leaseLeft, 0)))
    }
  }
}
