import NavigationCore
import NavigationClient
import NavigationHub

/// Writes mirrors, diffs and events as the daemon's JSON, and reads a mirror from a state.
enum MirrorText {
  static func mirror(_ state: JSONValue) -> Mirror? {
    guard let epoch = state["epoch"]?.string.flatMap({ Epoch($0) }),
      let revision = state["rev"]?.integer, let list = state["screens"],
      let digest = state["dig"]?.string.flatMap({ Digest($0) })
    else { return nil }
    var screens: [MirrorRecord] = []
    for screen in list.elements {
      guard let id = screen["id"]?.string, let record = record(screen, id: id) else { return nil }
      screens.append(record)
    }
    let parts = PartName.allCases.map(\.text).compactMap { name in
      state[name].flatMap { record($0, id: name) }
    }
    return Mirror(
      kind: state["kind"]?.string ?? "controller", epoch: epoch, revision: Revision(revision),
      screens: screens, parts: parts,
      resolved: state["resolved"].map(\.opaque), digest: digest)
  }

  static func diff(_ diff: Diff) -> [UInt8] {
    var members: JSONObject = [
      "nav": .string(diff.nav), "epoch": .string(diff.epoch.text),
      "base": .integer(diff.base.number), "rev": .integer(diff.revision.number),
      "seq": .integer(diff.journalRow), "cause": .string(diff.cause),
    ]
    var by: JSONObject = [:]
    by.add("name", diff.byName)
    by.add("op", diff.byOp.map { .integer($0) })
    if !by.isEmpty { members.add("by", .object(by)) }
    if diff.isAnimated { members.add("animated", true) }
    members.add("relation", diff.topRelation)
    members.add("ch", .array(diff.changes.map(change)))
    members.add("resolved", diff.resolved)
    members.add("ev", diff.events)
    members.add("depth", .integer(diff.depth))
    members.add("dig", diff.digest.text)
    return OpaqueJSON.object(members).bytes
  }

  static func latest(_ latest: Latest) -> [UInt8] {
    OpaqueJSON.object([
      "nav": .string(latest.nav), "view": .string(latest.view), "epoch": .string(latest.epoch.text),
      "rev": .integer(latest.revision.number), "value": latest.value,
    ]).bytes
  }

  /// The position of a mirror, with the members that an `ok` reply has.
  static func position(_ mirror: Mirror, nav: String) -> [UInt8] {
    OpaqueJSON.object([
      "nav": .string(nav), "epoch": .string(mirror.epoch.text),
      "rev": .integer(mirror.revision.number),
      "depth": .integer(UInt64(mirror.screens.count)),
      "top": mirror.top.map { .string($0) } ?? .null,
      "dig": .string(mirror.digest.text),
    ]).bytes
  }

  private static func record(_ value: JSONValue, id: String) -> MirrorRecord? {
    value["ver"]?.integer.map {
      MirrorRecord(id: id, version: Revision($0), json: value.opaque)
    }
  }

  static func event(_ event: EphemeralEvent) -> [UInt8] {
    OpaqueJSON.object([
      "nav": .string(event.nav), "epoch": .string(event.epoch.text),
      "rev": .integer(event.revision.number), "ev": event.events,
    ]).bytes
  }

  private static func change(_ change: Diff.Change) -> OpaqueJSON {
    switch change {
    case .splice(let index, let removed, let inserted):
      .object([
        "at": .integer(index), "del": .array(removed.map { .string($0) }),
        "ins": .array(inserted.map(\.json)),
      ])
    case .setScreen(let record):
      .object(["set": .string("screen"), "to": record.json])
    case .setPart(let record):
      .object(["set": .string(record.id), "to": record.json])
    }
  }
}
