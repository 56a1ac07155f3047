package import NavigationCore

/// A client's copy of the state of one nav.
///
/// Law: `digest` has the checksum of `screens` and `parts`. A snapshot or a diff replaces the mirror
/// as a whole, so no intermediate state is visible.
package struct Mirror: Hashable, Sendable {
  /// The kind of the nav: `controller`, `bar` or `directory`.
  ///
  /// `directory` is the kind of the virtual navs: `$navs` lists all navs, `$clients` all sessions.
  package var kind: String
  package var epoch: Epoch
  package var revision: Revision
  /// The stack, bottom first.
  package var screens: [MirrorRecord]
  /// The six parts of the state beside the stack, in the order of the digest; a directory has none.
  package var parts: [MirrorRecord]
  /// The visible bar as JSON, which the daemon computes; the digest does not cover it.
  package var resolved: OpaqueJSON?
  package var digest: Digest

  package init(
    kind: String, epoch: Epoch, revision: Revision, screens: [MirrorRecord],
    parts: [MirrorRecord], resolved: OpaqueJSON?, digest: Digest
  ) {
    self.kind = kind
    self.epoch = epoch
    self.revision = revision
    self.screens = screens
    self.parts = parts
    self.resolved = resolved
    self.digest = digest
  }

  /// Makes a mirror from a complete snapshot; nil if it is incomplete or its checksum is wrong.
  package init?(_ whole: SnapshotPart) {
    guard whole.first == 0, whole.isLast, let digest = whole.digest else { return nil }
    var running = MirrorDigest()
    let checksum = running.update(screens: whole.screens, parts: whole.parts, from: 0)
    guard checksum == digest.checksum else { return nil }
    self.init(
      kind: whole.kind, epoch: whole.epoch, revision: whole.revision, screens: whole.screens,
      parts: whole.parts, resolved: whole.resolved, digest: digest)
  }

  /// The epoch, revision and digest, from which a watch can resume.
  package var position: MirrorPosition {
    MirrorPosition(epoch: epoch, revision: revision, digest: digest)
  }

  package var top: String? { screens.last?.id }

  /// Whether a transition, or the gesture that drives one, is open.
  package var isTransitioning: Bool {
    guard let tape = tape(ofPart: "transition") else { return false }
    return tape.member("tid", of: tape.root) != nil
  }

  private func tape(ofPart name: String) -> JSONTape? {
    guard let part = parts.first(where: { $0.id == name }) else { return nil }
    var tape = JSONTape()
    do { try tape.read(part.json.bytes, maximumDepth: 40) } catch { return nil }
    return tape
  }

  /// The presented screens, in the order of their presentation.
  package var presented: [MirrorRecord] {
    guard let tape = tape(ofPart: "presented"), let chain = tape.member("chain", of: tape.root),
      tape.kind(chain) == .array
    else { return [] }
    return tape.elements(of: chain) { element in
      tape.member("screen", of: element).flatMap { MirrorRecord(tape, $0) }
    }.compactMap(\.self)
  }

  /// The id of the outermost presented screen; nil if nothing is presented.
  package var outermostPresented: String? { presented.last?.id }

  /// Makes a guard that holds as long as the part of the nav that `basis` names equals the mirror.
  package func guards(for basis: GuardBasis) -> Guards {
    var guards = Guards()
    guards.epoch = epoch
    switch basis {
    case .epoch: break
    case .top: guards.top = .some(top)
    case .stack: guards.stack = screens.map(\.id)
    case .revision: guards.revision = revision
    case .digest: guards.digest = digest
    case .has(let ids): guards.has = ids
    }
    return guards
  }
}

extension MirrorRecord {
  /// Reads the record of a screen inside another record; nil without one.
  fileprivate init?(_ tape: borrowing JSONTape, _ at: Int) {
    guard let id = tape.member("id", of: at).flatMap({ tape.string($0) }),
      let version = tape.member("ver", of: at).flatMap({ tape.integer($0) })
    else { return nil }
    self.init(
      id: id, version: Revision(version), json: OpaqueJSON(validated: Array(tape.raw(at))))
  }
}

extension Mirror {
  /// The mirror as the body of a complete snapshot.
  package func snapshot(of nav: String) -> OpaqueJSON {
    var members: JSONObject = [
      "nav": .string(nav), "kind": .string(kind), "epoch": .string(epoch.text),
      "rev": .integer(revision.number), "screens": .array(screens.map(\.json)),
    ]
    for part in parts { members.add(part.id, part.json) }
    members.add("resolved", resolved)
    members.add("dig", digest.text)
    return .object(members)
  }
}

/// The reason why a client cannot apply a diff to its mirror.
enum DiffFault: Error, Hashable, Sendable {
  /// A change names a screen, a part or an index that the mirror does not have.
  case missingTarget
  /// After all changes, the mirror has another checksum than the diff's digest.
  case checksum(computed: UInt32)
}

/// The checksum of a digest after each screen of the stack.
///
/// After a change of the screen at index i, it recomputes only the checksums from i on.
struct MirrorDigest: Sendable {
  private var prefixChecksums: [UInt32] = []

  /// Computes the checksum after a change that did not touch the screens below `index`; O(count −
  /// index).
  mutating func update(
    screens: [MirrorRecord], parts: [MirrorRecord], from index: Int
  ) -> UInt32 {
    let kept = min(index, prefixChecksums.count, screens.count)
    prefixChecksums.removeSubrange(kept...)
    var checksum = kept == 0 ? 0 : prefixChecksums[kept - 1]
    for position in kept..<screens.count {
      var line = LineChecksum(hasPrecedingLine: position > 0, from: checksum)
      line.append(screens[position].id.utf8.span, screens[position].version.number)
      checksum = line.checksum
      prefixChecksums.append(checksum)
    }
    var lines = LineChecksum(hasPrecedingLine: !screens.isEmpty, from: checksum)
    for part in parts { lines.append((":" + part.id).utf8.span, part.version.number) }
    return lines.checksum
  }
}

extension Mirror {
  /// Returns the mirror that follows from a diff, in O(screens); this mirror stays unchanged.
  func applying(
    _ diff: Diff, digest running: inout MirrorDigest
  ) throws(DiffFault) -> Mirror {
    var next = self
    var firstChanged = screens.count
    for change in diff.changes {
      guard let index = next.apply(change) else { throw .missingTarget }
      firstChanged = min(firstChanged, index)
    }
    let computed = running.update(screens: next.screens, parts: next.parts, from: firstChanged)
    guard computed == diff.digest.checksum else { throw .checksum(computed: computed) }
    next.revision = diff.revision
    next.digest = diff.digest
    if let resolved = diff.resolved { next.resolved = resolved }
    return next
  }

  /// Applies one change; returns the index of the lowest screen that it touched, nil if it does not
  /// apply.
  private mutating func apply(_ change: Diff.Change) -> Int? {
    switch change {
    case .splice(let at, let removed, let inserted):
      guard at <= UInt64(screens.count), removed.count <= screens.count - Int(at) else {
        return nil
      }
      let range = Int(at)..<Int(at) + removed.count
      guard screens[range].lazy.map(\.id).elementsEqual(removed, by: ==) else { return nil }
      screens.replaceSubrange(range, with: inserted)
      return range.lowerBound
    case .setScreen(let record):
      guard let index = screens.lastIndex(where: { $0.id == record.id }) else { return nil }
      screens[index] = record
      return index
    case .setPart(let record):
      guard let index = parts.firstIndex(where: { $0.id == record.id }) else { return nil }
      parts[index] = record
      return screens.count
    }
  }
}
