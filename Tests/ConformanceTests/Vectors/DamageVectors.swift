import Conformance

/// The vectors about messages that were changed, lost, doubled or delayed.
enum DamageVectors {
  static func make() throws -> [Vector] {
    try changedDiffs() + [
      sameRevision(), joinedDamage(), joinedOverlap(), repeatedFault(), skipped(), lostAnswer(),
      otherEpoch(), doubled(), older(), late(), snapshotBehind(), firstSnapshot(), laterSnapshot(),
      parts(), partsBegunAgain(), firstPartMissing(), middlePartMissing(), markAhead(),
      markDiffers(), marksIgnored(), markWhileWatching(), endWhileWatching(),
    ]
  }

  /// A nav with the screens A and B at revision 2, which the client mirrors.
  private static func rig() throws -> ScriptRig {
    try ScriptRig(nav: "kiosk", screens: ["A", "B"])
  }

  /// The only message on its way, which must be of this verb.
  private static func next(_ rig: inout ScriptRig, _ verb: String) throws -> ReceivedMessage {
    let messages = try rig.inFlight()
    guard messages.count == 1, messages[0].verb == verb else {
      throw ConformanceFailure(
        file: #fileID, line: #line, text: "not one \(verb): \(messages.map(\.verb))")
    }
    return messages[0]
  }

  /// The client reports the divergence, and gets a snapshot.
  private static func recover(_ rig: inout ScriptRig) throws {
    try rig.watch(.bad)
    try rig.deliver()
  }

  private static let push = #"{"push":{"screen":{"id":"C","title":"C"}}}"#

  /// Spoils one diff: the op that causes the diff, and the change of its body.
  private typealias Change = (
    id: String, claim: String, ops: String, change: @Sendable (JSONTree) -> JSONTree
  )

  private static let changes: [Change] = [
    (
      "D-01", "the digest is another", push,
      { $0.setting("dig", .string("000000000000000000000000")) }
    ),
    (
      "D-02", "the version of an inserted screen is another", push,
      { diff in
        inserting(diff) { $0.setting("ver", .int(2)) }
      }
    ),
    (
      "D-03", "the id of an inserted screen is another", push,
      { diff in
        inserting(diff) { $0.setting("id", .string("D")) }
      }
    ),
    (
      "D-04", "a splice removes a screen that is not there", "{\"pop\":{}}",
      { diff in
        first(diff) { $0.setting("del", .array([.string("A")])) }
      }
    ),
    (
      "D-05", "a splice begins behind the end", push,
      { diff in
        first(diff) { $0.setting("at", .int(3)) }
      }
    ),
    (
      "D-06", "a splice removes more than there is", "{\"pop\":{}}",
      { diff in
        first(diff) { $0.setting("del", .array([.string("B"), .string("C")])) }
      }
    ),
    (
      "D-07", "a set of a screen that is not on the stack",
      #"{"screen.set":{"screen":"A","title":"A"}}"#,
      { diff in
        first(diff) { set in
          set.setting("to", (set["to"] ?? .null).setting("id", .string("Z")))
        }
      }
    ),
    (
      "D-08", "the first change fits, the second does not: nothing is applied", push,
      { diff in
        let set = JSONTree.members([
          "set": .string("screen"), "to": .members(["id": .string("Z"), "ver": .int(3)]),
        ])
        return diff.setting("ch", .array((diff["ch"]?.array ?? []) + [set]))
      }
    ),
    ("D-09", "a change is missing", push, { $0.setting("ch", .array([])) }),
  ]

  private static func first(_ diff: JSONTree, _ change: (JSONTree) -> JSONTree) -> JSONTree {
    var list = diff["ch"]?.array ?? []
    if !list.isEmpty { list[0] = change(list[0]) }
    return diff.setting("ch", .array(list))
  }

  private static func inserting(_ diff: JSONTree, _ change: (JSONTree) -> JSONTree) -> JSONTree {
    first(diff) { splice in
      splice.setting("ins", .array((splice["ins"]?.array ?? []).map(change)))
    }
  }

  private static func changedDiffs() throws -> [Vector] {
    try changes.map { id, claim, ops, change in
      var rig = try rig()
      let before = try rig.get()
      try rig.op(ops)
      let diff = try next(&rig, "diff").changed(change)
      try rig.writer.gets(diff, is: .diverged)
      try rig.writer.shows(before)
      try recover(&rig)
      return try rig.end(id, .damage, claim)
    }
  }

  private static func sameRevision() throws -> Vector {
    var rig = try rig()
    try rig.op(push)
    let diff = try next(&rig, "diff")
    try rig.writer.gets(diff)
    let other = try diff.changed { $0.setting("dig", .string("000000000000000000000000")) }
    try rig.writer.gets(other, is: .diverged)
    try recover(&rig)
    return try rig.end("D-10", .damage, "a diff to the mirror's revision has another digest")
  }

  /// Three revisions in one message, as a resume brings them.
  private static func joined(_ rig: inout ScriptRig) throws -> ReceivedMessage {
    try rig.lose()
    for id in ["C", "D", "E"] { try rig.op(#"{"push":{"screen":{"id":"\#(id)"}}}"#) }
    try rig.watch(.mirror)
    let messages = try rig.inFlight()
    guard messages.map(\.verb) == ["ok", "diffs"] else {
      throw ConformanceFailure(file: #fileID, line: #line, text: "no diffs")
    }
    try rig.writer.gets(messages[0])
    return messages[1]
  }

  private static func joinedDamage() throws -> Vector {
    var rig = try rig()
    let diffs = try joined(&rig)
    let list = try JSONTree(reading: diffs.body)["list"]?.array ?? []
    // The mirror takes the first of the list; the last one answers to a watch that is over.
    try rig.writer.expect(diff: list[0])
    let damaged = try diffs.changed { json in
      json.setting(
        "list",
        .array([list[0], list[1].setting("dig", .string("000000000000000000000000")), list[2]]))
    }
    try rig.writer.gets(damaged, is: .diverged)
    try recover(&rig)
    return try rig.end(
      "D-11", .damage, "the second of three joined diffs is wrong: the first counts, no other")
  }

  private static func joinedOverlap() throws -> Vector {
    var rig = try rig()
    let diffs = try joined(&rig)
    try rig.writer.gets(diffs)
    try rig.op(#"{"pop":{}}"#)
    let pop = try JSONTree(reading: next(&rig, "diff").body)
    let overlap = try diffs.changed { json in
      json.setting("list", .array((json["list"]?.array ?? []) + [pop]))
    }
    try rig.writer.expect(diff: pop)
    try rig.writer.gets(overlap, is: .applied)
    return try rig.end("D-12", .damage, "joined diffs, of which all but the last are known")
  }

  private static func repeatedFault() throws -> Vector {
    var rig = try rig()
    for _ in 0..<3 {
      try rig.op(#"{"screen.set":{"screen":"A","title":"x"}},{"pop":{}},\#(push)"#)
      let diff = try next(&rig, "diff").changed {
        $0.setting("dig", .string("000000000000000000000000"))
      }
      try rig.writer.gets(diff, is: .diverged)
      try recover(&rig)
      try rig.compare()
      try rig.op(#"{"pop":{}},{"push":{"screen":{"id":"B"}}}"#)
      try rig.deliver()
    }
    return try rig.end("D-13", .damage, "one wrong digest after the other")
  }

  private static func skipped() throws -> Vector {
    var rig = try rig()
    try rig.op(push)
    _ = try rig.inFlight()
    try rig.op(#"{"push":{"screen":{"id":"D"}}}"#)
    let late = try next(&rig, "diff")
    try rig.writer.gets(late, is: .gap)
    try rig.watch(.mirror)
    try rig.deliver()
    return try rig.end("D-14", .damage, "a revision is skipped: the client resumes")
  }

  private static func lostAnswer() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk")
    try rig.create(["A", "B"])
    rig.writer.watches()
    try rig.watch()
    let answers = try rig.inFlight()
    try rig.writer.gets(answers[0])
    try rig.op(push)
    try rig.writer.gets(next(&rig, "diff"), is: .gap)
    try rig.watch()
    try rig.deliver()
    return try rig.end("D-15", .damage, "a diff without the snapshot before: the client joins")
  }

  private static func otherEpoch() throws -> Vector {
    var rig = try rig()
    try rig.op(push)
    let diff = try next(&rig, "diff")
    let other = try diff.changed { $0.setting("epoch", .string("0123456789abcdef")) }
    try rig.writer.gets(other, is: .gap)
    try rig.watch(.mirror)
    try rig.deliver()
    return try rig.end("D-16", .damage, "a diff of another epoch: the client resumes")
  }

  private static func doubled() throws -> Vector {
    var rig = try rig()
    try rig.op(push)
    let diff = try next(&rig, "diff")
    try rig.writer.gets(diff)
    try rig.writer.gets(diff, is: .ignored)
    return try rig.end("D-17", .damage, "a diff comes twice")
  }

  private static func older() throws -> Vector {
    var rig = try rig()
    try rig.op(push)
    let diff = try next(&rig, "diff")
    try rig.writer.gets(diff)
    try rig.op(#"{"pop":{}}"#)
    try rig.deliver()
    // Not even its digest is compared.
    let wrong = try diff.changed { $0.setting("dig", .string("000000000000000000000000")) }
    try rig.writer.gets(diff, is: .ignored)
    try rig.writer.gets(wrong, is: .ignored)
    return try rig.end("D-18", .damage, "a diff to a revision before the mirror's")
  }

  private static func late() throws -> Vector {
    var rig = try rig()
    try rig.op(push)
    _ = try rig.inFlight()
    try rig.op(#"{"pop":{}}"#)
    let late = try next(&rig, "diff")
    try rig.writer.gets(late, is: .gap)
    try rig.watch(.mirror)
    let answers = try rig.inFlight()
    try rig.op(push)
    let next = try next(&rig, "diff")
    try rig.writer.gets(late, is: .ignored)
    try rig.writer.gets(next, is: .ignored)
    for answer in answers { try rig.writer.gets(answer) }
    try rig.writer.gets(next)
    return try rig.end("D-19", .damage, "diffs of the watch before, while a watch is unanswered")
  }

  private static func snapshotBehind() throws -> Vector {
    var rig = try rig()
    try rig.op(push)
    let old = try next(&rig, "diff")
    try rig.writer.gets(old.changed(wrongDigest), is: .diverged)
    try rig.watch(.bad)
    let answers = try rig.inFlight()
    try rig.op(#"{"pop":{}}"#)
    let new = try next(&rig, "diff")
    for answer in answers { try rig.writer.gets(answer) }
    try rig.writer.gets(old, is: .ignored)
    try rig.writer.gets(new)
    return try rig.end("D-20", .damage, "a snapshot, then the diff before it, then the next")
  }

  private static let wrongDigest: @Sendable (JSONTree) -> JSONTree = {
    $0.setting("dig", .string("000000000000000000000000"))
  }

  private static func firstSnapshot() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk")
    try rig.create(["A", "B"])
    rig.writer.watches()
    try rig.watch()
    let answers = try rig.inFlight()
    try rig.writer.gets(answers[0])
    try rig.writer.gets(answers[1].changed(wrongDigest), is: .diverged)
    try rig.watch()
    try rig.deliver()
    return try rig.end("D-21", .damage, "the first snapshot has another digest: still no mirror")
  }

  /// A client that lost its connection gets a snapshot of a nav of another epoch.
  private static func newSnapshot(_ rig: inout ScriptRig) throws -> ReceivedMessage {
    try rig.lose()
    try rig.close()
    try rig.create(["X", "Y", "Z"])
    try rig.watch(.mirror)
    let answers = try rig.inFlight()
    try rig.writer.gets(answers[0])
    return answers[1]
  }

  private static func laterSnapshot() throws -> Vector {
    var rig = try rig()
    let before = try rig.get()
    let snapshot = try newSnapshot(&rig)
    try rig.writer.gets(snapshot.changed(wrongDigest), is: .diverged)
    try rig.writer.shows(before)
    try recover(&rig)
    return try rig.end("D-22", .damage, "a later snapshot has another digest: the mirror stays")
  }

  /// The parts of a snapshot, with one screen in each.
  private static func divided(_ snapshot: ReceivedMessage) throws -> [ReceivedMessage] {
    let json = try JSONTree(reading: snapshot.body)
    let screens = json["screens"]?.array ?? []
    let late = VectorWriter.parts + ["dig", "resolved"]
    let head = JSONTree.object(json.members.filter { !late.contains($0.name) })
    return screens.enumerated().map { index, screen in
      let isLast = index == screens.count - 1
      let part = (isLast ? json : head).setting("i", .int(index)).setting("last", .bool(isLast))
        .setting("screens", .array([screen]))
      return ReceivedMessage(verb: "snap", body: Array(part.text.utf8))
    }
  }

  private static func parts() throws -> Vector {
    var rig = try rig()
    let parts = try divided(newSnapshot(&rig))
    for part in parts { try rig.writer.gets(part) }
    return try rig.end("D-23", .damage, "a snapshot in three parts: the last one shows it")
  }

  private static func partsBegunAgain() throws -> Vector {
    var rig = try rig()
    let parts = try divided(newSnapshot(&rig))
    for part in parts[..<2] + parts { try rig.writer.gets(part) }
    return try rig.end("D-24", .damage, "a snapshot begins anew between its parts")
  }

  private static func firstPartMissing() throws -> Vector {
    var rig = try rig()
    let before = try rig.get()
    let parts = try divided(newSnapshot(&rig))
    try rig.writer.gets(parts[2], is: .diverged)
    try rig.writer.shows(before)
    try recover(&rig)
    return try rig.end("D-25", .damage, "only the last part of a snapshot comes")
  }

  private static func middlePartMissing() throws -> Vector {
    var rig = try rig()
    let before = try rig.get()
    let parts = try divided(newSnapshot(&rig))
    try rig.writer.gets(parts[0])
    try rig.writer.gets(parts[2], is: .diverged)
    try rig.writer.shows(before)
    try recover(&rig)
    return try rig.end("D-26", .damage, "a part in the middle of a snapshot is missing")
  }

  private static func mark(_ entries: [(String, Int, String)]) -> ReceivedMessage {
    let list = entries.map { JSONTree.array([.string($0.0), .int($0.1), .string($0.2)]) }
    let mark = JSONTree.members(["t": .int(1_732_147_200_123), "at": .array(list)])
    return ReceivedMessage(verb: "mark", body: Array(mark.text.utf8))
  }

  private static func markAhead() throws -> Vector {
    var rig = try rig()
    try rig.op(push)
    let digest = try JSONTree(reading: next(&rig, "diff").body)["dig"]?.string ?? ""
    try rig.writer.gets(mark([("kiosk", 3, digest)]), is: .diverged)
    try recover(&rig)
    return try rig.end("D-27", .damage, "a diff is lost, and a mark tells of its revision")
  }

  private static func markDiffers() throws -> Vector {
    var rig = try rig()
    try rig.writer.gets(mark([("kiosk", 2, "000000000000000000000000")]), is: .diverged)
    try recover(&rig)
    return try rig.end("D-28", .damage, "a mark has another digest for the mirror's revision")
  }

  private static func marksIgnored() throws -> Vector {
    var rig = try rig()
    let digest = try rig.get()["dig"]?.string ?? ""
    for entries in [[], [("kiosk", 1, "000000000000000000000000")], [("kiosk", 2, digest)]] {
      try rig.writer.gets(mark(entries), is: .ignored)
    }
    return try rig.end("D-29", .damage, "marks of nothing, of an older revision, of this one")
  }

  private static func markWhileWatching() throws -> Vector {
    var rig = try rig()
    try rig.lose()
    try rig.op(push)
    try rig.watch(.mirror)
    let answers = try rig.inFlight()
    try rig.writer.gets(mark([("kiosk", 9, "000000000000000000000000")]), is: .ignored)
    for answer in answers { try rig.writer.gets(answer) }
    return try rig.end("D-30", .damage, "a mark while a watch is unanswered")
  }

  private static func endWhileWatching() throws -> Vector {
    var rig = try rig()
    try rig.op(push)
    _ = try rig.inFlight()
    try rig.op(#"{"pop":{}}"#)
    try rig.close()
    let late = try rig.inFlight()
    try rig.writer.gets(late[0], is: .gap)
    try rig.watch(.mirror)
    rig.writer.drops()
    try rig.writer.gets(late[1], is: .ignored)
    try rig.deliver()
    return rig.writer.vector(
      "D-31", .damage, "the end of the watch before, then a refusal: no mirror")
  }
}
