// The virtual navs: `$navs`, the directory of navs, and `$clients`, the list of sessions. The hub
// derives their records when a batch is durable, and only while a client watches or reads them.

extension Hub {
  /// Begins to keep the records of a virtual nav: one for each nav in `$navs`, one for each session
  /// in `$clients`.
  ///
  /// Does nothing if the hub already keeps them, or if the nav is not virtual.
  mutating func activate(_ slot: Int) {
    guard let directory = navs.slots[slot].directory, !directory.isActive else { return }
    let records = records(of: slot)
    navs.slots[slot].directory?.activate(records)
    navs.restartDirectory(slot)
    assert(watches.of(nav: slot).isEmpty, "a watch of records that were not kept")
  }

  /// Stops keeping a virtual nav's records when no watch needs them.
  mutating func deactivateIfUnwatched(_ slot: Int) {
    guard navs.slots[slot].directory?.isActive == true, watches.of(nav: slot).isEmpty else {
      return
    }
    navs.slots[slot].directory?.deactivate()
    navs.restartDirectory(slot)
  }

  /// The records that a virtual nav should have, in the order of their names, with their encoders.
  private func records(of slot: Int) -> [Directory.Wanted] {
    assert(Navs.virtualSlots.contains(slot), "slot \(slot) is no virtual nav's")
    let records: [Directory.Wanted]
    if slot == Navs.navsSlot {
      let loaded = navs.loaded.filter { navs.hasName($0) }.map { NavFacts(navs.slots[$0]) }
      records = (loaded + navs.dormants.named.map { NavFacts($0) }).map { nav in
        (nav.name, { nav.record($0) })
      }
    } else {
      records = sessions.indices.map { slot in
        let session = sessions.slots[slot]
        let watchCount = watches.of(session: slot).count
        return (session.client.text, { session.record($0, watchCount: watchCount) })
      }
    }
    return records.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
  }

  /// Updates the virtual navs after a batch that changed navs or sessions.
  mutating func publishDirectories() {
    if !batches.current.created.isEmpty || !batches.current.closed.isEmpty {
      publish(Navs.navsSlot)
    }
    if batches.current.changedClients { publish(Navs.clientsSlot) }
  }

  /// Makes one revision of the differences between the records and what they should be.
  ///
  /// O(records) while they are kept, else O(1).
  mutating func publish(_ slot: Int) {
    precondition(Navs.virtualSlots.contains(slot), "slot=\(slot)")
    guard let directory = navs.slots[slot].directory else { return }
    guard directory.isActive else {
      navs.slots[slot].directory?.skip()
      return navs.restartDirectory(slot)
    }
    guard let (records, changes) = directory.changes(to: records(of: slot)) else { return }
    let frame = DiffFrame(
      nav: navs.slots[slot].name, epoch: navs.slots[slot].epoch, base: directory.revision,
      revision: directory.revision.next, sequence: batches.total, cause: .api, by: nil)
    let digest = navs.slots[slot].advanceDirectory(to: records)
    var json = JSONWriter(reserving: changes.count + 256)
    frame.begin(&json)
    json.member("ch", raw: changes)
    json.member("ev", raw: [0x5B, 0x5D])
    frame.end(&json, depth: records.count, digest)
    keep(EncodedDiff(bytes: json.bytes), slot)
    navs.slots[slot].durable = directory.revision.next
    assert(navs.slots[slot].durable == navs.slots[slot].revision)
    assert(navs.slots[slot].ring.last == navs.slots[slot].revision)
  }
}

/// The facts about a nav that its record in `$navs` contains.
private struct NavFacts {
  var name: String
  var kind: StaticString
  var epoch: Epoch
  var owner: String

  init(_ entry: NavEntry) {
    (name, kind, epoch, owner) = (
      entry.name, entry.controller.kindName, entry.epoch, entry.owner
    )
  }

  init(_ nav: DormantNav) {
    (name, kind, epoch, owner) = (nav.name, nav.kindName, nav.epoch, nav.owner)
  }

  /// The record of the nav in `$navs`.
  func record(_ version: Revision) -> [UInt8] {
    JSONWriter.value { json in
      json.beginObject()
      json.optional("id", name)
      json.member("ver", version.number)
      json.member("kind", plain: kind)
      json.member("epoch", hex: epoch.bits)
      json.optional("owner", owner)
      json.endObject()
    }
  }
}

extension Session {
  /// The record of the session in `$clients`.
  fileprivate func record(_ version: Revision, watchCount: Int) -> [UInt8] {
    JSONWriter.value { json in
      json.beginObject()
      json.optional("id", client.text)
      json.member("ver", version.number)
      json.optional("name", name)
      json.peer(peer)
      json.optional("role", role.name)
      json.member("watches", UInt64(watchCount))
      json.endObject()
    }
  }
}

extension NavEntry {
  /// Installs the records of the next revision; returns their digest.
  fileprivate mutating func advanceDirectory(to records: [Directory.Record]) -> Digest {
    assert(directory != nil, "\(name) is not virtual")
    directory?.advance(to: records)
    digest = directory?.digest() ?? digest
    return digest
  }
}
