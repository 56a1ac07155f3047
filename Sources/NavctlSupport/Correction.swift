import CommandLineOptions
import NavigationCore

/// What to type in place of an argument that the daemon refused, by its message.
struct Correction {
  /// The remedy, in one line.
  let text: String

  /// Finds it for `words`, the arguments of the command; nil if the message names no nearer word.
  init?(of message: String, _ words: [String]) {
    let message = message.split(separator: " ").map(String.init)
    guard let last = message.last, let first = message.first else { return nil }
    if message.contains(where: { $0 == "op" }), message.contains(where: { $0 == "know" }) {
      let names = OperationKind.allCases.filter { $0 != .unknown }.map(\.name)
      guard let near = Suggestion.nearest(last, among: names) else { return nil }
      text = "is it '\(near)'?"
    } else if message.dropLast().suffix(3).joined(separator: " ") == "has no member" {
      // `veto has no member requird`, `a screen record has no member titel`.
      let inner = NavObject.settings.keys.filter { $0.hasPrefix("\(first).") }
      let object =
        words.lazy.compactMap { NavObject(rawValue: $0) }.first
        ?? NavObject.allCases.first { message.dropLast(4).contains($0.rawValue) }
      let owners = NavObject.allCases.filter { inner.isEmpty && $0.keys.contains(last) }
      let names = inner.isEmpty ? object?.keys.filter { !$0.contains(".") } ?? [] : inner
      let wanted = inner.isEmpty ? last : "\(first).\(last)"
      if object != nil, !owners.isEmpty {
        text = "it is a member of \(owners.map(\.rawValue).joined(separator: ", "))"
      } else if let near = Suggestion.nearest(wanted, among: names) {
        text = "is it '\(near)'?"
      } else {
        return nil
      }
    } else if let typed = words.first(where: { $0.hasPrefix("\(first)=") }) {
      // `idiom is phone or pad`, `veto.deadline is a whole number from 1 to 60000`.
      let values = NavObject.words(in: message.joined(separator: " "))
      let value = String(typed.dropFirst(first.count + 1))
      if let near = Suggestion.nearest(value, among: values) ?? values.first {
        text =
          values.count == 2
          ? values.map { "\(first)=\($0)" }.joined(separator: ", or ") : "\(first)=\(near)"
      } else if first.hasSuffix("eadline"),
        let time = try? Quantities.milliseconds(value, option: first), time > 0
      {
        text = "\(first)=\(time), in milliseconds"
      } else {
        return nil
      }
    } else if message.contains(where: { $0 == "id" }),
      message.contains(where: { $0 == "letters," }),
      let typed = words.last(where: { $0.contains { $0 == " " } && !Members.isMember($0) })
    {
      text = "an id without spaces: " + typed.split(separator: " ").joined(separator: "-")
    } else {
      return nil
    }
  }
}
