import NavigationCore

// `$heads`: all navs, with the position of each. Only changed navs are looked at, and only while a
// client watches. A batch that is durable notes them, and at most four revisions a second show them.

extension Hub {
  /// Notes the position of a nav and the number of its watches for `$heads`.
  ///
  /// Skips a position that is not durable; the hub notes it after the commit or the rollback.
  mutating func noteHead(_ slot: NavSlot) {
    guard navs.keepsRecords(Navs.headsSlot), !Navs.virtualSlots.contains(slot), navs.isLive(slot),
      navs.hasName(slot), navs[slot].durable == navs[slot].revision,
      !batches.haveChanged(navs[slot])
    else { return }
    noteHead(NavHead(navs[slot]), slot)
  }

  /// Notes for `$heads` that a nav is about to be removed.
  mutating func noteGone(_ slot: NavSlot) {
    guard navs.keepsRecords(Navs.headsSlot), navs.isLive(slot) else { return }
    noteHead(nil, slot)
  }

  private mutating func noteHead(_ head: NavHead?, _ slot: NavSlot) {
    heads.note(head, of: navs[slot].name)
    heads.pace.request(at: timer.now.boot)
    timer.plan(heads.pace.dueAt)
  }

  /// Notes for `$heads` the navs that a durable batch changed or closed.
  mutating func noteDurableHeads() {
    for case .closed(let slot) in batches.current.undo { noteGone(slot) }
    for changed in batches.current.changedNavs
    where navs.isLive(changed.slot) && navs.hasName(changed.slot) {
      noteHead(changed.finalHead ?? NavHead(navs[changed.slot]), changed.slot)
    }
  }

  /// The records of all navs, in no order.
  var headRecords: [VirtualNavRecords.WantedRecord] {
    navs.loaded.filter { navs.hasName($0) }
      .map { headRecord(of: navs[$0].name, NavHead(navs[$0])) }
      + navs.dormants.placesWithName.map {
        headRecord(of: navs.dormants[$0].name, navs.dormants.history($0).head)
      }
  }

  /// Makes one revision of `$heads` with the positions of all navs, which must be durable; O(navs).
  ///
  /// A cluster moves shards with thousands of navs at once.
  mutating func publishAllHeads() {
    _ = heads.take()
    publishVirtualNav(Navs.headsSlot)
    heads.pace.published(
      at: timer.now.boot, records: navs[Navs.headsSlot].directory?.records.count ?? 0)
  }

  /// Makes a revision of `$heads` with the noted changes.
  ///
  /// O(changed navs), and O(navs) for the digest.
  mutating func publishHeads(at now: Instant) {
    let records: [VirtualNavRecords.RecordChange] = heads.take().map { nav, head in
      (nav, head.map { headRecord(of: nav, $0).json })
    }
    if let changes = navs[Navs.headsSlot].directory?.update(records) {
      publish(changes, of: Navs.headsSlot)
    }
    heads.pace.published(at: now.boot, records: navs[Navs.headsSlot].directory?.records.count ?? 0)
  }

  private func headRecord(of nav: String, _ head: NavHead) -> VirtualNavRecords.WantedRecord {
    let watchCount = navs.slot(of: nav).map { watches.of(nav: $0).count } ?? 0
    return (
      nav,
      { version in
        JSONWriter.object { json in
          json.member("id", nav)
          json.member("ver", version.number)
          json.member("rev", head.revision.number)
          json.member("depth", UInt64(head.depth))
          json.optional("top", head.top?.text)
          json.member("t", head.time)
          json.member("watches", UInt64(watchCount))
        }
      }
    )
  }
}
