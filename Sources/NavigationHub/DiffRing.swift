import Navigation
import NavigationProtocol

/// The encoded diffs of the last revisions of one nav, from which watches are served.
///
/// Law: `first ... last` are contiguous; `digest(at:)` is known for `first - 1 ... last`.
struct DiffRing: Sendable {
  private struct Entry: Sendable {
    var diff: EncodedDiff
    var digest: Digest
  }

  private var entries: [Entry] = []
  private var head = 0
  /// The revision before the oldest diff kept.
  private(set) var base: Revision
  private(set) var baseDigest: Digest
  private(set) var byteCount = 0

  init(base: Revision, digest: Digest) {
    self.base = base
    baseDigest = digest
  }

  var count: Int { entries.count - head }
  var last: Revision { Revision(base.number + UInt64(count)) }

  mutating func append(_ diff: consuming EncodedDiff, digest: Digest) {
    byteCount += diff.bytes.count
    entries.append(Entry(diff: diff, digest: digest))
    assert(head < entries.count, "a diff is not in the ring")
  }

  /// Whether the diffs behind `revision` are all here.
  func reaches(_ revision: Revision) -> Bool { revision >= base && revision <= last }

  func diff(of revision: Revision) -> EncodedDiff {
    assert(revision > base && revision <= last, "\(revision) is not in the ring")
    return entries[head + Int(revision.number - base.number) - 1].diff
  }

  /// The diffs behind a revision, up to another one.
  func diffs(behind revision: Revision, through last: Revision) -> ArraySlice<EncodedDiff> {
    assert(reaches(revision) && revision <= last, "\(revision) is not in the ring")
    let first = head + Int(revision.number - base.number)
    return entries[first..<(first + Int(last.number - revision.number))].map(\.diff)[...]
  }

  func digest(at revision: Revision) -> Digest? {
    guard reaches(revision) else { return nil }
    if revision == base { return baseDigest }
    return entries[head + Int(revision.number - base.number) - 1].digest
  }

  /// Drops the oldest diffs beyond the limits, up to `durable`; returns the bytes given up.
  ///
  /// Newer ones are owed to those who watch, whatever the limits.
  mutating func trim(revisions: Int, bytes: Int, through durable: Revision) -> Int {
    var freed = 0
    let owed = Int(max(last, durable).number - durable.number)
    while base < durable, count > revisions + owed || byteCount > bytes {
      let entry = entries[head]
      byteCount -= entry.diff.bytes.count
      freed += entry.diff.bytes.count
      base = base.next
      baseDigest = entry.digest
      entries[head].diff.clear()
      head += 1
    }
    if head > 64, head > entries.count / 2 {
      entries.removeFirst(head)
      head = 0
    } else if head > 0, head <= 64, head >= entries.count / 2 {
      // There are many navs with few diffs: their arrays have no room to spare.
      entries = Array(entries[head...])
      head = 0
    }
    assert(byteCount >= 0 && head <= entries.count, "\(byteCount) bytes in the ring")
    return freed
  }

  /// Takes back the diffs behind `revision`, whose commit failed; `digest` is that revision's.
  mutating func cut(behind revision: Revision, digest: Digest) -> Int {
    var freed = 0
    while count > 0, last > revision {
      let entry = entries.removeLast()
      byteCount -= entry.diff.bytes.count
      freed += entry.diff.bytes.count
    }
    // The failed batch may have pushed everything older out.
    if last != revision { self = DiffRing(base: revision, digest: digest) }
    assert(last == revision && byteCount >= 0, "the ring ends with \(last)")
    return freed
  }
}
