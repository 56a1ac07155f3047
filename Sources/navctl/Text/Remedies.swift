import CommandLineOptions
import NavigationCore

/// The command and the operation that the daemon refused; nil for what navctl does not know.
struct RefusedCommand: Sendable {
  var command: String?
  var words: [String] = []
  var operation: OperationKind?
  /// The rights that all operations of the request need together; nil if it had none.
  var rights: Rights?
  /// The nav of the lease, if `lease NAV take -- …` started this command.
  var leasedNav: String?
}

/// Chooses the remedy of an error: that of its code, unless the attempt shows a better one.
enum Remedies {
  /// The remedy of an error in one line, without a full stop.
  static func remedy(
    for code: ErrorCode, message: String = "", nav: String = "NAV",
    of attempt: RefusedCommand = .init()
  ) -> String {
    let command = attempt.command ?? "COMMAND"
    let correction = correction(message, attempt.words, settingOf: command == "set" ? nav : nil)
    let list = message.split(separator: " ").last.flatMap { id in
      attempt.words.first { KeyValues.isButtonListOfOneID($0) && $0.hasSuffix("=\(id)") }
    }
    let choice: String? =
      switch code {
      case .invalidArgument, .unsupported: correction
      case .unknownScreen: unknownScreen(nav, message, attempt)
      case .duplicateScreen: duplicateScreen(nav, attempt)
      case .forbidden: forbidden(nav, attempt)
      case .noNav where nav == NavName.appearance.text: "set a look: navctl set proxy KEY=VALUE"
      case .noNav where nav.allSatisfy(\.isNumber) && ["log", "history"].contains(command):
        "list the navs: navctl list; print \(nav) revisions: navctl \(command) NAV --limit \(nav)"
      case .unknownButton where list != nil: "make it: \(list ?? "")=TITLE"
      case .unknownButton
      where attempt.words.contains(where: { $0.hasPrefix("backBarButtonItem=") }):
        "make it: backBarButtonItem.title=TITLE"
      case .leaseLost
      where attempt.leasedNav == nav && ["set", "gesture", "transition"].contains(command):
        "run it outside of navctl lease, with a lease of its own: navctl \(command) \(nav) ... --lease"
      default: nil
      }
    return choice ?? remedyOfTable(code, ["NAV": nav, "COMMAND": command])
  }

  private static func remedyOfTable(_ code: ErrorCode, _ values: [String: String]) -> String {
    code.row.remedy.split(separator: " ").map { word in
      let name = word.prefix { $0.isUppercase }
      return (values[String(name)] ?? String(name)) + word.dropFirst(name.count)
    }.joined(separator: " ")
  }

  /// The remedy for an unknown screen: how the refused command creates it; nil if it cannot.
  private static func unknownScreen(
    _ nav: String, _ message: String, _ attempt: RefusedCommand
  ) -> String? {
    let id = message.split(separator: " ").last.map(String.init) ?? "ID"
    return switch (attempt.operation, attempt.command) {
    // With --from, the unknown screen can be the presenting one.
    case (.present, "present") where id != "ID" && !attempt.words.contains(id): nil
    case (.push, "push"), (.show, "push"), (.segue, "segue"), (.present, "present"):
      "make it: navctl \(attempt.command ?? "push") \(nav) \(id) --new, or --title TEXT"
    case (.setStack, _), (.push, _), (.show, _), (.segue, _), (.present, _), (.replace, _),
      (.insert, _):
      #"give a record in place of the id, which creates it: {"id":"ID","title":"TEXT"}"#
    default: nil
    }
  }

  private static func duplicateScreen(_ nav: String, _ attempt: RefusedCommand) -> String? {
    switch (attempt.operation, attempt.command) {
    case (.push, "push"), (.show, "push"):
      "keep it: --if-absent; or go back to it: navctl pop-to \(nav) ID"
    case (.setStack, _): "name the screen by its id alone; a record makes a new one"
    case (.screenCreate, _):
      "change it: navctl set \(nav) screen ID KEY=VALUE; or replace it: replace=true"
    default: nil
    }
  }

  private static func forbidden(_ nav: String, _ attempt: RefusedCommand) -> String {
    if attempt.command == "backup" || nav == "$clients" {
      let command = attempt.command ?? "COMMAND"
      return "as root: sudo navctl \(command); or role = admin WHO in [access] of navd.conf(5)"
    }
    return remedyOfTable(
      .forbidden, attempt.command == nil ? [:] : ["NAV": nav, "RIGHT": rightNames(attempt)])
  }

  private static func rightNames(_ attempt: RefusedCommand) -> String {
    if let needed = attempt.rights {
      let names: [(Rights, String)] = [
        (.read, "read"), (.push, "push"), (.pop, "pop"), (.admin, "admin"),
      ]
      return names.filter { needed.contains($0.0) }.map(\.1).joined(separator: " ")
    }
    return ["lease", "delegate"].contains(attempt.command ?? "") ? "push admin" : "read"
  }

