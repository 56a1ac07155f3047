// `$heads`: all navs, with the position of each. Only changed navs are looked at, and only while a client
// watches. A batch that is durable notes them, and at most four revisions a second show them. A message
// about `$heads` waits until the history thread has read the position of each dormant nav in the nav's
// newest row. So no nav is loaded for it, and the hub keeps these positions only while a client watches.

extension Hub {
  /// Notes that the position of a nav or its number of watches changed.
  ///
  /// A position that is not durable is noted when it is, or when it is taken back.
  mutating func noteHead(_ slot: Int) {
    guard navs.isActive(Navs.headsSlot), !Navs.virtualSlots.contains(slot), navs.isLive(slot),
      navs.hasName(slot),
      navs.slots[slot].touchedBy + UInt64(batches.sealed.count) < batches.number
    else { return }
    noteHead(Head(navs.slots[slot]), of: navs.slots[slot].name)
  }

  /// Notes that a nav goes for good or elsewhere; it still has its slot.
  mutating func noteGone(_ slot: Int) {
    guard navs.isActive(Navs.headsSlot), navs.isLive(slot) else { return }
    noteHead(nil, of: navs.slots[slot].name)
  }

  /// Takes the positions of dormant navs that were read from the journal.
  mutating func takeHeads(_ heads: [(ReloadRequest, Head)]) {
    for (nav, head) in navs.takeHeads(heads) where navs.isActive(Navs.headsSlot) {
      noteHead(head, of: nav)
    }
  }

  private mutating func noteHead(_ head: Head?, of nav: String) {
    heads.note(head, of: nav)
    heads.pace.request(at: timer.now.boot)
    if let dueAt = heads.pace.dueAt { timer.plan(dueAt) }
  }

  /// Notes where the batch at hand, which is about to be sealed, leaves its navs.
  ///
  /// When it is durable, the navs may be further on.
  mutating func noteSealedHeads() {
    for index in batches.current.touched.indices
    where navs.isLive(batches.current.touched[index].slot) {
      batches.current.touched[index].head = Head(navs.slots[batches.current.touched[index].slot])
    }
  }

  /// Notes the navs that the batch changed, which is durable.
  mutating func noteDurableHeads() {
    for slot in batches.current.closed { noteGone(slot) }
    for touched in batches.current.touched
    where navs.isLive(touched.slot) && navs.hasName(touched.slot) {
      let head = touched.head ?? Head(navs.slots[touched.slot])
      noteHead(head, of: navs.slots[touched.slot].name)
    }
  }

  /// The records of all navs, in no order.
  var headRecords: [Directory.Wanted] {
    let dormant = navs.dormantHeads.compactMap { number, head in
      navs.dormants.place(of: number).map { headRecord(of: navs.dormants[$0].name, head) }
    }
    return dormant
      + navs.loaded.filter { navs.hasName($0) }
      .map { headRecord(of: navs.slots[$0].name, Head(navs.slots[$0])) }
  }

  /// Makes a revision of the noted changes.
  ///
  /// O(changed navs), and O(navs) for the digest.
  mutating func publishHeads(at now: Instant) {
    let records = heads.take().map { nav, head in
      head.map { headRecord(of: nav, $0) as (String, Directory.Encoder?) } ?? (nav, nil)
    }
    if let changes = navs.slots[Navs.headsSlot].directory?.update(records) {
      publish(changes, of: Navs.headsSlot)
    }
    heads.pace.published(
      at: now.boot, records: navs.slots[Navs.headsSlot].directory?.records.count ?? 0)
  }

  private func headRecord(of nav: String, _ head: Head) -> Directory.Wanted {
    let watchCount = navs.slot(of: nav).map { watches.of(nav: $0).count } ?? 0
    let record: Directory.Encoder = { version in
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
    return (nav, record)
  }
}
