import NavigationCore
import NavigationHub

// What the shell does with the journal: the model alone, or the store and the model beside it.

extension World {
  /// Records whose commit ended with the process, so that the next start shows whether they are stored.
  struct PendingRecords: Sendable {
    var records: JournalRecords
    var tentative: [(place: Place, state: String)]
    var turn: Int
  }

  /// Gives a fresh hub what is stored; returns false if the process ended, or a promise is broken.
  mutating func replay(into hub: inout Hub) -> Bool {
    guard let store else {
      do throws(HubReplayError) {
        try journal.replay(into: &hub, at: daemonNow)
        return true
      } catch {
        violation("the journal cannot be replayed: row \(error.sequence), \(error.what)")
        return false
      }
    }
    guard survives(store.open(into: &hub, at: daemonNow)) else { return false }
    reconcile(store)
    return report.violations.isEmpty
  }

  /// Ends what has ended with an action of the store; returns whether the process lives, and the
  /// action is done.
  mutating func survives(_ outcome: StoreOutcome) -> Bool {
    switch outcome {
    case .done: return true
    case .refused: return false
    case .broken(let text):
      violation(text)
      return false
    case .dead:
      endProcess(withMachine: isFaulty && random.chance(500))
      return false
    }
  }

  mutating func endProcess(withMachine isMachineLost: Bool) {
    guard !isUp else { return crash("ended", withMachine: isMachineLost) }
    endStore(withMachine: isMachineLost)
  }

  mutating func endStore(withMachine isMachineLost: Bool) {
    let isGone = store?.end(withMachine: isMachineLost) ?? false
    isMachineGone = isMachineGone || isGone
    if isGone { restartMachine() }
  }

  /// Returns whether an action of a start is done; if not, the process ends.
  mutating func completes(_ outcome: StoreOutcome) -> Bool {
    if outcome == .refused { endProcess(withMachine: false) }
    return survives(outcome)
  }

  /// Finds what the last process had stored, and holds it against what was acknowledged.
  private mutating func reconcile(_ store: any WorldStore) {
    let last = store.lastSequence
    if let pending {
      self.pending = nil
      let end = pending.records.rows.last?.header.sequence ?? 0
      if end > journal.lastSequence, end <= last {
        facts.tentative = pending.tentative
        note(pending.records, turn: pending.turn)
      }
    }
    if last > journal.lastSequence, journal.mayLackRows.contains(.first) {
      journal.skip(to: last, of: .first)
    }
    if last < journal.lastSequence { lose(through: last, store) }
    let newest = journal.lastSequence
    demand(last == newest, "row \(last) is stored, \(newest) is the newest")
    // A witness shows that an older journal came back.
    let mayRenew = scenario.isRelaxed || wasPutBack || !store.hasLostRows
    demand(mayRenew, "the epochs are renewed, and no row can be missing")
    // A start makes durable what it found.
    journal.sync()
  }

  private mutating func lose(through last: UInt64, _ store: any WorldStore) {
    let isSynced = last >= journal.syncedSequence
    guard let lost = journal.truncate(to: last) else {
      return violation("a batch is stored in part: row \(last) is the last one")
    }
    trace { _ in "\(lost.count) rows are gone" }
    if hasPutBack { count { $0.returns += 1 } }
    if hasPutBack, !store.hasLostRows { return facts.goBack(lost, kept: journal.rows) }
    demand(
      hasPutBack || scenario.isRelaxed && isMachineGone && isSynced, "\(lost.count) rows are lost")
    demand(store.hasLostRows, "\(lost.count) rows are lost, and the epochs go on")
    count { $0.renewals += 1 }
    facts.lose(lost, kept: journal.rows)
  }

  /// Stores the parts of batches; everything but `done` leaves the model as it is.
  mutating func commit(_ parts: [JournalRecords]) -> StoreOutcome {
    let records = JournalRecords(parts.flatMap { Array($0) })
    if let store, !records.isEmpty {
      let outcome = store.commit(parts)
      if outcome == .dead {
        pending = PendingRecords(records: records, tentative: facts.tentative, turn: turn)
      }
      guard outcome == .done else { return outcome }
    }
    note(records, turn: turn)
    return .done
  }

  /// Notes what is stored.
  private mutating func note(_ records: JournalRecords, turn: Int) {
    for case .row(let row) in records { hash.add(row.sequence, row.body) }
    if let wrong = journal.commit(records, synced: !scenario.isRelaxed) { violation(wrong) }
    for wrong in facts.store(records, turn: turn) { violation(wrong) }
  }

  /// Makes everything durable now and then, in mode `relaxed`.
  mutating func syncStore() {
    guard let store else { return journal.sync() }
    guard isUp, survives(store.sync()) else { return }
    journal.sync()
  }

  /// Closes the journal at an orderly end.
  mutating func closeStore() {
    guard let store else { return journal.sync() }
    if store.close() == .done { journal.sync() }
  }

  /// Reads what leads to a row of a nav; nil if that failed.
  mutating func chain(
    of request: ReloadRequest
  ) -> (snapshot: SnapshotRow?, rows: [JournalRow])? {
    let wanted = journal.chain(of: request.nav, to: request.newestRow)
    guard let store else { return wanted }
    guard let found = store.chain(of: request) else { return nil }
    compare(found.rows, of: request.nav, "what leads to row \(request.newestRow)")
    return found
  }

  mutating func answer(_ request: HistoryRequest) -> HistoryAnswer {
    guard let store else { return journal.answer(request) }
    let answer = store.answer(request)
    compare(answer.rows, of: request.nav, "the history")
    if case .rows(let first, let last) = request.part, answer.failure == nil, !scenario.forgets {
      let wanted = journal.rows.filter {
        $0.nav == request.nav && $0.sequence <= request.newestRow
          && (first...max(first, last)).contains($0.revision)
      }
      demand(
        answer.rows == wanted,
        "the history of nav \(request.nav) has not all rows of \(first)...\(last)")
    }
    return answer
  }

  /// Holds rows that were read against those that were stored.
  private mutating func compare(_ found: [JournalRow], of nav: UInt64, _ what: String) {
    guard let first = found.first, let last = found.last else { return }
    let range = min(first.sequence, last.sequence)...max(first.sequence, last.sequence)
    let wanted = journal.rows.filter { $0.nav == nav && range.contains($0.sequence) }
    demand(
      found == wanted || found == wanted.reversed(), "\(what) of nav \(nav) is not what was stored")
  }
}
