/// A client as the log names it, and a refusal that its change explains.
///
/// A session has one for everything that it changes, so that a change allocates none.
package final class Author: Hashable, Sendable {
  /// The name that the client gave itself.
  package let name: String
  /// The user or key, as in `uid:1000`.
  package let principal: String
  /// The process, where the kernel told it.
  package let process: Int32?

  /// Makes an author.
  package init(name: String, principal: String, process: Int32?) {
    self.name = name
    self.principal = principal
    self.process = process
  }

  /// Compares name, principal and process.
  package static func == (left: Author, right: Author) -> Bool {
    left.name == right.name && left.principal == right.principal && left.process == right.process
  }

  /// Hashes name, principal and process.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(principal)
    hasher.combine(process)
  }
}
