/// Decides how long the loop polls for the next message without sleeping.
///
/// The kernel needs longer to wake a thread on another processor than navd needs to handle most
/// messages. A client that waits for each reply sends its next message soon, and polling for it
/// saves the wake-up. Polling stops when messages no longer come soon, and when another thread
/// needs the processor. So an idle daemon sleeps, and a busy machine gets no extra load.
///
/// Times are in nanoseconds.
struct BusyPollPolicy {
  /// Whether there is a second processor, on which clients can run while the loop polls.
  private let hasSecondProcessor: Bool
  /// A score up to `maximumScore`, which rises when a message comes within `promptWaitNanoseconds`.
  private var promptScore = 0
  /// Counts the waits during which the loop does not poll, after another thread took the processor
  /// from it.
  private var pause = BackOff(from: 16, to: 1024)
  /// The time at which the loop became idle; nil while it has work.
  private var waitingSince: UInt64?
  /// Whether the loop received exactly one message last, and had waited for it.
  private(set) var messagesArriveOneByOne = false

  private static let maximumScore = 256
  /// The score from which the loop polls: 192 of 256 if three of four messages came promptly.
  private static let pollingScore = 192
  private static let pollingNanoseconds: UInt64 = 100_000
  /// The longest wait after which a message counts as prompt; it exceeds `pollingNanoseconds`,
  /// because a sleeping loop wakes later.
  private static let promptWaitNanoseconds: UInt64 = 150_000
  /// The maximum time between two polls if no other thread runs in between.
  private static let longestGapBetweenPolls: UInt64 = 12_000

  /// Makes a policy that does not poll yet; with one processor it never polls.
  init(processors: Int) {
    hasSecondProcessor = processors > 1
  }

  /// How long to poll for the next message; 0 to sleep at once.
  var pollingLimit: UInt64 {
    let isPolling = hasSecondProcessor && pause.isOver && promptScore >= Self.pollingScore
    return isPolling ? Self.pollingNanoseconds : 0
  }

  mutating func beginWait(at now: UInt64) { waitingSince = now }

  /// Notes that the loop has work again, and scores the wait if the loop waited.
  mutating func endWait(at now: @autoclosure () -> UInt64) {
    guard let start = waitingSince else { return }
    waitingSince = nil
    noteWait(now() - start)
  }

  /// Notes how many messages came, 1 or more, and whether the loop had waited for them.
  mutating func noteReceived(_ count: Int, isAwaited: Bool) {
    messagesArriveOneByOne = isAwaited && count == 1
  }

  mutating func noteWait(_ wait: UInt64) {
    if pause.isOver { pause.noteSuccess(divisor: 16) } else { pause.noteTurn() }
    if wait <= Self.promptWaitNanoseconds {
      promptScore += (Self.maximumScore - promptScore) / 8
    } else {
      promptScore -= promptScore / 4
    }
  }

  /// Records the duration of a poll without a message; returns whether to poll again.
  mutating func mustPollAgain(afterPollTaking nanoseconds: UInt64) -> Bool {
    guard nanoseconds > Self.longestGapBetweenPolls else { return true }
    pause.noteFailure()
    return false
  }
}
