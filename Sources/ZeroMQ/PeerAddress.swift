/// Where the other end of a connection is, as libzmq reports it.
package enum PeerAddress: Hashable, Sendable {
  /// A process on this machine, known to the kernel when it connected.
  ///
  /// The group is the primary one; the process may be gone and its number in use again.
  case process(user: UInt32, group: UInt32, process: Int32)
  /// The numeric address of a peer on the network.
  case network(String)

  /// Reads libzmq's text: `localhost:UID:GID:PID` for `ipc`, an address otherwise.
  ///
  /// The host must be spelt `localhost`. On a network libzmq gives numbers only, so that an IPv6
  /// address such as `fe80::0:0:1` cannot pass for user 0 of this machine.
  package init(parsing text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "localhost",
      let user = UInt32(parts[1]), let group = UInt32(parts[2]), let process = Int32(parts[3])
    else {
      self = .network(text)
      return
    }
    self = .process(user: user, group: group, process: process)
  }
}
