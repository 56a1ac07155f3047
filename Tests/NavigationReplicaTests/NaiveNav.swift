@testable import NavigationCore
@testable import NavigationHub

@testable import NavigationClient

/// CRC-32 as protocol.md §7 describes it, bit by bit.
func naiveChecksum(_ text: String) -> UInt32 {
  var bits: UInt32 = 0xFFFF_FFFF
  for octet in text.utf8 {
    bits ^= UInt32(octet)
    for _ in 0..<8 { bits = bits & 1 == 1 ? bits >> 1 ^ 0xEDB8_8320 : bits >> 1 }
  }
  return ~bits
}

/// The digest of a state with a chain, from its whole text.
func naiveDigest(
  _ screens: [MirrorRecord], _ parts: [MirrorRecord], _ chain: UInt64
) -> Digest {
  let lines =
    screens.map { "\($0.id)@\($0.version.number)" }
    + parts.map { ":\($0.id)@\($0.version.number)" }
  return Digest(checksum: naiveChecksum(lines.joined(separator: "\n")), chain: chain)
}

extension Digest {
  /// The digest with another checksum.
  var spoilt: Digest { Digest(checksum: checksum ^ 1, chain: chain) }
}

extension MirrorRecord {
  init(_ id: String, _ version: UInt64) {
    let json = #"{"id":"\#(id)","ver":\#(version)}"#
    self.init(id: id, version: Revision(version), json: OpaqueJSON(validated: Array(json.utf8)))
  }
}

/// A nav that changes at random, and remembers every state that it had.
struct NaiveNav {
  /// The state as a mirror has it.
  private(set) var state: Mirror
  private(set) var past: Set<Mirror> = []
  private var isDirectory: Bool
  private var ids = 0
  private var lives: UInt64 = 1

  init(isDirectory: Bool = false) {
    self.isDirectory = isDirectory
    state = Self.first(life: 1, isDirectory)
    past = [state]
  }

  private static func first(life: UInt64, _ isDirectory: Bool) -> Mirror {
    let parts = isDirectory ? [] : PartName.allCases.map { MirrorRecord($0.text, 1) }
    let screens = [MirrorRecord("home", 1)]
    return Mirror(
      kind: isDirectory ? "directory" : "controller", epoch: Epoch(bits: life),
      revision: Revision(1), screens: screens, parts: parts,
      resolved: isDirectory ? nil : resolved(1), digest: naiveDigest(screens, parts, life))
  }

  private static func resolved(_ number: UInt64) -> OpaqueJSON {
    OpaqueJSON(validated: Array(#"{"n":\#(number)}"#.utf8))
  }

  /// Closes the nav and makes it anew, in another epoch.
  mutating func renew() {
    lives += 1
    state = Self.first(life: lives, isDirectory)
    past.insert(state)
  }

  /// Makes a revision; returns it as a diff.
  mutating func change(_ random: inout SeededGenerator) -> Diff {
    func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let before = state
    let revision = before.revision.number + 1
    var changes: [Diff.Change] = []
    if below(3) != 0 {
      let at = below(state.screens.count + 1)
      let count = below(min(3, state.screens.count - at + 1))
      let inserted = (0..<below(3)).map { _ in
        ids += 1
        return MirrorRecord("s\(ids)", revision)
      }
      let removed = state.screens[at..<at + count].map(\.id)
      state.screens.replaceSubrange(at..<at + count, with: inserted)
      changes.append(.splice(at: UInt64(at), removed: removed, inserted: inserted))
    }
    if below(3) == 0, !state.screens.isEmpty {
      let place = below(state.screens.count)
      state.screens[place] = MirrorRecord(state.screens[place].id, revision)
      changes.append(.setScreen(state.screens[place]))
    }
    if below(3) == 0, !state.parts.isEmpty {
      let place = below(state.parts.count)
      state.parts[place] = MirrorRecord(state.parts[place].id, revision)
      changes.append(.setPart(state.parts[place]))
    }
    let isTold = below(2) == 0 && !isDirectory
    if isTold { state.resolved = Self.resolved(revision) }
    state.revision = Revision(revision)
    state.digest = naiveDigest(state.screens, state.parts, state.digest.chain &* 31 &+ 1)
    past.insert(state)
    return Diff(
      nav: "kiosk", epoch: state.epoch, base: before.revision, revision: state.revision,
      journalRow: revision, cause: "api", byName: nil, byOp: nil, isAnimated: false,
      topRelation: nil, changes: changes, resolved: isTold ? state.resolved : nil,
      events: OpaqueJSON(validated: Array("[]".utf8)), depth: UInt64(state.screens.count),
      digest: state.digest)
  }

  /// The state in parts of at most so many screens.
  func snapshot(of size: Int) -> [SnapshotPart] {
    let starts = Array(stride(from: 0, to: max(state.screens.count, 1), by: size))
    return starts.map { start in
      let end = min(start + size, state.screens.count)
      let isLast = start == starts.last
      return SnapshotPart(
        nav: "kiosk", kind: state.kind, epoch: state.epoch, revision: state.revision,
        first: UInt64(start), isLast: isLast, why: "join",
        screens: Array(state.screens[start..<end]),
        parts: isLast ? state.parts : [], resolved: isLast ? state.resolved : nil,
        digest: isLast ? state.digest : nil)
    }
  }

  /// Whether a watch can resume there.
  func knows(_ position: MirrorPosition) -> Bool {
    position.epoch == state.epoch && past.contains { $0.position == position }
  }
}

extension [UInt8] {
  /// The octets of an op as it was sent first: without `again`.
  var firstOctets: [UInt8] {
    guard last == UInt8(ascii: "}") else { return self }
    var start = endIndex - 1
    while start > 0, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self[start - 1]) {
      start -= 1
    }
    let mark = Array(#","again":"#.utf8)
    let isMarked = start < endIndex - 1 && self[..<start].suffix(mark.count).elementsEqual(mark)
    return isMarked ? self[..<(start - mark.count)] + [UInt8(ascii: "}")] : self
  }
}
