package import Navigation

/// A message to send.
package struct Outgoing: Sendable {
  /// The connection it goes to.
  package var connection: ConnectionID
  /// The verb of the message.
  package var verb: ServerVerb
  /// The JSON of the message.
  package var body: [UInt8]
}

/// A wish to read the journal's history, off the loop.
package struct HistoryRequest: Hashable, Sendable {
  /// What the answer is matched by.
  package var token: UInt64
  /// The name of the nav.
  package var nav: UInt64
  /// The nav's newest row.
  package var head: UInt64
  /// What to read.
  package var what: What

  /// What to read.
  package enum What: Hashable, Sendable {
    /// Rows with these revisions, the newest first: their chain from the head downwards.
    case rows(from: UInt64, through: UInt64)
    /// The newest snapshot that is not newer than the revision, and the rows after it up to it.
    case state(at: UInt64)
  }
}

/// What the journal's history says; rows are oldest first.
package struct HistoryAnswer: Sendable {
  /// What the answer is matched by.
  package var token: UInt64
  /// The snapshot to begin with.
  package var snapshot: SnapshotRow?
  /// The rows, oldest first.
  package var rows: [JournalRow]
  /// Why it could not be read.
  package var failure: String?

  /// Makes a value from its members.
  package init(
    token: UInt64, snapshot: SnapshotRow? = nil, rows: [JournalRow] = [], failure: String? = nil
  ) {
    self.token = token
    self.snapshot = snapshot
    self.rows = rows
    self.failure = failure
  }
}

/// What a shell must do once the records are durable, in this order.
package struct HubOutput: Sendable {
  /// A message to one connection; what goes to many has its body once.
  package struct Delivery: Sendable {
    /// The connection it goes to.
    package var connection: ConnectionID
    /// The verb of the message.
    package var verb: ServerVerb
    /// The place of its JSON in `bodies`.
    package var body: Int
  }

  /// Send these, in order.
  package internal(set) var deliveries: [Delivery] = []
  /// The JSON of what is to be sent.
  package internal(set) var bodies: [[UInt8]] = []
  /// Read these and come back with the answers.
  package var requests: [HistoryRequest] = []
  /// Whether to copy the journal and come back with what became of it.
  package var startsBackup = false
  /// Connections that are of no use any more, with nothing further to send.
  package var dropped: [ConnectionID] = []
  /// Log these.
  package var notices: [Notice] = []
  /// The messages of diffs among them, and the one made last.
  var diffs: [DiffsKey: DiffsMessage] = [:]
  var lastDiffs: (key: DiffsKey, message: DiffsMessage)?

  /// What is to be sent, in order, each with its own body.
  package var messages: [Outgoing] { deliveries.map(message) }

  /// A delivery with its body.
  package func message(_ delivery: Delivery) -> Outgoing {
    Outgoing(connection: delivery.connection, verb: delivery.verb, body: bodies[delivery.body])
  }

  /// Adds the JSON of a message to one or many; returns its place.
  mutating func add(_ body: [UInt8]) -> Int {
    bodies.append(body)
    return bodies.count - 1
  }

  /// Appends a message to one connection, whose body was added before.
  mutating func append(_ verb: ServerVerb, at body: Int, to connection: ConnectionID) {
    deliveries.append(Delivery(connection: connection, verb: verb, body: body))
  }
}

