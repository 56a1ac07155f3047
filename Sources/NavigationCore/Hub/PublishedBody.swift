// The bodies of a device's rows, as the journal of the receiver records them. They name the nav as
// the receiver does, and count the receiver's rows. Octets and replies of ops stay on the device:
// the receiver answers none of these ops again.

extension JournalBodyReader {
  /// The members of a `changed` row that the receiver records as they are, around its `diff`.
  private static let changedMembers: Set<String> = [
    "before", "rv", "by", "ops", "sender", "override", "vetoSkipped", "ends", "det", "gone",
  ]

  /// The members of a state that the receiver does not record as they are.
  private static let ownMembers: Set<String> = [
    "nav", "owner", "published", "gap", "octets", "reply",
  ]

  /// The epoch that the loaded row names: that of its diff, of its state, or its new one.
  var statedEpoch: Epoch? {
    let at = diff ?? 0
    return tape.member(short: "epoch", of: at).flatMap { tape.hex64($0) }.map { Epoch(bits: $0) }
  }

  /// The loaded `changed` row for the receiver's journal; nil if it has no diff.
  func republished(as nav: String, row: UInt64) -> [UInt8]? {
    guard let diff, tape.kind(diff) == .object else { return nil }
    var json = JSONWriter(reserving: 1024)
    json.beginObject()
    json.name("diff")
    json.beginObject()
    tape.forEachMember(of: diff) { key, value in
      json.dynamicName(key)
      switch key {
      case "nav": json.string(nav)
      case "seq": json.integer(row)
      default: json.raw(tape.raw(value))
      }
    }
    json.endObject()
    tape.forEachMember(of: 0) { key, value in
      guard Self.changedMembers.contains(key) else { return }
      json.dynamicName(key)
      json.raw(tape.raw(value))
    }
    json.endObject()
    return json.bytes
  }

  /// The loaded `created` row or state for the receiver's journal.
  ///
  /// - Parameters:
  ///   - nav: the receiver's name of the nav.
  ///   - owner: the principal that publishes it.
  ///   - gap: the position behind which revisions are missing; nil if none is.
  ///   - behindNothing: whether revisions are missing, and the receiver has none of the nav.
  /// - Returns: the body.
  func republishedState(
    as nav: String, owner: String, gap: NavPosition?, behindNothing: Bool
  ) -> [UInt8] {
    var json = JSONWriter(reserving: 4096)
    json.beginObject()
    json.member("nav", nav)
    tape.forEachMember(of: 0) { key, value in
      guard !Self.ownMembers.contains(key) else { return }
      // The head of a state ends before its revision, see `head(of:)`.
      if key == "rev" {
        json.member("owner", owner)
        json.member("published", true)
      }
      json.dynamicName(key)
      json.raw(tape.raw(value))
    }
    if let gap {
      json.position("gap", gap)
    } else if behindNothing {
      json.name("gap")
      json.beginObject()
      json.member("rev", 0)
      json.endObject()
    }
    json.endObject()
    return json.bytes
  }

  /// The loaded `epoch` row for the receiver's journal; nil if it names no epoch.
  func republishedEpoch() -> [UInt8]? {
    guard let epoch = epoch() else { return nil }
    var json = JSONWriter(reserving: 64)
    json.beginObject()
    json.member("epoch", hex: epoch.bits)
    json.optional("cause", text("cause"))
    json.endObject()
    return json.bytes
  }
}
