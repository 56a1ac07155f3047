/// One of the sets into which a cluster divides all navs; outside of a cluster there is only one.
///
/// One daemon serves all navs of a shard. A hash of a nav's name selects its shard; the upper bits
/// of the nav's number are the number of the shard.
package struct Shard: Hashable, Comparable, Sendable {
  /// The number of shards of a cluster.
  ///
  /// The number is the same for any number of daemons, and can never change.
  package static let count = 1024
  /// The only shard outside of a cluster.
  package static let first = Shard(0)

  /// The number, 0 ..< `count`.
  package let number: Int
  /// The number of low bits that count the navs of a shard: 10¹² navs in each shard.
  private static let navNumberBits: UInt64 = 40

  package init(_ number: Int) { self.number = number }

  package init(ofName name: String, among count: Int) {
    guard count > 1 else {
      number = 0
      return
    }
    var name = name
    number = name.withUTF8 { Int(crc32(unsafe Span(_unsafeElements: $0))) % count }
  }

  package init(ofNav number: UInt64) { self.number = Int(number >> Self.navNumberBits) }

  /// The number of the n-th nav of this shard, for n > 0.
  package func navNumber(ofNth n: UInt64) -> UInt64 { UInt64(number) << Self.navNumberBits | n }

  /// The position of a nav in the order in which its shard created navs, from 1 on.
  package static func ordinal(ofNav number: UInt64) -> UInt64 { number & (1 << navNumberBits - 1) }

  package static func < (one: Shard, other: Shard) -> Bool { one.number < other.number }
}

/// The message `cluster`, by which an administrator moves shards between the daemons of a cluster.
package struct ClusterRequest: Hashable, Sendable {
  /// The change that the administrator requests.
  package enum Wish: Hashable, Sendable {
    /// Move the shard with this number to a daemon, named by its member name.
    case move(Int, to: String)
    /// Move the shard of this nav to a daemon.
    case moveNav(String, to: String)
    /// Move all shards away from a daemon, or let the daemon take shards again.
    case drain(String, on: Bool)
  }

  package var id: UInt64
  package var wish: Wish

  package init(id: UInt64, wish: Wish) {
    self.id = id
    self.wish = wish
  }
}
