// `$heads`: the navs that have been in memory, with the position of each. Only changed navs are looked at, and only while
// a client watches. A batch that is durable notes them, and at most four revisions a second show them.

extension Hub {
  /// Notes the position of a nav, which is durable.
  mutating func noteHead(_ slot: Int) {
    guard navs.isActive(Navs.headsSlot), !Navs.virtualSlots.contains(slot), navs.hasName(slot)
    else {
      return
    }
    noteHead(.moved(Head(navs.slots[slot])), slot)
  }

  /// Notes that a nav goes for good or elsewhere; it still has its slot.
  mutating func noteGone(_ slot: Int) {
    guard navs.isActive(Navs.headsSlot), !Navs.virtualSlots.contains(slot), navs.isLive(slot) else {
      return
    }
    noteHead(.gone, slot)
  }

  /// Notes that a watch of a nav began or ended.
  mutating func noteWatches(of slot: Int) {
    guard navs.isActive(Navs.headsSlot), !Navs.virtualSlots.contains(slot), navs.isLive(slot) else {
      return
    }
    noteHead(.watches, slot)
  }

  private mutating func noteHead(_ change: Heads.Change, _ slot: Int) {
    heads.note(change, of: navs.slots[slot].name)
    heads.pace.request(at: timer.now.boot)
    if let dueAt = heads.pace.dueAt { timer.plan(dueAt) }
  }

  /// Notes where the batch at hand, which is about to be sealed, leaves its navs.
  ///
  /// When it is durable, the navs may be further on.
  mutating func noteSealedHeads() {
    for index in batches.current.touched.indices {
      let slot = batches.current.touched[index].slot
      guard navs.isLive(slot) else { continue }
      batches.current.touched[index].head = Head(navs.slots[slot])
    }
  }

  /// Notes the navs that the batch changed, which is durable.
  mutating func noteDurableHeads() {
    for slot in batches.current.closed { noteGone(slot) }
    for touched in batches.current.touched
    where navs.isLive(touched.slot) && navs.hasName(touched.slot) {
      noteHead(.moved(touched.head ?? Head(navs.slots[touched.slot])), touched.slot)
    }
  }

  /// The records of all navs with a known position, in no order.
  var headRecords: [Directory.Wanted] {
    let dormant = navs.dormantHeads.compactMap { number, head in
      navs.dormants.place(of: number).map { place in
        Self.headRecord(of: navs.dormants[place].name, head, watchCount: 0)
      }
    }
    return dormant
      + navs.loaded.filter { navs.hasName($0) }.map { slot in
        Self.headRecord(
          of: navs.slots[slot].name, Head(navs.slots[slot]), watchCount: watches.of(nav: slot).count
        )
      }
  }

  /// Makes a revision of the noted changes.
  ///
  /// O(changed navs), and O(awake navs) for the digest.
  mutating func publishHeads(at now: Instant) {
    var records: [(id: String, json: Directory.Encoder?)] = []
    for (nav, change) in heads.take() {
      let slot = navs.slot(of: nav)
      let watchCount = slot.map { watches.of(nav: $0).count } ?? 0
      switch change {
      case .gone: records.append((nav, nil))
      case .moved(let head):
        records.append(Self.headRecord(of: nav, head, watchCount: watchCount))
      case .watches:
        // A position that is not durable yet is noted when it is.
        guard let slot, navs.slots[slot].durable == navs.slots[slot].revision else { continue }
        records.append(Self.headRecord(of: nav, Head(navs.slots[slot]), watchCount: watchCount))
      }
    }
    if let changes = navs.slots[Navs.headsSlot].directory?.update(records) {
      publish(changes, of: Navs.headsSlot)
    }
    heads.pace.published(
      at: now.boot, records: navs.slots[Navs.headsSlot].directory?.records.count ?? 0)
  }

  private static func headRecord(
    of nav: String, _ head: Head, watchCount: Int
  ) -> Directory.Wanted {
    (
      nav,
      { version in
        JSONWriter.value { json in
          json.beginObject()
          json.member("id", nav)
          json.member("ver", version.number)
          json.member("rev", head.revision.number)
          json.member("depth", UInt64(head.depth))
          if let top = head.top { json.member("top", top) }
          json.member("t", head.time)
          json.member("watches", UInt64(watchCount))
          json.endObject()
        }
      }
    )
  }
}
