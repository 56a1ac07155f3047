import NavigationCore
import NavigationClient
import Testing

/// A watch that goes on from a place whose state is not at hand.
@Suite struct WatchStartTests {
  @Test(arguments: ["epoch", "ahead", "lag", "digest"])
  func `the daemon is asked from there, and its reason is what counts`(why: String) throws {
    var nav = FakeNav()
    let start = nav.position
    _ = nav.push("a")
    var replica = Replica(nav: nav.name, start: start)
    #expect(replica.beginWatch().from == start)
    // The connection may be lost before the snapshot is whole.
    replica.disconnect()
    #expect(replica.beginWatch().from == start)
    #expect(replica.receive(try ok(nav.watched(2, mode: "snap"))) == .wait)
    let part = try snap(#require(nav.snapshots(of: 9, why: why).last))
    #expect(replica.receive(part) == .replaced(why: why))
    #expect(replica.isSynced)
    #expect(replica.beginWatch().from == nav.position)
  }

  @Test func `diffs to a state that is not at hand are of no use, so it begins anew`() throws {
    let nav = FakeNav()
    var replica = Replica(nav: nav.name, start: nav.position)
    _ = replica.beginWatch()
    #expect(replica.receive(try ok(nav.watched(2, mode: "resume"))) == .rewatch())
    let (from, bad) = replica.beginWatch()
    #expect(from == nil && bad == nil)
    #expect(replica.receive(try ok(nav.watched(3, mode: "snap"))) == .wait)
    #expect(replica.receive(try snap(nav.snapshot())) == .replaced(why: "join"))
  }

  @Test func `a nav that was closed is not asked for the place in it`() throws {
    let nav = FakeNav()
    var replica = Replica(nav: nav.name, start: nav.position)
    _ = replica.beginWatch()
    _ = replica.receive(
      try err(#"{"id":2,"code":"no-nav","msg":"m","effect":"none","retry":"no"}"#))
    #expect(replica.beginWatch().from == nil)
  }
}

private func err(_ body: String) throws -> ErrReply {
  var reader = ServerMessageReader()
  let message = try reader.read(verb: ServerVerb.err.frame, body: Array(body.utf8))
  guard case .err(let error) = message else { throw Unexpected(what: "not an err") }
  return error
}
