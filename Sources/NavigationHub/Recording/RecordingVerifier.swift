import NavigationCore

/// Replays a recording, and compares each digest with the one it computes.
///
/// A digest covers ids and versions, so it proves order and identity. The verifier also computes
/// the resolved bar, if the recording was made by the rules of this version. The verifier keeps one
/// state.
package struct RecordingVerifier {
  private let header: RecordingHeader
  /// The state after the last line.
  package private(set) var replay = HistoryReplay()
  package private(set) var entryCount: UInt64 = 0
  /// The number of changes and states so far.
  package private(set) var revisionCount: UInt64 = 0
  private var needsState = false

  package init(_ header: RecordingHeader) { self.header = header }

  /// The version of the rules by which this program computes resolved bars.
  package static var rulesVersion: UInt64 { HistoryReplay.rulesVersion }

  package var comparesBars: Bool { header.rulesVersion == HistoryReplay.rulesVersion }

  /// Checks the next entry; after an error, the verifier must not be used again.
  @discardableResult
  package mutating func check(
    _ entry: [UInt8], line number: Int
  ) throws(RecordingFault) -> HistoryReplay.Step {
    let before = (revision: replay.revision, digest: replay.digest, isBegun: replay.isBegun)
    let step: HistoryReplay.Step
    do throws(StoredDataError) {
      step = try replay.take(entry)
    } catch {
      throw fault(error, entry, number, after: before.revision)
    }
    entryCount += 1
    guard before.isBegun || step.kind == .state else {
      throw .unreadable(line: number, what: "the first entry is no state")
    }
    if !before.isBegun, step.revision != header.from {
      throw .wrongOrder(line: number, revision: step.revision.number, after: header.from.number)
    }
    try checkOrder(step, number, after: before.revision)
    needsState = step.lacksContents
    guard step.changesState else { return step }
    revisionCount += 1
    guard step.recordedDigest == replay.digest else {
      throw .differentDigest(
        line: number, revision: step.revision.number, computed: replay.digest,
        recorded: step.recordedDigest)
    }
    if step.kind == .changed, let named = step.digestBefore, named != before.digest {
      throw .differentDigest(
        line: number, revision: before.revision.number, computed: before.digest, recorded: named)
    }
    guard !comparesBars || step.recordedBar == step.bar else {
      throw .differentBar(line: number, revision: step.revision.number)
    }
    return step
  }

  package func finish(_ end: RecordingEnd) throws(RecordingFault) {
    guard end.entryCount == entryCount else {
      throw .wrongEnd(what: "counts \(end.entryCount) entries, but there are \(entryCount)")
    }
    guard !needsState else { throw .wrongEnd(what: "follows an entry without contents") }
    guard end.revision == replay.revision else {
      throw .wrongEnd(
        what: "names revision \(end.revision.number), but the last is \(replay.revision.number)")
    }
    guard end.digest == replay.digest else {
      throw .wrongEnd(what: "names digest \(end.digest.text), not \(replay.digest.text)")
    }
  }

  private func fault(
    _ error: StoredDataError, _ entry: [UInt8], _ number: Int, after revision: Revision
  ) -> RecordingFault {
    var tape = JSONTape()
    do throws(JSONError) { try tape.read(entry, maximumDepth: 48) } catch {
      return .unreadable(line: number, what: "\(error.reason.rawValue) at octet \(error.offset)")
    }
    guard let found = tape.integer("rev", of: 0) else {
      return .unreadable(line: number, what: error.what)
    }
    let isChange = tape.member("kind", of: 0).map { tape.isString($0, "changed") } ?? false
    if isChange, replay.isBegun, found != revision.number + 1 {
      return .wrongOrder(line: number, revision: found, after: revision.number)
    }
    return .inapplicableChange(line: number, revision: found, what: error.what)
  }

  private func checkOrder(
    _ step: HistoryReplay.Step, _ number: Int, after revision: Revision
  ) throws(RecordingFault) {
    func refuse() -> RecordingFault {
      .wrongOrder(line: number, revision: step.revision.number, after: revision.number)
    }
    if needsState, step.kind != .state { throw refuse() }
    switch step.kind {
    case .changed where step.lacksContents:
      guard step.revision == revision.next else { throw refuse() }
    case .epoch, .closed: guard step.revision == revision else { throw refuse() }
    case .state, .created: guard step.revision >= revision else { throw refuse() }
    case .changed, .report, nil: break
    }
  }
}
