import Glibc
package import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import TransportGuard

/// The name of this machine, as the kernel has it; empty if it has none.
private func hostName() -> String {
  var name = [CChar](repeating: 0, count: 65)
  guard unsafe gethostname(&name, name.count - 1) == 0 else { return "" }
  return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The configuration of a daemon; every member has its default, so no file is needed.
package struct Configuration: Hashable, Sendable {
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
    var witnessPath: String?
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
    var announcedAddress: String?
    /// The address of the gateway that serves this daemon's navs to browsers; nil for none.
    var gatewayAddress: String?
    /// The milliseconds after which another daemon takes over from one that was lost.
    package var leaseMilliseconds: UInt64 = 5000

    var memberName: String { member ?? hostName() }
    /// The name of this machine in the names of its users; nil without a cluster.
    var userHost: String? { database == nil ? nil : host ?? memberName }
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
  /// The limits of the hub, from sections `[limits]` and `[session]`; `router` has the others.
  var hub = HubConfiguration()
  var router = GuardedRouter.Limits()
  /// Section `[history]`.
  var retention = Retention.standard
  var backup = BackupSchedule.Rules()
  var access = Access()
  /// Section `[classes]`, in the order declared; a name appears once.
  var classes: [DeclaredClass] = []
  /// Section `[log]`: the least important level that navd logs.
  var logLevel = LogLevel.info

  /// The maximum size of a frame from a client.
  ///
  /// It is 4,096 bytes more than the longest message, so that the hub can answer a message that is
  /// slightly too long with an error.
  var maximumFrameBytes: Int { hub.maximumRequestBytes + 4096 }
}
