package import NavigationCore

/// Replaces the contents of entries, so that a recording can be shown to others.
///
/// Redaction keeps ids, versions, routes, names of operations, and words and numbers that navd
/// defines. Every other text becomes `placeholder`, and members that the tables do not name are
/// left out, except truth values. The tables name what stays, so a text or a number of a later
/// version cannot slip through.
/// Entries are redacted before the resolved bar is computed; so the bar has no text that the state
/// has not.
package struct RecordingRedaction: Sendable {
  /// The text that replaces each redacted text.
  package static let placeholder = "redacted"

  /// The routes of screens that keep their contents.
  private let keptRoutes: [NavGlob]

  /// Makes a redaction; a screen keeps its contents if a pattern in `keptRoutes` matches its route.
  package init(keeping keptRoutes: [NavGlob] = []) { self.keptRoutes = keptRoutes }

  /// The names of the rules, as the header of a recording lists them.
  package var ruleNames: [String] {
    ["contents", "clients", "principals"] + keptRoutes.map { "keep \($0.text)" }
  }

  package func redacted(_ entry: [UInt8]) throws(StoredDataError) -> [UInt8] {
    let tape = try RecordingWriter.tape(of: entry)
    var json = JSONWriter(reserving: entry.count)
    write(0, .members(RedactionRule.entry), tape, &json)
    return json.bytes
  }

  /// Writes what a rule keeps of a value for which `fitsRule` is true.
  private func write(
    _ at: Int, _ rule: RedactionRule, _ tape: borrowing JSONTape, _ json: inout JSONWriter
  ) {
    switch rule {
    case .keep, .oneOf: json.raw(tape.raw(at))
    case .text: json.string(Self.placeholder)
    case .opaque:
      json.beginObject()
      json.member("redacted", true)
      json.endObject()
    case .list(let element):
      json.beginArray()
      tape.forEachElement(of: at) { index in
        guard fitsRule(index, element, tape) else { return }
        write(index, element, tape, &json)
      }
      json.endArray()
    case .members(let table): writeObject(at, table, tape, &json)
    case .screen:
      guard !keepsContents(at, tape) else { return json.raw(tape.raw(at)) }
      writeObject(at, RedactionRule.screenMembers, tape, &json)
    case .change: writeChange(at, tape, &json)
    }
  }

  private func writeObject(
    _ at: Int, _ table: [String: RedactionRule], _ tape: borrowing JSONTape,
    _ json: inout JSONWriter
  ) {
    json.beginObject()
    tape.forEachMember(of: at) { name, value in
      guard let rule = table[name] ?? ([.no, .yes].contains(tape.kind(value)) ? .keep : nil),
        fitsRule(value, rule, tape)
      else { return }
      json.dynamicName(name)
      write(value, rule, tape, &json)
    }
    json.endObject()
  }

  /// Whether the value is of the kind that the rule is for; the redaction omits all other values.
  private func fitsRule(_ at: Int, _ rule: RedactionRule, _ tape: borrowing JSONTape) -> Bool {
    switch rule {
    case .keep: tape.kind(at) != .object && tape.kind(at) != .array
    case .oneOf(let words): tape.string(at).map(words.contains) ?? false
    case .text: tape.kind(at) == .string
    case .opaque: tape.kind(at) != .null
    case .list: tape.kind(at) == .array
    case .members, .screen, .change: tape.kind(at) == .object
    }
  }

  /// Writes a change: a splice, or a screen or part that is set.
  private func writeChange(_ at: Int, _ tape: borrowing JSONTape, _ json: inout JSONWriter) {
    guard let set = tape.member("set", of: at) else {
      return writeObject(at, RedactionRule.splice, tape, &json)
    }
    let part = tape.string(set).flatMap { RedactionRule.parts[$0] }
    writeObject(at, ["set": .keep, "to": part ?? .members([:])], tape, &json)
  }

  private func keepsContents(_ screen: Int, _ tape: borrowing JSONTape) -> Bool {
    guard let route = tape.string("route", of: screen) else {
      return false
    }
    return keptRoutes.contains { $0.matches(route) }
  }
}

/// The part of a value that a redacted recording keeps.
indirect enum RedactionRule: Sendable {
  /// A number, a truth value, or a text that a client cannot choose, or that identifies something.
  case keep
  /// A text of this set; the redaction omits any other.
  case oneOf(Set<String>)
  /// A placeholder in the place of a text.
  case text
  /// A placeholder in the place of any value.
  case opaque
  /// A list; a rule for its elements.
  case list(RedactionRule)
  /// An object: the members that stay, each with a rule.
  case members([String: RedactionRule])
  /// A screen, which may keep its contents.
  case screen
  /// A change of a revision.
  case change
}

extension RedactionRule {
  /// A table of members that stay as they are.
  private static func kept(_ names: String...) -> [String: RedactionRule] {
    Dictionary(uniqueKeysWithValues: names.map { ($0, .keep) })
  }

  /// An entry of `get` `diffs`, or a state before them.
  static let entry: [String: RedactionRule] =
    kept(
      "kind", "rev", "t", "epoch", "dig", "depth", "override", "vetoSkipped",
      "omitted", "cause"
    ).and([
      "by": .members(["name": .text, "principal": .text]),
      "do": .list(.oneOf(operations)),
      "ins": .list(.members(kept("id", "route"))),
      "presented": .list(.members(kept("id", "route"))),
      "del": .list(.keep),
      "bad": .members(kept("rev", "dig", "ours")),
      "ch": .list(.change),
      "ev": .list(.members(events)),
      "state": .members(kept("kind", "dig").and(["screens": .list(.screen)]).and(parts)),
    ])

