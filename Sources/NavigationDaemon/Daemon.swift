import CLinux
import CommandLineOptions
import ZeroMQ
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Systemd
import TransportGuard

/// The daemon from start to stop.
enum Daemon {
  /// The version in `--version` and in `welcome`.
  static let version = "0.1.0"

  /// Replays the journal, listens, serves until a stop signal, and closes everything.
  ///
  /// It blocks the calling thread, which runs the loop. It notifies READY after replay and bind.
  /// SIGHUP reads `sources` again. If another daemon has the lease of a database, this one is ready
  /// at once, and waits for the lease before it listens. After an error, every acknowledged change
  /// is in the journal.
  static func run(
    _ configuration: Configuration, from sources: ConfigurationSources, rules: PathRules,
    keeper: JournalKeeper, progress form: ProgressDisplay.Form, log: Log
  ) throws {
    // Before any thread starts, because a thread without the signal mask could receive the signals.
    let signals = navd_stop_signals()
    guard signals >= 0 else {
      throw DaemonError.system(SystemError("catch", "SIGTERM", code: navd_errno()))
    }
    // Before anything that can fail. A start by hand never waits, only a service does.
    let isService = rules.environment["INVOCATION_ID"] != nil
    let pause = StartPause(runtimeDirectory: isService ? rules.runtimeDirectory.path : nil)
    let patience = pause.begin()
    if patience > 0 {
      let seconds = Double(patience) / 1000
      log(LogEntry(.notice, "the previous start failed: waiting for \(seconds) s"))
      if pause.wait(patience, signals: signals) { return pause.end() }
    }
    try checkLimits(log)
    let inherited = try serviceManager { () throws(ServiceManagerError) in
      try ServiceManager.inheritedSockets()
    }
    let places = try places(configuration, rules, inherited)
    let access = AccessControl(
      configuration.access, daemonUser: rules.userID, host: configuration.cluster.userHost)
    warn(of: rules, access.access, log)
    let identity = try identity(configuration, rules, places)
    var preparation = try prepareRouter(identity)
    let started = SystemClock.monotonicMilliseconds()
    let (hub, journal, shards) = try open(
      keeper, configuration, rules, access.access,
      member(configuration, places, identity),
      holder: "navd serving \(places.map(\.endpoint).joined(separator: " "))", form, log)
    try finishProof(&preparation)
    let sockets = try listen(places, log)
    let router = try openRouter(preparation, sockets, configuration, log)
    try sockets.admit(configuration)
    let endpoints = sockets.lent.map(\.endpoint).joined(separator: " ")
    var loop = ServerLoop(
      hub: hub, journal: journal, shards: shards, router: router, sockets: sockets, log: log,
      configuration: ServingConfiguration(configuration, from: sources, rules: rules),
      access: access)
    let isStopped = try loop.awaitShards(signals: signals)
    let took = SystemClock.monotonicMilliseconds() - started
    let text =
      "serving \(counted(loop.hub.navCount, "nav")) on \(endpoints), state in "
      + "\(journal.placeName), ready in \(took) ms"
    // Before READY, so that a failure right after it does not count as a failed start.
    pause.end()
    log(LogEntry(.info, text, kind: .started))
    loop.configuration.status = text
    // In one message, so that a program that waits for the first notification also gets the second.
    loop.notify(.ready, .status(text))
    if let shortage = (journal as? Journal)?.shortage, loop.maintenance.noteFailedCommit(shortage) {
      loop.reportStorage(shortage.description)
    }
    if !isStopped { try loop.run(signals: signals, watchdog: try watchdog()) }
    loop.notify(.stopping)
    try closeJournal(journal, log)
    try loop.close()
    log(LogEntry(.info, "stopped", kind: .stopped))
    log.flush()
  }

