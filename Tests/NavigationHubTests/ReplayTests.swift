import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Makes ops at random that are mostly, but not always, allowed.
struct OperationGenerator {
  var random: SeededGenerator
  /// Draws what screen readers need, so that it shifts no other draw.
  private var spoken: SeededGenerator

  init(seed: UInt64) {
    (random, spoken) = (SeededGenerator(seed: seed), SeededGenerator(seed: ~seed))
  }

  mutating func below(_ bound: UInt64) -> UInt64 { random.next() % bound }

  mutating func pick<Element>(_ list: [Element]) -> Element { list[Int(below(UInt64(list.count)))] }

  mutating func screen() -> String { "s\(below(12))" }
  mutating func button() -> String { "b\(below(8))" }

  /// Members behind others, of a record or an operation; none half of the time.
  private mutating func maybe(_ members: [String]) -> String {
    let draw = Int(spoken.next() % UInt64(2 * members.count))
    return draw < members.count ? "," + members[draw] : ""
  }

  private mutating func text(_ name: String) -> String {
    let texts = ["null", #""""#, #""a""#, #""b\u00e9\n""#]
    return #""\#(name)":\#(texts[Int(spoken.next() % 4)])"#
  }

  /// How a title is read; one of the languages is none.
  mutating func ofTitle() -> String {
    let languages = ["null", #""de""#, #""zh-Hant""#, #""en-GB""#, #""fr""#, #""not a tag""#]
    let language = #""language":\#(languages[Int(spoken.next() % 6)])"#
    let label = text("accessibilityLabel")
    return maybe([label, language, "\(label),\(language)"])
  }

  mutating func ofButton() -> String {
    let flag = spoken.next() % 2 == 0
    let texts = ["Label", "Hint", "Identifier"].map { text("accessibility\($0)") }
    return maybe(
      texts + [
        #""isEnabled":\#(flag)"#, #""isSelected":\#(flag)"#,
        #""isEnabled":\#(flag),"isSelected":true,\#(texts[0])"#,
      ])
  }

  mutating func ofEnvironment() -> String {
    let flag = spoken.next() % 2 == 0
    let size = ContentSizeCategory.allCases[Int(spoken.next() % 12)].word
    return maybe([
      #""screenReader":\#(flag)"#, #""contentSizeCategory":"\#(size)""#,
      #""accessibilityContrast":"\#(flag ? "high" : "normal")""#,
    ])
  }

  mutating func buttonRecord() -> String {
    let more = ofButton()
    return pick([
      #"{"id":"\#(button())","title":"T\#(below(9))","action":"a"\#(more)}"#, #""\#(button())""#,
      #"{"systemItem":"done"\#(more)}"#, #"{"image":"wave.png","landscapeImage":"w.png"\#(more)}"#,
    ])
  }

  mutating func item() -> String {
    pick([
      #""title":"i\#(below(9))""#, #""prompt":"p""#, #""prompt":null"#, #""title":"""#,
      #""leftItems":[\#(buttonRecord())]"#,
      #""rightItems":[\#(buttonRecord()),\#(buttonRecord())]"#,
      #""rightItems":[]"#, #""backBarButtonItem":{"title":"B\#(below(5))"}"#,
      #""hidesBackButton":true"#, #""titleView":{"view":{"k":[1,2]},"height":40}"#,
      #""largeTitleDisplayMode":"never""#, #""appearance":{"standard":{"background":"red"}}"#,
      #""leftItemsSupplementBackButton":true"#,
    ]) + ofTitle()
  }

  mutating func record() -> String {
    let members =
      pick([
        "", #","title":"t\#(below(9)) \u00e9\n\"""#,
        #","route":"r/\#(below(3))","args":{"a":[1,{"b":null}]}"#,
        #","item":{\#(item())}"#, #","toolbarItems":[\#(buttonRecord())],"edges":["top"]"#,
        #","restorationID":"x","prefersBarHidden":true,"wantsFullScreenLayout":true"#,
        below(4) > 0 ? "" : #","canPop":false"#, #","modalInPresentation":true"#,
      ]) + ofTitle()
    return below(4) == 0
      ? "{\(members.dropFirst())}" : #"{"id":"\#(screen())"\#(members)}"#
  }

  mutating func argument() -> String { below(2) == 0 ? #""\#(screen())""# : record() }

  mutating func barOp() -> String {
    let flag = below(2) == 0
    return pick([
      #"{"bar.setHidden":{"hidden":\#(flag)}}"#, #"{"toolbar.setHidden":{"hidden":\#(flag)}}"#,
      #"{"ui.tap":{}}"#, #"{"ui.swipe":{"dir":"\#(flag ? "up" : "down")"}}"#,
      #"{"env.set":{"vCompact":\#(flag),"scale":\#(1 + below(3))\#(ofEnvironment())}}"#,
      #"{"env.set":{"keyboard":\#(flag),"locale":"l\#(below(3))"\#(ofEnvironment())}}"#,
      #"{"nav.configure":{"hidesBarsOnTap":\#(flag),"hidesBarsWhenVerticallyCompact":true}}"#,
      #"{"nav.configure":{"hidesBarsWhenKeyboardAppears":\#(flag),"hidesBarsOnSwipe":true}}"#,
      #"{"bar.set":{"backgroundImages":{"default":"b\#(below(3))"},"translucent":\#(flag)}}"#,
      #"{"bar.set":{"titleTextAttributes":{"color":"c\#(below(3))"},"titleOffsets":{"compact":\#(below(3))}}}"#,
      #"{"toolbar.set":{"barTintColor":"c\#(below(3))"}}"#,
      #"{"appearance.set":{"slot":"compact","object":{"n":\#(below(3))}}}"#,
      #"{"appearance.set":{"slot":"standard","object":null,"screen":"\#(screen())"}}"#,
      #"{"nav.configure":{"backTitles":{"l\#(below(3))":"b"}}}"#,
      #"{"nav.configure":{"backTitles":null}}"#,
    ])
  }

  mutating func op() -> String {
    if below(4) == 0 { return barOp() }
    switch below(24) {
    case 0...3: return #"{"push":{"screen":\#(argument()),"onDuplicate":"ignore"}}"#
    case 4, 5: return #"{"pop":{}}"#
    case 6: return #"{"popTo":{"screen":"\#(screen())"}}"#
    case 7, 19: return #"{"setStack":{"screens":["\#(screen())",\#(argument()),\#(argument())]}}"#
    case 8: return #"{"screen.create":\#(record())}"#
    case 9:
      return
        #"{"screen.set":{"screen":"\#(screen())","title":"n\#(below(5))","args":\#(below(9))\#(ofTitle())}}"#
    case 10: return #"{"screen.release":{"screen":"\#(screen())"}}"#
    case 11: return #"{"item.set":{"screen":"\#(screen())",\#(item())}}"#
    case 12:
      return #"{"button.create":{"id":"\#(button())","systemItem":\#(below(23))\#(ofButton())}}"#
    case 13:
      return #"{"button.set":{"button":"\#(button())","title":"b\#(below(9))"\#(ofButton())}}"#
    case 14: return #"{"button.release":{"button":"\#(button())"}}"#
    case 15, 16: return presentation()
    case 17: return replacement()
    case 18, 20: return stackEdit()
    default:
      return pick([
        #"{"nav.configure":{"queue":\#(below(9))}}"#, #"{"popToRoot":{}}"#,
        #"{"nav.configure":{"veto":{"deadline":\#(1 + below(9)),"policy":"allow"},"routes":[{"match":"a/:x","screens":["s0",{"route":"a/{x}"}]}]}}"#,
        #"{"show":{"screen":\#(record()),"sender":"me"}}"#,
      ])
    }
  }

  mutating func presentation() -> String {
    pick([
      #"{"present":{"screen":\#(argument()),"style":"overCurrentContext"}}"#,
      #"{"present":{"screen":\#(record()),"from":"\#(screen())"}}"#,
      #"{"present":{"screen":\#(record()),"style":"popover"}}"#,
      #"{"dismiss":{}}"#, #"{"dismiss":{}}"#, #"{"dismiss":{}}"#,
      #"{"segue":{"kind":"showDetail","screen":\#(record())}}"#,
      #"{"segue":{"kind":"show","screen":\#(record())}}"#, #"{"dismiss":{}}"#,
      #"{"dismiss":{"from":"\#(screen())"}}"#,
    ])
  }

  mutating func stackEdit() -> String {
    let policy = pick(["popTo", "update", "moveToTop"])
    return pick([
      #"{"replace":{"with":\#(argument())}}"#,
      #"{"replace":{"with":\#(record()),"screen":"\#(screen())","direction":"back"}}"#,
      #"{"insert":{"screen":\#(argument()),"below":"\#(screen())"}}"#,
      #"{"insert":{"screen":\#(record()),"at":\#(below(3))}}"#,
      #"{"remove":{"screens":["\#(screen())"]}}"#, #"{"remove":{"screens":["\#(screen())"]}}"#,
      #"{"remove":{"screens":["\#(screen())","\#(screen())"]}}"#,
      #"{"popTo":{"screen":"\#(screen())","inclusive":true,"result":{"n":\#(below(3))}}}"#,
      #"{"pop":{"result":[1,"é"]}}"#,
      #"{"push":{"screen":\#(argument()),"onDuplicate":"\#(policy)"}}"#,
    ])
  }

  mutating func replacement() -> String {
    pick([
      #"{"open":{"route":"a/\#(below(3))"}}"#, #"{"ui.backTap":{}}"#,
      #"{"ui.backMenu":{"screen":"\#(screen())"}}"#,
      #"{"restore":{"payload":{"v":1,"entries":[{"path":"p","screen":\#(record())}]}}}"#,
    ])
  }

  /// Ops on a standalone bar.
  mutating func itemOps() -> String {
    let item = #"{"id":"\#(screen())","item":{\#(item())}}"#
    return pick([
      #"{"pushItem":{"item":\#(item)}},{"pushItem":{"item":{}}}"#, #"{"popItem":{}}"#,
      #"{"setItems":{"items":[\#(item),"\#(screen())"]}}"#, #"{"ui.backTap":{}}"#,
      #"{"ui.backMenu":{"screen":"\#(screen())"}}"#,
      #"{"setItems":{"items":null}},{"pushItem":{"item":\#(item)}}"#,
      #"{"item.set":{"screen":"\#(screen())","title":"n\#(below(5))"}}"#, revert(),
      #"{"button.set":{"button":"\#(button())","title":"b\#(below(9))"\#(ofButton())}}"#,
    ])
  }

  mutating func revert() -> String { #"{"revert":{"rev":\#(1 + below(40))}}"# }

  mutating func ops() -> String {
    (0...below(4) / 2 + below(2)).map { _ in op() }.joined(separator: ",")
  }
}

@Suite struct ReplayTests {
  /// A world in which two navs have seen many ops, some of them refused.
  private func busy(
    _ seed: UInt64, steps: Int = 150, _ configure: (inout HubConfiguration) -> Void = { _ in }
  ) throws -> (World, Client) {
    let world = World(configure)
    let client = try world.client(1, #","window":1048576,"flow":"none""#)
    var generator = OperationGenerator(seed: seed)
    for nav in ["one", "two"] {
      try client.must(
        #"{"nav.create":{"root":{"id":"s0","title":"Root"}}},{"attach":{}}"#, nav: nav)
    }
    try client.must(#"{"nav.create":{"kind":"bar"}}"#, nav: "bar")
    var done = 0
    for _ in 0..<steps {
      let events = (0...generator.below(3)).map { _ in
        let nav = generator.pick(["one", "two", "bar"])
        let ops =
          nav == "bar"
          ? generator.itemOps() : generator.below(9) == 0 ? generator.revert() : generator.ops()
        return client.message("op", client.opBody(ops, nav: nav, #""if":{"any":true}"#))
      }
      done += try world.turn(events).count { $0.json["changed"] as? Bool == true }
      // A transition may be open at the end, but not all the time.
      if generator.below(4) == 0 { try world.wait(1100) }
    }
    #expect(done > steps / 10, "seed \(seed): \(done) of \(steps) steps changed something")
    return (world, client)
  }

  /// Both hubs hold the same navs.
  private func expectSame(_ live: Hub, _ replayed: Hub, _ note: String) {
    #expect(Set(live.navs.byName.keys) == Set(replayed.navs.byName.keys), "\(note)")
    for (name, slot) in live.navs.byName where !name.hasPrefix("$") {
      guard let other = replayed.navs.slot(of: name) else { continue }
      let (left, right) = (live.navs[slot], replayed.navs[other])
      #expect(left.controller == right.controller, "\(note) \(name)")
      #expect(left.controller.violatedInvariants() == [], "\(note) \(name)")
      #expect(right.controller.violatedInvariants() == [], "\(note) \(name)")
      #expect(left.digest == right.digest, "\(note) \(name)")
      #expect(right.digest.checksum == right.controller.checksum(), "\(note) \(name)")
      #expect(left.epoch == right.epoch, "\(note) \(name)")
      #expect(left.owner == right.owner, "\(note) \(name)")
      #expect(left.number == right.number, "\(note) \(name)")
      #expect(left.lastSequence == right.lastSequence, "\(note) \(name)")
      #expect(left.ring.last == right.ring.last, "\(note) \(name)")
      let from = max(left.ring.base, right.ring.base)
      #expect(left.ring.digest(at: from) == right.ring.digest(at: from), "\(note) \(name)")
      for number in from.number..<left.ring.last.number {
        let revision = Revision(number + 1)
        #expect(
          left.ring.diff(of: revision).body(hasResolved: false)
            == right.ring.diff(of: revision).bytes,
          "\(note) \(name)")
        #expect(left.ring.digest(at: revision) == right.ring.digest(at: revision), "\(note)")
      }
    }
    #expect(live.totalSequence == replayed.totalSequence, "\(note)")
    #expect(live.navs.createdCounts[0] == replayed.navs.createdCounts[0], "\(note)")
  }

  @Test(arguments: UInt64(1)...12)
  func `replaying the rows gives the state that wrote them`(seed: UInt64) throws {
    let (world, _) = try busy(seed)
    #expect(world.journal.snapshots.isEmpty)
    expectSame(world.hub, try world.replayed(finishes: false), "seed \(seed)")
  }

  @Test(arguments: UInt64(20)...31)
  func `replaying snapshots and rows gives the state that wrote them`(seed: UInt64) throws {
    let (world, _) = try busy(seed) {
      $0.snapshotEvery = 7
      $0.nav.detachedRecords = 6
    }
    #expect(world.journal.snapshots.count > 4)
    expectSame(world.hub, try world.replayed(finishes: false), "seed \(seed)")
    // Retention drops what stands before the newest snapshot.
    for nav in Set(world.journal.snapshots.map(\.nav)) {
      let newest = try #require(world.journal.snapshots.last { $0.nav == nav })
      world.journal.rows.removeAll { $0.nav == nav && $0.sequence <= newest.sequence }
      world.journal.snapshots.removeAll { $0.nav == nav && $0.revision < newest.revision }
    }
    let pruned = try world.replayed(finishes: false)
    if world.journal.rows.last?.sequence == world.hub.totalSequence {
      expectSame(world.hub, pruned, "seed \(seed), pruned")
    }
  }

  @Test(arguments: UInt64(40)...45)
  func `a mirror resumes over a restart with the same bytes`(seed: UInt64) throws {
    let (world, client) = try busy(seed, steps: 60) { $0.snapshotEvery = 1000 }
    try world.wait(1100)
    let entry = try world.entry("one")
    let number = entry.ring.base.number + 3
    let digest = try #require(entry.ring.digest(at: Revision(number)))
    let from =
      #""from":{"epoch":"\#(entry.epoch.text)","rev":\#(number),"dig":"\#(digest.text)"}"#
    let before = try client.watch(nav: "one", from)
    #expect(before[0].json["mode"] as? String == "resume")
    try world.restart()
    try client.hello(#","flow":"none""#)
    let after = try client.watch(nav: "one", from)
    #expect(after.dropFirst().map(\.text) == before.dropFirst().map(\.text))
    #expect(!after.dropFirst().isEmpty)
  }

  @Test(arguments: UInt64(50)...55)
  func `a failed commit leaves what the journal says, whatever the ops`(seed: UInt64) throws {
    let (world, client) = try busy(seed, steps: 40) { $0.snapshotEvery = 9 }
    var generator = OperationGenerator(seed: seed)
    for _ in 0..<20 {
      let one = try world.standing("one")
      let two = try world.standing("two")
      world.journal.isFailing = true
      try world.turn(
        (0..<4).map { _ in
          client.message(
            "op",
            client.opBody(
              generator.ops(), nav: generator.pick(["one", "two"]), #""if":{"any":true}"#))
        })
      #expect(try world.standing("one") == one, "seed \(seed)")
      #expect(try world.standing("two") == two, "seed \(seed)")
      world.journal.isFailing = false
      try client.op(generator.ops(), nav: "one", #""if":{"any":true}"#)
    }
    expectSame(world.hub, try world.replayed(finishes: false), "seed \(seed)")
  }

  @Test(arguments: UInt64(60)...65)
  func `a mirror follows whatever the ops`(seed: UInt64) throws {
    let world = World()
    let client = try world.kiosk()
    let viewer = try world.client(2, #","flow":"none""#)
    var mirror = NaiveMirror()
    for message in try viewer.watch() { try mirror.apply(message) }
    var generator = OperationGenerator(seed: seed)
    for _ in 0..<150 {
      let sent = try world.turn(
        (0...generator.below(3)).map { _ in
          client.message("op", client.opBody(generator.ops(), #""if":{"any":true}"#))
        })
      for message in sent where message.connection == viewer.connection {
        try mirror.apply(message)
      }
      let entry = try world.entry("kiosk")
      #expect(UInt64(mirror.revision) == entry.revision.number)
      #expect(mirror.digest == entry.digest.text)
      let resolved = try JSONSerialization.jsonObject(with: Data(entry.controller.encodedBar))
      #expect(mirror.resolved as NSDictionary == resolved as? NSDictionary)
    }
    #expect(mirror.snapshots == 1)
    // The mirror equals a fresh snapshot, record by record.
    var fresh = NaiveMirror()
    for message in try viewer.watch() { try fresh.apply(message) }
    #expect(fresh.screens as NSArray == mirror.screens as NSArray)
    #expect(fresh.parts as NSDictionary == mirror.parts as NSDictionary)
  }

  @Test func `renewed epochs are new, durable, and nobody resumes across them`() throws {
    let world = World()
    let client = try world.kiosk()
    let old = try world.entry("kiosk")
    try world.restart(renewsEpochs: true)
    let new = try world.entry("kiosk").epoch
    #expect(new != old.epoch)
    #expect(try world.entry("kiosk").controller == old.controller)
    try client.hello()
    let replies = try client.watch(
      #""from":{"epoch":"\#(old.epoch.text)","rev":1,"dig":"\#(old.digest.text)"}"#)
    #expect(replies[0].json["why"] as? String == "epoch")
    let error = try client.op(#"{"attach":{}}"#, #""if":{"epoch":"\#(old.epoch.text)"}"#)
    #expect(error.json["reason"] as? String == "epoch")
    try client.must(#"{"push":{"screen":{"id":"a"}}}"#)
    try world.restart()
    #expect(try world.entry("kiosk").epoch == new)
    #expect(try world.entry("kiosk").revision == Revision(2))
  }

  @Test func `a name taken again after a closing is the new nav's`() throws {
    let world = World { $0.snapshotEvery = 1 }
    let client = try world.kiosk()
    try client.must(#"{"push":{"screen":{"id":"a"}}}"#)
    try client.must(#"{"nav.close":{}}"#, #""if":{"any":true}"#)
    try client.must(#"{"nav.create":{"root":{"id":"new"}}}"#)
    try client.must(#"{"push":{"screen":{"id":"b"}}}"#)
    expectSame(world.hub, try world.replayed(finishes: false), "closed")
    try world.restart()
    #expect(try world.entry("kiosk").controller.stack.map(\.id.text) == ["new", "b"])
  }

  @Test func `a snapshot that the journal wants is taken`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.must(#"{"push":{"screen":{"id":"a"}}}"#)
    try world.turn([.snapshotWanted(nav: 1)])
    #expect(world.journal.snapshots.map(\.revision) == [2])
    expectSame(world.hub, try world.replayed(finishes: false), "wanted")
  }

  @Test func `a body that is not what was written is refused, and never a trap`() throws {
    let (world, _) = try busy(70, steps: 40) { $0.snapshotEvery = 9 }
    // Nothing reads a state that a newer snapshot stands for.
    let newest = world.journal.snapshots.indices.filter { index in
      !world.journal.snapshots[(index + 1)...].contains {
        $0.nav == world.journal.snapshots[index].nav
      }
    }
    let needed = world.journal.rows.indices.filter { index in
      let row = world.journal.rows[index]
      return !world.journal.snapshots.contains { $0.nav == row.nav && $0.sequence >= row.sequence }
    }
    var random = SeededGenerator(seed: 7)
    var refusals = 0
    for round in 0..<240 {
      var journal = world.journal
      let isRow = round % 4 != 0
      let index = try #require((isRow ? needed : newest).randomElement(using: &random))
      var body = isRow ? journal.rows[index].body : journal.snapshots[index].body
      let place = Int(random.next() % UInt64(body.count))
      switch random.next() % 4 {
      case 0: body[place] = UInt8(truncatingIfNeeded: random.next())
      case 1: body.remove(at: place)
      case 2: body.removeSubrange(place...)
      default: body[place] = Array(#"[]{}":,0"#.utf8)[Int(random.next() % 8)]
      }
      if isRow { journal.rows[index].body = body } else { journal.snapshots[index].body = body }
      let damaged = World()
      damaged.journal = journal
      do {
        _ = try damaged.replayed()
      } catch is HubReplayError {
        refusals += 1
      }
    }
    #expect(refusals > 80)
  }

  @Test(arguments: [
    #"{}"#, #"[]"#, #""#, #"{"diff":1}"#, #"{"diff":{"rev":2,"dig":"000000000000000000000000"}}"#,
    #"{"diff":{"rev":2,"dig":"000000000000000000000000","ch":[{"at":0,"del":[],"ins":[["id"]]}]}}"#,
    #"{"diff":{"rev":2,"dig":"000000000000000000000000","ch":[{"set":"screen","to":["id"]}]}}"#,
    #"{"diff":{"rev":2,"dig":"000000000000000000000000","ch":[{"set":"settings","to":["guard"]}]}}"#,
    #"{"diff":{"rev":2,"dig":"000000000000000000000000","ch":[]},"det":[{"button":["id"]}]}"#,
    #"{"diff":{"rev":2,"dig":"000000000000000000000000","ch":[{"at":9007199254740991,"del":["a"],"ins":[]}]}}"#,
    #"{"diff":{"rev":3,"dig":"000000000000000000000000","ch":[]}}"#,
    #"{"diff":{"rev":2,"dig":"000000000000000000000000","ch":[{"set":"screen","to":{"id":"zoo","ver":2}}]}}"#,
  ])
  func `hostile bodies are refused`(body: String) throws {
    let world = World()
    _ = try world.kiosk()
    world.journal.rows.append(
      JournalRow(
        RowHeader(
          sequence: 2, nav: 1, revision: 2, previous: 1, time: world.now.wall, kind: .changed,
          depth: 0, top: nil), body: Array(body.utf8)))
    #expect(throws: HubReplayError.self) { try world.replayed() }
  }

  @Test func `rows out of their chain are refused`() throws {
    let (world, _) = try busy(71, steps: 60)
    for change: (inout JournalRow) -> Void in [
      { $0.previous += 1 }, { $0.nav = 99 }, { $0.kind = .created }, { $0.kind = .epoch },
    ] {
      let damaged = World()
      damaged.journal = world.journal
      change(&damaged.journal.rows[10])
      #expect(throws: HubReplayError.self) { try damaged.replayed() }
    }
    let cut = World()
    cut.journal = world.journal
    cut.journal.rows.remove(at: 10)
    #expect(throws: HubReplayError.self) { try cut.replayed() }
  }
}
