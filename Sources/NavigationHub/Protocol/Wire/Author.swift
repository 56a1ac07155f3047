import NavigationCore

/// The client that made a change, as the log and the `since` of a `desync` name it.
///
/// A session has one author for all its changes, so a change allocates none.
package final class Author: Hashable, Sendable {
  /// The name from the client's `hello`; the daemon has not verified it.
  package let name: String
  /// The user as `uid:1000`, or the name of the key, as the daemon authenticated it.
  package let principal: String
  /// The id of the process; nil if the kernel did not report one, as with tcp.
  package let pid: Int32?

  package init(name: String, principal: String, pid: Int32?) {
    self.name = name
    self.principal = principal
    self.pid = pid
  }

  package static func == (left: Author, right: Author) -> Bool {
    left.name == right.name && left.principal == right.principal && left.pid == right.pid
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(principal)
    hasher.combine(pid)
  }
}
