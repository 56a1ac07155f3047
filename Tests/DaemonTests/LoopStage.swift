import Foundation
@testable import NavigationCore
@testable import NavigationHub
import RuntimePaths
import Synchronization
import ZeroMQ

@testable import Journal
@testable import NavigationDaemon
@testable import TransportGuard

/// What a log has been given.
final class LogSink: Sendable {
  private let list = Mutex<[LogEntry]>([])

  var log: Log {
    Log(level: .debug, destination: .function { entry in self.list.withLock { $0.append(entry) } })
  }

  /// The entries so far, which are then gone; not those about ops without a guard, as all here are.
  func take() -> [LogEntry] {
    list.withLock { list in
      defer { list = [] }
      return list.filter { $0.kind != .checkOverridden }
    }
  }
}

/// A loop with a journal on the disk, whose events and clock a test gives.
///
/// Nobody is connected to its router, so messages to clients go nowhere. What became of the
/// messages from them is in the journal and in the hub's counts.
struct LoopStage: ~Copyable {
  var loop: ServerLoop
  let sink: LogSink
  var now = Instant(boot: 1_000_000, wall: 1_732_147_200_000)
  private var reader: ClientMessageReader
  private var ids: [UInt64: Int] = [:]

  static let rules = PathRules(environment: ProcessEnvironment([:]), userID: getuid())

  /// Begins as the daemon does, with what the journal in a directory holds.
  init(
    _ directory: String, _ configuration: Configuration = Configuration(),
    from sources: ConfigurationSources = ConfigurationSources(),
    inspection: (@Sendable (_ screens: [String]) -> [String])? = nil
  ) throws {
    let access = AccessControl(configuration.access, daemonUser: getuid())
    var inspections = Inspections()
    if let inspection {
      inspections.commitInspection = { controller, _ in
        inspection(controller.stack.map(\.id.text))
      }
    }
    var hub = Hub(
      configuration: Daemon.hubConfiguration(configuration), access: access.access, seed: 1,
      inspections: inspections)
    let journal = try Journal.open(
      directory: directory, durability: .sync, bootID: "boot",
      retention: configuration.retention, holder: "test")
    let now = Instant(boot: 1_000_000, wall: 1_732_147_200_000)
    try journal.replay(
      snapshots: { snapshot throws(HubReplayError) in try hub.index(snapshot) },
      rows: { header, body throws(HubReplayError) in try hub.index(header, body: body, at: now) })
    hub.setFloors { journal.floorRevision(of: $0) }
    hub.rememberOps(
      from: try journal.place.openReader().rows(at: hub.opRowsToRead[.first] ?? []))
    _ = hub.finishReplay(
      renewsEpochs: journal.mustRenewEpochs, lastSequence: journal.lastSequence, at: now)
    try journal.commit(hub.takeRecords())
    _ = hub.committed(at: now)

    let context = try Context()
    let admission = try ZAPHandler.start(in: context)
    let gate = InboundGate(
      maximumFrameBytes: 70_000, messagesPerConnection: 64, totalBytes: 1 << 27)
    // The octets that libzmq holds are counted for the whole process, and other tests send at once.
    var limits = configuration.router
    if limits.unsentBytes == Configuration().router.unsentBytes { limits.unsentBytes = 1 << 36 }
    let router = GuardedRouter(
      socket: try context.socket(.router), admission: admission, gate: gate, listening: [],
      limits: limits, copiesReceived: true)
    let sink = LogSink()
    reader = hub.makeReader()
    self.sink = sink
    loop = ServerLoop(
      hub: hub, journal: journal, shards: nil, router: router, sockets: ListeningSockets([]),
      log: sink.log,
      configuration: ServingConfiguration(configuration, from: sources, rules: Self.rules),
      access: access)
    loop.configuration.startStatus = "serving"
    loop.maintenance = MaintenanceSchedule(at: now.boot)
  }

  /// A message of a client, whose connection has its number.
  mutating func message(
    _ client: UInt64, _ verb: String, _ body: String, user: UInt32 = getuid()
  ) -> HubEvent {
    HubEvent(
      frame: Array("nsp1.\(verb)".utf8).span, body: Array(body.utf8).span,
      from: ConnectionID(client), .local(user: user, group: 0, process: Int32(client)),
      reader: &reader)
  }

  mutating func hello(_ client: UInt64) -> HubEvent {
    let digits = String(client, radix: 16)
    let name = String(repeating: "0", count: 32 - digits.count) + digits
    return message(
      client, "hello", #"{"ver":[1,1],"client":"\#(name)","name":"c","nonce":"n\#(client)"}"#)
  }

  mutating func op(_ client: UInt64, _ ops: String, nav: String = "kiosk") -> HubEvent {
    ids[client, default: 0] += 1
    let id = ids[client, default: 0]
    return message(
      client, "op", #"{"id":\#(id),"nav":"\#(nav)","if":{"any":true},"do":[\#(ops)]}"#)
  }

  /// The op that makes a nav with one screen.
  static let create = #"{"nav.create":{"root":{"id":"home"}}}"#

  static func push(_ id: String) -> String { #"{"push":{"screen":{"id":"\#(id)"}}}"# }

  /// A session of client 1 and the nav `kiosk`.
  mutating func open() throws {
    try turn([hello(1)])
    try turn([op(1, Self.create)])
  }

  /// Lets the loop commit batches of any size, until a commit takes long.
  func makeCommitsShort() {
    for _ in 0..<100 { loop.writer.policy.noteDuration(0) }
    assert(loop.writer.commitsAreShort)
  }

  /// One turn with these events, whose effects may still be on their way to the disk.
  mutating func turn(_ events: [HubEvent] = []) throws {
    loop.batches.append(events)
    try loop.turn(at: now)
  }

  /// Waits for the history thread, and performs a turn with its answers.
  mutating func answer() throws {
    awaitReadable(loop.history.descriptor)
    try loop.takeAnswers()
    try turn()
  }

  /// Performs turns until nothing is held.
  mutating func answerAll() throws {
    while !loop.pageIns.isEmpty { try answer() }
  }

  /// Waits until everything decided so far is durable or has failed.
  mutating func settle() throws {
    try loop.awaitBatches(at: now)
    loop.writer.awaitCheckpoint()
  }

  /// Lets time pass.
  mutating func pass(_ milliseconds: UInt64) {
    now.boot += milliseconds
    now.wall += milliseconds
  }

  /// The number of answers with an outcome.
  func count(_ outcome: Outcome) -> UInt64 { loop.hub.measurements[outcome] }

  /// Ends as the daemon does.
  mutating func close() throws {
    try settle()
    try loop.writer.journal.close()
  }

  /// All rows of a journal that nobody has open.
  static func rows(_ directory: String) throws -> [JournalRow] {
    let journal = try Journal.open(
      directory: directory, durability: .sync, bootID: "boot", retention: Retention.standard,
      holder: "test")
    var rows: [JournalRow] = []
    try journal.replay(
      snapshots: { _ in }, rows: { rows.append(JournalRow($0, body: [UInt8](copying: $1))) })
    try journal.close()
    return rows
  }
}
