import NavigationCore

/// The messages and bytes that one peer has not read: those that wait here, and those that the
/// socket took.
///
/// Law: `debt` is the bytes of all messages that were appended or passed on, minus those that the
/// peer has read and those that were discarded.
struct Outbox: Sendable {
  /// The maximum of bytes that wait for one peer, beyond the socket's own queue.
  ///
  /// Flow control stops a mirror's messages long before that.
  static let waitingLimit = 4 << 20
  /// The bytes that one peer may leave unread in the socket; above that, messages wait here.
  static let handedLimit = 8 << 20

  private var messages: [Outgoing] = []
  /// The number of `messages` that the socket took.
  private var handed = 0
  private(set) var waitingBytes = 0
  /// The bytes that the socket took since the peer last had read nearly everything.
  private(set) var handedBytes = 0

  var isEmpty: Bool { messages.isEmpty }
  /// The next message for the socket; nil if none waits.
  var first: Outgoing? { handed < messages.count ? messages[handed] : nil }
  /// The number of bytes that the peer has not read, as far as navd knows.
  var debt: Int { waitingBytes + handedBytes }
  var isOverfull: Bool { waitingBytes > Self.waitingLimit }
  /// Whether the peer may have too many unread bytes; only the kernel knows whether it has read
  /// since.
  var mayBeBehind: Bool { handedBytes > Self.handedLimit }

  /// Appends a message that the socket did not take.
  mutating func append(_ message: Outgoing) {
    messages.append(message)
    waitingBytes += message.body.count
  }

  /// Notes that the socket took the first message.
  mutating func handOverFirst() {
    guard let first else { return }
    waitingBytes -= first.body.count
    handedBytes += first.body.count
    handed += 1
    // Rarely moved, because a thousand messages may wait.
    if handed == messages.count {
      (messages, handed) = ([], 0)
    } else if handed >= 64, handed * 2 >= messages.count {
      messages.removeFirst(handed)
      handed = 0
    }
  }

  /// Notes that the socket took a message at once.
  mutating func noteHanded(_ bytes: Int) { handedBytes += bytes }

  /// Notes that the peer has read nearly everything that the socket took.
  mutating func noteRead() { handedBytes = 0 }

  mutating func discard() {
    (messages, handed, waitingBytes) = ([], 0, 0)
  }
}

/// Limits the bytes that all peers together leave unread.
///
/// Adding them up costs a system call for each peer, so it happens only when the limit may have
/// been exceeded. Laws: `note` requests it before the peers can owe more than `limit` and a
/// sixteenth. `reckon` names the peers that owe the most, and no more of them than needed.
struct UnsentBudget {
  /// The bytes that one peer has not read.
  struct Debt: Hashable {
    var id: ConnectionID
    var slot: Int
    var bytes: Int
  }

  /// The maximum of bytes that all peers together may leave unread.
  var limit: Int
  /// The bytes that may be sent before the debts must be added up again.
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
