@testable import NavigationCore
import Testing

@testable import NavigationClient

/// A nav, its daemon and a client, with a pipe between them in which anything happens.
private struct MirrorRun {
  enum Message {
    case ok(OkReply)
    case snap(SnapshotPart)
    case diff(Diff)
    case mark(Mark.Position)
    case end
  }

  var random: SeededGenerator
  var nav: NaiveNav
  var replica = Replica(nav: "kiosk")
  var table = MirrorTable()
  /// On the way to the client.
  var pipe: [Message] = []
  /// Whether the daemon has a watch of the client.
  var isWatched = false
  var seen: Set<String> = []
  /// Diffs that were delivered, which may come again.
  private var old: [Diff] = []
  /// How often something is damaged, in percent.
  private var damage: UInt64

  init(seed: UInt64, isDirectory: Bool, damage: UInt64) {
    random = SeededGenerator(seed: seed)
    nav = NaiveNav(isDirectory: isDirectory)
    self.damage = damage
  }

  private mutating func below(_ bound: UInt64) -> UInt64 { random.next() % bound }

  /// Asks for a watch, which the daemon answers behind all that is on the way.
  mutating func ask() {
    let (from, bad) = replica.beginWatch()
    let expected = table.ask()
    #expect(from == expected.from && bad == expected.bad)
    var answer = OkReply(id: 1)
    answer.epoch = nav.state.epoch
    isWatched = true
    if let from, nav.knows(from), from.revision == nav.state.revision {
      answer.watchMode = "resume"
      pipe.append(.ok(answer))
    } else {
      answer.watchMode = below(100) < damage ? "resume" : "snap"
      pipe.append(.ok(answer))
      pipe += nav.snapshot(of: Int(1 + below(4))).map { .snap($0) }
    }
  }

  mutating func step() {
    switch below(12) {
    case 0...3:
      let diff = nav.change(&random)
      if isWatched { pipe.append(.diff(diff)) }
    case 4 where isWatched:
      let (revision, digest) = (nav.state.revision, nav.state.digest)
      pipe.append(.mark(Mark.Position(nav: "kiosk", revision: revision, digest: digest)))
    case 5 where below(8) == 0: disconnect()
    case 6 where below(10) == 0:
      nav.renew()
      if isWatched { pipe.append(.end) }
      isWatched = false
    default: deliver()
    }
    // An answer that was lost comes with the next connection.
    if pipe.isEmpty, table.watch != .running { disconnect() }
    if table.watch == .none { ask() }
    check()
  }

  private mutating func disconnect() {
    (pipe, isWatched) = ([], false)
    replica.disconnect()
    table.disconnect()
  }

  /// Delivers the next message, or what a fault makes of it.
  mutating func deliver() {
    guard !pipe.isEmpty else { return }
    var message = pipe.removeFirst()
    if below(100) < damage {
      switch below(4) {
      case 0: return
      case 1: pipe.insert(message, at: 0)
      case 2: if let diff = old.randomElement(using: &random) { message = .diff(diff) }
      default: message = damaged(message)
      }
    }
    hand(message)
  }

  private mutating func damaged(_ message: Message) -> Message {
    switch message {
    case .diff(var diff):
      switch below(6) {
      case 0: diff.digest = diff.digest.spoilt
      case 1: diff.epoch = Epoch(bits: 99)
      case 2: diff.changes.append(.setScreen(MirrorRecord("nobody", 1)))
      case 3: diff.changes.append(.setPart(MirrorRecord("nothing", 1)))
      case 4: diff.changes.append(.splice(at: below(9), removed: ["nobody"], inserted: []))
      default: if !diff.changes.isEmpty { diff.changes.removeLast() }
      }
      return .diff(diff)
    case .snap(var part):
      switch below(4) {
      case 0 where part.isLast: part.digest = Digest(checksum: 7, chain: 0)
      case 2 where part.first > 0: part.epoch = Epoch(bits: 99)
      case 3 where part.first > 0: part.revision = part.revision.next
      case 1: part.first += 1
      default: if !part.screens.isEmpty { part.screens.removeLast() }
      }
      return .snap(part)
    case .mark(var mark):
      if below(2) == 0 {
        mark.revision = mark.revision.next
      } else {
        mark.digest = Digest(checksum: 7, chain: 0)
      }
      return .mark(mark)
    case .ok, .end: return message
    }
  }

