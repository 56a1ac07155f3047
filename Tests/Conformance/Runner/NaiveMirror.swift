import NavigationCore

/// A state as one would first think of building it from the diffs.
package struct NaiveMirror {
  /// Why a message does not fit; the text says it to people.
  package struct Broken: Error, CustomStringConvertible {
    var text: String

    /// The text.
    package var description: String { text }
  }

  static let partNames = [
    "bar", "toolbar", "presented", "transition", "environment", "settings",
  ]

  /// The epoch of the nav, or nothing.
  package private(set) var epoch = ""
  /// The revision that it shows, 0 for none.
  package private(set) var revision = 0
  /// The digest, whose checksum is that of the records.
  package private(set) var digest = ""
  /// The stack, bottom first.
  package private(set) var screens: [JSONTree] = []
  /// The parts by their names.
  package private(set) var parts: [String: JSONTree] = [:]
  private(set) var resolved: JSONTree?
  private var partial: [JSONTree] = []
  private(set) var isComplete = false

  /// Makes one that knows nothing.
  package init() {}

  /// Takes a message of the full watch.
  package mutating func receive(_ verb: String, _ json: JSONTree) throws(Broken) {
    switch verb {
    case "snap": try snap(json)
    case "diff": try diff(json)
    case "diffs": for element in json["list"]?.array ?? [] { try diff(element) }
    default: break
    }
  }

  private mutating func snap(_ json: JSONTree) throws(Broken) {
    if json["i"]?.integer == 0 { partial = [] }
    guard json["i"]?.integer == partial.count else {
      throw Broken(text: "a part of a snapshot is missing")
    }
    partial += json["screens"]?.array ?? []
    guard json["last"]?.bool == true else { return }
    screens = partial
    parts = [:]
    for name in Self.partNames { parts[name] = json[name] }
    resolved = json["resolved"]
    epoch = json["epoch"]?.string ?? ""
    revision = json["rev"]?.integer ?? 0
    try prove(json)
    isComplete = true
  }

  private mutating func diff(_ json: JSONTree) throws(Broken) {
    guard json["epoch"]?.string == epoch, json["base"]?.integer == revision,
      json["rev"]?.integer == revision + 1
    else {
      throw Broken(text: "the mirror is at \(revision), the diff is \(json.text)")
    }
    revision += 1
    let running = try runningTransition(after: json)
    for change in json["ch"]?.array ?? [] { try apply(change) }
    if let new = json["resolved"] { resolved = new }
    guard json["depth"]?.integer == screens.count else {
      throw Broken(text: "the depth of \(json.text) is not \(screens.count)")
    }
    guard parts["transition"]?["tid"]?.integer == running else {
      throw Broken(text: "the events and the transition contradict each other: \(json.text)")
    }
    try prove(json)
  }

  /// The transition that runs after the events of a diff; at most one does at any time.
  private func runningTransition(after diff: JSONTree) throws(Broken) -> Int? {
    var running = parts["transition"]?["tid"]?.integer
    for event in (diff["ev"]?.array ?? []).compactMap(\.members.first) {
      let tid = event.value["tid"]?.integer
      switch event.name {
      case "transitionBegan":
        guard running == nil else { throw Broken(text: "a second transition: \(diff.text)") }
        running = tid
      case "transitionEnded":
        guard running == tid else { throw Broken(text: "another transition ends: \(diff.text)") }
        running = nil
      default: continue
      }
    }
    return running
  }

  private mutating func apply(_ change: JSONTree) throws(Broken) {
    if let at = change["at"]?.integer {
      let removed = change["del"]?.array ?? []
      guard at + removed.count <= screens.count,
        screens[at..<at + removed.count].map({ $0["id"] }) == removed.map(Optional.some)
      else { throw Broken(text: "the splice \(change.text) does not fit") }
      screens.replaceSubrange(at..<at + removed.count, with: change["ins"]?.array ?? [])
      return
    }
    guard let name = change["set"]?.string, let record = change["to"] else {
      throw Broken(text: "\(change.text) is no change")
    }
    if name == "screen" {
      guard let place = screens.firstIndex(where: { $0["id"] == record["id"] }) else {
        throw Broken(text: "\(change.text) sets a screen that is not there")
      }
      screens[place] = record
    } else {
      guard parts[name] != nil else { throw Broken(text: "\(name) is no part") }
      parts[name] = record
    }
  }

  /// Computes the digest from the records and compares it.
  private mutating func prove(_ json: JSONTree) throws(Broken) {
    let checksum = Self.checksum(screens, parts)
    guard let named = json["dig"]?.string, named.count == 24, named.hasPrefix(checksum) else {
      throw Broken(text: "the checksum of the records is \(checksum), the message is \(json.text)")
    }
    digest = named
  }

  /// The first 8 digits of the digest of records, from their identities and versions.
  static func checksum(_ screens: [JSONTree], _ parts: [String: JSONTree]) -> String {
    var lines = screens.map { "\($0["id"]?.string ?? "")@\($0["ver"]?.integer ?? -1)" }
    for name in partNames {
      if let part = parts[name] { lines.append(":\(name)@\(part["ver"]?.integer ?? -1)") }
    }
    let digits = String(crc32(Array(lines.joined(separator: "\n").utf8)), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// What differs from the state that the daemon tells; nil if nothing.
  package func difference(from state: JSONTree) -> String? {
    if state["epoch"]?.string != epoch || state["rev"]?.integer != revision {
      return "the mirror is at \(revision), the state at \(state["rev"]?.text ?? "none")"
    }
    var mine: [(String, JSONTree?)] = [("screens", .array(screens)), ("resolved", resolved)]
    for name in Self.partNames { mine.append((name, parts[name])) }
    mine.append(("dig", .string(digest)))
    for (name, value) in mine where value?.text != state[name]?.text {
      return "\(name) is \(state[name]?.text ?? "nothing"), the diffs give "
        + "\(value?.text ?? "nothing")"
    }
    return nil
  }
}