  private static let operations = Set(OperationKind.allCases.map(\.name))

  static let splice: [String: RedactionRule] = kept("at").and([
    "del": .list(.keep), "ins": .list(.screen),
  ])

  /// The rules for the screens and parts that a change can set, by name.
  static let parts: [String: RedactionRule] = [
    "screen": .screen, "bar": .members(bar), "toolbar": .members(toolbar),
    "presented": .members(kept("ver").and(["chain": .list(.members(presentation))])),
    "transition": .members(transition), "environment": .members(environment),
    "settings": .members(settings),
  ]

  static let screenMembers: [String: RedactionRule] =
    kept("id", "ver", "kind", "route").and([
      "title": .text, "args": .opaque, "restorationID": .text, "edges": .list(.keep),
      "accessibilityLabel": .text,
      "toolbarItems": .list(.members(button)), "item": .members(item),
    ])

  private static let item: [String: RedactionRule] =
    kept(
      "largeTitleDisplayMode", "backButtonDisplayMode", "style", "titleAlignment",
      "preferredSearchBarPlacement"
    ).and([
      "title": .text, "backButtonTitle": .text, "prompt": .text, "accessibilityLabel": .text,
      "titleView": .members(kept("height").and(["view": .opaque])),
      "backBarButtonItem": .members(button), "leftItems": .list(.members(button)),
      "rightItems": .list(.members(button)), "appearance": .members(appearance),
      "backAction": .members(button), "subtitle": .text, "subtitleView": .opaque,
      "largeTitle": .text, "largeSubtitle": .text, "largeSubtitleView": .opaque,
      "titleMenu": menu(),
    ])

  private static let appearance: [String: RedactionRule] = [
    "standard": .opaque, "compact": .opaque, "scrollEdge": .opaque, "compactScrollEdge": .opaque,
  ]

  private static let image = RedactionRule.members(["ref": .text])

  private static let button: [String: RedactionRule] =
    kept("id", "systemItem", "style").and([
      "title": .text, "image": image, "landscapeImage": image, "customView": .opaque,
      "action": .text, "accessibilityLabel": .text, "accessibilityHint": .text,
      "accessibilityIdentifier": .text, "badge": .text, "menu": menu(),
    ])

  private static func menu(depth: Int = Menu.depthLimit) -> RedactionRule {
    let children: [String: RedactionRule] = depth > 1 ? ["children": menu(depth: depth - 1)] : [:]
    return .list(
      .members(kept("id", "state").and(["title": .text, "action": .text]).and(children)))
  }

  private static let hiding = RedactionRule.members(kept("cause", "toolbar"))

  // The class is text of the client, and the appearance proxies carry names of classes.
  // Neither is kept.
  private static let bar: [String: RedactionRule] =
    kept("ver", "barStyle").and([
      "hid": hiding, "barTintColor": .text, "tintColor": .text, "backgroundColor": .text,
      "shadowImage": image, "backIndicatorImage": image, "backIndicatorMask": image,
      "appearance": .members(appearance),
    ])

  private static let toolbar: [String: RedactionRule] =
    kept("ver", "barStyle").and(["tintColor": .text, "barTintColor": .text])

  private static let presentation: [String: RedactionRule] =
    kept("from", "covers", "contextOwner").and(["screen": .screen, "style": .oneOf(styles)])

  /// UIKit's styles; a client may name any other one.
  private static let styles: Set<String> = [
    "automatic", "none", "fullScreen", "pageSheet", "formSheet", "currentContext", "custom",
    "overFullScreen", "overCurrentContext", "popover", "blurOverFullScreen",
  ]

  private static let transition: [String: RedactionRule] =
    kept("ver", "tid", "op", "from", "to", "phase", "duration", "style", "deadline").and([
      "owner": .text, "animator": .text, "driver": .text,
      "barChange": .members([:]),
    ])

  private static let environment: [String: RedactionRule] =
    kept(
      "ver", "idiom", "scale", "statusBar", "backTitleBudget", "orientation", "barPosition",
      "animations", "contentSizeCategory", "accessibilityContrast"
    ).and([
      "owner": .text,
      "orientations": .members(kept("preferred").and(["supported": .list(.keep)])),
    ])

  private static let settings: [String: RedactionRule] =
    kept(
      "ver", "guard", "vetoScope", "questionDeadline", "transitionDeadline", "gestureDeadline",
      "queue"
    ).and([
      "restorationID": .text, "interactivePop": .members(kept("mode")),
      "veto": .members(kept("deadline", "policy", "required")),
      "profile": .members(kept("os", "compactHeight", "extraSystemItems")),
    ])

  private static let events: [String: RedactionRule] = {
    let screen = RedactionRule.members(kept("screen"))
    let change = RedactionRule.members(kept("tid"))
    return [
      "willShow": screen, "didShow": screen, "willHide": screen, "didHide": screen,
      "didPush": screen, "didPop": screen, "didPresent": screen, "didDismiss": screen,
      "transitionBegan": .members(
        kept("tid", "op", "from", "to", "duration", "style").and([
          "animator": .text, "driver": .text,
        ])),
      "transitionEnded": .members(kept("tid", "outcome", "progress")),
      "barChange": change,
      "barsVisibilityChanged": .members(kept("bar", "toolbar", "cause")),
    ]
  }()
}

extension [String: RedactionRule] {
  /// A table with the members of both.
  fileprivate func and(_ other: [String: RedactionRule]) -> [String: RedactionRule] {
    merging(other) { _, new in new }
  }
}