  private mutating func hand(_ message: Message) {
    let action: ReplicaAction
    let verdict: MirrorTable.Verdict
    switch message {
    case .ok(let answer): (action, verdict) = (replica.receive(answer), table.receive(answer))
    case .snap(let part): (action, verdict) = (replica.receive(part), table.receive(part))
    case .diff(let diff):
      (action, verdict) = (replica.receive(diff), table.receive(diff))
      old.append(diff)
    case .mark(let mark): (action, verdict) = (replica.receive(mark), table.receive(mark))
    case .end:
      let end = WatchEnd(
        nav: "kiosk", view: "full", epoch: Epoch(bits: 1), revision: Revision(1), why: "closed")
      (action, verdict) = (replica.receive(end), table.receiveEnd())
    }
    #expect(MirrorTable.Verdict(action) == verdict, "\(message)")
    switch verdict {
    case .gap, .diverged:
      seen.insert(verdict.isGap ? "gap" : "diverged")
      ask()
    default: seen.insert("\(verdict)")
    }
  }

  /// What holds after every message.
  func check() {
    #expect(replica.mirror == table.mirror)
    #expect(replica.isSynced == table.isSynced)
    #expect(replica.isSuspect == table.isDiverged)
    #expect((replica.guards(for: .top) != nil) == table.isSynced)
    let position = replica.isSynced ? replica.mirror?.position : nil
    #expect(position == (table.isSynced ? table.mirror?.position : nil))
    // Whatever was damaged: what is shown is a state that the nav had.
    if let mirror = replica.mirror { #expect(nav.past.contains(mirror)) }
  }

  /// Delivers all that is on the way, undamaged, until the mirror is the nav.
  mutating func settle() {
    damage = 0
    disconnect()
    ask()
    for _ in 0..<3 where !(replica.isSynced && replica.mirror == nav.state) {
      let (revision, digest) = (nav.state.revision, nav.state.digest)
      if isWatched {
        pipe.append(.mark(Mark.Position(nav: "kiosk", revision: revision, digest: digest)))
      }
      while !pipe.isEmpty { hand(pipe.removeFirst()) }
      if table.watch == .none { ask() }
    }
  }
}

extension MirrorTable.Verdict {
  fileprivate var isGap: Bool { if case .gap = self { true } else { false } }
}

@Suite struct MirrorTableTests {
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `a replica does what the table of mirror rules says, and shows only what was`(
    seed: UInt64
  ) {
    var run = MirrorRun(seed: seed, isDirectory: seed % 4 == 0, damage: seed % 3 == 0 ? 40 : 12)
    for _ in 0..<500 { run.step() }
    run.settle()
    #expect(run.replica.isSynced && run.replica.mirror == run.nav.state, "seed \(seed)")
    #expect(run.seen.isSuperset(of: ["applied", "replaced", "ignore", "gap", "diverged"]))
  }

  @Test(arguments: 20...22 as ClosedRange<UInt64>)
  func `where nothing is lost nothing is asked for again`(seed: UInt64) {
    var run = MirrorRun(seed: seed, isDirectory: false, damage: 0)
    for _ in 0..<500 { run.step() }
    run.settle()
    #expect(run.replica.mirror == run.nav.state && run.replica.isSynced)
    #expect(!run.seen.contains("gap") && !run.seen.contains("diverged"), "\(run.seen)")
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `a checksum carried along is the checksum of the whole text`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var nav = NaiveNav()
    var running = MirrorDigest()
    var mirror = nav.state
    #expect(
      running.update(screens: mirror.screens, parts: mirror.parts, from: 0)
        == mirror.digest.checksum)
    for _ in 0..<300 {
      let diff = nav.change(&random)
      // A diff that does not fit must not spoil the sums that are carried along.
      var wrong = diff
      wrong.digest = diff.digest.spoilt
      let failure = #expect(throws: DiffFault.self) {
        try mirror.applying(wrong, digest: &running)
      }
      #expect(failure == .checksum(computed: nav.state.digest.checksum))
      mirror = try mirror.applying(diff, digest: &running)
      #expect(mirror == nav.state)
    }
  }
}
