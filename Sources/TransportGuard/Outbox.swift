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
