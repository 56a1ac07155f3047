import Navigation
package import NavigationProtocol
package import NavigationReplica

/// Writes mirrors and diffs as the JSON in which the daemon sent them, and reads them.
package enum MirrorText {
  /// A mirror as the body of a complete snapshot.
  package static func state(_ mirror: Mirror, nav: String) -> [UInt8] {
    var members: [(String, [UInt8])] = [
      ("nav", OperationText.string(nav)), ("kind", OperationText.string(mirror.kind)),
      ("epoch", OperationText.string(mirror.epoch.text)), ("rev", number(mirror.revision.number)),
      ("screens", OperationText.array(mirror.screens.map(\.json.bytes))),
    ]
    members += mirror.parts.map { ($0.id, $0.json.bytes) }
    if let resolved = mirror.resolved { members.append(("resolved", resolved.bytes)) }
    members.append(("dig", OperationText.string(mirror.digest.text)))
    return OperationText.object(members)
  }

  /// Reads a mirror from the body of a complete snapshot; nil if it is not one.
  package static func mirror(_ state: JSONValue) -> Mirror? {
    guard let epoch = state["epoch"]?.string.flatMap({ Epoch($0) }),
      let revision = state["rev"]?.integer, let list = state["screens"],
      let digest = state["dig"]?.string.flatMap({ Digest($0) })
    else { return nil }
    var screens: [MirrorRecord] = []
    for screen in list.elements {
      guard let id = screen["id"]?.string, let record = record(screen, id: id) else { return nil }
      screens.append(record)
    }
    let parts = partNames.compactMap { name in
      state[name].flatMap { record($0, id: name) }
    }
    return Mirror(
      kind: state["kind"]?.string ?? "controller", epoch: epoch, revision: Revision(revision),
      screens: screens, parts: parts,
      resolved: state["resolved"].map { OpaqueJSON(validated: $0.bytes) }, digest: digest)
  }

  /// A diff as the body of a `diff` message.
  package static func diff(_ diff: Diff) -> [UInt8] {
    var members: [(String, [UInt8])] = [
      ("nav", OperationText.string(diff.nav)), ("epoch", OperationText.string(diff.epoch.text)),
      ("base", number(diff.base.number)), ("rev", number(diff.revision.number)),
      ("seq", number(diff.sequence)), ("cause", OperationText.string(diff.cause)),
    ]
    var by: [(String, [UInt8])] = []
    if let name = diff.byName { by.append(("name", OperationText.string(name))) }
    if let op = diff.byOp { by.append(("op", number(op))) }
    if !by.isEmpty { members.append(("by", OperationText.object(by))) }
    if diff.isAnimated { members.append(("animated", OperationText.bool(true))) }
    if let relation = diff.relation { members.append(("relation", OperationText.string(relation))) }
    members.append(("ch", OperationText.array(diff.changes.map(change))))
    if let resolved = diff.resolved { members.append(("resolved", resolved.bytes)) }
    members += [
      ("ev", diff.events.bytes), ("depth", number(diff.depth)),
      ("dig", OperationText.string(diff.digest.text)),
    ]
    return OperationText.object(members)
  }

  /// The newest value of the view `bar` or `top`, which skips values in between.
  package static func latest(_ latest: Latest) -> [UInt8] {
    OperationText.object([
      ("nav", OperationText.string(latest.nav)), ("view", OperationText.string(latest.view)),
      ("epoch", OperationText.string(latest.epoch.text)),
      ("rev", number(latest.revision.number)), ("value", latest.value.bytes),
    ])
  }

  /// The position of a mirror, with the members that an `ok` reply has.
  package static func position(_ mirror: Mirror, nav: String) -> [UInt8] {
    OperationText.object([
      ("nav", OperationText.string(nav)), ("epoch", OperationText.string(mirror.epoch.text)),
      ("rev", number(mirror.revision.number)),
      ("depth", number(UInt64(mirror.screens.count))),
      ("top", mirror.top.map(OperationText.string) ?? OperationText.null),
      ("dig", OperationText.string(mirror.digest.text)),
    ])
  }

  /// The names of the parts in the order in which the digest covers them.
  private static let partNames = [
    "bar", "toolbar", "presented", "transition", "environment", "settings",
  ]

  private static func record(_ value: JSONValue, id: String) -> MirrorRecord? {
    value["ver"]?.integer.map {
      MirrorRecord(id: id, version: Revision($0), json: OpaqueJSON(validated: value.bytes))
    }
  }

  /// An event that made no revision.
  package static func event(_ event: EphemeralEvent) -> [UInt8] {
    OperationText.object([
      ("nav", OperationText.string(event.nav)), ("epoch", OperationText.string(event.epoch.text)),
      ("rev", number(event.revision.number)), ("ev", event.events.bytes),
    ])
  }

  private static func change(_ change: Diff.Change) -> [UInt8] {
    switch change {
    case .splice(let index, let removed, let inserted):
      OperationText.object([
        ("at", number(index)), ("del", OperationText.array(removed.map(OperationText.string))),
        ("ins", OperationText.array(inserted.map(\.json.bytes))),
      ])
    case .setScreen(let record):
      OperationText.object([("set", OperationText.string("screen")), ("to", record.json.bytes)])
    case .setPart(let record):
      OperationText.object([("set", OperationText.string(record.id)), ("to", record.json.bytes)])
    }
  }

  private static func number(_ value: UInt64) -> [UInt8] { Array("\(value)".utf8) }
}
