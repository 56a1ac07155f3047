import Navigation

// The virtual navs: `$navs`, the directory of navs, and `$clients`, the list of sessions. They are
// derived, so they change when a batch is durable, and only while somebody looks.

extension Hub {
  /// Begins to keep a virtual nav's records.
  mutating func activate(_ slot: Int) {
    guard let directory = navs[slot].directory, !directory.isActive else { return }
    navs[slot].directory?.isActive = true
    let revision = directory.revision
    let records = records(of: slot).map { id, json in
      Directory.Record(id: id, version: revision, json: json(revision))
    }
    navs[slot].directory?.records = records
    navs[slot].refreshDirectoryDigest()
    navs[slot].restartRing(at: revision)
  }

  /// Stops keeping a virtual nav's records when nobody looks; who comes back gets a snapshot.
  mutating func deactivateIfUnwatched(_ slot: Int) {
    guard navs[slot].directory?.isActive == true, navs[slot].watches.isEmpty else { return }
    ringBytes -= navs[slot].ring.byteCount
    navs[slot].directory?.isActive = false
    navs[slot].directory?.records = []
    let revision = navs[slot].revision.next
    navs[slot].directory?.revision = revision
    navs[slot].refreshDirectoryDigest()
    navs[slot].restartRing(at: revision)
  }

  /// The records as they should be, in the order of their names, each to be encoded with a version.
  private func records(of slot: Int) -> [(id: String, json: (Revision) -> [UInt8])] {
    if slot == Self.navsSlot {
      let awake = navs.indices.dropFirst(2).filter { navSlots[navs[$0].name] == $0 }
        .map { slot in (navs[slot].name, { navRecord(NavFacts(navs[slot]), $0) }) }
      let dormant = dormants.named.map { nav in (nav.name, { navRecord(NavFacts(nav), $0) }) }
      return (awake + dormant)
        .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
    }
    return sessions.indices.map { slot in
      (sessions[slot].client.text, { clientRecord(slot, $0) })
    }
    .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
  }

  private func navRecord(_ nav: NavFacts, _ version: Revision) -> [UInt8] {
    JSONWriter.value { json in
      json.beginObject()
      json.optional("id", nav.name)
      json.member("ver", version.number)
      json.member("kind", plain: nav.kind)
      json.member("epoch", hex: nav.epoch.bits)
      json.optional("owner", nav.owner)
      json.endObject()
    }
  }

  private func clientRecord(_ slot: Int, _ version: Revision) -> [UInt8] {
    let session = sessions[slot]
    return JSONWriter.value { json in
      json.beginObject()
      json.optional("id", session.client.text)
      json.member("ver", version.number)
      json.optional("name", session.name)
      json.peer(session.peer)
      json.optional("role", session.role.name)
      json.member("watches", UInt64(session.watches.count))
      json.endObject()
    }
  }

  /// Brings the virtual navs up to date with what the batch did.
  mutating func publishDirectories() {
    if !batch.created.isEmpty || !batch.closed.isEmpty { publish(Self.navsSlot) }
    if batch.changedClients { publish(Self.clientsSlot) }
  }

  /// Makes one revision of what differs.
  ///
  /// O(records), while somebody looks.
  mutating func publish(_ slot: Int) {
    guard let directory = navs[slot].directory else { return }
    let revision = directory.revision.next
    guard directory.isActive else {
      navs[slot].directory?.revision = revision
      navs[slot].restartRing(at: revision)
      return
    }
    let wanted = records(of: slot)
    var records: [Directory.Record] = []
    var changes = JSONWriter()
    changes.beginArray()
    var old = directory.records[...]
    for (id, json) in wanted {
      while let gone = old.first, gone.id.utf8.lexicographicallyPrecedes(id.utf8) {
        changes.splice(at: records.count, removing: gone.id, inserting: nil)
        old.removeFirst()
      }
      guard let kept = old.first, kept.id == id else {
        let record = Directory.Record(id: id, version: revision, json: json(revision))
        changes.splice(at: records.count, removing: nil, inserting: record.json)
        records.append(record)
        continue
      }
      old.removeFirst()
      guard json(kept.version) != kept.json else {
        records.append(kept)
        continue
      }
      let record = Directory.Record(id: id, version: revision, json: json(revision))
      changes.set(record.json)
      records.append(record)
    }
    for gone in old { changes.splice(at: records.count, removing: gone.id, inserting: nil) }
    changes.endArray()
    guard changes.count > 2 else { return }
    publish(slot, revision, records, changes.bytes)
  }

  private mutating func publish(
    _ slot: Int, _ revision: Revision, _ records: [Directory.Record], _ changes: [UInt8]
  ) {
    let frame = DiffFrame(
      nav: navs[slot].name, epoch: navs[slot].epoch, base: navs[slot].revision, revision: revision,
      sequence: sequence, cause: .api, by: nil)
    navs[slot].directory?.records = records
    navs[slot].directory?.revision = revision
    navs[slot].refreshDirectoryDigest()
    var json = JSONWriter(reserving: changes.count + 256)
    frame.begin(&json)
    json.member("ch", raw: changes)
    json.member("ev", raw: [0x5B, 0x5D])
    frame.end(&json, depth: records.count, navs[slot].digest)
    keep(EncodedDiff(bytes: json.bytes), slot)
    navs[slot].durable = revision
  }
}

/// What the directory tells of a nav.
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
}

extension NavEntry {
  fileprivate mutating func refreshDirectoryDigest() {
    if let directory { digest = directory.digest() }
  }

  /// Forgets the diffs before `revision`.
  fileprivate mutating func restartRing(at revision: Revision) {
    ring = DiffRing(base: revision, digest: digest)
    durable = revision
  }
}

extension JSONWriter {
  fileprivate mutating func splice(at index: Int, removing: String?, inserting: [UInt8]?) {
    beginObject()
    name("at")
    integer(UInt64(index))
    list("del", removing.map { [$0] } ?? [])
    name("ins")
    beginArray()
    if let inserting { raw(inserting) }
    endArray()
    endObject()
  }

  fileprivate mutating func set(_ record: [UInt8]) {
    beginObject()
    name("set")
    plain("screen")
    name("to")
    raw(record)
    endObject()
  }
}
