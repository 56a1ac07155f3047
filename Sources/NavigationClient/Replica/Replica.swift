package import NavigationCore

/// The client's state machine for the full watch of one nav: it keeps the mirror, and decides when
/// to watch again.
///
/// It has no clock and does no I/O. It takes every message about the watch, in the order of
/// arrival, and returns the consequence as a value. Law: while `isSynced` is true, the mirror is a
/// state that the nav had, and the client knows of no later one; after a resume, the bar can be
/// older until the newest diff has come.
package struct Replica: Sendable {
  /// The state of the watch.
  package enum Phase: Hashable, Sendable {
    /// The client does not watch the nav, so it expects no message.
    case idle
    /// The client has sent a watch without an answer yet; until then, it ignores other messages.
    case awaitingAnswer
    /// The daemon has answered the watch, and must send a snapshot next.
    case awaitingSnapshot
    /// The mirror is complete, and each diff leads to the next revision.
    case following
  }

  package let nav: String
  /// The newest complete state of the nav, even while it `isSuspect`; nil before the first.
  package private(set) var mirror: Mirror?
  package private(set) var phase = Phase.idle
  /// Whether a digest or a mark has shown that the mirror differs from the nav.
  package private(set) var isSuspect = false
  /// The position at which the first watch asks to resume, if the replica has no mirror.
  private var resumePosition: MirrorPosition?
  /// The revision and digest that the next watch reports as wrong; nil while none is.
  private var divergence: MirrorPosition?
  private var mirrorDigest = MirrorDigest()
  private var incompleteSnapshot: SnapshotPart?

  /// Makes a replica that resumes from a stored mirror, or at the position `start` without one.
  package init(nav: String, mirror: Mirror? = nil, start: MirrorPosition? = nil) {
    self.nav = nav
    self.mirror = mirror
    resumePosition = mirror == nil ? start : nil
    guard let mirror else { return }
    _ = mirrorDigest.update(screens: mirror.screens, parts: mirror.parts, from: 0)
  }

  /// Whether the mirror is the newest state that the client knows, so that guards can use it.
  package var isSynced: Bool {
    phase == .following && !isSuspect && incompleteSnapshot == nil && mirror != nil
  }

  /// Makes a guard that holds as long as the named part of the nav equals the mirror.
  ///
  /// The result is nil unless `isSynced`; the caller must then refuse the operation.
  package func guards(for basis: GuardBasis) -> Guards? {
    isSynced ? mirror?.guards(for: basis) : nil
  }
}

/// The part of a nav's state that a guard compares; each guard also compares the epoch.
package enum GuardBasis: Hashable, Sendable {
  /// The epoch alone.
  case epoch
  case top
  /// The list of screens, in order.
  case stack
  case revision
  case digest
  /// The presence of these screens on the stack, at any position.
  case has([String])
}

/// The consequence of one message for the full watch of a nav.
package enum ReplicaAction: Hashable, Sendable {
  /// The message is old, a duplicate, or of an earlier watch: the mirror stays.
  case ignore
  /// The mirror stays until further messages complete the answer or the snapshot.
  case wait
  /// The watch resumes from the mirror; diffs follow.
  case resumed
  /// A snapshot replaced the mirror, for this reason.
  case replaced(why: String?)
  /// A diff advanced the mirror by one revision.
  case applied(Diff)
  /// The client must watch again.
  ///
  /// If a revision is missing, the watch resumes at `from`. If the mirror is suspect, the watch has
  /// no `from`, and reports the position of the wrong mirror as `bad`.
  case rewatch(from: MirrorPosition? = nil, bad: MirrorPosition? = nil)
  /// The daemon has ended or refused the watch.
  case ended(WatchOutcome)
}

extension Replica {
  /// Begins a watch; returns the members `from` and `bad` that the client must send in it.
  ///
  /// Until the daemon answers, the replica ignores all other messages.
  package mutating func beginWatch() -> (from: MirrorPosition?, bad: MirrorPosition?) {
    phase = .awaitingAnswer
    incompleteSnapshot = nil
    return isSuspect ? (nil, divergence) : (mirror?.position ?? resumePosition, nil)
  }

  /// Ends the watch, because its session ended; the mirror stays, and the next watch resumes from it.
  package mutating func disconnect() {
    phase = .idle
    incompleteSnapshot = nil
  }

  package mutating func receive(_ answer: OkReply) -> ReplicaAction {
    guard phase == .awaitingAnswer else { return .ignore }
    guard answer.watchMode == "resume" else {
      phase = .awaitingSnapshot
      return .wait
    }
    // The daemon resumed without being asked to, or in another epoch.
    guard !isSuspect, let mirror, answer.epoch == mirror.epoch else {
      return rewatch(suspecting: mirror?.position)
    }
    phase = .following
    return .resumed
  }

