import Conformance

/// The vectors about the life of a watch.
enum WatchVectors {
  static func make() throws -> [Vector] {
    try [
      join(), resume(), resumeNothing(), lag(), epoch(), ahead(), digest(), goneWhileAway(),
      closed(), createdAgain(), parts(), joined(), snapshotAmongDiffs(), bar(), directory(),
      marks(),
    ]
  }

  private static func join() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["home"], hasResolved: true)
    try rig.op(#"{"push":{"screen":{"id":"wifi","title":"Wi-Fi"}}}"#)
    try rig.deliver()
    try rig.compare()
    try rig.op(#"{"item.set":{"screen":"home","title":"Home"}}"#)
    try rig.op(#"{"pop":{}}"#)
    try rig.deliver()
    return try rig.end("W-01", .watch, "a join, then diffs that another client causes")
  }

  private static func resume() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["home", "wifi"])
    try rig.lose()
    try rig.op(#"{"push":{"screen":{"id":"attic"}}}"#)
    try rig.op(#"{"screen.set":{"screen":"home","title":"Home"}}"#)
    try rig.watch(.mirror)
    try rig.deliver()
    return try rig.end("W-02", .watch, "a resume after a loss brings the diffs that were missed")
  }

  private static func resumeNothing() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["home"])
    try rig.lose()
    try rig.watch(.mirror)
    try rig.deliver()
    try rig.compare()
    try rig.op(#"{"push":{"screen":{"id":"wifi"}}}"#)
    try rig.deliver()
    return try rig.end("W-03", .watch, "a resume where nothing was missed")
  }

  /// More changes than the hub keeps for a resume.
  private static func manyChanges(_ rig: inout ScriptRig) throws {
    for number in 1...260 {
      try rig.op(#"{"screen.set":{"screen":"home","title":"\#(number)"}}"#)
    }
  }

  private static func lag() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["home"])
    try rig.lose()
    try manyChanges(&rig)
    try rig.watch(.mirror)
    try rig.deliver()
    return try rig.end("W-04", .watch, "a resume from too far back gets a snapshot: lag")
  }

  private static func epoch() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["home", "wifi"])
    try rig.lose()
    try rig.close()
    try rig.create(["start"])
    try rig.watch(.mirror)
    try rig.deliver()
    return try rig.end("W-05", .watch, "the nav was closed and made again meanwhile: epoch")
  }

  private static func ahead() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["home"])
    let before = rig
    try rig.op(#"{"push":{"screen":{"id":"wifi"}}}"#)
    try rig.op(#"{"push":{"screen":{"id":"attic"}}}"#)
    try rig.deliver()
    try rig.move(to: before)
    try rig.watch(.mirror)
    try rig.deliver()
    return try rig.end("W-06", .watch, "the daemon has an older revision: ahead; revisions fall")
  }

  private static func digest() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["home"])
    var other = rig
    try rig.op(#"{"push":{"screen":{"id":"wifi"}}}"#)
    try rig.deliver()
    try other.op(#"{"push":{"screen":{"id":"attic"}}}"#)
    try rig.move(to: other)
    try rig.watch(.mirror)
    try rig.deliver()
    return try rig.end("W-07", .watch, "the daemon has another state at that revision: digest")
  }

  private static func goneWhileAway() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["home"])
    try rig.lose()
    try rig.close()
    try rig.watch(.mirror)
    rig.writer.drops()
    try rig.deliver()
    return rig.writer.vector("W-08", .watch, "the nav is gone: the watch is refused, no mirror")
  }

  private static func closed() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["home"])
    try rig.close()
    try rig.deliver()
    rig.writer.watches()
    try rig.watch()
    rig.writer.drops()
    try rig.deliver()
    return rig.writer.vector("W-09", .watch, "the nav is closed: end; another watch is refused")
  }

  private static func createdAgain() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["home", "wifi"])
    try rig.close()
    try rig.deliver()
    try rig.create(["start"])
    try rig.join()
    return try rig.end("W-10", .watch, "the nav is closed and made again: end, then a new epoch")
  }

  private static func parts() throws -> Vector {
    let letters = String(repeating: "0123456789", count: 3200)
    let screens = ["A", "B", "C"].map { #"{"id":"\#($0)","args":"\#($0)\#(letters)"}"# }
    var rig = try ScriptRig(nav: "kiosk", screens: screens)
    try rig.op(#"{"pop":{}}"#)
    try rig.deliver()
    return try rig.end("W-11", .watch, "a snapshot in parts, then a diff")
  }

  private static func joined() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["home"])
    try rig.lose()
    try rig.op(#"{"push":{"screen":{"id":"wifi"}}}"#)
    try rig.op(#"{"replace":{"with":{"id":"attic"}}}"#)
    try rig.op(#"{"insert":{"screen":{"id":"cellar"},"at":0}}"#)
    try rig.op(#"{"present":{"screen":{"id":"pin"}}}"#)
    try rig.op(#"{"present":{"screen":{"id":"help"}}}"#)
    try rig.watch(.mirror)
    try rig.deliver()
    try rig.compare()
    try rig.op(#"{"dismiss":{}}"#)
    try rig.deliver()
    return try rig.end("W-12", .watch, "several diffs in one message, with presented screens")
  }

  private static func snapshotAmongDiffs() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", window: 16_384)
    try rig.create(["home", "wifi"])
    try rig.join()
    try rig.op(
      #"{"screen.set":{"screen":"wifi","args":"\#(String(repeating: "x", count: 20_000))"}}"#)
    try rig.deliver()
    try manyChanges(&rig)
    try rig.op(#"{"pop":{}}"#)
    try rig.credit()
    try rig.deliver()
    return try rig.end("W-13", .watch, "without credit too long: a snapshot that nobody asked for")
  }

  private static func bar() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", hasResolved: true)
    try rig.op(#"{"nav.create":{"kind":"bar"}},{"setItems":{"items":[{"id":"i"},{"id":"j"}]}}"#)
    try rig.join()
    try rig.op(#"{"pushItem":{"item":{"id":"k","item":{"title":"K"}}}}"#)
    try rig.op(#"{"popItem":{}}"#)
    try rig.deliver()
    return try rig.end("W-14", .watch, "a standalone bar")
  }

  private static func directory() throws -> Vector {
    var rig = try ScriptRig(nav: "$navs")
    try rig.op(#"{"nav.create":{"root":{"id":"A"}}},{"attach":{}}"#, nav: "m")
    try rig.join()
    for name in ["z", "a", "constructor"] {
      try rig.op(#"{"nav.create":{"root":{"id":"A"}}},{"attach":{}}"#, nav: name)
    }
    try rig.deliver()
    return try rig.end("W-15", .watch, "the virtual nav $navs has no parts")
  }

  private static func marks() throws -> Vector {
    var rig = try ScriptRig(nav: "kiosk", screens: ["home"])
    try rig.advance(6000)
    try rig.deliver()
    try rig.op(#"{"push":{"screen":{"id":"wifi"}}}"#)
    try rig.deliver()
    try rig.advance(6000)
    try rig.deliver()
    return try rig.end("W-16", .watch, "a mark with the mirror's position changes nothing")
  }
}
