import NavigationCore

// Dormant navs: a start notes which navs the journal has, and reads almost no states. So a start is
// short. A nav is revived before the next event about it, which waits in `PageIns` until another
// thread has read the newest snapshot and replayed the rows behind it, with the same code as any
// replay, comparing each digest. A nav that nobody uses for a while becomes dormant again, so that
// memory holds what is in use.

/// A nav that was replayed from its rows, without a hub.
package struct ReplayedNav: Sendable {
  package let request: ReloadRequest
  fileprivate let entry: NavEntry
  fileprivate let violated: [String]
}

/// Replays navs on any thread, with the configuration that the hub had when it made this.
package struct NavReplayer: Sendable {
  fileprivate let configuration: HubConfiguration

  /// Replays a nav for `Hub.revive`; after an error the shell must not serve the journal any
  /// further.
  ///
  /// `snapshot` is the newest one. `rows` are the rows behind the snapshot, or all rows if there is
  /// no snapshot, the oldest first.
  package func replay(
    _ request: ReloadRequest, snapshot: SnapshotRow?, rows: [JournalRow]
  ) throws(HubReplayError) -> ReplayedNav {
    do throws(StoredDataError) {
      let entry = try NavEntry.rebuilt(snapshot, rows, configuration, JournalBodyReader())
      return ReplayedNav(
        request: request, entry: entry, violated: entry.controller.violatedInvariants())
    } catch {
      throw HubReplayError(sequence: request.newestRow, what: error.what)
    }
  }
}

extension Hub {
  /// Whether there are dormant navs.
  package var hasDormantNavs: Bool { mutating get { !navs.dormants.isEmpty } }

  /// The requests that revive all dormant navs, in the order of the navs' numbers.
  package var dormantNavs: [ReloadRequest] {
    navs.dormants.places.map(navs.dormants.request).sorted { $0.nav < $1.nav }
  }

  /// The request that revives the nav of an event; nil if that nav is not dormant.
  package func dormant(for event: HubEvent) -> ReloadRequest? {
    guard !navs.dormants.isEmpty, let place = place(for: event) else { return nil }
    return navs.dormants.request(place)
  }

  private func place(for event: HubEvent) -> DormantNavs.Place? {
    switch event {
    case .message(_, _, let message): message.nav.flatMap { navs.dormants.place(named: $0) }
    case .snapshotWanted(let number): navs.dormants.place(of: number)
    case .unreadable, .closed, .blocked, .unblocked, .history, .historyPruned, .backupProgress,
      .backup, .access, .revoked, .cluster, .clusterCommandResult, .configured, .wake, .stop:
      nil
    }
  }

  /// The request that revives a nav; nil if the nav is not dormant.
  package func dormant(_ nav: UInt64) -> ReloadRequest? {
    navs.dormants.place(of: nav).map(navs.dormants.request)
  }

  package func makeReplayer() -> NavReplayer { NavReplayer(configuration: configuration) }

  /// Revives a nav from its rows; see ``NavReplayer/replay(_:snapshot:rows:)``.
  package mutating func revive(
    _ request: ReloadRequest, snapshot: SnapshotRow?, rows: [JournalRow]
  ) throws(HubReplayError) {
    guard navs.dormants.place(of: request.nav) != nil else { return }
    try revive(makeReplayer().replay(request, snapshot: snapshot, rows: rows))
  }

  /// Revives a nav; does nothing if it is not dormant any more.
  package mutating func revive(_ nav: ReplayedNav) throws(HubReplayError) {
    guard let place = navs.dormants.place(of: nav.request.nav) else { return }
    do throws(StoredDataError) {
      let slot = try navs.revive(place, as: nav.entry)
      assert(navs.slot(numbered: nav.request.nav) == slot)
      noteLoaded(slot)
      noteHead(slot)
      // The limits can be lower than those of the replay.
      trimRing(of: slot)
      // At once, because one batch can revive many navs.
      trimRings()
      if !nav.violated.isEmpty { freeze(slot, nav.violated) }
    } catch {
      throw HubReplayError(sequence: nav.request.newestRow, what: error.what)
    }
  }
}

// Navs that become dormant again.

extension Hub {
  /// The most slots that one slice of a sweep examines, and the most navs that it unloads.
  ///
  /// To free a nav of 80 KB takes some 20 µs, and the loop handles nothing else meanwhile.
  private static let sweptAtATime = (slots: 4096, navs: 64)
  /// Milliseconds between two slices.
  private static let sliceInterval: UInt64 = 10

  /// Notes that a nav was created or revived, and plans the next sweep for idle navs.
  mutating func noteLoaded(_ slot: NavSlot) {
    navs[slot].lastReadBatch = batches.currentNumber
    noteIfLackingLooks(slot)
    if sweep.begin(at: timer.now.boot + configuration.navIdle) { timer.plan(sweep.dueAt) }
  }

  /// Makes idle navs dormant, a slice of the slots at a time.
  ///
  /// Called only if every batch is durable: no effect and no rollback needs a slot that it frees.
  mutating func sweepIdle(at now: Instant) {
    if sweep.cursor == 0 { sweep.beginRound(by: batches.currentNumber) }
    let awaited = reads.navs
    var place = sweep.cursor
    let end = min(place + Self.sweptAtATime.slots, navs.slotCount)
    var unloaded = 0
    while place < end, unloaded < Self.sweptAtATime.navs {
      let slot = NavSlot(place)
      if navs.isLive(slot), sweep.isIdle(navs[slot].lastUseBatch), mayUnload(slot, awaited) {
        unload(slot)
        unloaded += 1
      }
      place += 1
    }
    sweep.unloadedCount += unloaded
    if place < navs.slotCount {
      sweep.pause(at: place, until: now.boot + Self.sliceInterval)
    } else {
      output.unloadedNavs = sweep.unloadedCount
      sweep.endRound(next: navs.loadedCount == 0 ? nil : now.boot + configuration.navIdle)
    }
    timer.plan(sweep.dueAt)
  }

  /// Whether nothing needs a nav in memory; `awaited` has the navs whose history clients wait for.
  mutating func mayUnload(_ slot: NavSlot, _ awaited: Set<String>) -> Bool {
    guard !Navs.virtualSlots.contains(slot), watches.of(nav: slot).isEmpty,
      coordinations.isAtRest(slot), navs.hasName(slot), !navs[slot].isAppearance
    else { return false }
    return navs[slot].isFullyRecorded && !awaited.contains(navs[slot].name)
  }

  /// Makes a loaded nav dormant.
  mutating func unload(_ slot: NavSlot) {
    precondition(
      batches.isIdle && coordinations.isAtRest(slot),
      "a nav is unloaded while something is under way")
    coordinations.forget(slot)
    navs.unload(slot)
  }
}