/// Decides what happens to every nav and every client.
///
/// Performs no I/O, reads no clock.
///
/// A turn of the shell is: `handle` for every event at hand, `takeRecords`, make them durable, then
/// `committed`, and do what its output says; or `rollBack`, if they could not be made durable.
/// Laws: the same events give the same bytes; nothing is sent before the records that it tells of
/// are durable; the diff of a revision goes onto the requester's own full watch before the `ok`.
package struct Hub: Sendable {
  var configuration: HubConfiguration
  /// Who may do what.
  package internal(set) var access: Access
  /// What bounds the navs, by the configuration.
  var context: NavigationContext
  /// Names this run of the daemon.
  package let boot: Epoch
  var random: SeededGenerator
  var bodyReader = JournalBodyReader()

  /// The number of the last commit.
  package internal(set) var sequence: UInt64 = 0
  var lastNavNumber: UInt64 = 0
  var navs = Slots<NavEntry>()
  /// What the bars of navs have in common.
  var barFrames = BarFrames()
  var navSlots = SlotIndex<String>()
  /// Navs by their number in the journal.
  var numberSlots: [UInt64: Int] = [:]
  /// Those that are in the journal only.
  var dormants = DormantNavs()
  var sessions = Slots<Session>()
  var sessionSlots = ConnectionSlots()
  var clientSlots: [ClientID: Int] = [:]
  var sessionCounts: [String: Int] = [:]
  var fenced: Set<ConnectionID> = []
  /// The ops of connections in a second, where there is a limit.
  var rates: [ConnectionID: (second: UInt64, count: Int)] = [:]
  var watches = Slots<Watch>()
  var remembered: RememberedOps
  var batch = Batch()
  /// Counts the batches begun.
  var batchNumber: UInt64 = 1
  /// The batches before, oldest first, while they are being made durable.
  var sealed: [Batch] = []
  /// Whether a watch waits for a state that is durable as it stands.
  var wantsStandstill = false
  /// What is under way between navs and sessions, by the nav's slot.
  var coordinations: [Int: Coordination] = [:]
  /// The navs to which something ended while the journal took no commit.
  var unfinished: Set<Int> = []
  /// The time of the event at hand.
  var clock = Instant(boot: 0, wall: 0)
  var output = HubOutput()
  var reads = HistoryReads()
  /// The copy of the journal that is being made.
  var backup: PendingBackup?
  var ringBytes = 0
  var ringCursor = 0
  /// While replaying: the ops of rows behind this one are remembered whatever their time.
  package var remembersBehind: UInt64 = 0
  var isStopping = false
  /// Whether the journal takes no records at the moment.
  var isStorageFailing = false
  /// What was done so far, in numbers; the shell adds what it measures.
  package var measurements = Measurements()
  /// When `handle(.wake)` is due; nil if nothing waits.
  ///
  /// CLOCK_BOOTTIME in milliseconds.
  package internal(set) var wakeAt: UInt64?

  static let navsSlot = 0
  static let clientsSlot = 1

  /// Makes a hub without navs.
  ///
  /// - Parameters:
  ///   - configuration: the limits.
  ///   - access: who may do what.
  ///   - seed: randomness for epochs; a new one for every run.
  package init(configuration: HubConfiguration, access: Access = Access(), seed: UInt64) {
    self.configuration = configuration
    self.access = access
    context = configuration.context
    random = SeededGenerator(seed: seed)
    boot = Epoch(bits: random.next())
    remembered = RememberedOps(limits: configuration)
    for name in [NavName.navs, NavName.clients] {
      var entry = NavEntry(
        name: name.text, number: 0, owner: "", epoch: boot,
        controller: NavigationController(revision: Revision(1)))
      entry.directory = Directory()
      entry.digest = Directory().digest()
      entry.ring = DiffRing(base: Revision(1), digest: entry.digest)
      navSlots[name.text] = navs.insert(entry)
    }
  }

  /// A reader of messages that takes what this hub takes.
  package func makeReader() -> ClientMessageReader {
    ClientMessageReader(maximumBytes: configuration.maximumRequestBytes)
  }

  /// Takes one event; what follows from it waits for `committed`.
  ///
  /// The nav that it is about must not be dormant, see `dormant(for:)`.
  package mutating func handle(_ event: HubEvent, at now: Instant) {
    assert(dormant(for: event) == nil, "an event about a nav that is dormant")
    clock = now
    switch event {
    case .message(let connection, let peer, let message):
      receive(message, from: Sender(connection: connection, peer: peer), at: now)
    case .unreadable(let connection, let peer, let failure):
      answer(failure, to: Sender(connection: connection, peer: peer), at: now)
    case .closed(let connection):
      fenced.remove(connection)
      rates[connection] = nil
      if let slot = sessionSlots[connection] { endSession(slot, .lost) }
    case .blocked(let connection):
      if let slot = sessionSlots[connection] { sessions[slot].isBlocked = true }
    case .unblocked(let connection):
      guard let slot = sessionSlots[connection] else { return }
      sessions[slot].isBlocked = false
      batch.effects.append(.pump(session: slot))
    case .history(let answer): finishRead(answer, at: now)
    case .backupProgress(let progress): backup?.progress = progress
    case .backup(let answer): finishBackup(answer)
    case .floor(let number, let revision):
      if let slot = numberSlots[number] {
        navs[slot].floor = Revision(revision)
      } else if let place = dormants.place(of: number) {
        dormants.setFloor(place, Revision(revision))
      }
    case .snapshotWanted(let number):
      if let slot = numberSlots[number] { recordSnapshot(of: slot, at: now) }
    case .access(let access): change(access)
    case .revoked(let connection): revoke(connection)
    case .wake: wake(at: now)
    case .stop: stop()
    }
  }

  /// The records of the batch at hand, to be made durable together.
  package mutating func takeRecords() -> [JournalRecord] {
    let records = batch.records
    batch.records = []
    // Where several came, several come.
    if records.count > 1 { batch.records.reserveCapacity(records.count) }
    return records
  }

  /// Whether ops may be decided while the batch at hand is being made durable.
  ///
  /// Not while somebody looks at a virtual nav, which would show what is not durable yet, and not
  /// while a watch waits for a state of which everything is durable.
  package var maySeal: Bool {
    !wantsStandstill && !isStorageFailing && !isStopping
      && navs[Self.navsSlot].directory?.isActive == false
      && navs[Self.clientsSlot].directory?.isActive == false
  }

  /// How many batches are sealed and not yet committed.
  package var sealedCount: Int { sealed.count }

  /// Closes the batch at hand, whose records were all taken.
  ///
  /// Each `committed` is about the oldest batch sealed from then on, and `rollBack` about all of
  /// them. Messages with ops, and only those, may be handled meanwhile; they begin the next batch.
  package mutating func seal() {
    precondition(maySeal && batch.records.isEmpty, "a batch that may not be sealed, or not taken")
    for index in batch.touched.indices where navs.isLive(batch.touched[index].slot) {
      batch.touched[index].revision = navs[batch.touched[index].slot].controller.revision
    }
    sealed.append(batch)
    beginBatch()
  }

  /// Says that the records taken are durable, of the oldest sealed batch if there is one; hands
  /// out everything that waited for them.
  package mutating func committed(at now: Instant) -> HubOutput {
    isStorageFailing = false
    var next: Batch?
    if !sealed.isEmpty {
      next = batch
      batch = sealed.removeFirst()
    }
    for touched in batch.touched where navs.isLive(touched.slot) {
      navs[touched.slot].durable = touched.revision ?? navs[touched.slot].controller.revision
    }
    let effects = batch.effects
    for effect in effects { release(effect, at: now) }
    measurements.count(.received, batch.messages)
    publishDirectories()
    for touched in batch.touched where navs.isLive(touched.slot) {
      pumpWatches(of: touched.slot, at: now)
      trim(touched.slot)
    }
    for directory in [Self.navsSlot, Self.clientsSlot] {
      pumpWatches(of: directory, at: now)
      trim(directory)
    }
    noteAnswered(by: 1)
    if let next {
      batch = next
    } else {
      wantsStandstill = false
      beginBatch()
    }
    trimRings()
    measurements.count(.sent, output.deliveries.count)
    defer { output = HubOutput() }
    return output
  }
}

