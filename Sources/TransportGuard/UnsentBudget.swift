import NavigationHub

/// Limits what all peers together leave unread.
///
/// To add it up costs a system call for each peer, so that happens only when the limit may have been
/// exceeded since. Laws: `note` asks for it before the peers can owe more than `limit` and a sixteenth;
/// `reckon` names the peers that owe the most, and no more of them than needed.
struct UnsentBudget {
  /// What one peer has not read.
  struct Debt: Hashable {
    var id: ConnectionID
    var slot: Int
    var bytes: Int
  }

  /// The most that all peers together may leave unread, in bytes.
  var limit: Int
  /// The bytes that may be sent before it is added up again.
  private var room = 0

  init(limit: Int) { self.limit = limit }

  /// Notes bytes on their way to a peer; returns whether to add up the debts.
  mutating func note(_ bytes: Int) -> Bool {
    room -= bytes
    return room < 0
  }

  /// Returns the debts whose peers must be disconnected, the greatest first, each with the total before.
  mutating func reckon(_ debts: [Debt]) -> [(debt: Debt, total: Int)] {
    var rest = debts.sorted { $0.bytes < $1.bytes }
    var total = rest.reduce(0) { $0 + $1.bytes }
    var excess: [(debt: Debt, total: Int)] = []
    while total > limit, let most = rest.popLast() {
      excess.append((most, total))
      total -= most.bytes
    }
    room = max(limit - total, limit / 16)
    return excess
  }
}
