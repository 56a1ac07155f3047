import NavigationCore

// The virtual navs: `$navs`, the directory of navs, `$clients`, the list of sessions, and `$heads`, the
// positions of all navs. The hub derives their records when a batch is durable, and only while a
// client watches or reads them.

extension Hub {
  /// Begins to keep the records of a virtual nav.
  ///
  /// Does nothing if the hub keeps these records already, or if the nav is not virtual.
  mutating func activate(_ slot: NavSlot) {
    guard let directory = navs[slot].directory, !directory.isActive else { return }
    let records = records(of: slot)
    navs[slot].directory?.activate(records)
    navs.restartDirectory(slot)
    assert(watches.of(nav: slot).isEmpty, "a watch of records that were not kept")
  }

  /// Stops keeping a virtual nav's records if no watch is left.
  mutating func deactivateIfUnwatched(_ slot: NavSlot) {
    guard navs[slot].directory?.isActive == true, watches.of(nav: slot).isEmpty else {
      return
    }
    navs[slot].directory?.deactivate()
    if slot == Navs.headsSlot { heads = Heads() }
    if slot == Navs.clientsSlot { clientsPace.cancel() }
    navs.restartDirectory(slot)
  }

  /// The records that a virtual nav should have, in the order of their names, with their encoders.
  private func records(of slot: NavSlot) -> [Directory.WantedRecord] {
    assert(Navs.virtualSlots.contains(slot), "slot \(slot) is no virtual nav's")
    let records: [Directory.WantedRecord]
    switch slot {
    case Navs.navsSlot:
      let loaded = navs.loaded.filter { navs.hasName($0) }.map { DormantNav(navs[$0]) }
      records = (loaded + navs.dormants.named.map { navs.dormants[$0] }).map { nav in
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
  var changesDirectories: Bool {
    let isOfClients = batches.current.mayChangeClients || clientsPace.isDue(at: timer.now.boot)
    return batches.current.mayChangeNavs && navs.isActive(Navs.navsSlot)
      || isOfClients && navs.isActive(Navs.clientsSlot)
  }

  /// Plans the revisions of virtual navs that are not due yet.
  mutating func planDirectories() {
    timer.plan(heads.pace.dueAt)
    timer.plan(clientsPace.dueAt)
  }

  /// Requests a revision of `$clients`, because the number of revisions that a session is behind
  /// may have changed.
  mutating func requestLag(at now: Instant) {
    guard navs.isActive(Navs.clientsSlot) else { return }
    clientsPace.request(at: now.boot)
  }

  /// Updates the virtual navs after a batch that changed navs or sessions.
  ///
  /// `isAllDurable` is false if a later batch has begun.
  mutating func publishDirectories(isAllDurable: Bool, at now: Instant) {
    if batches.current.mayChangeNavs { publish(Navs.navsSlot) }
    if batches.current.messageCount > 0 || !batches.current.changedNavs.isEmpty {
      requestLag(at: now)
    }
    if batches.current.mayChangeClients || isAllDurable && clientsPace.isDue(at: now.boot) {
      publish(Navs.clientsSlot)
      clientsPace.published(at: now.boot, records: sessions.count)
    }
    if heads.pace.isDue(at: now.boot) { publishHeads(at: now) }
    planDirectories()
  }

  /// Brings the records of a virtual nav up to date in one revision.
  ///
  /// O(records) while the hub keeps the records, else O(1).
  mutating func publish(_ slot: NavSlot) {
    precondition(Navs.virtualSlots.contains(slot), "slot=\(slot)")
    guard navs.isActive(slot) else {
      navs[slot].directory?.countRevision()
      return navs.restartDirectory(slot)
    }
    let records = records(of: slot)
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
    navs[slot].followDirectory()
    var json = JSONWriter(reserving: changes.count + 256)
    frame.begin(&json)
    json.member("ch", raw: changes)
    json.member("ev", raw: [0x5B, 0x5D])
    frame.end(&json, depth: directory.records.count, navs[slot].digest)
    keep(EncodedDiff(bytes: json.bytes), slot)
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
