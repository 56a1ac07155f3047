/// Decides for how long the loop looks for the next message before it sleeps.
///
/// To be woken on another processor takes longer than to handle most messages. Where messages come
/// soon after the loop has nothing to do, as from a client that waits for each answer, looking for
/// the next one saves that. It ends with the first messages that do not come soon, and with the first
/// sign that another thread wants the processor: an idle daemon sleeps, and a busy machine is not
/// kept busier.
///
/// Times are in nanoseconds.
struct BusyPollPolicy {
  /// Whether there is a processor for those whom the loop waits for.
  private let hasCompany: Bool
  /// How usual it is that a message comes soon, of `always`.
  private var frequency = 0
  /// The waits that are still to be slept through, and how many it will be the next time.
  private var rest = 0
  private var nextRest = shortestRest

  private static let always = 256
  /// What makes it usual: three of four.
  private static let usual = 192
  /// How long to look at most.
  private static let patience: UInt64 = 100_000
  /// What is soon; a sleeper hears of a message later than one who looks.
  private static let soon: UInt64 = 150_000
  /// Between two looks; who was away for longer was not alone on the processor.
  private static let longestLook: UInt64 = 12_000
  /// Waits that are slept through after that, at first and at most.
  private static let shortestRest = 16
  private static let longestRest = 1024

  /// Makes a policy that does not look before it has seen messages come soon.
  ///
  /// - Parameter processors: how many the process may run on; with one it never looks.
  init(processors: Int) {
    hasCompany = processors > 1
  }

  /// How long to look for the next message; 0 to sleep at once.
  var limit: UInt64 {
    hasCompany && rest == 0 && frequency >= Self.usual ? Self.patience : 0
  }

  /// Notes that the loop had nothing to do for so long.
  mutating func noteWait(_ wait: UInt64) {
    if rest > 0 {
      rest -= 1
    } else {
      nextRest = max(Self.shortestRest, nextRest - nextRest / 16)
    }
    if wait <= Self.soon {
      frequency += (Self.always - frequency) / 8
    } else {
      frequency -= frequency / 4
    }
  }

  /// Notes how long a look took that found nothing; returns whether to go on looking.
  mutating func goesOn(afterLook look: UInt64) -> Bool {
    guard look > Self.longestLook else { return true }
    rest = nextRest
    nextRest = min(nextRest * 2, Self.longestRest)
    return false
  }
}
