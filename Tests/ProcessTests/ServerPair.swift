import ChildProcess
import Foundation
import PostgresServer

/// A primary and its synchronous standby, at two of three nodes; the third one is for the next standby.
///
/// No server ever confirms a commit alone: a promoted standby waits for a standby of its own.
final class ServerPair {
  /// The nodes where servers can be.
  static let nodes = ["p", "q", "r"]
  private static let options = ["cluster_name=standby", "wal_retrieve_retry_interval=100ms"]

  /// The network of the nodes; nil if all servers have their sockets alone.
  let network: ClusterNetwork?
  private(set) var primary: PostgresServer
  private(set) var standby: PostgresServer
  /// The nodes of the primary and of the standby.
  private(set) var primaryNode: String
  private var standbyNode: String
  /// The directories of the sockets, where there is no network: each new standby has another one.
  private let sockets: TestDirectory?

  /// Starts both servers.
  init(in network: ClusterNetwork?) throws {
    self.network = network
    (primaryNode, standbyNode) = (Self.nodes[0], Self.nodes[1])
    sockets = network == nil ? try TestDirectory() : nil
    primary = try PostgresServer(
      options: ["wal_retrieve_retry_interval=100ms"], on: network?.place(of: primaryNode))
    standby = try Self.makeStandby(of: primary, at: standbyNode, network)
    try link(primary, primaryNode)
    try link(standby, standbyNode)
    try primary.requireStandby()
    try awaitSynchronous()
  }

  private static func makeStandby(
    of primary: PostgresServer, at node: String, _ network: ClusterNetwork?
  ) throws -> PostgresServer {
    try PostgresServer(
      standbyOf: primary, options: options + ["synchronous_standby_names=standby"],
      on: network?.place(of: node))
  }

  /// Lets a node's name in the connection string lead to a server's socket.
  private func link(_ server: PostgresServer, _ node: String) throws {
    guard let sockets else { return }
    let path = "\(sockets.path)/\(node)"
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: server.directory)
  }

  /// The connection string that names all nodes.
  func conninfo(_ database: String) -> String {
    let hosts = Self.nodes.map { node in
      sockets.map { "\($0.path)/\(node)" } ?? network?.place(of: node).address ?? ""
    }
    return PostgresServer.conninfo(database, hosts: hosts)
  }

  /// Makes the standby the primary, while the former one is gone or cut off.
  func promote() throws {
    try standby.promote()
    (primary, primaryNode) = (standby, standbyNode)
  }

  /// Makes a new standby at the node that has no server.
  ///
  /// - Parameter former: the node of the former primary, which stays as it is.
  /// - Throws: the error of the programs that copy and start it.
  func addStandby(except former: String) throws {
    standbyNode = Self.nodes.first { $0 != primaryNode && $0 != former } ?? ""
    standby = try Self.makeStandby(of: primary, at: standbyNode, network)
    try link(standby, standbyNode)
  }

  /// Waits until each commit waits for the standby.
  func awaitSynchronous() throws {
    let isSynchronous = try eventually {
      try primary.sql(
        "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'"
      ) == "1"
    }
    guard isSynchronous else { throw Failure("the standby does not follow") }
  }
}