  /// Raises the limit of descriptors, and refuses limits with which navd could not serve.
  private static func checkLimits(_ log: Log) throws(DaemonError) {
    if navd_raise_descriptor_limit() != 0 {
      log(LogEntry(.warning, "cannot raise the limit of open file descriptors"))
    }
    // No lists of tuples here: making their types takes more stack than there may be.
    func check(_ limit: UInt64?, _ least: UInt64, _ what: String) throws(DaemonError) {
      guard let limit, limit < least else { return }
      throw .endpoint(
        "any address",
        reason: "the limit of \(what) is \(limit), and 32 connections need \(least): raise "
          + "LimitNOFILE= or LimitSTACK= of the unit, or ulimit -n or -s")
    }
    // With 64 KB a change ended the process, with 96 none did.
    try check(stackLimit(), 256 << 10, "bytes of a stack (RLIMIT_STACK)")
    // 64 are kept free (`navd_accept_sparingly`), navd itself opens up to 44, and 32 clients connect.
    try check(descriptorLimit(), 64 + 44 + 32, "open files (RLIMIT_NOFILE)")
  }

  /// Warns of what the surroundings keep from navd: sockets of systemd, and the names of users.
  private static func warn(of rules: PathRules, _ access: Access, _ log: Log) {
    if let text = ServiceManager.warning(about: rules.environment, process: getpid()) {
      log(LogEntry(.warning, text))
    }
    if let user = access.unknownUser {
      let text =
        "the user namespace does not map all users: those outside are uid:\(user), own nothing, and "
        + "have no role unless a line of [access] names uid:\(user)"
      log(LogEntry(.warning, text))
    }
  }