extension Hub {
  mutating func beginBatch() {
    let former = batch.effects.count
    batch = Batch()
    batchNumber += 1
    // A large batch is followed by another one; what it had room for is not grown step by step.
    guard former > 1 else { return }
    let capacity = min(former, 64)
    batch.effects.reserveCapacity(capacity)
    batch.remembrances.reserveCapacity(capacity)
    batch.answering.reserveCapacity(capacity)
  }

  /// The ops of the batch at hand are not in flight any more, with so many answers each.
  mutating func noteAnswered(by answers: UInt64) {
    for slot in batch.answering where sessions.isLive(slot) && sessions[slot].inflight > 0 {
      sessions[slot].inflight -= 1
      sessions[slot].answered += answers
    }
  }
}

/// Who sent a message.
struct Sender {
  var connection: ConnectionID
  var peer: Peer
}

/// What has been decided since the last commit.
struct Batch: Sendable {
  /// What waits for the records to be durable, in order.
  enum Effect: Sendable {
    /// A message to one connection.
    case send(ConnectionID, ServerVerb, [UInt8], Outcome)
    /// An answer that tells a revision of a nav; the requester's own watch comes first.
    case answer(ConnectionID, session: Int?, nav: Int, [UInt8], Outcome)
    /// A watch may begin.
    case start(watch: Int)
    /// A session may have room again.
    case pump(session: Int)
    /// An event without revision, to the watches that are caught up.
    case event(nav: Int, [UInt8])
    /// A read of the history that an op waits for.
    case read(HistoryRequest)
    /// A copy of the journal that somebody waits for.
    case backup
    /// An event of which only the last counts.
    case progress(nav: Int, [UInt8])
    /// A nav is gone.
    case closed(nav: Int)
    /// A session is over, with a last word.
    case ended(ConnectionID)
    /// Rights have changed, and watches may have lost theirs.
    case recheck
    /// What an operator should know once it is durable.
    case notice(Notice)
  }

