import Conformance
import NavigationCore

/// The vectors about texts, numbers and names that a client can spoil, and those about digests.
enum TextVectors {
  static func make() throws -> [Vector] {
    try [
      unicode(), normalisation(), numbers(), memberNames(), ids(), navName(), unknownMembers(),
      escapes(), greatRevisions(),
    ]
  }

  private static func rig(_ args: String) throws -> ScriptRig {
    var rig = try ScriptRig(nav: "kiosk")
    try rig.create([#"{"id":"A","args":\#(args)}"#])
    rig.writer.watches()
    try rig.watch()
    try rig.deliver(isExact: true)
    return rig
  }

  private static func set(_ members: String, _ rig: inout ScriptRig) throws {
    try rig.op(#"{"screen.set":{"screen":"A",\#(members)}}"#)
    try rig.deliver(isExact: true)
  }

  private static func unicode() throws -> Vector {
    var rig = try rig(#"["\u0000","\u001f\u007f","\ufeff","\u2028\u2029","\uffff"]"#)
    try set(#""title":"Zürich 東京 👩‍👩‍👧 \ud83d\ude00 שלום a\u0301""#, &rig)
    try set(#""title":"\"\\\/\b\f\n\r\t""#, &rig)
    return try rig.end("T-01", .text, "texts beyond ASCII, control characters, escapes")
  }

  private static func normalisation() throws -> Vector {
    var rig = try rig(#"{"\u00e9":1,"e\u0301":2}"#)
    try set(#""title":"\u00e9""#, &rig)
    try rig.compare()
    for members in [
      #""title":"e\u0301""#, #""title":"\uf900","route":"\u212a""#,
      #""title":"\u8c48","route":"K""#, #""args":{"e\u0301":1,"\u00e9":2}"#,
    ] {
      try set(members, &rig)
      try rig.compare()
    }
    return try rig.end("T-02", .text, "texts that differ only in their normalisation are two")
  }

  private static func numbers() throws -> Vector {
    var rig = try rig("[0,-0,1.0,1e2,1E+2,0.1,-1.5e-7,5e-324,9007199254740993]")
    try set(#""args":[12345678901234567890,1.7976931348623157e308,0.30000000000000004]"#, &rig)
    return try rig.end(
      "T-03", .text, "numbers of every form, which the daemon passes on as they came")
  }

  private static func memberNames() throws -> Vector {
    let names = ["__proto__", "constructor", "toString", "hasOwnProperty", "length", "", "a.b"]
    let members = names.map { #""\#($0)":{"x":["\#($0)"]}"# }.joined(separator: ",")
    var rig = try rig("{\(members)}")
    try set(#""args":{"__proto__":null,"constructor":{"prototype":{"x":1}}}"#, &rig)
    return try rig.end("T-04", .text, "members with names that mean something in some languages")
  }

  private static func ids() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["constructor", "toString"])
    for id in ["hasOwnProperty", "0", "length", "valueOf", "A", "a", "1.0"] {
      try rig.op(#"{"push":{"screen":{"id":"\#(id)"}}}"#)
    }
    try rig.op(#"{"screen.set":{"screen":"toString","title":"t"}}"#)
    try rig.op(#"{"setStack":{"screens":["a","A","0","constructor","valueOf"]}}"#)
    try rig.deliver()
    return try rig.end("T-05", .text, "screens with such names, and names that differ in case")
  }

  private static func navName() throws -> Vector {
    var rig = try ScriptRig(nav: "constructor", screens: ["A"])
    try rig.op(#"{"push":{"screen":{"id":"B"}}}"#)
    try rig.deliver()
    return try rig.end("T-06", .text, "a nav with such a name")
  }

  private static func unknownMembers() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["A"])
    let novelty = ReceivedMessage(verb: "novelty", body: Array(#"{"nav":"kiosk","rev":9}"#.utf8))
    try rig.writer.gets(novelty, is: .ignored)
    try rig.op(#"{"push":{"screen":{"id":"B"}}}"#)
    guard let diff = try rig.inFlight().first else { return try rig.end("", .text, "") }
    try rig.writer.gets(
      diff.changed { json in
        json.setting("novelty", .members(["a": .int(1)]))
          .setting("ev", .array([.members(["novelty": .members([:])])]))
      })
    return try rig.end("T-07", .text, "a verb, a member and an event that no client knows yet")
  }

  private static func escapes() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["A"])
    try rig.op(#"{"push":{"screen":{"id":"B","title":"B"}}}"#)
    guard let diff = try rig.inFlight().first else { return try rig.end("", .text, "") }
    // The same JSON, written otherwise.
    let text = String(decoding: diff.body, as: UTF8.self)
      .split(separator: #""B""#, omittingEmptySubsequences: false).joined(separator: #""\u0042""#)
      .split(separator: ",").joined(separator: " ,\n\t")
    try rig.writer.gets(ReceivedMessage(verb: "diff", body: Array(text.utf8)), isExact: true)
    return try rig.end(
      "T-08", .text, "JSON with spaces, lines and escapes that the hub never writes")
  }

  /// A state at the greatest revisions there can be, which no hub reaches.
  private static func greatRevisions() throws -> Vector {
    let great = (1 << 53) - 2
    var writer = VectorWriter(nav: "kiosk", hasResolved: false)
    writer.watches()
    writer.sends("watch", .members(["id": .int(1), "nav": .string("kiosk")]))
    let epoch = JSONTree.string("ffffffffffffffff")
    func record(_ id: String, _ version: Int) -> JSONTree {
      .members(["id": .string(id), "ver": .int(version)])
    }
    func digest(_ screens: [(String, Int)]) -> JSONTree {
      .string(
        checksum(screens, VectorWriter.parts.map { ($0, great) }) + "ffffffffffffffff")
    }
    var snapshot = JSONTree.members([
      "nav": .string("kiosk"), "kind": .string("controller"), "epoch": epoch, "rev": .int(great),
      "i": .int(0), "last": .bool(true), "why": .string("join"),
      "screens": .array([record("A", great)]),
    ])
    for part in VectorWriter.parts {
      snapshot = snapshot.setting(part, .members(["ver": .int(great)]))
    }
    let splice = JSONTree.members([
      "at": .int(1), "del": .array([]), "ins": .array([record("B", great + 1)]),
    ])
    let diff = JSONTree.members([
      "nav": .string("kiosk"), "epoch": epoch, "base": .int(great), "rev": .int(great + 1),
      "seq": .int(great), "cause": .string("api"), "ch": .array([splice]), "ev": .array([]),
      "depth": .int(2), "dig": digest([("A", great), ("B", great + 1)]),
    ])
    let answer = #"{"id":1,"nav":"kiosk","mode":"snap","why":"join"}"#
    try writer.gets(ReceivedMessage(verb: "ok", body: Array(answer.utf8)))
    snapshot = snapshot.setting("dig", digest([("A", great)]))
    try writer.gets(ReceivedMessage(verb: "snap", body: Array(snapshot.text.utf8)))
    try writer.gets(ReceivedMessage(verb: "diff", body: Array(diff.text.utf8)))
    let state = snapshot.setting("rev", .int(great + 1)).setting("dig", diff["dig"] ?? .null)
      .setting("screens", .array([record("A", great), record("B", great + 1)]))
    try writer.shows(state)
    return writer.vector("T-09", .text, "the greatest revision and version, 2^53 - 1")
  }

  // Digests.

  static func digests() -> [Vector] {
    let ones = VectorWriter.parts.map { ($0, 1) }
    let cases: [(String, [(String, Int)], [(String, Int)])] = [
      (
        "the example of the protocol", [("home", 1), ("wifi", 2)],
        ones.map { ($0.0, $0.0 == "transition" ? 2 : 1) }
      ),
      ("no screens", [], ones),
      ("no parts, as in a virtual nav", [("a", 1), ("kiosk", 4)], []),
      ("nothing", [], []),
      ("one line", [("kiosk", 1)], []),
      ("another order of the screens", [("wifi", 2), ("home", 1)], ones),
      ("a checksum that begins with zeros", zeros(ones), ones),
      ("the greatest version", [("A", (1 << 53) - 1)], ones),
      ("every character of an id", [("AZaz09._-", 10)], ones),
      ("many screens", (1...64).map { ("S\($0)", $0) }, ones),
    ]
    return cases.enumerated().map { index, value in
      let (claim, screens, parts) = value
      let lines = screens.map { "\($0.0)@\($0.1)" } + parts.map { ":\($0.0)@\($0.1)" }
      let checksum = checksum(screens, parts)
      func records(_ list: [(String, Int)]) -> JSONTree {
        .array(list.map { .members(["id": .string($0.0), "ver": .int($0.1)]) })
      }
      return Vector(
        id: "S-\(index < 9 ? "0" : "")\(index + 1)", kind: .digest, claim: claim,
        members: JSONTree.members([
          "screens": records(screens), "parts": records(parts),
          "text": .string(lines.joined(separator: "\n")), "checksum": .string(checksum),
        ]).members)
    }
  }

  /// The first 8 digits of a digest.
  private static func checksum(_ screens: [(String, Int)], _ parts: [(String, Int)]) -> String {
    let checksum = Digest.checksum(
      screens: screens.map { ($0.0, UInt64($0.1)) }, parts: parts.map { ($0.0, UInt64($0.1)) })
    return String(Digest(checksum: checksum, chain: 0).text.prefix(8))
  }

  /// Screens whose checksum begins with two zeros.
  private static func zeros(_ parts: [(String, Int)]) -> [(String, Int)] {
    let found = (1...10_000).first { checksum([("A", $0)], parts).hasPrefix("00") }
    return [("A", found ?? 1)]
  }
}
