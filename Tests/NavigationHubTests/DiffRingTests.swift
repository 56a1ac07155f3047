@testable import NavigationCore
@testable import NavigationHub
import Testing

/// A ring of diffs as a plain list.
private struct RingTwin {
  struct Entry {
    var revision: UInt64
    var bytes: [UInt8]
    var digest: Digest
  }

  var base: UInt64
  var entries: [Entry] = []

  var last: UInt64 { base + UInt64(entries.count) }
  var byteCount: Int { entries.reduce(0) { $0 + $1.bytes.count } }

  /// Drops the oldest ones that may be dropped, while there are too many; returns their bytes.
  mutating func trim(_ revisions: Int, _ bytes: Int, through durable: UInt64) -> Int {
    let before = byteCount
    while let oldest = entries.first, oldest.revision <= durable {
      let later = entries.filter { $0.revision > durable }.count
      guard entries.count - later > revisions || byteCount > bytes else { break }
      base = oldest.revision
      entries.removeFirst()
    }
    return before - byteCount
  }

  mutating func cut(behind revision: UInt64) -> Int {
    let before = byteCount
    entries.removeAll { $0.revision > revision }
    base = min(base, revision)
    return before - byteCount
  }
}

@Suite struct DiffRingTests {
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `a ring keeps the newest diffs, and all that no watch got`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func below(_ bound: UInt64) -> UInt64 { random.next() % bound }
    var digests: [UInt64: Digest] = [5: Digest(checksum: 5, chain: 0)]
    var ring = DiffRing(base: Revision(5), digest: Digest(checksum: 5, chain: 0))
    var (twin, durable) = (RingTwin(base: 5), UInt64(5))
    for _ in 0..<1200 {
      switch below(10) {
      case 0...5:
        let bytes = [UInt8](repeating: UInt8(below(256)), count: Int(1 + below(40)))
        let digest = Digest(checksum: UInt32(truncatingIfNeeded: random.next()), chain: 0)
        ring.append(EncodedDiff(bytes: bytes, resolved: 0..<0), digest: digest)
        twin.entries.append(
          RingTwin.Entry(revision: twin.last + 1, bytes: bytes, digest: digest))
        digests[twin.last] = digest
      case 6: durable += below(twin.last - durable + 1)
      case 7 where below(6) == 0:
        // A failed commit goes back to what is durable, which the ring need not reach.
        let digest = digests[durable] ?? Digest(checksum: 0, chain: 0)
        #expect(
          ring.removeDiffs(after: Revision(durable), digest: digest) == twin.cut(behind: durable))
        if twin.entries.isEmpty { twin.base = durable }
      default:
        let (count, bytes) = (Int(below(seed % 2 == 0 ? 9 : 150)), Int(below(4000)))
        let freed = ring.trim(revisions: count, bytes: bytes, through: Revision(durable))
        #expect(freed == twin.trim(count, bytes, through: durable))
        #expect(twin.entries.count <= count || twin.base == durable || twin.last > durable)
      }
      check(ring, twin, digests)
    }
  }

  private func check(_ ring: DiffRing, _ twin: RingTwin, _ digests: [UInt64: Digest]) {
    #expect(ring.base == Revision(twin.base) && ring.last == Revision(twin.last))
    #expect(ring.count == twin.entries.count && ring.byteCount == twin.byteCount)
    #expect(ring.baseDigest == digests[twin.base])
    for revision in [twin.base, twin.last, (twin.base + twin.last) / 2] {
      #expect(ring.reaches(Revision(revision)))
      #expect(ring.digest(at: Revision(revision)) == digests[revision])
      let behind = ring.diffs(behind: Revision(revision), through: ring.last)
      #expect(
        behind.map(\.bytes) == twin.entries.filter { $0.revision > revision }.map(\.bytes))
    }
    for revision in [twin.base &- 1, twin.last + 1] {
      #expect(!ring.reaches(Revision(revision)) && ring.digest(at: Revision(revision)) == nil)
    }
    if let middle = twin.entries.dropFirst(twin.entries.count / 2).first {
      #expect(ring.diff(of: Revision(middle.revision)).bytes == middle.bytes)
    }
  }
}
