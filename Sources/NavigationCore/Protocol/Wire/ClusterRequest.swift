/// The message `cluster`, by which an administrator changes how a cluster is divided.
package struct ClusterRequest: Hashable, Sendable {
  /// A change.
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
