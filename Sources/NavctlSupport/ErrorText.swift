import Navigation
package import NavigationSync
package import RuntimePaths

/// A refusal of the daemon in lines for people.
package enum ErrorText {
  /// Cause, what changed since for a failed guard, remedy.
  ///
  /// - Parameters:
  ///   - error: the daemon's answer.
  ///   - nav: the nav that the command named.
  ///   - seen: what the user last saw, if the command was guarded by it.
  ///   - command: the command that was refused, if it is known.
  /// - Returns: two to five lines without line breaks.
  package static func lines(
    _ error: ErrReply, nav: String?, seen: Seen?, command: String = "COMMAND"
  ) -> [String] {
    let nav = error.nav ?? nav ?? "NAV"
    let message = TerminalText.visible(error.message)
    var lines = ["\(error.code): \(message.isEmpty ? "refused by the daemon" : message)"]
    if error.knownCode == .desync { lines.append(change(error, seen: seen)) }
    if error.effect == Effect.unknown.rawValue {
      lines.append("it is not known whether anything was done")
    }
    if let after = error.after { lines.append("not before \(after) ms have passed") }
    let remedy =
      error.knownCode.map { Remedies.remedy(for: $0, nav: nav, command: command) }
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

/// What to say when no daemon answers.
package enum ConnectionText {
  /// The exit status where no daemon answers.
  package static let noDaemonStatus: Int32 = 7

  /// Lines for a daemon that cannot be reached.
  package static func unreachable(_ endpoint: String) -> [String] {
    ["no-daemon: nothing answers at \(endpoint)", startRemedy]
  }

  /// Lines for a socket that this user may not connect to.
  package static func closed(_ endpoint: String) -> [String] {
    [
      "forbidden: this user may not connect to \(endpoint)",
      "try: join the socket-group that navd.conf(5) names; another address with --endpoint",
    ]
  }

  /// Lines for a daemon that does not let this user in.
  package static func refused(_ endpoint: String) -> [String] {
    [
      "forbidden: navd at \(endpoint) lets nobody in whom it does not know, and not too many",
      "try: again when other programs have ended; connections in navd.conf(5) says how many",
    ]
  }

  /// Lines where no socket of a daemon was found, one for each path that was looked at.
  package static func notFound(_ tried: [PathError.Tried]) -> [String] {
    ["no-daemon: no running navd found"]
      + tried.map { "looked at \($0.path): \($0.finding)" } + [startRemedy]
  }

  /// Lines for a daemon that is there and did not answer in time.
  package static func timeout(_ endpoint: String) -> [String] {
    [
      "timeout: navd at \(endpoint) did not answer in time; what was asked may have been done",
      "try: navctl show tells; give it more time with --timeout 30s",
    ]
  }

  private static let startRemedy =
    "try: systemctl start navd, or run navd; another address with --endpoint or NAVD_ENDPOINT"
}