  /// The remedy for a code that this navctl does not know, by the `retry` of the error.
  static func remedy(for retry: Retry, nav: String) -> String {
    switch retry {
    case .no: "do not repeat it as it is; a newer navctl may explain it"
    case .sameAfterCorrection, .later: "try again in a few seconds"
    case .resync: "see the present state: navctl show \(nav)"
    }
  }

  /// What to type in place of the arguments `words`; nil if the daemon's message suggests nothing.
  private static func correction(
    _ message: String, _ words: [String], settingOf nav: String?
  ) -> String? {
    let message = message.split(separator: " ").map(String.init)
    guard let last = message.last, let first = message.first else { return nil }
    if message.contains(where: { $0 == "op" }), message.contains(where: { $0 == "know" }) {
      let names = OperationKind.allCases.filter { $0 != .unknown }.map(\.name)
      return Suggestion.nearest(last, among: names).map { "is it '\($0)'?" }
    }
    if message.dropLast().suffix(3).joined(separator: " ") == "has no member" {
      // `veto has no member requird`, `a screen record has no member titel`.
      let inner = NavObject.settings.keys.filter { $0.hasPrefix("\(first).") }
      let object =
        words.lazy.compactMap { NavObject(rawValue: $0) }.first
        ?? NavObject.allCases.first { message.dropLast(4).contains($0.rawValue) }
      let owners = NavObject.allCases.filter { inner.isEmpty && $0.keys.contains(last) }
      if let object, let owner = owners.first {
        let member = "it is a member of \(owners.map(\.rawValue).joined(separator: ", "))"
        guard let nav, owners.count == 1, ![owner, object].contains(.proxy) else { return member }
        let id =
          owner.requiredID != object.requiredID
          ? nil : words.last { !KeyValues.isKeyValue($0) }
        let words =
          owner.requiredID == nil
          ? owner.usageWords : "\(owner.rawValue) \(id ?? "SCREEN")"
        return "\(member): navctl set \(nav) \(words) \(last)=VALUE"
      }
      let names = inner.isEmpty ? object?.keys.filter { !$0.contains(".") } ?? [] : inner
      let near = Suggestion.nearest(inner.isEmpty ? last : "\(first).\(last)", among: names)
      return near.map { "is it '\($0)'?" }
        ?? (names.isEmpty || names.count > 16 ? nil : "one of \(names.joined(separator: ", "))")
    }
    if ["routes", "route"].contains(where: message.prefix(2).contains) {
      return #"routes='[{"match":"news/:id","screens":["home","news"]}]'"#
    }
    if let typed = words.first(where: { $0.hasPrefix("\(first)=") }), message.count > 2 {
      return valueRemedy(for: first, String(typed.dropFirst(first.count + 1)), by: message)
    }
    guard message.contains(where: { $0 == "id" }), message.contains(where: { $0 == "letters," }),
      let typed = words.last(where: { $0.contains { $0 == " " } && !KeyValues.isKeyValue($0) })
    else { return nil }
    return "an id without spaces: " + typed.split(separator: " ").joined(separator: "-")
  }

  /// What to type for a member, by a message such as `idiom is phone or pad`; nil if unknown.
  private static func valueRemedy(for key: String, _ typed: String, by message: [String]) -> String?
  {
    let values = NavObject.allowedWords(in: message.joined(separator: " "))
    if values.count == 2 { return values.map { "\(key)=\($0)" }.joined(separator: ", or ") }
    if !values.isEmpty {
      // Without a near one, any single value could be the opposite of what was meant.
      let near = Suggestion.nearest(typed, among: values)
      return "\(key)=\(near ?? values.prefix(8).joined(separator: "|"))"
    }
    if key.hasSuffix("eadline"), let time = try? ArgumentReader.milliseconds(typed, option: key),
      time > 0
    {
      return "\(key)=\(time), in milliseconds"
    }
    if message.contains(where: { $0 == "number" }) {
      let digits = typed.prefix { $0.isWholeNumber }
      return "a number, such as \(key)=\(digits.isEmpty ? "1" : digits)"
    }
    if let place = message.firstIndex(where: { $0 == "list" }), place + 2 < message.count {
      return #"a list in JSON: \#(key)='["\#(message[place + 2].filter { $0 != "," })"]'"#
    }
    let name = message[2].hasPrefix("{") ? message[2].filter { !"{,}".contains($0) } : "NAME"
    return name != "NAME" || message.contains { $0 == "object" }
      ? "a member of it: \(key).\(name)=VALUE" : nil
  }
}
