// Dormant navs: a start notes which navs the journal has, and reads almost no states. So a start is
// short. A nav is revived before the next event about it, which waits in `PageIns` until another
// thread has read the newest snapshot and replayed the rows behind it, with the same code as any
// replay, comparing each digest. A nav that nobody uses for a while becomes dormant again, so that
// memory holds what is in use.

/// A nav that was replayed from its rows without a hub, or the positions that `$heads` waits for.
package struct ReplayedNav: Sendable {
  fileprivate enum Content {
    case nav(NavEntry, violated: [String])
    case heads([(ReloadRequest, Head)])
  }

  package let request: ReloadRequest
  fileprivate let content: Content
}

/// Replays navs on any thread, with the configuration that the hub had when it made this.
package struct NavReplayer: Sendable {
  fileprivate let configuration: HubConfiguration
  fileprivate let heads: [ReloadRequest]

  /// Reads the positions that `$heads` waits for; `newest` returns the revision, the time and the body of a
  /// nav's newest row that has a position, or of its newest snapshot.
  package func readHeads(
    for request: ReloadRequest,
    newest: (ReloadRequest) throws -> (revision: UInt64, time: UInt64, body: [UInt8])?
  ) throws -> ReplayedNav {
    var reader = JournalBodyReader()
    let heads = try heads.compactMap { request -> (ReloadRequest, Head)? in
      guard let (revision, time, body) = try newest(request),
        let (depth, top) = reader.position(in: body)
      else { return nil }
      return (request, Head(revision: Revision(revision), depth: depth, top: top, time: time))
    }
    return ReplayedNav(request: request, content: .heads(heads))
  }

  /// Replays a nav for `Hub.revive`; after an error the shell must not serve the journal any
  /// further.
  ///
  /// `snapshot` is the newest one. `rows` are those behind it, or all of them without one, the
  /// oldest first.
  package func replay(
    _ request: ReloadRequest, snapshot: SnapshotRow?, rows: [JournalRow]
  ) throws(HubReplayError) -> ReplayedNav {
    do throws(StoredDataError) {
      let entry = try NavEntry.rebuilt(snapshot, rows, configuration, JournalBodyReader())
      let violated = entry.controller.violatedInvariants()
      return ReplayedNav(request: request, content: .nav(entry, violated: violated))
    } catch {
      throw HubReplayError(sequence: request.head, what: error.what)
    }
  }
}

extension Hub {
  /// Whether there are dormant navs.
  ///
  /// Mutating, because a getter that does not mutate is given a copy of the hub, 1 KB for each event.
  package var hasDormantNavs: Bool { mutating get { !navs.dormants.isEmpty } }

  /// The requests that revive all dormant navs, the oldest first.
  package var dormantNavs: [ReloadRequest] {
    navs.dormants.places.map(navs.dormants.request).sorted { $0.nav < $1.nav }
  }

  /// The request for what an event needs of the journal: its nav, or positions for `$heads`.
  package func dormant(for event: HubEvent) -> ReloadRequest? {
    guard !navs.dormants.isEmpty else { return nil }
    switch event {
    case .message(_, _, let message):
      return message.nav.flatMap { nav in
        navs.dormants.place(named: nav).map(navs.dormants.request)
          ?? (nav == NavName.heads.text ? dormant(0) : nil)
      }
    case .snapshotWanted(let number): return dormant(number)
    case .unreadable, .closed, .blocked, .unblocked, .history, .floor, .backupProgress, .backup,
      .access, .revoked, .cluster, .wished, .configured, .wake, .stop:
      return nil
    }
  }

  /// The request that revives a nav, or reads positions for `$heads`; nil if nothing is to be read.
  package func dormant(_ nav: UInt64) -> ReloadRequest? {
    if nav > 0 { return navs.dormants.place(of: nav).map(navs.dormants.request) }
    // The number of navs that are left distinguishes the request from those before.
    let left = UInt64(navs.unknownHeads.count)
    return left == 0 ? nil : ReloadRequest(nav: nav, head: left)
  }

  package func makeReplayer(for requests: [ReloadRequest] = []) -> NavReplayer {
    let heads = requests.contains(where: \.isOfHeads) ? navs.nextHeads : []
    return NavReplayer(configuration: configuration, heads: heads)
  }

