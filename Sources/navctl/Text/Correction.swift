import CommandLineOptions
import NavigationCore

/// What to type in place of an argument that the daemon refused, by its message.
enum Correction {
  /// The remedy in one line, for `words`, the arguments of the command; nil if the message names
  /// no nearer word.
  ///
  /// `settingOf` is the nav of a `set`; nil for any other command.
  static func remedy(_ message: String, _ words: [String], settingOf nav: String?) -> String? {
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
        let id = owner.neededID != object.neededID ? nil : words.last { !Members.isMember($0) }
        let words = owner.neededID == nil ? owner.form : "\(owner.rawValue) \(id ?? "SCREEN")"
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
      return value(for: first, String(typed.dropFirst(first.count + 1)), by: message)
    }
    guard message.contains(where: { $0 == "id" }), message.contains(where: { $0 == "letters," }),
      let typed = words.last(where: { $0.contains { $0 == " " } && !Members.isMember($0) })
    else { return nil }
    return "an id without spaces: " + typed.split(separator: " ").joined(separator: "-")
  }

  /// A value of the form that a message such as `idiom is phone or pad` describes.
  private static func value(for key: String, _ typed: String, by message: [String]) -> String? {
    let values = NavObject.words(in: message.joined(separator: " "))
    if values.count == 2 { return values.map { "\(key)=\($0)" }.joined(separator: ", or ") }
    if !values.isEmpty {
      // Without a near one, any single value could be the opposite of what was meant.
      let near = Suggestion.nearest(typed, among: values)
      return "\(key)=\(near ?? values.prefix(8).joined(separator: "|"))"
    }
    if key.hasSuffix("eadline"), let time = try? Quantities.milliseconds(typed, option: key),
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
