import CLinux
import CurveKeys
import Journal
import NavigationCore
package import RuntimePaths
import Systemd
import TransportGuard
import ZeroMQ

/// The daemon from start to stop.
package enum Daemon {
  /// The version in `--version` and in `welcome`.
  package static let version = "0.1.0"

  /// Replays the journal, listens, serves until a stop signal, and closes everything.
  ///
  /// It blocks the calling thread, which runs the loop. It notifies READY after replay and bind.
  /// - Parameters:
  ///   - configuration: the configuration that `sources` gave.
  ///   - sources: the sources, which SIGHUP reads again.
  ///   - rules: the rules that compute paths which are not configured.
  ///   - keeper: where the journal is kept. If another daemon has the lease of a database, this one
  ///     is ready at once, and waits for the lease before it listens.
  ///   - log: the log.
  /// - Throws: `DaemonError`; every acknowledged change is then in the journal.
  package static func run(
    _ configuration: Configuration, from sources: ConfigurationSources, rules: PathRules,
    keeper: JournalKeeper, log: Log
  ) throws {
    // Before any thread starts, because a thread without the signal mask could receive the signals.
    let signals = navd_stop_signals()
    guard signals >= 0 else {
      throw DaemonError.system(SystemError("catch", "SIGTERM", code: navd_errno()))
    }
    // Before anything that can fail. A start by hand never waits, only a service does.
    let isService = rules.environment["INVOCATION_ID"] != nil
    let pause = StartPause(runtimeDirectory: isService ? rules.runtimeDirectory.path : nil)
    if pause.begin() {
      log(LogEntry(.notice, "the previous start failed: waiting for 0.1 s"))
      pause.wait()
    }
    if navd_raise_descriptor_limit() != 0 {
      log(LogEntry(.warning, "cannot raise the limit of open file descriptors"))
    }
    let inherited = try serviceManager { () throws(ServiceManagerError) in
      try ServiceManager.inheritedSockets()
    }
    let places = try places(configuration, rules, inherited)
    let access = try AccessControl(
      configuration.access, daemonUser: rules.userID, member: configuration.cluster.sharingMember)
    let identity = try identity(configuration, rules, places)
    let place = try journalPlace(keeper, configuration, rules, log)
    var preparation = try prepareRouter(identity)
    let opening = JournalOpening(
      place: place, retention: retention(configuration),
      holder: "navd serving \(places.map(\.endpoint).joined(separator: " "))", log: log)
    guard let journal = try opening.open(stoppedBy: signals) else {
      log(LogEntry(.info, "stopped", kind: .stopped))
      return log.flush()
    }
    let started = SystemClock.monotonicMilliseconds()
    // Removes the partial copy of a backup that was running when an earlier process ended.
    if let directory = place.directory { JournalBackup(of: directory.path).discard() }
    var hub = Hub(
      configuration: hubConfiguration(configuration), access: access.access, seed: try seed())
    let navs = try replay(journal, into: &hub)
    try finishProof(&preparation)
    let sockets = try listen(places, log)
    let router = try openRouter(preparation, sockets, configuration, log)
    try sockets.admit(configuration)
    let endpoints = sockets.lent.map(\.endpoint).joined(separator: " ")
    let took = SystemClock.monotonicMilliseconds() - started
    let text =
      "serving \(counted(navs, "nav")) on \(endpoints), state in \(journal.placeName), ready in \(took) ms"
    // Before READY, so that a failure right after it does not count as a failed start.
    pause.end()
    log(LogEntry(.info, text, kind: .started))
    var loop = ServerLoop(
      hub: hub, journal: journal, router: router, sockets: sockets, log: log,
      configuration: ServingConfiguration(
        configuration, from: sources, rules: rules, status: text), access: access)
    // In one message, so that a program that waits for the first notification also gets the second.
    loop.notify(.ready, .status(text))
    try loop.run(signals: signals, watchdog: try watchdog())
    loop.notify(.stopping)
    try closeJournal(journal)
    try loop.close()
    log(LogEntry(.info, "stopped", kind: .stopped))
    log.flush()
  }

  /// Listens on all addresses; until `admit`, only the user of the daemon can connect.
  private static func listen(
    _ places: [SocketPlace], _ log: Log
  ) throws(DaemonError) -> ListeningSockets {
    var sockets: [ListeningSocket] = []
    for place in places {
      let socket = try place.open()
      sockets.append(socket)
      guard socket.isAwaited else { continue }
      log(
        LogEntry(
          .warning,
          "no interface of this machine has the address of \(place.endpoint) yet: navd listens "
            + "there as soon as one has"))
    }
    return ListeningSockets(sockets)
  }

  private static func prepareRouter(
    _ identity: CurveSecretKey?
  ) throws(DaemonError) -> RouterPreparation {
    do throws(SystemError) {
      return try RouterPreparation(identity: identity)
    } catch {
      throw .system(error)
    }
  }

  private static func finishProof(_ preparation: inout RouterPreparation) throws(DaemonError) {
    do throws(ZeroMQError) {
      try preparation.finishProof()
    } catch {
      throw .transport(error)
    }
  }

  private static func openRouter(
    _ preparation: consuming RouterPreparation, _ sockets: ListeningSockets,
    _ configuration: Configuration, _ log: Log
  ) throws(DaemonError) -> GuardedRouter {
    let router: GuardedRouter
    do throws(ZeroMQError) {
      router = try preparation.open(sockets.lent, routerLimits(configuration))
    } catch {
      throw .transport(error)
    }
    if !router.copiesReceived {
      let text =
        "this libzmq does not copy received messages: unread messages can take far more memory "
        + "than [limits] unread-total-bytes"
      log(LogEntry(.warning, text))
    }
    return router
  }

  static func routerLimits(_ configuration: Configuration) -> GuardedRouter.Limits {
    let limits = configuration.limits
    return GuardedRouter.Limits(
      // The hub refuses a message that is a little too long, with an error.
      frameBytes: limits.messageToDaemonBytes + 4096, unreadBytes: limits.unreadTotalBytes,
      unsentBytes: limits.unsentTotalBytes, connections: limits.connections,
      connectionsPerPrincipal: limits.connectionsPerPrincipal)
  }

  private static func serviceManager<Value>(
    _ body: () throws(ServiceManagerError) -> Value
  ) throws(DaemonError) -> Value {
    do throws(ServiceManagerError) {
      return try body()
    } catch {
      throw .endpoint("the service manager's socket", reason: error.description)
    }
  }

  private static func watchdog() throws(DaemonError) -> Watchdog {
    do throws(SystemError) {
      return Watchdog(interval: try ServiceManager.watchdogInterval())
    } catch {
      throw .system(error)
    }
  }

  private static func seed() throws(DaemonError) -> UInt64 {
    do throws(SystemError) {
      return try randomUInt64()
    } catch {
      throw .system(error)
    }
  }

  /// The places to listen on: the sockets of the service manager, and the configured addresses.
  ///
  /// If there is neither, it is the path that `PathRules` computes.
  private static func places(
    _ configuration: Configuration, _ rules: PathRules, _ inherited: [InheritedSocket]
  ) throws(DaemonError) -> [SocketPlace] {
    let passed = Set(inherited.map(\.endpoint))
    var places = inherited.map { SocketPlace.inherited($0) }
    places += configuration.daemon.endpoints.filter { !passed.contains($0) }
      .map { SocketPlace($0) }
    let directory = rules.runtimeDirectory
    if places.isEmpty { places = [.path(directory.socketPath)] }
    // Also if the configuration names this path: `--print-config` prints it.
    guard places.contains(where: { $0.isPath(directory.socketPath) }) else { return places }
    do throws(PathError) {
      _ = try PathRules.endpoint(socketPath: directory.socketPath)
      try prepareRuntimeDirectory(directory, userID: rules.userID)
      return places
    } catch {
      throw .path(error)
    }
  }

  /// The daemon's key pair, if it listens on a network; else nil.
  private static func identity(
    _ configuration: Configuration, _ rules: PathRules, _ places: [SocketPlace]
  ) throws(DaemonError) -> CurveSecretKey? {
    guard let network = places.first(where: \.isNetwork) else { return nil }
    let credential = rules.environment["CREDENTIALS_DIRECTORY"].map { $0 + "/navd.key" }
    guard let path = configuration.access.secretKeyFile ?? credential else {
      throw refused(
        network,
        "tcp needs a secret key: create one with navctl key new FILE, and give its path by "
          + "[access] secret-key, or by LoadCredential=navd.key:FILE in the unit; for navd.service, "
          + "navd-tcp enable does all of this")
    }
    do throws(KeyError) {
      return try SecretKeyFile.read(path)
    } catch {
      throw refused(network, error.description)
    }
  }

  private static func refused(_ place: SocketPlace, _ reason: String) -> DaemonError {
    .configuration(ConfigurationError(file: place.endpoint, line: nil, message: reason))
  }

  static func stateDirectory(
    _ configuration: Configuration, _ rules: PathRules
  ) throws(DaemonError) -> String {
    let path: String
    do throws(PathError) {
      if let chosen = configuration.daemon.stateDirectory {
        path = chosen
      } else {
        path = try rules.stateDirectory()
      }
    } catch {
      throw .path(error)
    }
    do throws(SystemError) {
      try createPrivateDirectory(path)
    } catch {
      throw .journal(
        .unwritable(path: error.path, reason: SystemError.text(of: error.code)))
    }
    return path
  }

  /// The place of the journal, as the keeper of this program says.
  private static func journalPlace(
    _ keeper: JournalKeeper, _ configuration: Configuration, _ rules: PathRules, _ log: Log
  ) throws(DaemonError) -> any JournalPlace {
    guard let make = keeper.place else {
      return JournalDirectory(
        path: try stateDirectory(configuration, rules),
        durability: configuration.daemon.durability == .sync ? .sync : .relaxed,
        bootID: try boot(rules))
    }
    do throws(JournalError) {
      return try make(configuration) { log(LogEntry(.warning, $0)) }
    } catch {
      throw .journal(error)
    }
  }

  /// After a start, the hub remembers the ops of this number of newest rows, whatever their age.
  private static let rememberedRows: UInt64 = 10_000

  /// Replays the journal into the hub; returns the number of navs.
  private static func replay(_ journal: Journal, into hub: inout Hub) throws(DaemonError) -> Int {
    let now = now()
    try index(journal, into: &hub, at: now, report: extendTimeout)
    let navs = hub.finishReplay(
      renewsEpochs: journal.mustRenewEpochs, because: journal.isRestored ? .backup : .crash,
      lastSequence: journal.lastSequence, at: now)
    do throws(JournalError) {
      let records = hub.takeRecords()
      if !records.isEmpty { try journal.commit(records) }
      if journal.mustRenewEpochs { try journal.epochsRenewed() }
    } catch {
      throw .journal(error)
    }
    _ = hub.committed(at: now)
    return navs
  }

  /// Replays a whole journal to check it, without serving it.
  ///
  /// - Parameters:
  ///   - journal: the journal, open and not replayed.
  ///   - progress: called from time to time with the number of a row and that of the newest row.
  /// - Returns: the number of navs.
  /// - Throws: the error with which a start on this journal would end.
  static func check(
    _ journal: Journal, progress: (_ row: UInt64, _ newest: UInt64) -> Void
  ) throws(DaemonError) -> Int {
    let now = now()
    var hub = Hub(configuration: HubConfiguration(), seed: 0)
    let newest: UInt64
    do throws(JournalError) {
      newest = try journal.newestSequence()
    } catch {
      throw .journal(error)
    }
    progress(0, newest)
    try index(journal, into: &hub, at: now, row: { progress($0, newest) }, report: { _ in })
    return hub.finishReplay(renewsEpochs: false, lastSequence: journal.lastSequence, at: now)
  }

  private static func now() -> Instant {
    Instant(boot: SystemClock.bootMilliseconds(), wall: SystemClock.wallMilliseconds())
  }

  private static func index(
    _ journal: Journal, into hub: inout Hub, at now: Instant, row: (UInt64) -> Void = { _ in },
    report: (String) -> Void
  ) throws(DaemonError) {
    var hasProgress = 0
    do throws(JournalError) {
      let newest = try journal.newestSequence()
      hub.remembersBehind = newest > rememberedRows ? newest - rememberedRows : 0
    } catch {
      throw .journal(error)
    }
    do throws(ReplayError<HubReplayError>) {
      try journal.replay(
        bodies: .beginnings,
        snapshots: { snapshot throws(HubReplayError) in try hub.index(snapshot) },
        rows: { header, body throws(HubReplayError) in
          hasProgress += 1
          if hasProgress % 1024 == 0 { row(header.sequence) }
          if hasProgress % 250_000 == 0 { report("replaying the journal: \(hasProgress) rows") }
          try hub.index(header, body: body, at: now)
        })
    } catch {
      switch error {
      case .journal(let error): throw .journal(error)
      case .refused(let error): throw .replay("row \(error.sequence): \(error.what)")
      }
    }
    hub.takeFloors { journal.floor(of: $0) }
    try complete(&hub, from: journal, report)
  }

  /// Loads the rows of remembered ops, and the navs that cannot stay dormant.
  ///
  /// These navs have something open, such as a transition.
  private static func complete(
    _ hub: inout Hub, from journal: Journal, _ report: (String) -> Void
  ) throws(DaemonError) {
    let (open, rows) = (hub.openNavs, hub.rememberedRows)
    guard !open.isEmpty || !rows.isEmpty else { return }
    let reader: JournalReader
    do throws(JournalError) {
      reader = try journal.place.openReader()
      var bodies: [(sequence: UInt64, body: [UInt8])] = []
      for first in stride(from: 0, to: rows.count, by: 256) {
        try journal.renewIfDue()
        bodies += try reader.bodies(of: Array(rows[first..<min(first + 256, rows.count)]))
      }
      hub.remember(bodies)
    } catch {
      throw .journal(error)
    }
    // One nav at a time, because the rows of all of them together could take much memory.
    for (index, request) in open.enumerated() {
      if index % 100 == 99 { report("reviving navs: \(index) of \(open.count)") }
      do throws(JournalError) { try journal.renewIfDue() } catch { throw .journal(error) }
      try revive(request, in: &hub, from: reader)
    }
  }

  private static func revive(
    _ request: ReloadRequest, in hub: inout Hub, from reader: JournalReader
  ) throws(DaemonError) {
    let chain: (snapshot: SnapshotRow?, rows: [JournalRow])
    do throws(JournalError) {
      chain = try reader.chain(of: request)
    } catch {
      throw .journal(error)
    }
    do throws(HubReplayError) {
      try hub.revive(request, snapshot: chain.snapshot, rows: chain.rows)
    } catch {
      throw .replay("row \(error.sequence): \(error.what)")
    }
  }

  private static func extendTimeout(_ status: String) {
    // An error is ignored: the service manager then applies its usual timeout, and no data is lost.
    try? ServiceManager.notify(
      .extendTimeout(milliseconds: 10_000), .watchdog, .status(status))
  }

  private static func closeJournal(_ journal: Journal) throws(DaemonError) {
    do throws(JournalError) {
      try journal.close()
    } catch {
      throw .journal(error)
    }
  }

  static func boot(_ rules: PathRules) throws(DaemonError) -> String {
    do throws(SystemError) {
      return try bootID(environment: rules.environment)
    } catch {
      throw .system(error)
    }
  }

  static func retention(_ configuration: Configuration) -> Retention {
    Retention(
      revisions: UInt64(configuration.history.revisions),
      milliseconds: UInt64(configuration.history.days) * 86_400_000,
      bytes: configuration.history.bytes,
      revisionsPerSnapshot: UInt64(configuration.history.snapshotEvery))
  }

  static func hubConfiguration(_ configuration: Configuration) -> HubConfiguration {
    let limits = configuration.limits
    var hub = HubConfiguration()
    hub.nav.stackDepth = limits.depth
    hub.nav.detachedRecords = limits.detachedRecords
    hub.nav.stateBytes = limits.stateBytes
    hub.maximumRequestBytes = limits.messageToDaemonBytes
    hub.maximumReplyBytes = limits.messageFromDaemonBytes
    hub.navs = limits.navs
    // The shell limits connections, and a connection has at most one session. A limit of sessions
    // would also count those that are about to end, and refuse their successors.
    hub.sessions = .max
    hub.sessionsPerPrincipal = .max
    hub.watchesPerConnection = limits.watchesPerConnection
    hub.inflight = limits.inflightOperations
    hub.opsPerSecond = limits.operationsPerSecond
    hub.resumeRevisions = limits.resumeRevisions
    hub.resumeBytes = limits.resumeBytes
    hub.resumeTotalBytes = limits.resumeTotalBytes
    hub.rememberedOps = limits.rememberedOperations
    hub.rememberedClients = limits.rememberedClients
    hub.rememberedClientsPerPrincipal = limits.rememberedClientsPerPrincipal
    hub.rememberedIdle = UInt64(limits.rememberedIdleSeconds) * 1000
    hub.navIdle = UInt64(limits.navIdleSeconds) * 1000
    hub.maximumWindow = UInt64(limits.maximumWindowBytes)
    hub.defaultHeartbeat = UInt64(configuration.session.heartbeatMilliseconds)
    hub.stall = UInt64(configuration.session.stallSeconds) * 1000
    hub.snapshotEvery = UInt64(configuration.history.snapshotEvery)
    hub.server = "navd/" + version
    for declared in configuration.classes {
      hub.classes[declared.name] = declared.base == .navigationBar
    }
    return hub
  }
}
