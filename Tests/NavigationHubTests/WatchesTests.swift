@testable import NavigationCore
@testable import NavigationHub
import Testing

/// `Watches` against lists of everything that each watch has to get.
@Suite struct WatchesTests {
  private static let limit = 400

  /// A nav whose states are lists of records, with all the diffs that it ever had.
  private struct Nav {
    var entry: NavEntry
    /// The diffs of all revisions, the first of which is 2, with `resolved` and without.
    var diffs: [(whole: [UInt8], bare: [UInt8])] = []
    /// The revision behind which the ring begins.
    var base = 1
    var durable = 1
    var revision: Int { 1 + diffs.count }

    init(_ name: String) {
      entry = NavEntry(
        name: name, number: 0, owner: "", epoch: Epoch(bits: 1),
        controller: NavigationController(revision: Revision(1)))
      entry.directory = VirtualNavRecords()
      entry.directory?.keep([])
    }

    mutating func commit(_ random: inout SeededGenerator) {
      let records: [VirtualNavRecords.WantedRecord] = (0..<1 + random.next() % 6).map { index in
        let text = String(repeating: "r", count: Int(random.next() % 90))
        let json = Array(#"{"id":"\#(text)","rev":\#(revision)}"#.utf8)
        return ("r\(index)", { _ in json })
      }
      _ = entry.directory?.update(to: records)
      let long = random.next() % 12 == 0
      let fill = String(repeating: "f", count: long ? 500 : Int(random.next() % 40))
      let (head, tail) = (#"{"rev":\#(revision + 1),"f":"\#(fill)""#, #","depth":1}"#)
      let resolved = random.next() % 2 == 0 ? #","resolved":{"x":1}"# : ""
      diffs.append((Array((head + resolved + tail).utf8), Array((head + tail).utf8)))
      let range = head.utf8.count..<(head + resolved).utf8.count
      entry.ring.append(
        EncodedDiff(bytes: diffs[diffs.count - 1].whole, resolved: range),
        digest: Digest(checksum: 0, chain: 0))
    }

    mutating func makeDurable(_ revision: Int) {
      durable = revision
      entry.durable = Revision(UInt64(revision))
    }

    mutating func trim(to count: Int) {
      _ = entry.ring.trim(revisions: count, bytes: .max, through: entry.durable)
      base = max(base, durable - count)
    }

    func diff(_ revision: Int, _ hasResolved: Bool) -> [UInt8] {
      hasResolved ? diffs[revision - 2].whole : diffs[revision - 2].bare
    }

    /// All parts of a snapshot of the present state.
    func parts(why: String, _ hasResolved: Bool) -> [[UInt8]] {
      var (parts, next): ([[UInt8]], Int?) = ([], 0)
      while let first = next {
        let part = entry.snapshot(why: why).part(
          from: first, limit: limit / 2, hasResolved: hasResolved)
        (parts, next) = (parts + [part.body], part.next)
      }
      return parts
    }
  }

  /// What a client has, and what is on its way to it.
  private struct Mirror {
    var (session, nav): (SessionSlot, Int)
    var view: View
    var hasResolved: Bool
    /// The revision at which it was entered; it starts when that is durable.
    var entered: Int
    var isStarted = false
    var position: Int
    /// The parts of a snapshot still to come, and the revision that they lead to.
    var parts: [[UInt8]] = []
    var target = 0
    var shown: String?
  }

  private enum Expected: Equatable {
    case message(ServerVerb, [UInt8])
    case waitsForDurability
    case nothing
  }

  private struct Run {
    var watches = Watches()
    var mirrors: [WatchSlot: Mirror] = [:]
    /// The watches in the order in which they were entered.
    var order: [WatchSlot] = []
    var navs = [Nav("a"), Nav("b")]
    var random: SeededGenerator
    var output = HubOutput()
    /// The bodies of messages of diffs in this turn, by what they must depend on.
    var bodies: [[Int]: Int] = [:]

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func number(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    mutating func enter() {
      let (session, nav) = (SessionSlot(number(3)), number(2))
      let view: View = [.full, .full, .full, .top, .bar][number(5)]
      guard watches.find(session: session, nav: NavSlot(nav), view) == nil else { return }
      var mirror = Mirror(
        session: session, nav: nav, view: view, hasResolved: number(2) == 0,
        entered: navs[nav].revision, position: navs[nav].revision)
      var watch = Watch(
        session: session, nav: NavSlot(nav), view: view,
        cursor: Revision(UInt64(navs[nav].revision)))
      watch.includesResolvedBar = mirror.hasResolved
      if view == .full, number(2) == 0 {
        watch.snapshot = SnapshotBox(navs[nav].entry.snapshot(why: "join"))
        mirror.parts = navs[nav].parts(why: "join", mirror.hasResolved)
        mirror.target = navs[nav].revision
      } else if view == .full {
        mirror.position = navs[nav].base + number(navs[nav].durable - navs[nav].base + 1)
        watch.cursor = Revision(UInt64(mirror.position))
      }
      let index = watches.insert(watch)
      #expect(mirrors.updateValue(mirror, forKey: index) == nil)
      order.append(index)
    }

    mutating func leave() {
      guard !order.isEmpty else { return }
      let index = order.remove(at: number(order.count))
      watches.remove(index)
      mirrors[index] = nil
    }

    mutating func start() {
      for index in order {
        guard let mirror = mirrors[index], navs[mirror.nav].durable >= mirror.entered else {
          continue
        }
        mirrors[index]?.isStarted = true
        watches.markStarted(index)
      }
    }

    /// What a watch has to get next, searched from the beginning.
    mutating func expected(_ mirror: inout Mirror, room: Int?) -> Expected {
      guard mirror.isStarted, let room else { return .nothing }
      let nav = navs[mirror.nav]
      guard mirror.view == .full else { return latest(&mirror, nav) }
      if mirror.parts.isEmpty {
        guard mirror.position < nav.durable else { return .nothing }
        let isReached = mirror.position >= nav.base
        if isReached, nav.diff(mirror.position + 1, true).count <= limit {
          return diffs(&mirror, nav, room)
        }
        guard nav.durable == nav.revision else { return .waitsForDurability }
        mirror.parts = nav.parts(why: isReached ? "size" : "lag", mirror.hasResolved)
        mirror.target = nav.revision
      }
      let part = mirror.parts.removeFirst()
      if mirror.parts.isEmpty { mirror.position = mirror.target }
      return .message(.snap, part)
    }

    func diffs(_ mirror: inout Mirror, _ nav: Nav, _ room: Int) -> Expected {
      let hasResolved = mirror.hasResolved
      let all = (mirror.position + 1...nav.durable).map { nav.diff($0, hasResolved) }
      var count = 1
      // The comma before the last one is not counted.
      while count < all.count, Array(all[...count].joined(separator: [0x2C])).count - 1 <= room {
        count += 1
      }
      mirror.position += count
      if count == 1 { return .message(.diff, all[0]) }
      let list = Array(all[..<count].joined(separator: [0x2C]))
      return .message(
        .diffs, Array(#"{"nav":"\#(nav.entry.name)","list":["#.utf8) + list + Array("]}".utf8))
    }

    func latest(_ mirror: inout Mirror, _ nav: Nav) -> Expected {
      guard nav.durable == nav.revision else { return .waitsForDurability }
      let top = nav.entry.directory?.records.last?.id ?? ""
      let shown = mirror.view == .top ? top : "the bar never changes"
      guard mirror.shown != shown else { return .nothing }
      mirror.shown = shown
      mirror.position = nav.revision
      return .message(
        .latest,
        ServerMessageWriter.latest(
          nav: nav.entry.name, view: mirror.view, epoch: nav.entry.epoch,
          revision: Revision(UInt64(nav.revision)), value: nav.entry.latestValue(mirror.view)))
    }

    /// Serves all watches, each until it gets nothing more or has no credit.
    mutating func serve() {
      for index in (0..<2).flatMap({ watches.of(nav: NavSlot($0)) }) {
        for _ in 0..<40 {
          guard var mirror = mirrors[index] else { break }
          let room: Int? = number(12) == 0 ? nil : mirror.session.number == 1 ? 150 : 60
          let key = [mirror.nav, mirror.position, room ?? 0, mirror.hasResolved ? 1 : 0]
          let expected = expected(&mirror, room: room)
          let before = mirrors[index]?.position ?? 0
          mirrors[index] = mirror
          let next = watches.next(
            of: index, from: &navs[mirror.nav].entry, maximumDiffsOctets: room, limit: limit,
            into: &output)
          #expect(watches[index].cursor.number == UInt64(mirror.position))
          switch next {
          case .nothing: #expect(expected == .nothing)
          case .waitsForDurability: #expect(expected == .waitsForDurability)
          case .message(let message):
            #expect(expected == .message(message.verb, output.bodies[message.bodyIndex]))
            #expect(message.byteCount == output.bodies[message.bodyIndex].count)
            #expect(mirror.position <= navs[mirror.nav].durable)
            let isOfDiffs = message.verb == .diff || message.verb == .diffs
            #expect(message.revisionCount == (isOfDiffs ? mirror.position - before : 0))
            #expect(message.endsSnapshot == (message.verb == .snap && mirror.parts.isEmpty))
            if isOfDiffs { #expect(bodies[key, default: message.bodyIndex] == message.bodyIndex) }
            if isOfDiffs { bodies[key] = message.bodyIndex }
            continue
          }
          break
        }
      }
      output = HubOutput()
      watches.forgetSharedMessages()
      bodies = [:]
    }

    func checkLists() {
      #expect(watches.count == order.count)
      for number in 0..<3 {
        let session = SessionSlot(number)
        #expect(watches.of(session: session) == order.filter { mirrors[$0]?.session == session })
        #expect(
          watches.of(nav: NavSlot(number)) == order.filter { mirrors[$0]?.nav == number })
      }
    }
  }

  @Test(arguments: UInt64(1)...8)
  func `each watch gets what is durable, in order, once, while credit lasts`(seed: UInt64) {
    var run = Run(seed: seed)
    var verbs = 0
    for _ in 0..<1200 {
      let nav = run.number(2)
      switch run.number(12) {
      case 0...3: run.navs[nav].commit(&run.random)
      case 4...6:
        let (durable, revision) = (run.navs[nav].durable, run.navs[nav].revision)
        run.navs[nav].makeDurable(durable + run.number(revision - durable + 1))
      case 7: run.navs[nav].makeDurable(run.navs[nav].revision)
      case 8: run.navs[nav].trim(to: run.number(6))
      case 9: run.enter()
      case 10: if run.number(4) == 0 { run.leave() }
      default: run.start()
      }
      run.checkLists()
      verbs += 1
      if verbs % 3 == 0 { run.serve() }
    }
    #expect(!run.mirrors.isEmpty)
  }

  @Test func `a slot that is used again has nothing of the watch before`() {
    var nav = Nav("a")
    var watches = Watches()
    var output = HubOutput()
    var watch = Watch(
      session: SessionSlot(1), nav: NavSlot(0), view: .full, cursor: Revision(1))
    watch.snapshot = SnapshotBox(nav.entry.snapshot(why: "join"))
    let first = watches.insert(watch)
    watches.markStarted(first)
    watches.remove(first)
    #expect(watches.of(session: SessionSlot(1)).isEmpty && watches.of(nav: NavSlot(0)).isEmpty)
    let second = watches.insert(
      Watch(session: SessionSlot(2), nav: NavSlot(0), view: .full, cursor: Revision(1)))
    #expect(second == first)
    #expect(!watches[second].isStarted && watches[second].snapshot == nil)
    let next = watches.next(
      of: second, from: &nav.entry, maximumDiffsOctets: 99, limit: 99, into: &output)
    guard case .nothing = next else {
      Issue.record("a watch was served before its start")
      return
    }
    #expect(output.bodies.isEmpty)
  }
}
