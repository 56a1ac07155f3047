package import CommandLineOptions
package import NavigationClient
import NavigationCore

extension Operations {
  /// The four states of a bar that have an appearance each.
  package static let appearanceSlots = ["standard", "compact", "scrollEdge", "compactScrollEdge"]

  /// Whether a word is a verb or KEY=VALUE of `bar` and `toolbar`, and so not a nav.
  package static func isBarWord(_ word: String) -> Bool {
    ["set", "hide", "show"].contains(word) || Members.isMember(word)
  }

  /// Makes the operation of `bar` and `toolbar`: set members, hide or show.
  ///
  /// `words` are a verb, and for `set` members as KEY=VALUE.
  package static func bar(_ command: String, _ words: [String]) throws(UsageError)
    -> NavigationOperation
  {
    let usage = "navctl \(command) NAV hide, show or set KEY=VALUE..."
    let isBar = command == "bar"
    guard let verb = words.first else { throw UsageError("\(command) needs a verb", remedy: usage) }
    switch verb {
    case "hide", "show":
      guard words.count == 1 else {
        throw UsageError("\(command) \(verb) takes no further argument", remedy: usage)
      }
      return isBar ? .setBarHidden(verb == "hide") : .setToolbarHidden(verb == "hide")
    case "set":
      let members = try Members.parse(Array(words.dropFirst()), usage: usage)
      guard !members.isEmpty else {
        throw UsageError("\(command) set needs KEY=VALUE", remedy: usage)
      }
      return NavigationOperation(isBar ? .barSet : .toolbarSet, members)
    default:
      throw UsageError(
        "\(command) takes set, hide or show, not '\(TerminalText.visible(verb))'", remedy: usage)
    }
  }

  /// Makes the operation of `appearance`: sets one slot of the bar, or of one screen's item.
  package static func appearance(
    _ line: ParsedCommandLine, slot: String, object: String
  ) throws(UsageError) -> NavigationOperation {
    guard appearanceSlots.contains(slot) else {
      throw UsageError(
        "there is no slot '\(TerminalText.visible(slot))'",
        remedy: "one of \(appearanceSlots.joined(separator: ", "))")
    }
    let value =
      object == "none" || object == "null"
      ? OpaqueJSON.null : try Quantities.jsonObject(object, what: "an appearance")
    var arguments: JSONObject = ["slot": .string(slot), "object": value]
    arguments.add("screen", line.value(of: "screen"))
    return NavigationOperation(.appearanceSet, arguments)
  }

  /// Makes the operation of `proxy`, which sets the look of all bars of a class.
  package static func proxy(_ line: ParsedCommandLine, _ words: [String]) throws(UsageError)
    -> NavigationOperation
  {
    let members = try Members.parse(words, usage: "navctl proxy [--class NAME] KEY=VALUE...")
    var arguments: JSONObject = [:]
    arguments.add("class", line.value(of: "class"))
    return NavigationOperation(.proxySet, arguments + members)
  }

  /// Makes the operation of `env`, which sets the surroundings of the display.
  package static func environment(_ words: [String]) throws(UsageError) -> NavigationOperation {
    NavigationOperation(.envSet, try Members.parse(words, usage: "navctl env NAV KEY=VALUE..."))
  }

  package static func configure(_ words: [String]) throws(UsageError) -> NavigationOperation {
    NavigationOperation(
      .navConfigure, try Members.parse(words, usage: "navctl configure NAV KEY=VALUE..."))
  }
}
