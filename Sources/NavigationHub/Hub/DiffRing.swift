import NavigationCore

/// The encoded diffs of the last revisions of one nav, from which watches are served.
///
/// Law: the ring has the diffs after `base` through `last`, and the digests of `base` through
/// `last`.
struct DiffRing: Sendable {
  private struct Entry: Sendable {
    var diff: EncodedDiff
    var digest: Digest
  }

  private var entries: [Entry] = []
  private var firstIndex = 0
  /// The revision before the oldest diff kept.
  private(set) var base: Revision
  private(set) var baseDigest: Digest
  private(set) var byteCount = 0

  init(base: Revision, digest: Digest) {
    self.base = base
    baseDigest = digest
  }

  var count: Int { entries.count - firstIndex }
  var last: Revision { Revision(base.number + UInt64(count)) }

  mutating func append(_ diff: consuming EncodedDiff, digest: Digest) {
    byteCount += diff.bytes.count
    entries.append(Entry(diff: diff, digest: digest))
    assert(firstIndex < entries.count, "a diff is not in the ring")
  }

  /// Inserts the resolved bar into the newest diff, which must not have it; returns by how many bytes
  /// the diff grew.
  mutating func addBarToNewest(_ bar: [UInt8]) -> Int {
    let newest = entries.count - 1
    let before = entries[newest].diff.bytes.count
    entries[newest].diff.insertResolved(bar)
    let growth = entries[newest].diff.bytes.count - before
    byteCount += growth
    return growth
  }

  /// Whether the ring has all diffs after `revision`.
  func reaches(_ revision: Revision) -> Bool { revision >= base && revision <= last }

  func diff(of revision: Revision) -> EncodedDiff {
    assert(revision > base && revision <= last, "\(revision) is not in the ring")
    return entries[firstIndex + Int(revision.number - base.number) - 1].diff
  }

  func diffs(behind revision: Revision, through last: Revision) -> ArraySlice<EncodedDiff> {
    assert(reaches(revision) && revision <= last, "\(revision) is not in the ring")
    let first = firstIndex + Int(revision.number - base.number)
    return entries[first..<(first + Int(last.number - revision.number))].map(\.diff)[...]
  }

  func digest(at revision: Revision) -> Digest? {
    guard reaches(revision) else { return nil }
    assert(revision.number - base.number <= UInt64(count))
    if revision == base { return baseDigest }
    return entries[firstIndex + Int(revision.number - base.number) - 1].digest
  }

  /// Drops the oldest diffs beyond the limits; returns how many bytes they had.
  ///
  /// The limits do not apply to diffs after `durable`, because the hub has not sent those yet.
  mutating func trim(revisions: Int, bytes: Int, through durable: Revision) -> Int {
    assert(revisions >= 0)
    assert(bytes >= 0)
    var freed = 0
    let owed = Int(max(last, durable).number - durable.number)
    while base < durable, count > revisions + owed || byteCount > bytes {
      let entry = entries[firstIndex]
      byteCount -= entry.diff.bytes.count
      freed += entry.diff.bytes.count
      base = base.next
      baseDigest = entry.digest
      entries[firstIndex].diff.clear()
      firstIndex += 1
    }
    if firstIndex > 64, firstIndex > entries.count / 2 {
      entries.removeFirst(firstIndex)
      firstIndex = 0
    } else if firstIndex > 0, firstIndex <= 64, firstIndex >= entries.count / 2 {
      // Most navs have few diffs, so a small array keeps no spare room.
      entries = Array(entries[firstIndex...])
      firstIndex = 0
    }
    assert(byteCount >= 0 && firstIndex <= entries.count, "\(byteCount) bytes in the ring")
    return freed
  }

  /// Removes the diffs after `revision`, whose commit failed; returns how many bytes they had.
  ///
  /// `digest` is the digest of `revision`.
  mutating func removeDiffs(after revision: Revision, digest: Digest) -> Int {
    var freed = 0
    while count > 0, last > revision {
      let entry = entries.removeLast()
      byteCount -= entry.diff.bytes.count
      freed += entry.diff.bytes.count
    }
    // The ring may not reach back to `revision`; then it begins there.
    if last != revision { self = DiffRing(base: revision, digest: digest) }
    assert(self.digest(at: revision) == digest, "another state at the end of the ring")
    assert(last == revision && byteCount >= 0, "the ring ends with \(last)")
    return freed
  }
}
