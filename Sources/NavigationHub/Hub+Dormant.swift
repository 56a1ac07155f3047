import Navigation
import NavigationProtocol

// Dormant navs: a start reads no state but takes note of what there is, so that it takes no longer
// for a long history. A nav is revived from its newest snapshot and the rows behind it by the code
// that replays any row, digest by digest, before the first event that is about it, and in quiet
// moments if there is none.

extension Hub {
  /// Whether there are navs that no event since the start was about.
  ///
  /// Mutating, because a getter that does not mutate is given a copy of the hub, 1 KB for each event.
  package var hasDormantNavs: Bool { mutating get { !navs.dormants.isEmpty } }

  /// What to read to revive all that are dormant, the oldest first.
  package var dormantNavs: [ReloadRequest] {
    navs.dormants.places.map(navs.dormants.request).sorted { $0.nav < $1.nav }
  }

  /// The nav that must be revived before the hub takes an event; nil for none.
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

  /// Revives a nav, unless that has been done.
  ///
  /// - Parameters:
  ///   - request: which nav, as it was asked for.
  ///   - snapshot: its newest snapshot, if it has one.
  ///   - rows: its rows behind the snapshot or all of them, the oldest first.
  /// - Throws: what does not fit; the journal must not be served any further.
  package mutating func revive(
    _ request: ReloadRequest, snapshot: SnapshotRow?, rows: [JournalRow]
  ) throws(HubReplayError) {
    guard let place = navs.dormants.place(of: request.nav) else { return }
    do throws(StoredDataError) {
      let entry = try navs.rebuild(snapshot, rows, configuration)
      let slot = try navs.revive(place, as: entry)
      // In quiet moments many navs are revived without a commit, which would do it otherwise.
      trimRings()
      let violated = navs.slots[slot].controller.violatedInvariants()
      if !violated.isEmpty { freeze(slot, violated) }
    } catch {
      throw HubReplayError(sequence: request.head, what: error.what)
    }
  }

  /// Asks for the history of some dormant navs, to revive them while there is nothing else to do.
  ///
  /// Ask again when all answers are there, and not before.
  package mutating func requestDormant(atMost count: Int) -> [HistoryRequest] {
    navs.nextDormants(atMost: count).map { request in
      HistoryRequest(
        token: reads.insert(request), nav: request.nav, head: request.head, what: .state(at: .max))
    }
  }

  /// Whether answers to `requestDormant` are still to come.
  package var isReviving: Bool { reads.isReviving }

  /// The nav that an answer is to revive; nil if it answers something else, or if that was done.
  package func revival(by answer: HistoryAnswer) -> ReloadRequest? {
    reads.revival(answer.token).flatMap { navs.dormants.place(of: $0.nav) == nil ? nil : $0 }
  }

  /// Revives the nav that an answer is about.
  ///
  /// - Returns: false if it answers something else, which `handle` takes.
  package mutating func revive(by answer: HistoryAnswer) throws(HubReplayError) -> Bool {
    guard let request = reads.takeRevival(answer.token) else { return false }
    // It may have been revived and changed meanwhile.
    guard navs.dormants.place(of: request.nav) != nil else { return true }
    if let failure = answer.failure {
      throw HubReplayError(sequence: request.head, what: failure)
    }
    try revive(request, snapshot: answer.snapshot, rows: answer.rows)
    return true
  }
}
