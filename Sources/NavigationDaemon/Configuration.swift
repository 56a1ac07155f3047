/// What an administrator can decide; every member has a default that needs no file.
package struct Configuration: Hashable, Sendable {
  /// When an acknowledgement may leave.
  package enum Durability: String, CaseIterable, Sendable {
    /// After the change is on stable storage.
    case sync
    /// After the change is written; a crash of the machine may lose it.
    case relaxed
  }

  /// What a declared class is a subclass of.
  package enum BaseClass: String, CaseIterable, Sendable {
    /// A subclass of `NavigationBar`.
    case navigationBar = "NavigationBar"
    /// A subclass of `Toolbar`.
    case toolbar = "Toolbar"
  }

  /// Section `[daemon]`.
  package struct Daemon: Hashable, Sendable {
    /// The addresses to listen on; empty means the rule of `PathRules`.
    package var endpoints: [String] = []
    /// The journal's directory; `nil` means the rule of `PathRules`.
    package var stateDirectory: String?
    /// When an acknowledgement may leave.
    package var durability = Durability.sync
    /// The mode of the socket's file; `nil` means 0660 with a group, else 0600.
    package var socketMode: UInt32?
    /// The group that may connect, a name or a number; `nil` leaves the socket's group alone.
    package var socketGroup: String?

    /// The mode the socket's file gets.
    package var effectiveSocketMode: UInt32 { socketMode ?? (socketGroup == nil ? 0o600 : 0o660) }
  }

  /// Section `[limits]`: what a client can make the daemon hold or do.
  package struct Limits: Hashable, Sendable {
    /// The longest message a client may send.
    package var messageToDaemonBytes = 65_536
    /// The longest message the daemon sends.
    package var messageFromDaemonBytes = 262_144
    /// The most screens on one stack.
    package var depth = 64
    /// The largest state of one nav.
    package var stateBytes = 1_048_576
    /// The most records of one nav that are on no stack.
    package var detachedRecords = 256
    /// How many revisions of one nav are kept in memory to resume from.
    package var resumeRevisions = 256
    /// How much of one nav's history is kept in memory to resume from.
    package var resumeBytes = 262_144
    /// How much history of all navs is kept in memory.
    package var resumeTotalBytes = 67_108_864
    /// What all clients together may leave unread of what they were sent.
    package var unsentTotalBytes = 268_435_456
    /// What all clients together may have sent that the daemon has not taken yet.
    package var unreadTotalBytes = 134_217_728
    /// The operations one connection may send in a second; 0 means any number.
    package var operationsPerSecond = 0
    /// The most watches of one connection.
    package var watchesPerConnection = 1024
    /// The most unanswered operations of one connection.
    package var inflightOperations = 64
    /// The most connections.
    package var connections = 4096
    /// The most connections of one principal.
    package var connectionsPerPrincipal = 256
    /// The most navs.
    package var navs = 100_000
    /// How many answered operations of one client are remembered.
    package var rememberedOperations = 64
    /// How many clients' operations are remembered.
    package var rememberedClients = 4096
    /// How many of them may belong to one principal.
    package var rememberedClientsPerPrincipal = 1024
    /// How long a client without a connection is remembered.
    package var rememberedIdleSeconds = 600
    /// The largest credit window a client may ask for.
    package var maximumWindowBytes = 1_048_576
  }

  /// Section `[history]`: what the journal keeps for `log`, `at` and `revert`.
  package struct History: Hashable, Sendable {
    /// How many revisions of each nav.
    package var revisions = 10_000
    /// For how long.
    package var days = 30
    /// How much of all navs together.
    package var bytes = 1_073_741_824
    /// After how many revisions of a nav its whole state is stored, so that replay is short.
    package var snapshotEvery = 1000
  }

  /// Section `[session]`.
  package struct Session: Hashable, Sendable {
    /// The heartbeat a client gets that asks for none.
    package var heartbeatMilliseconds = 5000
    /// How long a client may leave its credit unused before its session ends.
    package var stallSeconds = 30
  }

  /// A line of `[classes]`: a class name clients may use, and its base.
  package struct DeclaredClass: Hashable, Sendable {
    /// The class's name.
    package var name: String
    /// What it is a subclass of.
    package var base: BaseClass

    /// Makes a declaration.
    package init(name: String, base: BaseClass) {
      self.name = name
      self.base = base
    }
  }

  /// Section `[daemon]`.
  package var daemon = Daemon()
  /// Section `[limits]`.
  package var limits = Limits()
  /// Section `[history]`.
  package var history = History()
  /// Section `[session]`.
  package var session = Session()
  /// Section `[access]`.
  package var access = Access()
  /// Section `[classes]`, in the order declared; a name appears once.
  package var classes: [DeclaredClass] = []
  /// Section `[log]`: the least important level that is written.
  package var logLevel = LogLevel.info

  /// The configuration of a daemon without a file.
  package init() {}
}
