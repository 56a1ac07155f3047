package import NavigationCore

/// The client's state machine for the full watch of one nav: it keeps the mirror, and decides when
/// to watch again.
///
/// It has no clock and does no I/O. It takes every message about the watch, in the order of
/// arrival, and returns the consequence as a value. Law: while `isSynced` is true, the mirror is a
/// state that the nav had, and the client knows of no later one.
package struct Replica: Sendable {
  /// The state of the watch.
  package enum Phase: Hashable, Sendable {
    /// There is no watch, and no message is expected.
    case idle
    /// A watch was sent and is not answered; all other messages belong to the watch before.
    case awaiting
    /// The watch was answered, and a snapshot must come first.
    case awaitingSnapshot
    /// The mirror is complete, and each diff continues it.
    case following
  }

  package let nav: String
  /// The newest complete state, which can be displayed even while it is suspect; nil before the
  /// first.
  package private(set) var mirror: Mirror?
  package private(set) var phase = Phase.idle
  /// Whether the mirror was found to differ from the nav; the next snapshot ends that.
  package private(set) var isSuspect = false
  /// The position of a mirror that is not stored.
  ///
  /// The watch asks to resume at this position; the snapshot then says why the daemon could not.
  private var start: MirrorPosition?
  /// The divergence to report with the next watch, while the mirror is suspect.
  private var divergence: MirrorPosition?
  private var running = MirrorDigest()
  private var partial: SnapshotPart?

  /// Makes a replica without a mirror, or with a stored one from which to resume.
  package init(nav: String, mirror: Mirror? = nil, start: MirrorPosition? = nil) {
    self.nav = nav
    self.mirror = mirror
    self.start = mirror == nil ? start : nil
    guard let mirror else { return }
    _ = running.update(screens: mirror.screens, parts: mirror.parts, from: 0)
  }

  /// Whether guards may be made from the mirror.
  package var isSynced: Bool {
    phase == .following && !isSuspect && partial == nil && mirror != nil
  }

  /// Makes a guard that holds as long as the named part of the nav equals the mirror.
  ///
  /// Nil unless the mirror is synced; the caller must then refuse the operation.
  package func guards(for basis: GuardBasis) -> Guards? {
    isSynced ? mirror?.guards(for: basis) : nil
  }
}

/// The part of the state that a guard names, besides the epoch.
package enum GuardBasis: Hashable, Sendable {
  /// Nothing else.
  case epoch
  case top
  /// The list of screens, in order.
  case stack
  case revision
  case digest
  /// These screens, at any position.
  case has([String])
}

/// The consequence of a message.
package enum ReplicaAction: Hashable, Sendable {
  /// Nothing: the message is old, a duplicate, or of an earlier watch.
  case ignore
  /// Nothing yet: further messages must come first.
  case wait
  /// The watch resumes from the mirror; diffs follow.
  case resumed
  /// A snapshot replaced the mirror, for this reason.
  case replaced(why: String?)
  /// A diff advanced the mirror by one revision.
  case applied(Diff)
  /// The client must watch again.
  ///
  /// It watches from `from` if a revision is missing. If the mirror is suspect or could not be
  /// made, it watches without a position, and reports `bad` if that is not nil.
  case rewatch(from: MirrorPosition? = nil, bad: MirrorPosition? = nil)
  /// The daemon ended the watch, and the mirror is dropped; or it refused the watch.
  case over(WatchOutcome)
}

extension Replica {
  /// Notes that a watch will be sent; returns the members that it must have.
  ///
  /// Until the answer arrives, all other messages are ignored.
  package mutating func watching() -> (from: MirrorPosition?, bad: MirrorPosition?) {
    phase = .awaiting
    partial = nil
    return isSuspect ? (nil, divergence) : (mirror?.position ?? start, nil)
  }

  /// Notes the end of the session; the mirror stays, so that the next watch resumes from it.
  package mutating func disconnect() {
    phase = .idle
    partial = nil
  }

  package mutating func receive(_ answer: OkReply) -> ReplicaAction {
    guard phase == .awaiting else { return .ignore }
    guard answer.mode == "resume" else {
      phase = .awaitingSnapshot
      return .wait
    }
    // The daemon resumed without being asked to, or in another epoch.
    guard !isSuspect, let mirror, answer.epoch == mirror.epoch else {
      return suspect(mirror?.position)
    }
    phase = .following
    return .resumed
  }

