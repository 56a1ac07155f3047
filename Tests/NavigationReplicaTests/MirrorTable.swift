@testable import NavigationCore

@testable import NavigationClient

/// The table "Mirror rules" in the core of protocol.md, row by row.
struct MirrorTable {
  enum Watch {
    /// No watch; one that is not answered; one whose snapshot must come; one that runs.
    case none, asked, snapshot, running
  }

  enum Verdict: Hashable {
    case ignore, wait, resumed, replaced, applied, ended
    case gap(MirrorPosition)
    case diverged(MirrorPosition?)
  }

  var watch = Watch.none
  var mirror: Mirror?
  var isDiverged = false
  /// The members of the next watch.
  private var bad: MirrorPosition?
  /// The parts of a snapshot that is not complete.
  private var parts: [SnapshotPart] = []

  var isSynced: Bool { watch == .running && !isDiverged && parts.isEmpty && mirror != nil }

  mutating func ask() -> (from: MirrorPosition?, bad: MirrorPosition?) {
    watch = .asked
    parts = []
    return isDiverged ? (nil, bad) : (mirror?.position, nil)
  }

  mutating func disconnect() {
    watch = .none
    parts = []
  }

  mutating func receive(_ answer: OkReply) -> Verdict {
    guard watch == .asked else { return .ignore }
    guard answer.watchMode == "resume" else {
      watch = .snapshot
      return .wait
    }
    guard !isDiverged, let mirror, mirror.epoch == answer.epoch else { return diverge() }
    watch = .running
    return .resumed
  }

  mutating func receive(_ part: SnapshotPart) -> Verdict {
    guard watch == .snapshot || watch == .running else { return .ignore }
    if part.first == 0 { parts = [] }
    let count = parts.reduce(0) { $0 + $1.screens.count }
    let fits = parts.allSatisfy { $0.epoch == part.epoch && $0.revision == part.revision }
    guard part.first == 0 || (!parts.isEmpty && fits && Int(part.first) == count) else {
      return diverge()
    }
    parts.append(part)
    guard part.isLast else { return .wait }
    let screens = parts.flatMap(\.screens)
    parts = []
    guard let digest = part.digest else { return diverge() }
    let computed = naiveDigest(screens, part.parts, digest.chain)
    guard computed == digest else {
      return diverge(MirrorPosition(epoch: nil, revision: part.revision, digest: computed))
    }
    mirror = Mirror(
      kind: part.kind, epoch: part.epoch, revision: part.revision, screens: screens,
      parts: part.parts, resolved: part.resolved, digest: computed)
    (isDiverged, bad, watch) = (false, nil, .running)
    return .replaced
  }

  mutating func receive(_ diff: Diff) -> Verdict {
    if watch == .none || watch == .asked { return .ignore }
    guard watch == .running, parts.isEmpty, var next = mirror else { return diverge() }
    if diff.epoch == next.epoch, diff.revision <= next.revision {
      return diff.revision == next.revision && diff.digest != next.digest ? diverge() : .ignore
    }
    guard diff.epoch == next.epoch, diff.base == next.revision else {
      watch = .asked
      return .gap(next.position)
    }
    for change in diff.changes {
      switch change {
      case .splice(let at, let removed, let inserted):
        let place = Int(clamping: at)
        let (head, tail) = (next.screens.prefix(place), next.screens.dropFirst(place))
        guard head.count == place, tail.prefix(removed.count).map(\.id) == removed else {
          return diverge()
        }
        next.screens = head + inserted + tail.dropFirst(removed.count)
      case .setScreen(let record):
        guard next.screens.contains(where: { $0.id == record.id }) else { return diverge() }
        next.screens = next.screens.map { $0.id == record.id ? record : $0 }
      case .setPart(let record):
        guard next.parts.contains(where: { $0.id == record.id }) else { return diverge() }
        next.parts = next.parts.map { $0.id == record.id ? record : $0 }
      }
    }
    let computed = naiveDigest(next.screens, next.parts, diff.digest.chain)
    guard computed == diff.digest else {
      return diverge(MirrorPosition(epoch: nil, revision: diff.revision, digest: computed))
    }
    (next.revision, next.digest) = (diff.revision, computed)
    next.resolved = diff.resolved ?? next.resolved
    mirror = next
    return .applied
  }

  mutating func receive(_ mark: Mark.Position) -> Verdict {
    if watch == .none || watch == .asked { return .ignore }
    guard watch == .running, parts.isEmpty, let mirror else { return diverge() }
    let isAhead = mark.revision > mirror.revision
    let isOther = mark.revision == mirror.revision && mark.digest != mirror.digest
    return isAhead || isOther ? diverge() : .ignore
  }

  mutating func receiveEnd() -> Verdict {
    (mirror, parts, isDiverged, bad) = (nil, [], false, nil)
    if watch == .asked { return .ignore }
    watch = .none
    return .ended
  }

  private mutating func diverge() -> Verdict {
    diverge(mirror.map { MirrorPosition(epoch: nil, revision: $0.revision, digest: $0.digest) })
  }

  private mutating func diverge(_ report: MirrorPosition?) -> Verdict {
    (isDiverged, bad, parts, watch) = (true, report, [], .asked)
    return .diverged(report)
  }
}

extension MirrorTable.Verdict {
  init(_ action: ReplicaAction) {
    switch action {
    case .ignore, .ended(.refused): self = .ignore
    case .wait: self = .wait
    case .resumed: self = .resumed
    case .replaced: self = .replaced
    case .applied: self = .applied
    case .ended(.ended): self = .ended
    case .rewatch(let from?, _): self = .gap(from)
    case .rewatch(nil, let bad): self = .diverged(bad)
    }
  }
}
