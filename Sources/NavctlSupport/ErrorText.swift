package import NavigationSync

/// A refusal of the daemon in lines for people.
package enum ErrorText {
  /// Cause, what changed since for a failed guard, remedy.
  ///
  /// - Parameters:
  ///   - error: the daemon's answer.
  ///   - nav: the nav that the command named.
  ///   - seen: what the user last saw, if the command was guarded by it.
  package static func lines(_ error: ErrReply, nav: String?, seen: Seen?) -> [String] {
    let nav = error.nav ?? nav ?? "NAV"
    let message = TerminalText.visible(error.message)
    var lines = ["\(error.code): \(message.isEmpty ? "refused by the daemon" : message)"]
    if error.knownCode == .desync { lines.append(change(error, seen: seen)) }
    if error.effect == Effect.unknown.rawValue {
      lines.append("it is not known whether anything was done")
    }
    if let after = error.after { lines.append("not before \(after) ms have passed") }
    let remedy =
      error.knownCode.map { Remedies.remedy(for: $0, nav: nav) }
      ?? Remedies.remedy(for: error.retryPolicy, nav: nav)
    lines.append("try: \(remedy)")
    return lines
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

/// How long it takes, and what went wrong, when no daemon answers.
package enum ConnectionText {
  /// Lines for a daemon that did not answer in time.
  ///
  /// - Parameters:
  ///   - wasConnected: whether there was a connection, so that the daemon is there but busy.
  ///   - endpoint: where it was looked for.
  ///   - milliseconds: how long.
  package static func timeout(
    wasConnected: Bool, endpoint: String, milliseconds: UInt64
  ) -> (lines: [String], status: Int32) {
    wasConnected
      ? (
        [
          "timeout: the daemon at \(endpoint) did not answer within \(milliseconds) ms",
          "try: again, or with more time: --timeout 30s",
        ], ErrorCode.busy.exitStatus
      )
      : (
        [
          "no-daemon: nothing answers at \(endpoint)",
          "try: start it with 'systemctl start navd' or 'navd', or name another with --endpoint",
        ], noDaemonStatus
      )
  }

  /// The exit status where no daemon answers.
  package static let noDaemonStatus: Int32 = 7
}
