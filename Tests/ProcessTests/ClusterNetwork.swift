import ChildProcess
import Foundation
import PostgresServer

/// A network of this machine's own: a bridge, and a namespace for each daemon and each server on it.
///
/// The host's interfaces and rules stay as they are. The names begin with the number of this process,
/// so that the next run finds and deletes the namespaces of a run that crashed.
final class ClusterNetwork {
  static let ip = "/usr/sbin/ip"
  private static let nft = "/usr/sbin/nft"
  private static let stem = "navd-t"
  private static let subnet = "10.117.0"

  private let prefix: String
  private let nodes: [String]

  /// Whether namespaces can be made here; prints the reason if not.
  static let isPossible: Bool = {
    do {
      deleteStale()
      let network = try ClusterNetwork(["a"])
      try network.cut("a")
      return true
    } catch {
      print(
        "skipped: losses of the network, because no namespace can be made; run as root: \(error)")
      return false
    }
  }()

  /// Makes a network of some nodes.
  init(_ nodes: [String]) throws {
    self.nodes = nodes
    prefix = "\(Self.stem)-\(getpid())-\(UInt16.random(in: .min ... .max))"
    var lines = [
      "ip netns add \(prefix)", "ip -n \(prefix) link add hub type bridge",
      "ip -n \(prefix) link set hub up",
    ]
    for (index, node) in nodes.enumerated() {
      let name = namespace(of: node)
      lines += [
        "ip netns add \(name)",
        "ip link add to-\(node) netns \(prefix) type veth peer name net netns \(name)",
        "ip -n \(prefix) link set to-\(node) master hub up",
        "ip -n \(name) address add \(Self.subnet).\(index + 1)/24 dev net",
        "ip -n \(name) link set net up", "ip -n \(name) link set lo up",
      ]
    }
    do {
      try Self.run("/bin/bash", ["-c", (["set -e"] + lines).joined(separator: "\n")])
    } catch {
      remove()
      throw error
    }
  }

  deinit { remove() }

  /// The name of the namespace of a node.
  func namespace(of node: String) -> String { "\(prefix)-\(node)" }

  /// Where the server of a node listens.
  func place(of node: String) -> PostgresServer.Network {
    PostgresServer.Network(
      namespace: namespace(of: node),
      address: "\(Self.subnet).\((nodes.firstIndex(of: node) ?? 0) + 1)",
      subnet: Self.subnet + ".0/24")
  }

  /// Drops everything that a node sends and everything that is sent to it, without an answer.
  func cut(_ node: String) throws {
    let chains = ["input", "output"].map {
      "add chain inet cut \($0) { type filter hook \($0) priority 0; policy drop; }"
    }
    try nft("add table inet cut; " + chains.joined(separator: "; "), in: node)
  }

  /// Connects a node again.
  func heal(_ node: String) throws { try nft("delete table inet cut", in: node) }

  private func nft(_ rules: String, in node: String) throws {
    try Self.run(Self.ip, ["netns", "exec", namespace(of: node), Self.nft, rules])
  }

  private func remove() {
    for name in [prefix] + nodes.map(namespace) { Self.delete(name) }
  }

  private static func delete(_ name: String) { try? run(ip, ["netns", "delete", name]) }

  /// Deletes the namespaces of processes that are gone.
  private static func deleteStale() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/run/netns")) ?? []
    for name in names where name.hasPrefix(stem + "-") {
      let process = name.dropFirst(stem.count + 1).prefix { $0 != "-" }
      if !FileManager.default.fileExists(atPath: "/proc/\(process)") { delete(name) }
    }
  }

  private static func run(_ path: String, _ words: [String]) throws {
    let output = try ChildOutput(of: path, words, withErrors: true)
    guard output.status == 0 else {
      throw Failure("\(words.last ?? path): \(output.text)")
    }
  }
}
