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
  private let hasCompany: Bool
  /// A score from 0 to `always`, which rises when a message comes within `soon`.
  private var frequency = 0
  /// The waits during which the loop does not poll.
  private var pause = BackOff(from: 16, to: 1024)
  /// The time since which there is nothing to do; nil while there is something.
  private var waitingSince: UInt64?
  /// Whether the messages received last were a single one that the loop had waited for.
  private(set) var comeOneByOne = false

  private static let always = 256
  /// The score from which the loop polls; 192 of 256 means that three of four messages came soon.
  private static let usual = 192
  private static let patience: UInt64 = 100_000
  /// The wait up to which a message came soon; it exceeds `patience`, because a sleeping loop wakes
  /// later.
  private static let soon: UInt64 = 150_000
  /// The maximum time between two polls if no other thread runs in between.
  private static let longestLook: UInt64 = 12_000

  /// Makes a policy that polls only after messages have come soon; with one processor it never
  /// polls.
  init(processors: Int) {
    hasCompany = processors > 1
  }

  /// How long to poll for the next message; 0 to sleep at once.
  var limit: UInt64 {
    hasCompany && pause.isOver && frequency >= Self.usual ? Self.patience : 0
  }

  mutating func beginWait(at now: UInt64) { waitingSince = now }

  /// Notes that there is something to do; counts the wait, if there was one.
  mutating func endWait(at now: @autoclosure () -> UInt64) {
    guard let start = waitingSince else { return }
    waitingSince = nil
    noteWait(now() - start)
  }

  /// Notes how many messages came, 1 or more, and whether they were waited for.
  mutating func noteReceived(_ count: Int, isAwaited: Bool) {
    comeOneByOne = isAwaited && count == 1
  }

  mutating func noteWait(_ wait: UInt64) {
    if pause.isOver { pause.noteSuccess(16) } else { pause.noteTurn() }
    if wait <= Self.soon {
      frequency += (Self.always - frequency) / 8
    } else {
      frequency -= frequency / 4
    }
  }

  /// Records the duration of a poll without a message; returns whether to poll again.
  mutating func goesOn(afterLook look: UInt64) -> Bool {
    guard look > Self.longestLook else { return true }
    pause.noteFailure()
    return false
  }
}
