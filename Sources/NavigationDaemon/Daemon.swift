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
  /// The version of navd, which `--version` prints and each `welcome` message reports.
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
    let signals = try stopSignalDescriptor()
    // Before anything that can fail. A start by hand never waits, only a service does.
    let isService = rules.environment["INVOCATION_ID"] != nil
    let delay = StartDelay(runtimeDirectory: isService ? rules.runtimeDirectory.path : nil)
    let milliseconds = delay.noteStart()
    if milliseconds > 0 {
      let seconds = Double(milliseconds) / 1000
      log(.notice, "the previous start failed: waiting for \(seconds) s")
      if delay.isStopped(within: milliseconds, signals: signals) { return delay.forgetFailures() }
    }
    try checkLimits(log)
    let places = try places(configuration, rules, ServiceManager.inheritedSockets())
    let access = AccessControl(
      configuration.access, daemonUser: rules.userID, host: configuration.cluster.userHost)
    warnAboutEnvironment(rules, access.access, log)
    let identity = try identity(configuration, rules, places)
    var preparation = try RouterPreparation(identity: identity)
    let started = SystemClock.monotonicMilliseconds()
    let (hub, journal, shards) = try open(
      keeper, configuration, rules, access.access,
      member(configuration, places, identity),
      holder: "navd serving \(places.map(\.endpoint).joined(separator: " "))", form, log)
    try preparation.finishProof()
    let sockets = try listen(places, log)
    let router = try openRouter(preparation, sockets, configuration, log)
    try sockets.setFilePermissions(configuration)
    let endpoints = sockets.lent.map(\.endpoint).joined(separator: " ")
    var loop = ServerLoop(
      hub: hub, journal: journal, shards: shards, router: router, sockets: sockets, log: log,
      configuration: ServingConfiguration(configuration, from: sources, rules: rules),
      access: access)
    let isStopped = try loop.isStoppedWhileAwaitingShards(signals: signals)
    let took = SystemClock.monotonicMilliseconds() - started
    let text =
      "serving \(counted(loop.hub.navCount, "nav")) on \(endpoints), state in "
      + "\(journal.place.directory?.path ?? journal.name), ready in \(took) ms"
    // Before READY, so that a failure right after it does not count as a failed start.
    delay.forgetFailures()
    log(.info, text, kind: .started)
    loop.configuration.startStatus = text
    // In one message, so that a program that waits for the first notification also gets the second.
    loop.notify(.ready, .status(text))
    let shortage = (journal as? Journal)?.shortageAtStart
    if let shortage, loop.maintenance.noteFailedCommit(shortage) {
      loop.reportStorage(shortage.description)
    }
    if !isStopped {
      let watchdog = Watchdog(interval: try ServiceManager.watchdogInterval())
      try loop.run(signals: signals, watchdog: watchdog)
    }
    loop.notify(.stopping)
    try closeJournal(journal, log)
    try loop.close()
    log(.info, "stopped", kind: .stopped)
    log.flush()
  }

  /// Raises the limit of descriptors, and refuses limits with which navd could not serve.
  private static func checkLimits(_ log: Log) throws(DaemonError) {
    if navd_raise_descriptor_limit() != 0 {
      log(.warning, "cannot raise the limit of open file descriptors")
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
    try check(stackByteLimit(), 256 << 10, "bytes of a stack (RLIMIT_STACK)")
    // 64 are kept free (`navd_accept_sparingly`), navd itself opens up to 44, and 32 clients connect.
    try check(descriptorLimit(), 64 + 44 + 32, "open files (RLIMIT_NOFILE)")
  }

  /// Logs warnings about sockets that systemd passed to another process, and about users outside
  /// the user namespace.
  private static func warnAboutEnvironment(_ rules: PathRules, _ access: Access, _ log: Log) {
    if let text = ServiceManager.warning(about: rules.environment, process: getpid()) {
      log(.warning, text)
    }
    if let user = access.unmappedUser {
      log(
        .warning,
        "the user namespace does not map all users: those outside are uid:\(user), own nothing, and "
          + "have no role unless a line of [access] names uid:\(user)")
    }
  }

  /// Listens on all addresses; until `setFilePermissions`, only the user of the daemon can connect.
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
      guard socket.isAddressAwaited else { continue }
      log(
        .warning,
        "no interface of this machine has the address of \(place.endpoint) yet: navd listens there "
          + "as soon as one has")
    }
    return ListeningSockets(sockets)
  }

  private static func openRouter(
    _ preparation: consuming RouterPreparation, _ sockets: ListeningSockets,
    _ configuration: Configuration, _ log: Log
  ) throws -> GuardedRouter {
    let router = try preparation.open(
      sockets.lent, maximumFrameBytes: configuration.maximumFrameBytes, configuration.router)
    if !router.copiesReceived {
      log(
        .warning,
        "this libzmq does not copy received messages: unread messages can take far more memory "
          + "than [limits] unread-total-bytes")
    }
    return router
  }

  /// The places to listen on: the sockets of the service manager, and the configured addresses.
  private static func places(
    _ configuration: Configuration, _ rules: PathRules, _ inherited: [InheritedSocket]
  ) throws(PathError) -> [SocketPlace] {
    let passed = Set(inherited.map(\.endpoint))
    var places = inherited.map { SocketPlace($0) }
    places += configuration.daemon.endpoints.filter { !passed.contains($0) }
      .map { SocketPlace($0) }
    let directory = rules.runtimeDirectory
    let usual = "ipc://" + directory.socketPath
    if places.isEmpty { places = [SocketPlace(usual)] }
    // Also if the configuration names this path: `--print-config` prints it.
    guard places.contains(where: { $0.inherited == nil && $0.endpoint == usual }) else {
      return places
    }
    _ = try PathRules.endpoint(socketPath: directory.socketPath)
    try prepareRuntimeDirectory(directory, userID: rules.userID)
    return places
  }

  /// The daemon's key pair, if it listens on a network; else nil.
  private static func identity(
    _ configuration: Configuration, _ rules: PathRules, _ places: [SocketPlace]
  ) throws(ConfigurationError) -> CurveSecretKey? {
    guard let network = places.first(where: \.isNetwork) else { return nil }
    do throws(KeyError) {
      return try secretKey(configuration, rules)
    } catch {
      throw ConfigurationError(
        file: network.endpoint, line: nil, message: error.description,
        isFailedRead: error.isFailedRead)
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

  static func createStateDirectory(
    _ configuration: Configuration, _ rules: PathRules
  ) throws -> String {
    let path = try configuration.daemon.stateDirectory ?? rules.stateDirectory()
    do throws(SystemError) {
      try createPrivateDirectory(path)
    } catch {
      throw JournalError.unwritable(path: error.path, reason: SystemError.text(of: error.code))
    }
    return path
  }

  /// Opens the journal in its directory or database, and makes the hub that serves it.
  private static func open(
    _ keeper: JournalKeeper, _ configuration: Configuration, _ rules: PathRules, _ access: Access,
    _ member: ClusterMember, holder: String, _ form: ProgressDisplay.Form, _ log: Log
  ) throws -> (hub: Hub, store: any JournalStore, served: ServedShards?) {
    let retention = configuration.retention
    guard let make = keeper.makeClusterPlace else {
      let directory = try createStateDirectory(configuration, rules)
      let journal = try Journal.open(
        directory: directory, durability: configuration.daemon.durability,
        bootID: try bootID(environment: rules.environment), retention: retention, holder: holder)
      journal.witness = try configuration.daemon.witnessPath.map { path throws(JournalError) in
        try JournalWitness(path: path, isFrozen: journal.place.directory?.isMountedReadOnly == true)
      }
      // Removes the partial copy of a backup that was running when an earlier process ended.
      JournalBackup(of: directory).discard()
      JournalBackup(of: directory, into: configuration.backup.directory).discard()
      var hub = Hub(
        configuration: hubConfiguration(configuration), access: access,
        seed: randomSeed())
      var progress = StartProgress(as: form, log: log)
      let acknowledged = journal.witness?.acknowledgedSequence ?? 0
      let loss: HistoryLoss?
      do {
        loss = try JournalReplay.replay(
          journal, into: &hub, progress: { progress.show($0, of: $1) }, reportStatus: extendTimeout)
      } catch {
        progress.end(isComplete: false)
        throw error
      }
      progress.end(isComplete: true)
      if loss == .olderCopy {
        log(
          .warning,
          "\(journal.name) does not reach row \(acknowledged), which was acknowledged: an older "
            + "copy was put back; all navs have new epochs", kind: .journalFailed)
      }
      return (hub, journal, nil)
    }
    let cluster = try make(configuration, member) { log(.warning, $0) }
      .join(retention: retention)
    let hub = Hub(
      configuration: hubConfiguration(configuration), access: access, shards: Shard.count,
      seed: randomSeed())
    let keeper = ShardKeeper(
      cluster.keeper, lease: configuration.cluster.leaseMilliseconds, seed: randomSeed(),
      log: log)
    keeper.start(hub)
    return (hub, cluster, ServedShards(journal: cluster, keeper: keeper))
  }

  private static func randomSeed() -> UInt64 {
    var source = SystemRandomNumberGenerator()
    return source.next()
  }

  /// This daemon as a member of a cluster: its name, and how clients of other daemons reach it.
  private static func member(
    _ configuration: Configuration, _ places: [SocketPlace], _ identity: CurveSecretKey?
  ) throws(ZeroMQError) -> ClusterMember {
    let cluster = configuration.cluster
    let first = places.first(where: \.isNetwork) ?? places[0]
    return ClusterMember(
      name: cluster.memberName, endpoint: cluster.announcedAddress ?? first.endpoint,
      key: try identity?.publicKey().description, web: cluster.gatewayAddress, leaseLeft: 0)
  }

  static func extendTimeout(_ status: String) {
    // An error is ignored: the service manager then applies its usual timeout, and no data is lost.
    try? ServiceManager.notify(
      [.extendTimeout(milliseconds: 10_000), .watchdog, .status(status)])
  }

  private static func closeJournal(_ journal: any JournalStore, _ log: Log) throws(JournalError) {
    journal.countTime(until: SystemClock.bootMilliseconds())
    do throws(JournalError) {
      try journal.close()
    } catch {
      // The commits stay in the log of the journal, where the next start reads them.
      if error.isFullOrReadOnly, journal.place.directory != nil {
        return log(.warning, error.description)
      }
      throw error
    }
  }

  /// The configuration of the hub: the daemon's, and the values that no file can set.
  static func hubConfiguration(_ configuration: Configuration) -> HubConfiguration {
    var hub = configuration.hub
    // The shell limits connections, and a connection has at most one session. A limit of sessions
    // would also count those that are about to end, and refuse their successors.
    hub.sessions = .max
    hub.sessionsPerPrincipal = .max
    hub.snapshotEvery = configuration.retention.revisionsPerSnapshot
    hub.server = "navd/" + version
    // Without one, each `due` counts by this machine's clock.
    hub.bootID = try? bootID(environment: .current())
    for declared in configuration.classes {
      hub.isBarByClass[Text(declared.name)] = declared.base == .navigationBar
    }
    return hub
  }
}
