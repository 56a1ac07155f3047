/// What a cluster loses.
enum Loss: String, CaseIterable {
  /// A daemon is killed.
  case killed
  /// A daemon is stopped for longer than its lease, and goes on.
  case stopped
  /// A daemon cannot reach the servers while clients still reach it, and changes are under way.
  case cutOff
  /// The same, while no change is under way: only reads show whether it stops by its own clock.
  case cutOffIdle
  /// A daemon ends in order.
  case ended
  /// The primary crashes and starts again.
  case primaryCrashed
  /// The standby is away until all leases have ended: the primary answers, but confirms nothing.
  case standbyAway
  /// The primary is killed, and the standby promoted.
  case primaryKilled
  /// The primary can reach neither daemons nor standby, and the standby is promoted.
  case primaryCutOff
  /// The primary hangs until all leases have ended.
  case primaryStopped

  /// Whether it needs network namespaces.
  var needsNetwork: Bool { [.cutOff, .cutOffIdle, .primaryCutOff].contains(self) }

  /// The losses of some rounds: each kind once before any comes again, in an order that the generator
  /// chooses.
  static func rounds(
    _ count: Int, withNetwork: Bool, using random: inout some RandomNumberGenerator
  ) -> [Loss] {
    let kinds = allCases.filter { withNetwork || !$0.needsNetwork }
    var rounds: [Loss] = []
    while rounds.count < count { rounds += kinds.shuffled(using: &random) }
    return Array(rounds.prefix(count))
  }
}