  package mutating func receive(_ refusal: ErrReply) -> ReplicaAction {
    guard phase == .awaiting else { return .ignore }
    phase = .idle
    if refusal.knownCode == .noNav || refusal.knownCode == .forbidden { drop() }
    return .over(.refused(refusal))
  }

  package mutating func receive(_ part: SnapshotPart) -> ReplicaAction {
    guard phase == .awaitingSnapshot || phase == .following else { return .ignore }
    var whole = part
    if part.first > 0 {
      guard let before = partial, before.screens.count == Int(clamping: part.first),
        before.epoch == part.epoch, before.revision == part.revision
      else { return suspect(mirror?.position) }
      whole.screens = before.screens + part.screens
      whole.why = before.why ?? part.why
    }
    guard whole.isLast, let digest = whole.digest else {
      partial = whole
      return .wait
    }
    partial = nil
    var running = MirrorDigest()
    let computed = running.update(screens: whole.screens, parts: whole.parts, from: 0)
    guard computed == digest.checksum else {
      return suspect(digest, but: computed, at: whole.revision)
    }
    mirror = Mirror(
      kind: whole.kind, epoch: whole.epoch, revision: whole.revision, screens: whole.screens,
      parts: whole.parts, resolved: whole.resolved, digest: digest)
    self.running = running
    start = nil
    isSuspect = false
    divergence = nil
    phase = .following
    return .replaced(why: whole.why)
  }

  /// Handles a diff; each diff of a `diffs` message is passed separately.
  package mutating func receive(_ diff: Diff) -> ReplicaAction {
    switch phase {
    case .idle, .awaiting: return .ignore
    // A snapshot precedes every diff, so it was lost.
    case .awaitingSnapshot: return suspect(mirror?.position)
    case .following: break
    }
    guard let mirror, partial == nil else { return suspect(self.mirror?.position) }
    if diff.epoch == mirror.epoch, diff.revision <= mirror.revision {
      let differs = diff.revision == mirror.revision && diff.digest != mirror.digest
      return differs ? suspect(mirror.position) : .ignore
    }
    guard diff.epoch == mirror.epoch, diff.base == mirror.revision else {
      phase = .awaiting
      return .rewatch(from: mirror.position)
    }
    do {
      self.mirror = try mirror.applying(diff, digest: &running)
      return .applied(diff)
    } catch {
      switch error {
      case .misplaced: return suspect(mirror.position)
      case .checksum(let computed):
        return suspect(diff.digest, but: computed, at: diff.revision)
      }
    }
  }

  /// Handles the entry of a mark that names this nav.
  package mutating func receive(_ mark: Mark.Position) -> ReplicaAction {
    switch phase {
    case .idle, .awaiting: return .ignore
    // A mark names only watches that have received everything.
    case .awaitingSnapshot: return suspect(mirror?.position)
    case .following: break
    }
    guard let mirror, partial == nil else { return suspect(self.mirror?.position) }
    if mark.revision > mirror.revision { return suspect(mirror.position) }
    let differs = mark.revision == mirror.revision && mark.digest != mirror.digest
    return differs ? suspect(mirror.position) : .ignore
  }

  package mutating func receive(_ end: WatchEnd) -> ReplicaAction {
    drop()
    // This ends the watch before; the answer to the present one is still to come.
    guard phase != .awaiting else { return .ignore }
    phase = .idle
    return .over(WatchOutcome(end))
  }

  private mutating func drop() {
    mirror = nil
    start = nil
    running = MirrorDigest()
    partial = nil
    isSuspect = false
    divergence = nil
  }

  /// Reports a digest with the checksum that was computed instead of the one received.
  private mutating func suspect(
    _ digest: Digest, but checksum: UInt32, at revision: Revision
  ) -> ReplicaAction {
    let computed = Digest(checksum: checksum, chain: digest.chain)
    return suspect(MirrorPosition(epoch: nil, revision: revision, digest: computed))
  }

  private mutating func suspect(_ position: MirrorPosition?) -> ReplicaAction {
    isSuspect = true
    divergence = position.map {
      MirrorPosition(epoch: nil, revision: $0.revision, digest: $0.digest)
    }
    partial = nil
    phase = .awaiting
    return .rewatch(bad: divergence)
  }
}
