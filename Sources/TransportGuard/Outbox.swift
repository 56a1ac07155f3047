import NavigationHub

/// What one peer has not read yet: the messages that wait here, and the bytes that the socket took.
///
/// Law: `debt` is the bytes of all messages that were appended or handed over, less those that the
/// peer has read and those that were discarded.
struct Outbox: Sendable {
  /// The bytes that may wait for one peer beyond the socket's own queue.
  ///
  /// Flow control stops the mirror's messages long before.
  static let waitingLimit = 4 << 20
  /// The bytes that one peer may leave unread in the socket; beyond, they wait here.
  static let handedLimit = 8 << 20

  private var messages: [Outgoing] = []
  /// How many of `messages` were handed over.
  private var handed = 0
  /// The bytes of the messages that wait.
  private(set) var waitingBytes = 0
  /// The bytes that the socket took since the peer had last read nearly everything.
  private(set) var handedBytes = 0

  /// Whether nothing waits.
  var isEmpty: Bool { messages.isEmpty }
  /// The next message to hand over.
  var first: Outgoing? { handed < messages.count ? messages[handed] : nil }
  /// All bytes that the peer has not read.
  var debt: Int { waitingBytes + handedBytes }
  /// Whether more waits than may.
  var isOverfull: Bool { waitingBytes > Self.waitingLimit }
  /// Whether the peer has left too much unread, unless the kernel reports that it has read meanwhile.
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
    // Moved together seldom: a thousand messages may wait.
    if handed == messages.count {
      (messages, handed) = ([], 0)
    } else if handed >= 64, handed * 2 >= messages.count {
      messages.removeFirst(handed)
      handed = 0
    }
  }

  /// Notes that the socket took a message without a wait.
  mutating func noteHanded(_ bytes: Int) { handedBytes += bytes }

  /// Notes that the peer has read nearly everything that the socket took.
  mutating func noteRead() { handedBytes = 0 }

  /// Forgets the messages that wait.
  mutating func discard() {
    (messages, handed, waitingBytes) = ([], 0, 0)
  }
}

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
