// Dormant navs: a start notes which navs the journal has, and reads almost no states. So a start is
// short. A nav is revived before the first event about it, or while the loop is idle. Reviving
// reads the newest snapshot and replays the rows behind it, with the same code as any replay, and
// compares each digest.

extension Hub {
  /// Whether there are navs that no event since the start was about.
  ///
  /// Mutating, because a getter that does not mutate is given a copy of the hub, 1 KB for each event.
  package var hasDormantNavs: Bool { mutating get { !navs.dormants.isEmpty } }

  /// The requests that revive all dormant navs, the oldest first.
  package var dormantNavs: [ReloadRequest] {
    navs.dormants.places.map(navs.dormants.request).sorted { $0.nav < $1.nav }
  }

  /// The request that revives the nav of an event; nil if that nav is not dormant.
  package func dormant(for event: HubEvent) -> ReloadRequest? {
    guard !navs.dormants.isEmpty, let place = place(for: event) else { return nil }
    return navs.dormants.request(place)
  }

  private func place(for event: HubEvent) -> Int? {
    switch event {
    case .message(_, _, let message): message.nav.flatMap { navs.dormants.place(named: $0) }
    case .snapshotWanted(let number): navs.dormants.place(of: number)
    case .unreadable, .closed, .blocked, .unblocked, .history, .floor, .backupProgress, .backup,
      .access, .revoked, .wake, .stop:
      nil
    }
  }

  /// Revives a nav; does nothing if the nav is not dormant any more.
  ///
  /// - Parameters:
  ///   - request: the request that named the nav.
  ///   - snapshot: the nav's newest snapshot; nil if it has none.
  ///   - rows: the nav's rows after the snapshot, or all of them, the oldest first.
  /// - Throws: the contradiction; the shell must not serve the journal any further.
  package mutating func revive(
    _ request: ReloadRequest, snapshot: SnapshotRow?, rows: [JournalRow]
  ) throws(HubReplayError) {
    guard let place = navs.dormants.place(of: request.nav) else { return }
    do throws(StoredDataError) {
      let entry = try navs.rebuild(snapshot, rows, configuration)
      let slot = try navs.revive(place, as: entry)
      assert(navs.slot(numbered: request.nav) == slot)
      // `committed` trims the rings, but idle revivals happen without commits.
      trimRings()
      let violated = navs.slots[slot].controller.violatedInvariants()
      if !violated.isEmpty { freeze(slot, violated) }
    } catch {
      throw HubReplayError(sequence: request.head, what: error.what)
    }
  }

  /// Returns the reads that revive at most `count` dormant navs, for when the loop is idle.
  ///
  /// Call it again only after all answers have arrived.
  package mutating func requestDormant(atMost count: Int) -> [HistoryRequest] {
    precondition(count >= 0, "count=\(count)")
    return navs.nextDormants(atMost: count).map { request in
      HistoryRequest(
        token: reads.insert(request), nav: request.nav, head: request.head, what: .state(at: .max))
    }
  }

  /// Whether answers to `requestDormant` are still to come.
  package var isReviving: Bool { reads.isReviving }

  /// The dormant nav that an answer revives; nil if it revives none, or the nav is loaded by now.
  package func revival(by answer: HistoryAnswer) -> ReloadRequest? {
    reads.revival(answer.token).flatMap { navs.dormants.place(of: $0.nav) == nil ? nil : $0 }
  }

  /// Revives the nav that an answer is about.
  ///
  /// - Returns: false if the answer revives no nav; then `handle` must take it.
  package mutating func revive(by answer: HistoryAnswer) throws(HubReplayError) -> Bool {
    guard let request = reads.takeRevival(answer.token) else { return false }
    // An event about the nav may have revived it meanwhile.
    guard navs.dormants.place(of: request.nav) != nil else { return true }
    if let failure = answer.failure {
      throw HubReplayError(sequence: request.head, what: failure)
    }
    try revive(request, snapshot: answer.snapshot, rows: answer.rows)
    return true
  }
}
