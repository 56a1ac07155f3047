@testable import NavigationCore
@testable import NavigationHub
import Testing

/// One revision has one content: what a client holds after an older copy of the journal came back.
@Suite struct OlderJournalTests {
  /// A display that has seen the lost future, and a daemon on the older copy with other changes.
  private struct Scene {
    let world = World()
    /// What the display holds: revision 3 with the title "Pay 99 EUR".
    private(set) var position = ""
    private(set) var digest = ""
    let epoch: Epoch

    /// `changes` are made after the older copy has come back.
    init(_ changes: [String]) throws {
      var owner = try world.kiosk()
      try owner.must(#"{"item.set":{"screen":"home","title":"Pay 10 EUR"}}"#)
      let copy = world.journal
      epoch = try world.entry("kiosk").epoch
      try owner.must(#"{"item.set":{"screen":"home","title":"Pay 99 EUR"}}"#)
      let entry = try world.entry("kiosk")
      digest = entry.digest.text
      position =
        #""from":{"epoch":"\#(epoch.text)","rev":\#(entry.revision.number),"dig":"\#(digest)"}"#
      world.journal = copy
      try world.restart()
      owner = try world.client(2)
      for change in changes { try owner.must(change) }
      world.notices = []
    }

    func resume() throws -> [Sent] { try world.client(3).watch(position) }
  }

  private static let other = #"{"item.set":{"screen":"home","title":"Pay 5 EUR"}}"#

  @Test
  func `a position of the same shape with other contents gets a snapshot, and is logged once`()
    throws
  {
    let scene = try Scene([Self.other])
    let entry = try scene.world.entry("kiosk")
    // Ids, versions, epoch and revision agree, so only the chain differs.
    #expect(entry.digest.text != scene.digest)
    #expect(entry.digest.text.prefix(8) == scene.digest.prefix(8))
    #expect(entry.epoch == scene.epoch)
    let replies = try scene.resume()
    #expect(replies.map(\.verb) == [.ok, .snap])
    #expect(replies[0].json["why"] as? String == "digest")
    #expect(replies[1].text.contains("Pay 5 EUR"))
    #expect(scene.world.notices.count { $0.kind == .faulty && $0.nav == "kiosk" } == 1)
    _ = try scene.world.client(4).watch(scene.position)
    #expect(scene.world.notices.count { $0.kind == .faulty } == 1)
  }

  @Test(arguments: 1...4)
  func `a position beyond which the other history has gone gets a snapshot`(count: Int) throws {
    let scene = try Scene(
      Array(repeating: Self.other, count: 1)
        + (1..<count).map {
          #"{"item.set":{"screen":"home","title":"\#($0)"}}"#
        })
    let replies = try scene.resume()
    #expect(replies.map(\.verb) == [.ok, .snap])
    #expect(replies[0].json["why"] as? String == "digest")
  }

  @Test func `a position that the older copy does not have is ahead, and is logged`() throws {
    let scene = try Scene([])
    let replies = try scene.resume()
    #expect(replies.map(\.verb) == [.ok, .snap])
    #expect(replies[0].json["why"] as? String == "ahead")
    #expect(scene.world.notices.count { $0.kind == .faulty } == 1)
  }

  @Test func `a guard from the lost future is a desync`() throws {
    let scene = try Scene([Self.other])
    let client = try scene.world.client(3)
    let before = try scene.world.standing("kiosk")
    let rev = try scene.world.entry("kiosk").revision.number
    let reply = try client.op(
      #"{"bar.setHidden":{"hidden":true}}"#, nav: "kiosk",
      #""if":{"rev":\#(rev),"dig":"\#(scene.digest)"}"#)
    #expect(reply.code == "desync")
    #expect(reply.json["reason"] as? String == "digest")
    #expect(try scene.world.standing("kiosk") == before)
  }

  @Test func `a position that exists resumes after a restart, without a snapshot or a notice`()
    throws
  {
    let scene = try Scene([Self.other])
    let entry = try scene.world.entry("kiosk")
    try scene.world.restart()
    #expect(try scene.world.entry("kiosk").digest == entry.digest)
    let from =
      #""from":{"epoch":"\#(entry.epoch.text)","rev":\#(entry.revision.number),"dig":"\#(entry.digest.text)"}"#
    let replies = try scene.world.client(3).watch(from)
    #expect(replies.map(\.verb) == [.ok])
    #expect(replies[0].json["mode"] as? String == "resume")
    #expect(scene.world.notices.isEmpty)
  }

  @Test func `texts that differ by their normal form are two contents`() throws {
    let digests = try ["\u{E9}", "e\u{301}", "\u{F900}", "\u{8C48}"].map { title in
      let scene = try Scene([#"{"item.set":{"screen":"home","title":"\#(title)"}}"#])
      return try scene.world.entry("kiosk").digest.chain
    }
    #expect(Set(digests).count == 4)
  }

  /// Law: a chain depends on the chain before it, whatever the octets are.
  @Test func `equal diffs behind different chains have different chains`() {
    let diff = Array(#"{"nav":"kiosk","ch":[]}"#.utf8)
    var chains: Set<UInt64> = []
    for chain in 0..<1000 as Range<UInt64> {
      let before = Digest(checksum: 1, chain: chain)
      chains.insert(before.next(checksum: 1, diff: diff.span).chain)
    }
    #expect(chains.count == 1000)
  }

  @Test func `the chain continues from a snapshot, and a new epoch begins one`() throws {
    let world = World()
    let client = try world.kiosk()
    for number in 0..<5 { try client.must(#"{"item.set":{"screen":"home","title":"\#(number)"}}"#) }
    let digest = try world.entry("kiosk").digest
    _ = try world.turn([.snapshotWanted(nav: try world.entry("kiosk").number)])
    #expect(world.journal.snapshots.count == 1)
    world.journal.rows = []
    try world.restart()
    #expect(try world.entry("kiosk").digest == digest)
    try world.restart(renewsEpochs: true, because: .olderCopy)
    let renewed = try world.entry("kiosk")
    #expect(renewed.digest == Digest(checksum: digest.checksum, chain: renewed.epoch.bits))
    try world.restart()
    #expect(try world.entry("kiosk").digest == renewed.digest)
  }
}
