import Conformance
import Navigation
import NavigationSync
import Testing

/// The rows about mirrors, with the library's session in front of a hub.
enum MirrorRows {
  /// A mirror that gets a diff which does not begin at its revision.
  static func missingDiff() throws {
    var rig = try MirrorRig()
    try rig.op(#"{"push":{"screen":{"id":"B"}}}"#)
    _ = try rig.inFlight()
    try rig.op(#"{"push":{"screen":{"id":"C"}}}"#)
    let before = try #require(rig.mirror)
    let late = try #require(try rig.inFlight().last)
    #expect(late.verb == "diff")
    let outputs = try rig.receive(late)
    #expect(rig.mirror == before)
    #expect(!rig.isSynced)
    let watches = try outputs.watches()
    #expect(watches.count == 1 && outputs.sendCount == 1)
    let from = try #require(watches.first?["from"])
    #expect(from["epoch"]?.string == before.epoch.text)
    #expect(from["rev"]?.integer == Int(before.revision.number))
    #expect(from["dig"]?.string == before.digest.text)
    // Nothing is applied while the answer is awaited; then both revisions come.
    #expect(try rig.receive(late).sendCount == 0)
    #expect(rig.mirror == before)
    try rig.carry(outputs)
    try rig.deliver()
    #expect(rig.isSynced)
    #expect(rig.mirror?.screens.map(\.id) == ["A", "B", "C"])
  }

  /// A mirror that gets its last diff a second time.
  static func doubledDiff() throws {
    var rig = try MirrorRig()
    try rig.op(#"{"push":{"screen":{"id":"B"}}}"#)
    let diff = try #require(try rig.inFlight().last)
    _ = try rig.receive(diff)
    let mirror = try #require(rig.mirror)
    #expect(mirror.screens.map(\.id) == ["A", "B"])
    #expect(try rig.receive(diff).isEmpty)
    #expect(rig.mirror == mirror)
    #expect(rig.isSynced)
  }

  /// A diff as it would be after damage that the digest alone can find.
  private static func damaged(_ diff: ReceivedMessage) throws -> ReceivedMessage {
    let text = String(decoding: diff.body, as: UTF8.self)
    let digest = try #require(try JSONTree(text)["dig"]?.string)
    let other = digest == "00000000" ? "00000001" : "00000000"
    let wrong = text.split(separator: "\"dig\":\"\(digest)\"", omittingEmptySubsequences: false)
      .joined(separator: "\"dig\":\"\(other)\"")
    #expect(wrong != text)
    return ReceivedMessage(verb: diff.verb, body: Array(wrong.utf8))
  }

  /// A mirror whose digest is wrong after applying.
  static func wrongDigest() throws {
    var rig = try MirrorRig()
    try rig.op(#"{"push":{"screen":{"id":"B"}}}"#)
    let before = try #require(rig.mirror)
    let diff = try damaged(try #require(try rig.inFlight().last))
    let outputs = try rig.receive(diff)
    #expect(rig.session.replica(of: MirrorRig.nav)?.isSuspect == true)
    #expect(rig.mirror == before)
    let watch = try #require(try outputs.watches().first)
    #expect(watch["from"] == nil)
    #expect(watch.at("bad.rev")?.integer == Int(before.revision.number) + 1)
    #expect(watch.at("bad.dig") != nil)
    try rig.carry(outputs)
    let answers = try rig.inFlight()
    #expect(answers.map(\.verb) == ["ok", "snap"])
    for answer in answers { try rig.carry(rig.receive(answer)) }
    #expect(rig.isSynced)
    #expect(rig.mirror?.screens.map(\.id) == ["A", "B"])
    let log = try #require(try rig.get("log").array)
    #expect(log.contains { $0["bad"] != nil }, "the log has no report: \(log.map(\.text))")
  }

  /// A client builds no guard from a suspect mirror, so its pop cannot be sent.
  static func suspectClient() throws {
    var rig = try MirrorRig()
    try rig.op(#"{"push":{"screen":{"id":"B"}}}"#)
    let intact = try #require(rig.session.replica(of: MirrorRig.nav))
    #expect(intact.guards(for: .top) != nil)
    let outputs = try rig.receive(try damaged(try #require(try rig.inFlight().last)))
    #expect(try outputs.watches().count == outputs.sendCount)
    let suspect = try #require(rig.session.replica(of: MirrorRig.nav))
    #expect(!suspect.isSynced)
    for basis in [GuardBasis.epoch, .top, .stack, .revision, .digest, .has(["A"])] {
      #expect(suspect.guards(for: basis) == nil)
    }
    try rig.carry(outputs)
    try rig.deliver()
    #expect(rig.session.replica(of: MirrorRig.nav)?.guards(for: .top) != nil)
  }

  /// A snapshot, then the diff that led to it, then the next one.
  static func snapshotAmongDiffs() throws {
    var rig = try MirrorRig()
    try rig.op(#"{"push":{"screen":{"id":"B"}}}"#)
    let old = try #require(try rig.inFlight().last)
    let watch = rig.session.watch(MirrorRig.nav)
    try rig.carry(watch)
    let answers = try rig.inFlight()
    #expect(answers.map(\.verb) == ["ok", "snap"])
    try rig.op(#"{"push":{"screen":{"id":"C"}}}"#)
    let next = try #require(try rig.inFlight().last)
    for answer in answers { _ = try rig.receive(answer) }
    let snapshot = try #require(rig.mirror)
    #expect(try rig.receive(old).sendCount == 0)
    #expect(rig.mirror == snapshot)
    #expect(rig.isSynced)
    #expect(try rig.receive(next).sendCount == 0)
    #expect(rig.mirror?.screens.map(\.id) == ["A", "B", "C"])
    #expect(rig.isSynced)
  }
}
