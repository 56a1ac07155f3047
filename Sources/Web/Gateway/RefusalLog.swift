import NavigationCore
import NavigationHub

/// Decides which refused requests to log; pages repeat requests, so each reason is logged once.
struct RefusalLog {
  private static let maximumReasons = 8

  private var loggedReasons: Set<Text> = []
  /// The number of refusals since the last line that no line has reported.
  private var unreportedCount = 0
  private var quietUntilMilliseconds: UInt64 = 0

  /// The line to log for a request that is refused at `now`, in milliseconds; nil for none.
  ///
  /// The first 8 reasons each get a line at once; all repetitions together get one line a minute.
  mutating func lineToLog(_ request: String, _ reason: String, at now: UInt64) -> String? {
    let refusal = "refused: \(reason)"
    if loggedReasons.count < Self.maximumReasons, loggedReasons.insert(Text(reason)).inserted {
      if unreportedCount == 0 { quietUntilMilliseconds = now + 60_000 }
      return "\(request) was \(refusal)"
    }
    unreportedCount += 1
    guard now >= quietUntilMilliseconds else { return nil }
    defer { (unreportedCount, quietUntilMilliseconds) = (0, now + 60_000) }
    // It is one too many: the reasons of before are new again.
    if !loggedReasons.contains(Text(reason)) { loggedReasons = [Text(reason)] }
    return "\(counted(unreportedCount, "more refusal")); the last, of \(request), \(refusal)"
  }
}
