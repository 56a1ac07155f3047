import NavigationCore
import NavigationHub

/// Decides which refused requests to log; pages repeat requests, so each reason is logged once.
struct RefusalLog {
  private static let maximumReasons = 8

  private var reasons: Set<Text> = []
  /// The number of refusals since the last line that no line has reported.
  private var unreportedCount = 0
  private var quietUntil: UInt64 = 0

  /// The line to log for a request that is refused at `now`, in milliseconds; nil for none.
  ///
  /// The first 8 reasons each get a line at once; all repetitions together get one line a minute.
  mutating func line(_ request: String, _ reason: String, at now: UInt64) -> String? {
    let refusal = "refused: \(reason)"
    if reasons.count < Self.maximumReasons, reasons.insert(Text(reason)).inserted {
      if unreportedCount == 0 { quietUntil = now + 60_000 }
      return "\(request) was \(refusal)"
    }
    unreportedCount += 1
    guard now >= quietUntil else { return nil }
    defer { (unreportedCount, quietUntil) = (0, now + 60_000) }
    // It is one too many: the reasons of before are new again.
    if !reasons.contains(Text(reason)) { reasons = [Text(reason)] }
    return "\(counted(unreportedCount, "more refusal")); the last, of \(request), \(refusal)"
  }
}