  /// Revives a nav from its rows; see ``NavReplayer/replay(_:snapshot:rows:)``.
  package mutating func revive(
    _ request: ReloadRequest, snapshot: SnapshotRow?, rows: [JournalRow]
  ) throws(HubReplayError) {
    guard navs.dormants.place(of: request.nav) != nil else { return }
    try revive(makeReplayer().replay(request, snapshot: snapshot, rows: rows))
  }

  /// Revives a nav, unless it is not dormant any more; or takes positions for `$heads`.
  ///
  /// After an error the shell must not serve the journal any further.
  package mutating func revive(_ nav: ReplayedNav) throws(HubReplayError) {
    if case .heads(let heads) = nav.content { return takeHeads(heads) }
    guard let place = navs.dormants.place(of: nav.request.nav),
      case .nav(let entry, let violated) = nav.content
    else { return }
    do throws(StoredDataError) {
      let slot = try navs.revive(place, as: entry)
      assert(navs.slot(numbered: nav.request.nav) == slot)
      noteLoaded(slot)
      noteHead(slot)
      // The limits can be lower than those of the replay.
      trim(slot)
      // At once, because one batch can revive many navs.
      trimRings()
      if !violated.isEmpty { freeze(slot, violated) }
    } catch {
      throw HubReplayError(sequence: nav.request.head, what: error.what)
    }
  }
}

// Navs that become dormant again.

extension Hub {
  /// The number of slots that one slice of a sweep looks at, and of navs that it unloads.
  ///
  /// To free a nav of 80 KB takes some 20 µs, and the loop handles nothing else meanwhile.
  private static let sweptAtATime = (slots: 4096, navs: 64)
  /// Milliseconds between two slices.
  private static let sliceInterval: UInt64 = 10

  /// Notes that a nav was created or revived, and plans the sweep that finds out whether it is used.
  mutating func noteLoaded(_ slot: Int) {
    navs.slots[slot].readBy = batches.number
    noteFollower(slot)
    if sweep.begin(at: timer.now.boot + configuration.navIdle) { planSweep() }
  }

  private mutating func planSweep() {
    if let dueAt = sweep.dueAt { timer.plan(dueAt) }
  }

  /// Notes whether a slice of a sweep is due, or plans it.
  mutating func wakeSweep(at now: Instant) {
    sweep.wake(at: now.boot)
    if !sweep.isDue { planSweep() }
  }

  /// Makes idle navs dormant, a slice of the slots at a time.
  ///
  /// Nothing is under way, so that no effect and no rollback names the slot of a nav that goes.
  mutating func sweepIdle(at now: Instant) {
    if sweep.cursor == 0 { sweep.beginRound(by: batches.number) }
    let awaited = reads.navs
    var slot = sweep.cursor
    let end = min(slot + Self.sweptAtATime.slots, navs.slots.end)
    var unloaded = 0
    while slot < end, unloaded < Self.sweptAtATime.navs {
      if navs.isLive(slot), sweep.isIdle(navs.slots[slot].usedBy), mayUnload(slot, awaited) {
        unload(slot)
        unloaded += 1
      }
      slot += 1
    }
    sweep.unloaded += unloaded
    if slot < navs.slots.end {
      sweep.pause(at: slot, until: now.boot + Self.sliceInterval)
    } else {
      output.unloadedNavs = sweep.unloaded
      sweep.endRound(next: navs.loadedCount == 0 ? nil : now.boot + configuration.navIdle)
    }
    planSweep()
  }

  /// Whether nothing needs a nav in memory; clients wait for the history of the navs in `awaited`.
  ///
  /// Mutating, because a method that does not mutate is given a copy of the hub.
  mutating func mayUnload(_ slot: Int, _ awaited: Set<String>) -> Bool {
    guard !Navs.virtualSlots.contains(slot), watches.of(nav: slot).isEmpty,
      coordinations.isAtRest(slot), navs.hasName(slot), !isAppearance(slot)
    else { return false }
    return navs.slots[slot].isComplete && !awaited.contains(navs.slots[slot].name)
  }

  /// Makes a loaded nav dormant, which nothing needs in memory.
  mutating func unload(_ slot: Int) {
    precondition(batches.isIdle, "a nav is unloaded while something is under way")
    coordinations.forget(slot)
    navs.unload(slot)
  }
}
