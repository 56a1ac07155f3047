package import Conformance
import NavigationCore
import NavigationClient

/// The rows about mirrors, with the library's session in front of a daemon.
package enum MirrorRows {
  /// Checks a row.
  ///
  /// - Throws: `ConformanceFailure` if it does not hold.
  package static func check(_ row: CodeRow, on driver: some ConformanceDriver) throws {
    let rig = try MirrorRig(row, driver)
    switch row {
    case .missingDiff: try missingDiff(rig)
    case .doubledDiff: try doubledDiff(rig)
    case .wrongDigest: try wrongDigest(rig)
    case .suspectClient: try suspectClient(rig)
    case .snapshotAmongDiffs: try snapshotAmongDiffs(rig)
    case .invariants, .replay, .equalDaemons, .refusals:
      try claim(false, "\(row) is not about mirrors")
    }
  }

  /// A mirror that gets a diff which does not begin at its revision.
  private static func missingDiff(_ rig: MirrorRig<some ConformanceDriver>) throws {
    var rig = rig
    try rig.op(#"{"push":{"screen":{"id":"B"}}}"#)
    _ = try rig.inFlight()
    try rig.op(#"{"push":{"screen":{"id":"C"}}}"#)
    let before = try need(rig.mirror)
    let late = try need(rig.inFlight().last)
    try claim(late.verb == "diff")
    let outputs = try rig.receive(late)
    try claim(rig.mirror == before)
    try claim(!rig.isSynced)
    let watches = try outputs.watches()
    try claim(watches.count == 1 && outputs.sendCount == 1)
    let from = try need(watches.first?["from"])
    try claim(from["epoch"]?.string == before.epoch.text)
    try claim(from["rev"]?.integer == Int(before.revision.number))
    try claim(from["dig"]?.string == before.digest.text)
    // Nothing is applied while the answer is awaited; then both revisions come.
    try claim(rig.receive(late).sendCount == 0)
    try claim(rig.mirror == before)
    try rig.carry(outputs)
    try rig.deliver()
    try claim(rig.isSynced)
    try claim(rig.mirror?.screens.map(\.id) == ["A", "B", "C"])
  }

  /// A mirror that gets its last diff a second time.
  private static func doubledDiff(_ rig: MirrorRig<some ConformanceDriver>) throws {
    var rig = rig
    try rig.op(#"{"push":{"screen":{"id":"B"}}}"#)
    let diff = try need(rig.inFlight().last)
    _ = try rig.receive(diff)
    let mirror = try need(rig.mirror)
    try claim(mirror.screens.map(\.id) == ["A", "B"])
    try claim(rig.receive(diff).isEmpty)
    try claim(rig.mirror == mirror)
    try claim(rig.isSynced)
  }

  /// A diff as it would be after damage that the digest alone can find.
  private static func damaged(_ diff: ReceivedMessage) throws -> ReceivedMessage {
    let text = String(decoding: diff.body, as: UTF8.self)
    let digest = try need(JSONTree(text)["dig"]?.string)
    let other = (digest.hasPrefix("00000000") ? "00000001" : "00000000") + digest.dropFirst(8)
    let wrong = text.split(separator: "\"dig\":\"\(digest)\"", omittingEmptySubsequences: false)
      .joined(separator: "\"dig\":\"\(other)\"")
    try claim(wrong != text)
    return ReceivedMessage(verb: diff.verb, body: Array(wrong.utf8))
  }

  /// A mirror whose digest is wrong after applying.
  private static func wrongDigest(_ rig: MirrorRig<some ConformanceDriver>) throws {
    var rig = rig
    try rig.op(#"{"push":{"screen":{"id":"B"}}}"#)
    let before = try need(rig.mirror)
    let diff = try damaged(try need(rig.inFlight().last))
    let outputs = try rig.receive(diff)
    try claim(rig.session.replica(of: rig.nav)?.isSuspect == true)
    try claim(rig.mirror == before)
    let watch = try need(outputs.watches().first)
    try claim(watch["from"] == nil)
    try claim(watch.at("bad.rev")?.integer == Int(before.revision.number) + 1)
    try claim(watch.at("bad.dig") != nil)
    try rig.carry(outputs)
    let answers = try rig.inFlight()
    try claim(answers.map(\.verb) == ["ok", "snap"])
    for answer in answers { try rig.carry(rig.receive(answer)) }
    try claim(rig.isSynced)
    try claim(rig.mirror?.screens.map(\.id) == ["A", "B"])
    let log = try need(rig.get("log").array)
    try claim(log.contains { $0["bad"] != nil }, "the log has no report: \(log.map(\.text))")
  }

  /// A client builds no guard from a suspect mirror, so its pop cannot be sent.
  private static func suspectClient(_ rig: MirrorRig<some ConformanceDriver>) throws {
    var rig = rig
    try rig.op(#"{"push":{"screen":{"id":"B"}}}"#)
    let intact = try need(rig.session.replica(of: rig.nav))
    try claim(intact.guards(for: .top) != nil)
    let outputs = try rig.receive(try damaged(try need(rig.inFlight().last)))
    try claim(outputs.watches().count == outputs.sendCount)
    let suspect = try need(rig.session.replica(of: rig.nav))
    try claim(!suspect.isSynced)
    for basis in [GuardBasis.epoch, .top, .stack, .revision, .digest, .has(["A"])] {
      try claim(suspect.guards(for: basis) == nil)
    }
    try rig.carry(outputs)
    try rig.deliver()
    try claim(rig.session.replica(of: rig.nav)?.guards(for: .top) != nil)
  }

  /// A snapshot, then the diff that led to it, then the next one.
  private static func snapshotAmongDiffs(_ rig: MirrorRig<some ConformanceDriver>) throws {
    var rig = rig
    try rig.op(#"{"push":{"screen":{"id":"B"}}}"#)
    let old = try need(rig.inFlight().last)
    let watch = rig.session.watch(rig.nav)
    try rig.carry(watch)
    let answers = try rig.inFlight()
    try claim(answers.map(\.verb) == ["ok", "snap"])
    try rig.op(#"{"push":{"screen":{"id":"C"}}}"#)
    let next = try need(rig.inFlight().last)
    for answer in answers { _ = try rig.receive(answer) }
    let snapshot = try need(rig.mirror)
    try claim(rig.receive(old).sendCount == 0)
    try claim(rig.mirror == snapshot)
    try claim(rig.isSynced)
    try claim(rig.receive(next).sendCount == 0)
    try claim(rig.mirror?.screens.map(\.id) == ["A", "B", "C"])
    try claim(rig.isSynced)
  }
}
