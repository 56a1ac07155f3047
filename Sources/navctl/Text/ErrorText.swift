import NavigationCore
import RuntimePaths

enum ErrorText {
  /// The cause, for a failed guard the changes since the seen state, and the remedy.
  ///
  /// `seen` is the state that the guards came from, nil if the user typed them; `now` is in
  /// milliseconds since 1970. The two to six lines have no line breaks.
  static func lines(
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
      lines.append("it is unknown whether navd made the change")
    }
    if let after = error.after { lines.append("retry after \(after) ms at the earliest") }
    let remedy =
      futureRemedy(error, nav: nav)
      ?? error.knownCode.map {
        Remedies.remedy(for: $0, message: error.message, nav: nav, of: attempt)
      }
      ?? Remedies.remedy(for: error.retryPolicy, nav: nav)
    lines.append("try: \(remedy)")
    return lines
  }

  /// The remedy if the requested revision does not exist yet; nil for any other error.
  private static func futureRemedy(_ error: ErrReply, nav: String) -> String? {
    guard error.knownCode == .compacted, error.isFuture, let newest = error.revision else {
      return nil
    }
    return "draw the newest revision: navctl history \(nav) --at \(newest.number)"
  }

  /// The exit status if a change was made, but its result could not be printed.
  static let unprintedStatus: Int32 = 9

  static func exitStatus(_ error: ErrReply) -> Int32 {
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
    if let epoch = error.epoch, epoch != seen.epoch { now += "; the nav has a new epoch" }
    return "seen \(seen.text); \(now)"
  }
}
