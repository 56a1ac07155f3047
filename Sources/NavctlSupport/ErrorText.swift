import Navigation
package import NavigationSync
import RuntimePaths

/// A refusal of the daemon in lines for people.
package enum ErrorText {
  /// Cause, what changed since for a failed guard, remedy.
  ///
  /// - Parameters:
  ///   - error: the daemon's answer.
  ///   - nav: the nav that the command named.
  ///   - seen: what the user last saw, if the command was guarded by it.
  ///   - attempt: what was refused, if it is known.
  ///   - now: the wall clock in milliseconds since 1970.
  /// - Returns: two to six lines without line breaks.
  package static func lines(
    _ error: ErrReply, nav: String?, seen: Seen?, of attempt: Attempt = Attempt(),
    now: UInt64 = SystemClock.wallMilliseconds()
  ) -> [String] {
    let nav = error.nav ?? nav ?? "NAV"
    let topChange = error.knownCode == .desync ? TopChangeText(error, seen: seen, now: now) : nil
    let message = TerminalText.visible(error.message)
    var lines = ["\(error.code): \(message.isEmpty ? "refused by the daemon" : message)"]
    if let topChange {
      if topChange.replacesMessage {
        lines[0] = "\(error.code): \(topChange.line)"
      } else {
        lines.append(topChange.line)
      }
    }
    if error.knownCode == .desync { lines.append(change(error, seen: seen)) }
    if error.effect == Effect.unknown.rawValue {
      lines.append("it is not known whether anything was done")
    }
    if let after = error.after { lines.append("not before \(after) ms have passed") }
    let remedy =
      futureRemedy(error, nav: nav)
      ?? error.knownCode.map { Remedies.remedy(for: $0, nav: nav, of: attempt) }
      ?? Remedies.remedy(for: error.retryPolicy, nav: nav)
    lines.append("try: \(remedy)")
    return lines
  }

  /// What to do about a revision that does not exist yet.
  private static func futureRemedy(_ error: ErrReply, nav: String) -> String? {
    guard error.knownCode == .compacted, error.isFuture, let newest = error.revision else {
      return nil
    }
    return "look at the newest: navctl history \(nav) --at \(newest.number)"
  }

  /// The exit status for a refusal; one with an unknown code is judged by when to try again.
  package static func exitStatus(_ error: ErrReply) -> Int32 {
    if let code = error.knownCode { return code.exitStatus }
    return switch error.retryPolicy {
    case .no: 1
    case .same, .later: 4
    case .resync: 3
    }
  }

  private static func change(_ error: ErrReply, seen: Seen?) -> String {
    var now = "now rev \(error.revision?.number ?? 0)"
    if let top = error.top { now += ", top \(top.map(TerminalText.visible) ?? "none")" }
    if let depth = error.depth { now += ", depth \(depth)" }
    guard let seen else { return now }
    if let epoch = error.epoch, epoch != seen.epoch { now += "; the nav was made anew since" }
    return "seen \(seen.text); \(now)"
  }
}
