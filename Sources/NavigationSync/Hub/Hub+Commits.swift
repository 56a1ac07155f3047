import Navigation

// Step 14: a commit becomes a revision, with its row, its place in the ring and its answer.

extension Hub {
  mutating func record(
    _ commit: Commit, _ outputs: [OperationOutput], _ delivered: Int, _ attempt: Attempt,
    _ slot: Int
  ) {
    var reply: [UInt8] = []
    write(
      commit, slot, cause: attempt.cause(of: outputs), by: (attempt.name, attempt.request.id),
      at: attempt.now
    ) { entry in
      let standing = entry.standing
      let ok = ServerMessageWriter.encodedOk(
        id: attempt.request.id, standing: standing, changed: true, outputs: outputs,
        delivered: delivered)
      reply = ok.bytes
      return attempt.origin(
        .besideDiff(top: standing.top, outputs: Array(ok.bytes[ok.outputs])))
    }
    remember(attempt, reply, isOk: true)
    answer(attempt.sender, attempt.session, slot, reply)
    if commit.revision.number >= navs[slot].snapshotRevision.number + configuration.snapshotEvery {
      recordSnapshot(of: slot, at: attempt.now)
    }
  }

  /// Makes a commit a revision: its diff, its row, its place in the ring.
  mutating func write(
    _ commit: Commit, _ slot: Int, cause: Cause, by: (name: String, op: UInt64)?, at now: Instant,
    origin: (borrowing NavEntry) -> RowOrigin?
  ) {
    touch(slot)
    let previous = navs[slot].lastSequence
    let before = navs[slot].digest
    advance()
    let lowest = min(commit.splice?.at ?? Int.max, commit.changedScreens.first ?? Int.max)
    let resolved = NavEntry.encodeResolved(navs[slot].controller)
    let isResolvedNew = resolved != navs[slot].resolved
    if isResolvedNew {
      navs[slot].resolved = resolved
      navs[slot].resolvedAt = commit.revision
    }
    navs[slot].updateDigest(from: lowest)
    let frame = DiffFrame(
      nav: navs[slot].name, epoch: navs[slot].epoch,
      base: Revision(commit.revision.number - 1), revision: commit.revision, sequence: sequence,
      cause: cause, by: by)
    let diff = frame.encode(
      commit, of: navs[slot].controller, resolved: isResolvedNew ? resolved : nil,
      digest: navs[slot].digest)
    let body = JournalBody.changed(
      diff: diff, commit: commit, origin: origin(navs[slot]), before: before)
    batch.records.append(
      .row(
        JournalRow(
          sequence: sequence, nav: navs[slot].number, revision: commit.revision.number,
          previous: previous, time: now.wall, kind: .changed, body: body)))
    navs[slot].lastSequence = sequence
    keep(diff.bytes, slot)
  }

  /// Puts a diff into the ring; `trim` brings it back within its limits once it has been sent.
  mutating func keep(_ diff: [UInt8], _ slot: Int) {
    ringBytes += diff.count
    navs[slot].ring.append(diff, digest: navs[slot].digest)
    // Only a snapshot can tell of this one, and that of a state that is durable as it stands.
    if diff.count > configuration.maximumReplyBytes { wantsStandstill = true }
  }

  /// Drops the diffs beyond the limits, which nobody is owed.
  mutating func trim(_ slot: Int) {
    ringBytes -= navs[slot].ring.trim(
      revisions: configuration.resumeRevisions, bytes: configuration.resumeBytes,
      through: navs[slot].durable)
  }

  mutating func advance() {
    if batch.sequenceBefore == nil { batch.sequenceBefore = sequence }
    sequence += 1
  }

  /// Notes that a nav is about to change in this batch.
  mutating func touch(_ slot: Int) {
    guard navs[slot].touchedBy != batchNumber else { return }
    navs[slot].touchedBy = batchNumber
    batch.touched.append(Batch.Touched(slot: slot, rowBefore: navs[slot].lastSequence))
  }

  mutating func recordSnapshot(of slot: Int, at now: Instant) {
    let entry = navs[slot]
    guard entry.number > 0, !isStorageFailing else { return }
    let body = JournalBody.state(
      nav: entry.name, epoch: entry.epoch, owner: entry.owner, controller: entry.controller,
      digest: entry.digest, resolvedAt: entry.resolvedAt, origin: nil)
    batch.records.append(
      .snapshot(
        SnapshotRow(
          nav: entry.number, revision: entry.controller.revision.number,
          sequence: entry.lastSequence, time: now.wall, body: body)))
    navs[slot].snapshotRevision = entry.controller.revision
  }
}

extension NavEntry {
  /// Brings the digest up to date after a change that left the screens below `index` alone.
  mutating func updateDigest(from index: Int) {
    digest = running.update(controller, from: index)
  }
}