  package mutating func receive(_ refusal: ErrReply) -> ReplicaAction {
    guard phase == .awaitingAnswer else { return .ignore }
    phase = .idle
    if refusal.knownCode == .noNav || refusal.knownCode == .forbidden { dropMirror() }
    return .ended(.refused(refusal))
  }

  package mutating func receive(_ part: SnapshotPart) -> ReplicaAction {
    guard phase == .awaitingSnapshot || phase == .following else { return .ignore }
    var whole = part
    if part.first > 0 {
      guard let before = incompleteSnapshot, before.screens.count == Int(clamping: part.first),
        before.epoch == part.epoch, before.revision == part.revision
      else { return rewatch(suspecting: mirror?.position) }
      whole.screens = before.screens + part.screens
      whole.why = before.why ?? part.why
    }
    guard whole.isLast, let digest = whole.digest else {
      incompleteSnapshot = whole
      return .wait
    }
    incompleteSnapshot = nil
    var mirrorDigest = MirrorDigest()
    let computed = mirrorDigest.update(screens: whole.screens, parts: whole.parts, from: 0)
    guard computed == digest.checksum else {
      return rewatch(expecting: digest, computed: computed, at: whole.revision)
    }
    mirror = Mirror(
      kind: whole.kind, epoch: whole.epoch, revision: whole.revision, screens: whole.screens,
      parts: whole.parts, resolved: whole.resolved, digest: digest)
    self.mirrorDigest = mirrorDigest
    resumePosition = nil
    isSuspect = false
    divergence = nil
    phase = .following
    return .replaced(why: whole.why)
  }

  /// Handles one diff; the caller passes each diff of a `diffs` message separately.
  package mutating func receive(_ diff: Diff) -> ReplicaAction {
    switch phase {
    case .idle, .awaitingAnswer: return .ignore
    // A snapshot precedes every diff, so it was lost.
    case .awaitingSnapshot: return rewatch(suspecting: mirror?.position)
    case .following: break
    }
    guard let mirror, incompleteSnapshot == nil else {
      return rewatch(suspecting: self.mirror?.position)
    }
    if diff.epoch == mirror.epoch, diff.revision <= mirror.revision {
      let differs = diff.revision == mirror.revision && diff.digest != mirror.digest
      return differs ? rewatch(suspecting: mirror.position) : .ignore
    }
    guard diff.epoch == mirror.epoch, diff.base == mirror.revision else {
      phase = .awaitingAnswer
      return .rewatch(from: mirror.position)
    }
    do {
      self.mirror = try mirror.applying(diff, digest: &mirrorDigest)
      return .applied(diff)
    } catch {
      switch error {
      case .missingTarget: return rewatch(suspecting: mirror.position)
      case .checksum(let computed):
        return rewatch(expecting: diff.digest, computed: computed, at: diff.revision)
      }
    }
  }

  /// Handles the revision and digest that a `mark` of the daemon has for this nav.
  package mutating func receive(_ mark: Mark.Position) -> ReplicaAction {
    switch phase {
    case .idle, .awaitingAnswer: return .ignore
    // A mark names only watches that have received everything.
    case .awaitingSnapshot: return rewatch(suspecting: mirror?.position)
    case .following: break
    }
    guard let mirror, incompleteSnapshot == nil else {
      return rewatch(suspecting: self.mirror?.position)
    }
    if mark.revision > mirror.revision { return rewatch(suspecting: mirror.position) }
    let differs = mark.revision == mirror.revision && mark.digest != mirror.digest
    return differs ? rewatch(suspecting: mirror.position) : .ignore
  }

  package mutating func receive(_ end: WatchEnd) -> ReplicaAction {
    dropMirror()
    // This ends the watch before; the answer to the present one is still to come.
    guard phase != .awaitingAnswer else { return .ignore }
    phase = .idle
    return .ended(WatchOutcome(end))
  }

  private mutating func dropMirror() {
    mirror = nil
    resumePosition = nil
    mirrorDigest = MirrorDigest()
    incompleteSnapshot = nil
    isSuspect = false
    divergence = nil
  }

  /// Marks the mirror as suspect; the next watch reports its checksum instead of that in `digest`.
  private mutating func rewatch(
    expecting digest: Digest, computed checksum: UInt32, at revision: Revision
  ) -> ReplicaAction {
    let computed = Digest(checksum: checksum, chain: digest.chain)
    return rewatch(suspecting: MirrorPosition(epoch: nil, revision: revision, digest: computed))
  }

  /// Marks the mirror as suspect; the client must watch again, without a position.
  private mutating func rewatch(suspecting position: MirrorPosition?) -> ReplicaAction {
    isSuspect = true
    divergence = position.map {
      MirrorPosition(epoch: nil, revision: $0.revision, digest: $0.digest)
    }
    incompleteSnapshot = nil
    phase = .awaitingAnswer
    return .rewatch(bad: divergence)
  }
}
