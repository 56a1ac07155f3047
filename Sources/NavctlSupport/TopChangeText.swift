import Navigation
import NavigationSync

/// What a failed guard owes to the last change of the top, in words.
struct TopChangeText {
  /// One line: who did what to the screen that was expected on top, and when.
  let line: String
  /// Whether the line says all that the daemon's own sentence says.
  let replacesMessage: Bool

  /// Puts it in words; nil if the daemon does not say, or if the top is what was expected.
  ///
  /// - Parameters:
  ///   - error: a refusal with code `desync`.
  ///   - seen: what the user last saw, if the command was guarded by it.
  ///   - now: the wall clock in milliseconds since 1970, by which an age is told.
  init?(_ error: ErrReply, seen: Seen?, now: UInt64) {
    guard let since = error.since, let top = error.top,
      let expected = Self.expected(error, seen), expected != top
    else { return nil }
    let name = { (id: String?) in id.map(TerminalText.visible) ?? "no screen" }
    let deed = "\(Self.means(since.cause))by \(Self.who(since.author)) \(Self.when(since, now))"
    let isAboutTop = error.reason == "top"
    guard let expected, expected == since.popped ?? since.covered else {
      line = "the top is \(name(top)) since rev \(since.revision.number), \(deed)"
      replacesMessage = false
      return
    }
    let what = since.popped == nil ? "covered with \(name(top))" : "popped"
    line =
      "\(name(expected)) is not on top any more: \(what) \(deed), rev \(since.revision.number)"
    replacesMessage = isAboutTop
  }

  /// The top that was expected; the inner nil stands for an empty stack, the outer one for a guard
  /// that says nothing of it.
  private static func expected(_ error: ErrReply, _ seen: Seen?) -> String?? {
    if error.reason == "top", let expected = error.expected {
      do { return .some(try JSONValue(expected.bytes).string) } catch { return nil }
    }
    guard let seen, seen.epoch == error.epoch else { return nil }
    return .some(seen.top)
  }

  private static func means(_ cause: String) -> String {
    switch cause {
    case "api": ""
    case "backButton": "with the back button "
    case "gesture": "with a gesture "
    default: "(\(TerminalText.visible(cause))) "
    }
  }

  private static func who(_ author: ErrReply.Author?) -> String {
    guard let author else { return "navd itself" }
    let principal = author.principal
    var facts = [
      principal.hasPrefix("uid:") ? "uid \(principal.dropFirst(4))" : "key \(principal)"
    ]
    if let process = author.process { facts.append("pid \(process)") }
    let text = facts.joined(separator: ", ")
    return TerminalText.visible(author.name.isEmpty ? text : "\(author.name) (\(text))")
  }

  /// An age, or where the daemon's clock is ahead of this one the time by it.
  private static func when(_ since: ErrReply.Since, _ now: UInt64) -> String {
    guard since.time <= now else { return "at \(Tables.utc(milliseconds: since.time))" }
    let age = now - since.time
    return age < 60_000 ? "\(age / 1000) s ago" : "\(Figures.age(milliseconds: age)) ago"
  }
}
