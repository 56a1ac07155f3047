import NavigationCore
import NavigationHub

/// What one run is made of; drawn from the seed, so that every run is lopsided in its own way.
package struct Scenario: Sendable {
  /// Client processes.
  var clients: Int
  /// Names of navs that may exist.
  var navs: [String]
  /// Steps before the faults stop.
  var steps: Int
  /// Whether acknowledgements come before the sync.
  package var isRelaxed: Bool
  /// Whether decided ops are forgotten and rows pruned within the run.
  package var forgets: Bool
  /// The limits of the hub.
  var configuration: HubConfiguration
  /// The flow-control window that clients ask for.
  var window: UInt64
  /// Messages that a socket takes before it blocks.
  var capacity: Int
  /// Bytes of a pushed screen's arguments.
  var payload: Int
  /// Events of one turn of the daemon, at most.
  var turnEvents: Int
  /// How often in a thousand turns the history thread has read the next dormant nav.
  var pageSpeed: Int
  /// Milliseconds of one step of the clock, at most.
  var clockStep: Int
  /// Faults in a thousand opportunities.
  var faults: Faults

  /// How often what goes wrong.
  struct Faults: Sendable {
    var loseConnection: Int
    var killClient: Int
    var crashBeforeCommit: Int
    var crashAfterCommit: Int
    var failCommit: Int
    var stopOrderly: Int
    var loseMachine: Int
    var tamper: Int
    var corruptStored: Int
    var duplicate: Int
    var withholdCredit: Int
    var putBack: Int
    var setClock: Int
  }

  init(_ random: inout Randomness) {
    clients = 2 + random.below(3)
    navs = (0..<1 + random.below(3)).map { "n\($0)" }
    steps = 150 + random.below(150)
    isRelaxed = random.chance(300)
    forgets = random.chance(200)
    var configuration = HubConfiguration()
    configuration.resumeRevisions = random.pick(1, 2, 4, 16, 256)
    configuration.resumeBytes = random.pick(1000, 5000, 262_144)
    configuration.resumeTotalBytes = random.pick(2000, 20_000, 64 << 20)
    configuration.snapshotEvery = random.pick(1, 3, 10, 1000)
    configuration.inflight = random.pick(3, 64, 64)
    configuration.nav.detachedRecords = random.pick(2, 5, 256)
    configuration.nav.stackDepth = random.pick(4, 64)
    if forgets {
      configuration.rememberedIdle = random.pick(8000, 600_000)
      // With one, each op of another client forgets what a client without its answer sends again.
      configuration.rememberedClients = random.pick(1, 2, 4096)
      configuration.inflight = random.pick(3, 6, 64)
      configuration.rememberedOps = configuration.inflight
    }
    self.configuration = configuration
    window = random.pick(16384, 16384, 65536)
    capacity = random.pick(2, 8, 50)
    payload = random.pick(0, 0, 40, 400, 3000)
    if payload == 3000, random.chance(300) { payload = 12_000 }
    turnEvents = random.pick(1, 4, 12)
    pageSpeed = random.pick(50, 500, 950)
    clockStep = random.pick(5, 200, 3000)
    faults = Faults(
      loseConnection: random.pick(0, 30, 80), killClient: random.pick(0, 10, 40),
      crashBeforeCommit: random.pick(0, 10, 40), crashAfterCommit: random.pick(0, 10, 40),
      failCommit: random.pick(0, 20, 300), stopOrderly: random.pick(0, 5),
      loseMachine: isRelaxed ? random.pick(2, 5, 15) : 0, tamper: random.pick(0, 0, 10),
      corruptStored: random.pick(0, 200), duplicate: random.pick(0, 50, 200),
      withholdCredit: random.pick(0, 300, 900),
      putBack: forgets || isRelaxed ? 0 : random.pick(0, 10, 20),
      setClock: random.pick(0, 0, 20))
    self.configuration.navIdle = random.pick(500, 5000, 600_000)
  }
}

/// A bug planted between the hub and the world, to see that the checker finds it.
package enum Sabotage: String, CaseIterable, Sendable {
  /// A diff is not sent.
  case dropDiff
  /// A diff is sent twice.
  case doubleDiff
  /// Two messages of one connection change places.
  case reorder
  /// An op runs once more behind the back of the memory of ops.
  case runTwice
  /// An op that is sent again does not say so.
  case unmarkAgain
  /// Replies and diffs leave before their rows are stored.
  case acknowledgeEarly
  /// A row that was acknowledged is not stored.
  case loseRow
  /// A watch resumes from a digest that is wrong.
  case resumeWrongDigest
  /// A watch resumes from the lost future of a journal that was put back.
  case resumeLostFuture
  /// The answer to a repeated op differs from the first one.
  case forgetReply
  /// A diff has other bytes when it is sent again.
  case rewriteDiff
  /// The answer comes before the diff on the requester's own watch.
  case answerFirst
  /// Credit is not looked at.
  case ignoreCredit
  /// A mark names a revision that was not sent.
  case markAhead
  /// Revisions were lost, and the epochs are kept.
  case keepEpochs
  /// A record is changed without its version.
  case changeSilently
  /// A snapshot does not say why it comes.
  case unlabelledSnapshot
  /// A client never hears from the daemon any more.
  case muteClient
}
