import Navigation

// Step 14: a commit becomes a revision, with its row, its place in the ring and its answer.

extension Hub {
  mutating func record(
    _ commit: Commit, _ outputs: [OperationOutput], _ delivered: Int, _ op: OpContext,
    _ slot: Int
  ) {
    // All that the commit is told by is written into one memory, and copied from there.
    var json = JSONWriter(reserving: 1000)
    let cause = op.cause(of: outputs)
    let (row, standing) = begin(
      commit, slot, cause: cause, by: (op.name, op.request.id), &json)
    let ok = ServerMessageWriter.encodedOk(
      id: op.request.id, standing: standing, changed: true, outputs: outputs,
      delivered: delivered, &json)
    let reply = RecordedReply.besideDiff(top: standing.top, outputs: ok.bytes[ok.outputs])
    let body = JournalBody.changed(diff: row.diff, commit: commit, before: row.before, &json) {
      $0.origin(op, reply)
    }
    end(commit, slot, row, body, op.author, at: op.now)
    let stack = navs[slot].controller.stack
    if var change = TopChange(commit, to: stack, time: op.now.wall, cause: cause) {
      change.author = author(of: op)
      navs[slot].topChange = change
    }
    if op.request.guards.any || op.isVetoSkipped { auditOverride(op, slot) }
    remember(op, ok.bytes, isOk: true)
    answer(op.sender, op.session, slot, ok.bytes, .ok)
    if commit.revision.number >= navs[slot].snapshotRevision.number + configuration.snapshotEvery {
      recordSnapshot(of: slot, at: op.now)
    }
  }

  /// Makes a commit that no op asked for a revision: its diff, its row, its place in the ring.
  ///
  /// - Parameters:
  ///   - commit: what happened.
  ///   - slot: the nav.
  ///   - cause: what led to it.
  ///   - by: whose doing it is; the diff says so only of a message.
  ///   - now: the time of the row.
  mutating func write(
    _ commit: Commit, _ slot: Int, cause: Cause, by: Doing?, at now: Instant
  ) {
    var json = JSONWriter(reserving: 1000)
    let message = by.flatMap { by in by.op.map { (by.author.name, $0) } }
    let (row, _) = begin(commit, slot, cause: cause, by: message, &json)
    let body = JournalBody.changed(diff: row.diff, commit: commit, before: row.before, &json) {
      if let by { $0.origin(by) }
    }
    end(commit, slot, row, body, nil, at: now)
    let stack = navs[slot].controller.stack
    if var change = TopChange(commit, to: stack, time: now.wall, cause: cause) {
      change.author = by?.author
      navs[slot].topChange = change
    }
  }

  /// Who makes the change that an op asks for; a session's own `Author` where there is one.
  mutating func author(of op: OpContext) -> Author {
    if let session = op.session, sessions.isLive(session),
      sessions[session].peer == op.sender.peer, sessions[session].name == op.name
    {
      return sessions[session].author
    }
    return Author(
      name: op.name, principal: op.key.principal, process: op.sender.peer.process)
  }

  /// What a row is made of.
  private struct BegunRow {
    var diff: EncodedDiff
    /// The nav's row before it, and its digest before the commit.
    var previous: UInt64
    var before: Digest
  }

  private mutating func begin(
    _ commit: Commit, _ slot: Int, cause: Cause, by: (name: String, op: UInt64)?,
    _ json: inout JSONWriter
  ) -> (BegunRow, NavStanding) {
    touch(slot)
    let previous = navs[slot].lastSequence
    let before = navs[slot].digest
    advance()
    let (diff, standing) = navs[slot].takeOver(
      commit, sequence: sequence, cause: cause, by: by, &json)
    navs[slot].shown.share(&barFrames)
    return (BegunRow(diff: diff, previous: previous, before: before), standing)
  }

  private mutating func end(
    _ commit: Commit, _ slot: Int, _ row: BegunRow, _ body: [UInt8], _ author: RowAuthor?,
    at now: Instant
  ) {
    batch.records.append(
      .row(
        JournalRow(
          sequence: sequence, nav: navs[slot].number, revision: commit.revision.number,
          previous: row.previous, time: now.wall, kind: .changed,
          isOpen: navs[slot].controller.isOpen, author: author, body: body)))
    keep(row.diff, slot)
  }

  /// Puts a diff into the ring; `trim` brings it back within its limits once it has been sent.
  mutating func keep(_ diff: EncodedDiff, _ slot: Int) {
    ringBytes += diff.bytes.count
    navs[slot].ring.append(diff, digest: navs[slot].digest)
    // Only a snapshot can tell of this one, and that of a state that is durable as it stands.
    if diff.bytes.count > configuration.maximumReplyBytes { wantsStandstill = true }
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
      digest: entry.digest, resolvedAt: entry.resolvedAt
    ) { json in
      guard let change = entry.topChange else { return }
      json.name("since")
      json.topChange(change)
    }
    batch.records.append(
      .snapshot(
        SnapshotRow(
          nav: entry.number, revision: entry.controller.revision.number,
          sequence: entry.lastSequence, time: now.wall, body: body)))
    navs[slot].snapshotRevision = entry.controller.revision
  }
}

extension NavEntry {
  /// Follows a commit that the controller has made already: all that is kept beside the state.
  fileprivate mutating func takeOver(
    _ commit: Commit, sequence: UInt64, cause: Cause, by: (name: String, op: UInt64)?,
    _ json: inout JSONWriter
  ) -> (EncodedDiff, NavStanding) {
    let isNew = shown.follow(controller, &json)
    if isNew { resolvedAt = commit.revision }
    updateDigest(from: min(commit.splice?.at ?? Int.max, commit.changedScreens.first ?? Int.max))
    lastSequence = sequence
    let frame = DiffFrame(
      nav: name, epoch: epoch, base: Revision(commit.revision.number - 1),
      revision: commit.revision, sequence: sequence, cause: cause, by: by)
    let diff = frame.encode(
      commit, of: controller, shown: isNew ? shown : nil, digest: digest, &json)
    return (diff, standing)
  }

  /// Brings the digest up to date after a change that left the screens below `index` alone.
  mutating func updateDigest(from index: Int) {
    digest = running.update(controller, from: index)
  }
}
