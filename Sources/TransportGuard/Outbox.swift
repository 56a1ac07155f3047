import NavigationCore
import NavigationHub
import ZeroMQ

/// The messages that wait for one peer, and the number of bytes that libzmq took for it.
///
/// Law: `unreadBytes` is the bytes of all messages that were appended or passed on, minus those
/// that the peer has read and those that were discarded.
struct Outbox: Sendable {
  /// The maximum of bytes that wait for one peer, beyond the socket's own queue.
  ///
  /// Flow control stops a mirror's messages long before that.
  static let maximumWaitingBytes = 4 << 20
  /// The bytes that one peer may leave unread in libzmq and the kernel; above that, messages wait here.
  static let maximumHandedBytes = 8 << 20

  private var messages: [Outgoing] = []
  /// The number of `messages` that the socket took.
  private var handedCount = 0
  private(set) var waitingBytes = 0
  /// The bytes that libzmq took since the peer last had read nearly everything.
  private(set) var handedBytes = 0
  /// The part of `handedBytes` in short messages, which `Message.heldOctets` does not count.
  private(set) var shortMessageBytes = 0

  var isEmpty: Bool { messages.isEmpty }
  /// The next message for the socket; nil if none waits.
  var first: Outgoing? { handedCount < messages.count ? messages[handedCount] : nil }
  /// The number of bytes that the peer has not read, as far as navd knows.
  var unreadBytes: Int { waitingBytes + handedBytes }
  var isOverfull: Bool { waitingBytes > Self.maximumWaitingBytes }
  /// Whether the peer may have too many unread bytes; only the kernel knows if it has read since.
  var mayBeBehind: Bool { handedBytes > Self.maximumHandedBytes }

  /// Appends a message that the socket did not take.
  mutating func append(_ message: Outgoing) {
    messages.append(message)
    waitingBytes += message.body.count + Message.overheadOctets
  }

  /// Notes that the socket took the first message.
  mutating func handOverFirst() {
    guard let first else { return }
    waitingBytes -= first.body.count + Message.overheadOctets
    noteHandedOver(first.body.count)
    handedCount += 1
    // Rarely moved, because a thousand messages may wait.
    if handedCount == messages.count {
      (messages, handedCount) = ([], 0)
    } else if handedCount >= 64, handedCount * 2 >= messages.count {
      messages.removeFirst(handedCount)
      handedCount = 0
    }
  }

  /// Counts a message of this many bytes that the socket took.
  mutating func noteHandedOver(_ bytes: Int) {
    handedBytes += bytes + Message.overheadOctets
    if bytes < Message.longPayloadOctets { shortMessageBytes += bytes + Message.overheadOctets }
  }

  /// Notes that the peer has read nearly everything that the socket took.
  mutating func noteRead() { (handedBytes, shortMessageBytes) = (0, 0) }

  /// Drops the messages that wait here.
  mutating func discard() {
    (messages, handedCount, waitingBytes) = ([], 0, 0)
  }
}

/// Limits the bytes that all peers together leave unread.
///
/// navd knows the total: the bytes that libzmq holds in long messages, those sent in short ones,
/// and those that wait for peers. The unread bytes of one peer cost a system call, so navd adds
/// them up only while the total exceeds the limit. Laws: `debtsToDisconnect` returns the peers with
/// the most unread bytes, and no more of them than needed. If the total stays a sixteenth above the
/// limit for 100 ms, it returns every peer that reads nothing.
struct UnsentBudget {
  /// The bytes that one peer has not read.
  struct Debt: Hashable {
    var id: ConnectionID
    var bytes: Int
  }

  /// The maximum of bytes that all peers together may leave unread.
  var limit: Int
  /// The unread bytes outside of `Message.heldOctets`; `debtsToDisconnect` corrects the number.
  private var uncounted = 0
  /// Since when the total `isExceeded`, in milliseconds; nil while it is not.
  private var exceededSince: UInt64?

  init(limit: Int) { self.limit = limit }

  mutating func noteUncounted(_ bytes: Int) { uncounted += bytes }

  /// Whether the total exceeds the limit; `held` are the bytes that libzmq holds in long messages.
  func mustAddUp(held: Int) -> Bool { held + uncounted > limit }

  /// Whether navd must make no answers until libzmq has freed memory.
  ///
  /// libzmq frees its memory for a disconnected peer once it has noticed the end, and the loop has
  /// received what the peer had sent. With an eighth in place of a sixteenth, 2,000 connections that
  /// read nothing took 381 to 419 MB at a limit of 256 MB, and now 374 to 376 (`make bench-flood`).
  /// `debtsToDisconnect` has the same bound, so while navd makes no answers, it disconnects peers.
  func isExceeded(held: Int) -> Bool { held + uncounted > limit + limit / 16 }

  /// Notes that the total is within the limit.
  mutating func noteWithinLimit() { exceededSince = nil }

  /// Returns the debts whose peers must be disconnected, the greatest first, each with the total before.
  ///
  /// `debts` has every peer that reads nothing, `uncounted` is the part of them outside of long
  /// messages in libzmq, and `held` are the bytes in those.
  mutating func debtsToDisconnect(
    _ debts: [Debt], uncounted: Int, held: Int, at now: UInt64
  ) -> [(debt: Debt, total: Int)] {
    self.uncounted = uncounted
    exceededSince = isExceeded(held: held) ? exceededSince ?? now : nil
    let isLate = exceededSince.map { now > $0 + 100 } ?? false
    var rest = debts.sorted { $0.bytes < $1.bytes }
    var total = rest.reduce(0) { $0 + $1.bytes }
    var excess: [(debt: Debt, total: Int)] = []
    while total > limit || isLate, let most = rest.popLast() {
      excess.append((most, total))
      total -= most.bytes
    }
    return excess
  }
}
