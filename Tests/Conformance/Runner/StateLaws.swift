/// The invariants that every state keeps, and its digest.
package enum StateLaws {
  /// What is wrong with a state; nil if nothing.
  package static func violation(of state: JSONTree) -> String? {
    let screens = state["screens"]?.array ?? []
    var parts: [String: JSONTree] = [:]
    for name in NaiveMirror.partNames {
      guard let part = state[name] else { return "the part \(name) is missing" }
      parts[name] = part
    }
    let checksum = NaiveMirror.checksum(screens, parts)
    guard state["dig"]?.string?.hasPrefix(checksum) == true else {
      return "the digest is \(state["dig"]?.text ?? "none"), the records give \(checksum)"
    }
    let revision = state["rev"]?.integer ?? 0
    for record in screens + Array(parts.values) where record["ver"]?.integer ?? 0 > revision {
      return "a record is newer than the state: \(record.text)"
    }
    return stack(state, screens) ?? transition(parts["transition"])
      ?? screens.lazy.compactMap(sides).first
  }

  /// What is wrong with the events of a diff: a transition is named by the revision that began it.
  static func violation(ofDiff diff: JSONTree) -> String? {
    let revision = diff["rev"]?.integer ?? 0
    for event in (diff["ev"]?.array ?? []).compactMap(\.members.first) {
      let tid = event.value["tid"]?.integer
      switch event.name {
      case "transitionBegan" where tid != revision:
        return "the tid is not \(revision): \(diff.text)"
      case "transitionEnded" where tid.map({ $0 < revision }) != true:
        return "nothing began before \(revision): \(diff.text)"
      default: continue
      }
    }
    return nil
  }

  private static func stack(_ state: JSONTree, _ screens: [JSONTree]) -> String? {
    let ids = screens.compactMap { $0["id"]?.string }
    let chain = (state.at("presented.chain")?.array ?? []).compactMap {
      $0.at("screen.id")?.string
    }
    guard ids.count == screens.count, Set(ids + chain).count == ids.count + chain.count else {
      return "the ids \(ids) and \(chain) are not distinct"
    }
    let isController = state["kind"]?.string == "controller"
    if isController, state.at("settings.attached")?.bool == true, ids.isEmpty {
      return "attached, and the stack is empty"
    }
    let expected = [
      ("top", ids.last), ("back", ids.count > 1 ? ids[ids.count - 2] : nil),
      ("visible", chain.last ?? ids.last),
    ]
    for (name, id) in expected where isController || name != "visible" {
      let shown = state.at("resolved.\(name)")?.string
      guard shown == id else { return "resolved.\(name) is \(shown ?? "nil"), not \(id ?? "nil")" }
    }
    return nil
  }

  private static func transition(_ record: JSONTree?) -> String? {
    guard let record else { return nil }
    let isOpen = record["tid"] != nil
    for member in ["op", "phase"] where (record[member] != nil) != isOpen {
      return "half a transition: \(record.text)"
    }
    return nil
  }

  /// A button on both sides of one item.
  private static func sides(_ screen: JSONTree) -> String? {
    func ids(_ side: String) -> Set<String> {
      Set((screen.at("item.\(side)Items")?.array ?? []).compactMap { $0["id"]?.string })
    }
    let both = ids("left").intersection(ids("right"))
    return both.isEmpty ? nil : "\(both.sorted()) on both sides of \(screen["id"]?.text ?? "")"
  }
}
