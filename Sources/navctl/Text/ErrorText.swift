import NavigationCore
import RuntimePaths

enum ErrorText {
  /// The lines of an error: its cause, after a failed guard what changed, and the remedy.
  ///
  /// `seen` is the state from which navctl made the guards, nil if the user typed them.
  static func lines(
    _ error: ErrReply, nav: String?, seen: SeenState?, of attempt: RefusedCommand = .init(),
    now: UInt64 = SystemClock.wallMilliseconds()
  ) -> [String] {
    let nav = error.nav ?? nav ?? "NAV"
    let topChange = error.knownCode == .desync ? topChange(error, seen: seen, now: now) : nil
    let message = TerminalText.visible(error.message)
    var lines = ["\(error.code): \(message.isEmpty ? "refused by the daemon" : message)"]
    if let topChange {
      if topChange.replacesMessage {
        lines[0] = "\(error.code): \(topChange.line)"
      } else {
        lines.append(topChange.line)
      }
    }
    if error.knownCode == .desync { lines.append(stateChange(error, seen: seen)) }
    if error.effect == Effect.unknown.rawValue {
      lines.append("it is unknown whether navd made the change")
    }
    if let after = error.after { lines.append("retry after \(after) ms at the earliest") }
    let future = error.knownCode == .compacted && error.namesFutureRevision ? error.revision : nil
    let remedy =
      future.map { "draw the newest revision: navctl history \(nav) --at \($0.number)" }
      ?? error.knownCode.map {
        Remedies.remedy(for: $0, message: error.message, nav: nav, of: attempt)
      }
      ?? Remedies.remedy(for: error.retryPolicy, nav: nav)
    lines.append("try: \(remedy)")
    return lines
  }

  static func failure(
    _ error: ErrReply, nav: String? = nil, seen: SeenState? = nil,
    of attempt: RefusedCommand = .init()
  ) -> PlainFailure {
    PlainFailure(
      lines: lines(error, nav: nav, seen: seen, of: attempt), status: exitStatus(error))
  }

  /// The exit status if navd made a change and navctl could not print its result.
  static let changedButUnprintedStatus: Int32 = 9

  static func exitStatus(_ error: ErrReply) -> Int32 {
    if let code = error.knownCode { return code.exitStatus }
    return switch error.retryPolicy {
    case .no: 1
    case .sameAfterCorrection, .later: 4
    case .resync: 3
    }
  }

  private static func stateChange(_ error: ErrReply, seen: SeenState?) -> String {
    var now = "now rev \(error.revision?.number ?? 0)"
    if let top = error.top { now += ", top \(top.map(TerminalText.visible) ?? "none")" }
    if let depth = error.depth { now += ", depth \(depth)" }
    guard let seen else { return now }
    if let epoch = error.epoch, epoch != seen.epoch { now += "; the nav has a new epoch" }
    return "seen \(seen.text); \(now)"
  }

  /// A line such as "wifi is not on top any more: popped by ui (uid 1000) 3 s ago".
  ///
  /// Nil if the error does not name the change, or if the expected screen is on top.
  /// `replacesMessage` is true if the line has everything that the daemon's message has.
  private static func topChange(
    _ error: ErrReply, seen: SeenState?, now: UInt64
  ) -> (line: String, replacesMessage: Bool)? {
    guard let since = error.topChange, let top = error.top,
      let expected = Self.expectedTop(error, seen), expected != top
    else { return nil }
    let name = { (id: String?) in id.map(TerminalText.visible) ?? "no screen" }
    let deed =
      "\(Self.causeText(since.cause))by \(Self.authorText(since.author)) \(Self.ageText(since, now))"
    let revision = since.revision.number
    guard let expected, expected == since.popped ?? since.covered else {
      return ("the top is \(name(top)) since rev \(revision), \(deed)", false)
    }
    let what = since.popped == nil ? "covered with \(name(top))" : "popped"
    let line = "\(name(expected)) is not on top any more: \(what) \(deed), rev \(revision)"
    return (line, error.reason == "top")
  }

  /// The top screen that the guard expected: inner nil for an empty stack, outer nil for any top.
  private static func expectedTop(_ error: ErrReply, _ seen: SeenState?) -> String?? {
    if error.reason == "top", let expected = error.expected {
      do { return .some(try JSONValue(expected.bytes).string) } catch { return nil }
    }
    guard let seen, seen.epoch == error.epoch else { return nil }
    return .some(seen.top)
  }

  private static func causeText(_ cause: String) -> String {
    switch cause {
    case "api": ""
    case "backButton": "with the back button "
    case "gesture": "with a gesture "
    default: "(\(TerminalText.visible(cause))) "
    }
  }

  private static func authorText(_ author: ErrReply.Author?) -> String {
    guard let author else { return "navd itself" }
    let principal = author.principal
    var facts = [principal.hasPrefix("uid:") ? "uid \(principal.dropFirst(4))" : "key \(principal)"]
    if let process = author.process { facts.append("pid \(process)") }
    let text = facts.joined(separator: ", ")
    return TerminalText.visible(author.name.isEmpty ? text : "\(author.name) (\(text))")
  }

  /// The age of the change, or its time in UTC if the daemon's clock is ahead of this one.
  private static func ageText(_ change: ErrReply.TopChange, _ now: UInt64) -> String {
    guard change.time <= now else { return "at \(Tables.utc(milliseconds: change.time))" }
    let age = now - change.time
    return age < 60_000 ? "\(age / 1000) s ago" : "\(Figures.age(milliseconds: age)) ago"
  }
}