  struct Remembrance: Sendable {
    var key: RememberedOps.Key
    var op: UInt64
    var evicted: RememberedOps.Entry?
  }

  /// The messages of clients it came from.
  var messages = 0
  var records: [JournalRecord] = []
  var effects: [Effect] = []
  /// A nav that was changed.
  struct Touched: Sendable {
    var slot: Int
    /// Its last durable row before.
    var rowBefore: UInt64
    /// The revision that the batch made, once it is sealed.
    var revision: Revision?
  }

  /// The navs changed, in the order of their first change.
  var touched: [Touched] = []
  /// The navs created and closed.
  var created: [Int] = []
  var closed: [Int] = []
  var remembrances: [Remembrance] = []
  /// The coordinations as they were before the batch, of the navs whose changed.
  var coordinationsBefore: [Int: Coordination] = [:]
  /// The session of each op that counts as in flight.
  var answering: [Int] = []
  /// The ops that began to wait for the history.
  var waiting: [UInt64] = []
  /// The sessions whose malformed messages were counted.
  var malformed: [Int] = []
  /// The reads that were answered, should the answer have to come again.
  var finishedReads: [(token: UInt64, read: PendingRead)] = []
  var sequenceBefore: UInt64?
  /// The backup that was answered, should the answer have to come again.
  var finishedBackup: PendingBackup?
  /// Whether `$clients` may have changed.
  var changedClients = false

  /// Joins what was decided while this batch was being made durable, to be taken back with it.
  mutating func absorb(_ next: Batch) {
    remembrances += next.remembrances
    coordinationsBefore.merge(next.coordinationsBefore) { first, _ in first }
    created += next.created
    closed += next.closed
    answering += next.answering
    waiting += next.waiting
    malformed += next.malformed
    finishedReads += next.finishedReads
    finishedBackup = finishedBackup ?? next.finishedBackup
    effects += next.effects
    let known = Set(touched.map(\.slot))
    touched += next.touched.filter { !known.contains($0.slot) }
    if sequenceBefore == nil { sequenceBefore = next.sequenceBefore }
  }
}

extension Outgoing {
  /// A message that any client takes as a sign of life, whatever its state.
  package static func signOfLife(to connection: ConnectionID) -> Outgoing {
    Outgoing(
      connection: connection, verb: .mark, body: ServerMessageWriter.mark(time: 0, []))
  }
}
