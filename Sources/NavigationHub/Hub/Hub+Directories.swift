import NavigationCore

// The virtual navs: `$navs`, the directory of navs, `$clients`, the list of sessions, and `$heads`, the
// positions of all navs. The hub derives their records when a batch is durable, and only while a
// client watches or reads them.

extension Hub {
  /// Begins to keep the records of a virtual nav.
  ///
  /// Does nothing if the hub keeps these records already, or if the nav is not virtual.
  mutating func keepVirtualRecords(_ slot: NavSlot) {
    guard let directory = navs[slot].directory, !directory.areKept else { return }
    let records = virtualRecords(of: slot)
    navs[slot].directory?.keep(records)
    navs.restartVirtualNav(slot)
    assert(watches.of(nav: slot).isEmpty, "a watch of records that were not kept")
  }

  /// Stops keeping a virtual nav's records if no watch is left.
  mutating func dropUnwatchedVirtualRecords(_ slot: NavSlot) {
    guard navs[slot].directory?.areKept == true, watches.of(nav: slot).isEmpty else {
      return
    }
    navs[slot].directory?.drop()
    if slot == Navs.headsSlot { heads = UnpublishedHeads() }
    if slot == Navs.clientsSlot { clientsPace.cancel() }
    navs.restartVirtualNav(slot)
  }

  /// The records that a virtual nav should have, in the order of their names, with their encoders.
  private func virtualRecords(of slot: NavSlot) -> [VirtualNavRecords.WantedRecord] {
    assert(Navs.virtualSlots.contains(slot), "slot \(slot) is no virtual nav's")
    let records: [VirtualNavRecords.WantedRecord]
    switch slot {
    case Navs.navsSlot:
      let loaded = navs.loaded.filter { navs.hasName($0) }.map { DormantNav(navs[$0]) }
      records = (loaded + navs.dormants.placesWithName.map { navs.dormants[$0] }).map { nav in
        (nav.name, { nav.record($0) })
      }
    case Navs.clientsSlot:
      records = sessions.indices.map { slot in
        let session = sessions[slot]
        let (watchCount, behind) = (watches.of(session: slot).count, revisionsBehind(slot))
        return (session.client.text, { session.record($0, watchCount: watchCount, behind: behind) })
      }
    default: records = headRecords
    }
    return records.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
  }

  /// How many revisions the slowest watch of a session is behind.
  private func revisionsBehind(_ session: SessionSlot) -> UInt64 {
    watches.of(session: session).map { watches.revisionsBehind($0, of: navs) }.max() ?? 0
  }

  /// Whether the batch at hand will lead to a revision of a watched `$navs` or `$clients`.
  var changesVirtualNavs: Bool {
    let isOfClients = batches.current.mayChangeClientList || clientsPace.isDue(at: timer.now.boot)
    return batches.current.mayChangeNavList && navs.keepsRecords(Navs.navsSlot)
      || isOfClients && navs.keepsRecords(Navs.clientsSlot)
  }

  /// Plans the revisions of virtual navs that are not due yet.
  mutating func planVirtualNavRevisions() {
    timer.plan(heads.pace.dueAt)
    timer.plan(clientsPace.dueAt)
  }

  /// Requests a revision of `$clients`, because the number of revisions that a session is behind
  /// may have changed.
  mutating func requestClientsRevision(at now: Instant) {
    guard navs.keepsRecords(Navs.clientsSlot) else { return }
    clientsPace.request(at: now.boot)
  }

  /// Updates the virtual navs after a batch.
  ///
  /// `isAllDurable` is false if a later batch has begun.
  mutating func publishVirtualNavs(isAllDurable: Bool, at now: Instant) {
    if batches.current.mayChangeNavList { publishVirtualNav(Navs.navsSlot) }
    if batches.current.messageCount > 0 || !batches.current.changedNavs.isEmpty {
      requestClientsRevision(at: now)
    }
    if batches.current.mayChangeClientList || isAllDurable && clientsPace.isDue(at: now.boot) {
      publishVirtualNav(Navs.clientsSlot)
      clientsPace.published(at: now.boot, records: sessions.count)
    }
    if heads.pace.isDue(at: now.boot) { publishHeads(at: now) }
    planVirtualNavRevisions()
  }

  /// Updates the records of a virtual nav in one revision.
  ///
  /// O(records) while the hub keeps the records, else O(1).
  mutating func publishVirtualNav(_ slot: NavSlot) {
    precondition(Navs.virtualSlots.contains(slot), "slot=\(slot)")
    guard navs.keepsRecords(slot) else {
      navs[slot].directory?.advanceRevision()
      return navs.restartVirtualNav(slot)
    }
    let records = virtualRecords(of: slot)
    guard let changes = navs[slot].directory?.update(to: records) else { return }
    publish(changes, of: slot)
  }

  /// Writes the diff of the revision that a virtual nav has just made.
  mutating func publish(_ changes: [UInt8], of slot: NavSlot) {
    guard let directory = navs[slot].directory else {
      preconditionFailure("\(navs[slot].name) is not virtual")
    }
    let frame = DiffEnvelope(
      nav: navs[slot].name, epoch: navs[slot].epoch, base: navs[slot].ring.last,
      revision: directory.revision, sequence: batches.totalSequence, cause: .api, by: nil)
    navs[slot].updateVirtualDigest()
    var json = JSONWriter(reserving: changes.count + 256)
    frame.begin(&json)
    json.member("ch", raw: changes)
    json.member("ev", raw: [0x5B, 0x5D])
    frame.end(&json, depth: directory.records.count, navs[slot].digest)
    appendToRing(EncodedDiff(bytes: json.bytes, resolved: json.count..<json.count), slot)
    navs[slot].durable = directory.revision
    assert(navs[slot].durable == navs[slot].revision)
    assert(navs[slot].ring.last == navs[slot].revision)
  }
}

extension DormantNav {
  /// The record of the nav in `$navs`.
  fileprivate func record(_ version: Revision) -> [UInt8] {
    JSONWriter.object { json in
      json.optional("id", name)
      json.member("ver", version.number)
      json.member("kind", word: kindName)
      json.member("epoch", hex: epoch.bits)
      json.optional("owner", owner)
    }
  }
}

extension Session {
  /// The record of the session in `$clients`.
  fileprivate func record(_ version: Revision, watchCount: Int, behind: UInt64) -> [UInt8] {
    JSONWriter.object { json in
      json.optional("id", client.text)
      json.member("ver", version.number)
      json.optional("name", name)
      json.peer(peer)
      json.optional("role", role.name)
      json.member("watches", UInt64(watchCount))
      json.member("behind", behind)
      json.member("stalled", !hasCredit)
    }
  }
}
