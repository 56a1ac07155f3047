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
  package let processID: Int32?

  package init(name: String, principal: String, processID: Int32?) {
    self.name = name
    self.principal = principal
    self.processID = processID
  }

  package static func == (left: Author, right: Author) -> Bool {
    left.name == right.name && left.principal == right.principal
      && left.processID == right.processID
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(principal)
    hasher.combine(processID)
  }
}
