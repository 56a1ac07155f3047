package import NavigationProtocol

/// The client's twin of the hub for one nav: keeps the mirror and says what must be asked next.
///
/// No clock, no I/O. Every message about the full watch of the nav goes in, in the order in which
/// it came; what must follow comes out as a value. Law: while `isSynced` the mirror is a state the
/// nav really had, and no known later one is missing.
package struct Replica: Sendable {
  /// What has been asked, and how far it is answered.
  package enum Phase: Hashable, Sendable {
    /// No watch; nothing will come.
    case idle
    /// A watch was sent and is not answered; everything else belongs to the one before.
    case awaiting
    /// The watch was answered: a snapshot comes first.
    case awaitingSnapshot
    /// Diffs follow each other.
    case following
  }

  /// The name of the nav.
  package let nav: String
  /// The newest complete state; what to show, even while it is suspect.
  package private(set) var mirror: Mirror?
  /// What has been asked, and how far it is answered.
  package private(set) var phase = Phase.idle
  /// Whether the mirror was found to differ from the nav; ends with the next snapshot.
  package private(set) var isSuspect = false
  /// Where to go on from although the state there is not known: asked for so that the daemon says
  /// why it cannot be had.
  private var start: MirrorPosition?
  /// What to report with the next watch, while suspect.
  private var divergence: MirrorPosition?
  private var running = MirrorDigest()
  /// The parts of a snapshot so far.
  private var partial: SnapshotPart?

  /// Makes a replica without a mirror, or with one that was stored.
  ///
  /// - Parameters:
  ///   - nav: the name of the nav.
  ///   - mirror: what to resume from.
  ///   - start: without a mirror, where one was; the snapshot then says what is wrong with it.
  package init(nav: String, mirror: Mirror? = nil, start: MirrorPosition? = nil) {
    self.nav = nav
    self.mirror = mirror
    self.start = mirror == nil ? start : nil
    guard let mirror else { return }
    _ = running.update(screens: mirror.screens, parts: mirror.parts, from: 0)
  }

  /// Whether guards may be built from the mirror.
  package var isSynced: Bool {
    phase == .following && !isSuspect && partial == nil && mirror != nil
  }

  /// Where the mirror stands; nil unless it is synced.
  package var position: MirrorPosition? { isSynced ? mirror?.position : nil }

  /// The guard that holds exactly as long as what it names is as the mirror shows it.
  ///
  /// - Returns: nil unless the mirror is synced: the operation must fail here.
  package func guards(for basis: GuardBasis) -> Guards? {
    guard isSynced, let mirror else { return nil }
    var guards = Guards()
    guards.epoch = mirror.epoch
    switch basis {
    case .epoch: break
    case .top: guards.top = .some(mirror.top)
    case .stack: guards.stack = mirror.screens.map(\.id)
    case .revision: guards.revision = mirror.revision
    case .digest: guards.digest = mirror.digest
    case .has(let ids): guards.has = ids
    }
    return guards
  }
}

/// What a guard built from a mirror names, beside the epoch.
package enum GuardBasis: Hashable, Sendable {
  /// Nothing else.
  case epoch
  /// The top screen.
  case top
  /// The exact list of screens.
  case stack
  /// The revision.
  case revision
  /// The digest.
  case digest
  /// These screens, anywhere.
  case has([String])
}

/// What follows from a message.
package enum ReplicaAction: Hashable, Sendable {
  /// Nothing: old, doubled, or of a watch that has been replaced.
  case ignore
  /// Nothing yet: more must come first.
  case wait
  /// The watch goes on from the mirror; diffs follow.
  case resumed
  /// The mirror was replaced by a snapshot, for this reason.
  case replaced(why: String?)
  /// The mirror went on by exactly this revision.
  case applied(Diff)
  /// Watch again: from here when a revision is missing, without a position when the mirror is
  /// suspect or could not be made, then with this report if there is something to report.
  case rewatch(from: MirrorPosition? = nil, bad: MirrorPosition? = nil)
  /// The watch is over and the mirror dropped.
  case ended(why: String, endpoint: String?)
  /// The watch was refused.
  case refused(ErrReply)
}

extension Replica {
  /// A watch is about to be sent; says what it must carry.
  ///
  /// Everything that arrives before its answer is ignored.
  package mutating func watching() -> (from: MirrorPosition?, bad: MirrorPosition?) {
    phase = .awaiting
    partial = nil
    return isSuspect ? (nil, divergence) : (mirror?.position ?? start, nil)
  }

  /// The session has ended: nothing more comes, the mirror stays to be resumed from.
  package mutating func disconnect() {
    phase = .idle
    partial = nil
  }

  /// The watch was answered with `ok`.
  package mutating func receive(_ answer: OkReply) -> ReplicaAction {
    guard phase == .awaiting else { return .ignore }
    guard answer.mode == "resume" else {
      phase = .awaitingSnapshot
      return .wait
    }
    // Granted although it was not asked for, or of another life of the nav.
    guard !isSuspect, let mirror, answer.epoch == mirror.epoch else {
      return suspect(mirror?.position)
    }
    phase = .following
    return .resumed
  }

  /// The watch was answered with `err`.
  package mutating func receive(_ refusal: ErrReply) -> ReplicaAction {
    guard phase == .awaiting else { return .ignore }
    phase = .idle
    if refusal.knownCode == .noNav || refusal.knownCode == .forbidden { drop() }
    return .refused(refusal)
  }

  /// A snapshot, or part of one, arrived.
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
    guard computed == digest else {
      return suspect(
        MirrorPosition(epoch: nil, revision: whole.revision, digest: computed))
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

  /// A diff arrived; of several in one message, each goes in by itself.
  package mutating func receive(_ diff: Diff) -> ReplicaAction {
    switch phase {
    case .idle, .awaiting: return .ignore
    // The snapshot got lost: it comes before any diff.
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
      case .digest(let computed):
        return suspect(MirrorPosition(epoch: nil, revision: diff.revision, digest: computed))
      }
    }
  }

  /// A mark that names this nav arrived.
  package mutating func receive(_ mark: Mark.Position) -> ReplicaAction {
    switch phase {
    case .idle, .awaiting: return .ignore
    // A mark names only watches that have got everything.
    case .awaitingSnapshot: return suspect(mirror?.position)
    case .following: break
    }
    guard let mirror, partial == nil else { return suspect(self.mirror?.position) }
    if mark.revision > mirror.revision { return suspect(mirror.position) }
    let differs = mark.revision == mirror.revision && mark.digest != mirror.digest
    return differs ? suspect(mirror.position) : .ignore
  }

  /// The watch has ended.
  package mutating func receive(_ end: WatchEnd) -> ReplicaAction {
    drop()
    // The end of the watch before; the answer to this one comes still.
    guard phase != .awaiting else { return .ignore }
    phase = .idle
    return .ended(why: end.why, endpoint: end.endpoint)
  }

  private mutating func drop() {
    mirror = nil
    start = nil
    running = MirrorDigest()
    partial = nil
    isSuspect = false
    divergence = nil
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