  /// Listens on all addresses; until `admit`, only the user of the daemon can connect.
  private static func listen(
    _ places: [SocketPlace], _ log: Log
  ) throws(DaemonError) -> ListeningSockets {
    var sockets: [ListeningSocket] = []
    for place in places {
      let socket = try place.open()
      sockets.append(socket)
      guard navd_socket_cookie(socket.lent.descriptor) != 0 else {
        throw .endpoint(
          place.endpoint,
          reason:
            "the kernel does not number its sockets (SO_COOKIE, Linux 4.12), so navd cannot tell "
            + "connections apart: it is older, or a sandbox or qemu-user stands before it")
      }
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
    do throws(KeyError) {
      return try secretKey(configuration, rules)
    } catch {
      throw .configuration(
        ConfigurationError(
          file: network.endpoint, line: nil, message: error.description,
          isFailedRead: error.isFailedRead))
    }
  }

  /// Reads the daemon's secret key: the credential of the service manager, else the configured file.
  static func secretKey(
    _ configuration: Configuration, _ rules: PathRules
  ) throws(KeyError) -> CurveSecretKey {
    let credentials = rules.environment["CREDENTIALS_DIRECTORY"].map { $0 + "/" }
    if let path = credentials.map({ $0 + "navd.key" }), FileStatus.target(of: path) != nil {
      return try SecretKeyFile.read(path, by: .credential)
    }
    guard let path = configuration.access.secretKeyFile else {
      throw KeyError(
        "tcp needs a secret key: create one with navctl key new FILE, and give its path by "
          + "[access] secret-key, or by LoadCredential=navd.key:FILE in the unit; for navd.service, "
          + "navd-tcp enable does all of this")
    }
    let isCredential = credentials.map { path.hasPrefix($0) } ?? false
    return try SecretKeyFile.read(path, by: isCredential ? .credential : .daemon)
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

  /// Opens the journal, as the keeper of this program says, and makes the hub that serves it.
  ///
  /// A journal in a directory is replayed; a member of a cluster takes its shards later.
  private static func open(
    _ keeper: JournalKeeper, _ configuration: Configuration, _ rules: PathRules, _ access: Access,
    _ member: ClusterMember, holder: String, _ form: ProgressDisplay.Form, _ log: Log
  ) throws(DaemonError) -> (hub: Hub, store: any JournalStore, served: ServedShards?) {
    let retention = retention(configuration)
    guard let make = keeper.cluster else {
      let journal: Journal
      let place = JournalDirectory(
        path: try stateDirectory(configuration, rules),
        durability: configuration.daemon.durability == .sync ? .sync : .relaxed,
        bootID: try boot(rules))
      do throws(JournalError) {
        journal = try place.open(retention: retention, holder: holder)
        journal.witness = try configuration.daemon.witness.map { path throws(JournalError) in
          try JournalWitness(path: path, isFrozen: journal.place.directory?.isFrozen == true)
        }
      } catch {
        throw .journal(error)
      }
      // Removes the partial copy of a backup that was running when an earlier process ended.
      JournalBackup(of: place.path).discard()
      JournalBackup(of: place.path, into: configuration.backup.directory).discard()
      var hub = Hub(
        configuration: hubConfiguration(configuration), access: access, seed: try seed())
      var progress = StartProgress(as: form, log: log)
      let acknowledged = journal.witness?.acknowledged ?? 0
      let loss: EpochLoss?
      do throws(DaemonError) {
        loss = try JournalReplay.serve(
          journal, by: &hub, progress: { progress.show($0, of: $1) }, report: extendTimeout)
      } catch {
        progress.end(isComplete: false)
        throw error
      }
      progress.end(isComplete: true)
      if loss == .older {
        log(
          LogEntry(
            .warning,
            "\(journal.name) does not reach row \(acknowledged), which was acknowledged: an older "
              + "copy was put back; all navs have new epochs", kind: .journalFailed))
      }
      return (hub, journal, nil)
    }
    let cluster: any ClusterJournal
    do throws(JournalError) {
      cluster = try make(configuration, member) { log(LogEntry(.warning, $0)) }
        .join(retention: retention)
    } catch {
      throw .journal(error)
    }
    let hub = Hub(
      configuration: hubConfiguration(configuration), access: access, shards: Shard.count,
      seed: try seed())
    let lease = UInt64(configuration.cluster.leaseMilliseconds)
    let keeper = ShardKeeper(cluster.keeper, lease: lease, seed: try seed(), log: log)
    keeper.start(hub)
    return (hub, cluster, ServedShards(journal: cluster, keeper: keeper))
  }

  /// This daemon as a member of a cluster: its name, and how clients of other daemons reach it.
  private static func member(
    _ configuration: Configuration, _ places: [SocketPlace], _ identity: CurveSecretKey?
  ) throws(DaemonError) -> ClusterMember {
    let cluster = configuration.cluster
    let first = places.first(where: \.isNetwork) ?? places[0]
    do throws(ZeroMQError) {
      return ClusterMember(
        name: cluster.memberName, endpoint: cluster.announce ?? first.endpoint,
        key: try identity?.publicKey().description, web: cluster.web, lease: 0)
    } catch {
      throw .transport(error)
    }
  }

  static func extendTimeout(_ status: String) {
    // An error is ignored: the service manager then applies its usual timeout, and no data is lost.
    try? ServiceManager.notify(
      .extendTimeout(milliseconds: 10_000), .watchdog, .status(status))
  }

  private static func closeJournal(_ journal: any JournalStore, _ log: Log) throws(DaemonError) {
    journal.note(now: SystemClock.bootMilliseconds())
    do throws(JournalError) {
      try journal.close()
    } catch {
      // The commits stay in the log of the journal, where the next start reads them.
      if error.isShortage, journal.place.directory != nil {
        return log(LogEntry(.warning, error.description))
      }
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

  static func backupRules(_ configuration: Configuration) -> BackupSchedule.Rules {
    BackupSchedule.Rules(
      every: UInt64(configuration.backup.everySeconds) * 1000, keep: configuration.backup.keep)
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
    // Without one, each `due` counts by this machine's clock.
    hub.clock = try? bootID(environment: .current())
    for declared in configuration.classes {
      hub.classes[Text(declared.name)] = declared.base == .navigationBar
    }
    return hub
  }
}
