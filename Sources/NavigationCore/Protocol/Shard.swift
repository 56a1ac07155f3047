/// One of the parts into which a cluster divides all navs; outside of a cluster there is only one.
///
/// One daemon serves a shard. The name of a nav determines its shard, which the upper bits of the
/// nav's number repeat. Numbers of shard 0 are small, so a journal of a single daemon is as it was
/// before there were shards.
package struct Shard: Hashable, Comparable, Sendable {
  /// The number of shards of a cluster.
  ///
  /// Shards outlive every change of the daemons, so their number can never change.
  package static let count = 1024
  /// The only shard outside of a cluster.
  package static let first = Shard(0)

  /// The number, 0 ..< `count`.
  package let number: Int
  /// The bits of a nav's number below its shard: 10¹² navs in each.
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

  /// The place of a nav among the navs of its shard, from 1 on.
  package static func ordinal(ofNav number: UInt64) -> UInt64 { number & (1 << navNumberBits - 1) }

  package static func < (one: Shard, other: Shard) -> Bool { one.number < other.number }
}

/// The message `cluster`, by which an administrator changes how a cluster is divided.
package struct ClusterRequest: Hashable, Sendable {
  /// A change to the division of a cluster.
  package enum Wish: Hashable, Sendable {
    /// Moves a shard, by its number, to a member.
    case move(Int, to: String)
    /// Moves the shard of a nav to a member.
    case moveNav(String, to: String)
    /// Lets a member give all its shards away, or take shards again.
    case drain(String, on: Bool)
  }

  package var id: UInt64
  package var wish: Wish

  package init(id: UInt64, wish: Wish) {
    self.id = id
    self.wish = wish
  }
}
