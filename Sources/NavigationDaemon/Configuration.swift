import NavigationCore
import RuntimePaths

/// The configuration of a daemon; every member has its default, so no file is needed.
package struct Configuration: Hashable, Sendable {
  /// When the daemon answers a change.
  package enum Durability: String, CaseIterable, Sendable {
    /// After the change is on stable storage.
    case sync
    /// After the change is written, without a sync; a crash of the machine can lose it.
    case relaxed
  }

  /// The base of a class that `[classes]` declares.
  enum BaseClass: String, CaseIterable, Sendable {
    case navigationBar = "NavigationBar"
    case toolbar = "Toolbar"
  }

  /// Section `[daemon]`: the sockets, the state directory and the durability.
  package struct Daemon: Hashable, Sendable {
    /// The addresses to listen on; if empty, `PathRules` computes one.
    var endpoints: [String] = []
    /// The directory of the journal; if nil, `PathRules` computes it.
    var stateDirectory: String?
    package var durability = Durability.sync
    /// The path of the journal's witness; nil for none.
    var witness: String?
    /// The mode of the socket file; nil stands for 0660 with a group, else 0600.
    var socketMode: UInt32?
    /// The group whose members can connect, as name or number; nil keeps the group of the daemon.
    var socketGroup: String?

    var effectiveSocketMode: UInt32 { socketMode ?? (socketGroup == nil ? 0o600 : 0o660) }
  }

  /// Section `[cluster]`: the database that several daemons share.
  package struct Cluster: Hashable, Sendable {
    /// The connection string of the database; nil for a journal in the state directory.
    package var database: String?
    /// The name of this daemon in the cluster; nil stands for the host name.
    var member: String?
    /// The name of this machine in the names of its users; nil stands for `member`.
    var host: String?
    /// The address at which clients reach this daemon; nil stands for the first one to listen on.
    var announce: String?
    /// The address of the gateway that serves this daemon's navs to browsers; nil for none.
    var web: String?
    /// The milliseconds after which another daemon takes over from one that was lost.
    package var leaseMilliseconds = 5000

    var memberName: String { member ?? hostName() }
    /// The name of this machine in the names of its users; nil without a cluster.
    var userHost: String? { database == nil ? nil : host ?? memberName }
  }

  /// Section `[limits]`: bounds for the memory and the work that clients can cause.
  struct Limits: Hashable, Sendable {
    /// The longest message that a client can send, in bytes.
    var messageToDaemonBytes = 65_536
    /// The longest message that the daemon sends, in bytes.
    var messageFromDaemonBytes = 262_144
    /// The maximum number of screens on one stack.
    var depth = 64
    /// The largest state of one nav, in bytes.
    var stateBytes = 1_048_576
    /// The maximum number of detached records of one nav, which are on no stack.
    var detachedRecords = 256
    /// How many diffs of one nav stay in memory for clients that reconnect.
    var resumeRevisions = 256
    /// How many bytes of diffs of one nav stay in memory for clients that reconnect.
    var resumeBytes = 262_144
    /// How many bytes of diffs of all navs stay in memory.
    var resumeTotalBytes = 67_108_864
    /// How many bytes the daemon queues for all clients together before it disconnects the largest.
    var unsentTotalBytes = 268_435_456
    /// How many bytes all clients together can send ahead before the daemon disconnects the
    /// largest.
    var unreadTotalBytes = 134_217_728
    /// How many operations one connection can send in a second; 0 for no limit.
    var operationsPerSecond = 0
    var watchesPerConnection = 1024
    /// The maximum number of unanswered operations of one connection.
    var inflightOperations = 64
    /// The maximum number of connections over ipc, and of those over networks.
    var connections = 4096
    /// The maximum number of connections of one principal, which is a user or a key.
    var connectionsPerPrincipal = 256
    var navs = 100_000
    /// How many seconds a nav stays in memory that no client uses or watches.
    var navIdleSeconds = 600
    /// How many answers of one client stay in memory for repeated operations.
    var rememberedOperations = 64
    /// The maximum number of clients whose answers stay in memory.
    var rememberedClients = 4096
    /// The maximum number of these clients that belong to one principal.
    var rememberedClientsPerPrincipal = 1024
    /// How many seconds the answers of a disconnected client stay in memory.
    var rememberedIdleSeconds = 600
    /// The largest credit window that a client can ask for, in bytes.
    var maximumWindowBytes = 1_048_576
  }

  /// Section `[history]`: how much the journal keeps for `log`, `at` and `revert`.
  struct History: Hashable, Sendable {
    /// How many revisions of each nav the journal keeps.
    var revisions = 10_000
    /// How many days the journal keeps a revision.
    var days = 30
    /// How many bytes of all navs together the journal keeps.
    var bytes = 1_073_741_824
    /// After how many revisions of a nav the journal stores its whole state.
    ///
    /// The daemon loads a nav from its newest stored state and replays the revisions after it.
    var snapshotEvery = 1000
  }

  /// Section `[backup]`: the copies of the journal that the daemon makes by itself.
  struct Backup: Hashable, Sendable {
    /// The directory of the copies; nil stands for `backups` in the directory of the journal.
    var directory: String?
    /// The seconds between two copies; 0 for none.
    var everySeconds = 0
    var keep = 7
  }

  /// Section `[session]`: the heartbeat and the patience with clients that do not read.
  struct Session: Hashable, Sendable {
    /// The heartbeat interval of a client that asks for none, in milliseconds.
    var heartbeatMilliseconds = 5000
    /// How many seconds a client without credit can stay silent before its session ends.
    var stallSeconds = 30
  }

  /// A line of `[classes]`: a class that clients can name for a bar or a toolbar.
  ///
  /// It is a subclass of `NavigationBar` or `Toolbar`.
  struct DeclaredClass: Hashable, Sendable {
    var name: String
    var base: BaseClass
  }

  package var daemon = Daemon()
  package var cluster = Cluster()
  var limits = Limits()
  var history = History()
  var backup = Backup()
  /// Section `[session]`.
  var session = Session()
  var access = Access()
  /// Section `[classes]`, in the order declared; a name appears once.
  var classes: [DeclaredClass] = []
  /// Section `[log]`: the least important level that navd logs.
  var logLevel = LogLevel.info
}
