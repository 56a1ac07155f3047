import Navigation
import NavigationProtocol

/// A read that waits for the journal.
struct PendingRead: Sendable {
  enum What: Sendable {
    case log(floor: Revision)
    case state(GetRequest.What, Revision)
    /// An op goes on with the stack of this revision.
    case revert(OpContext, Revision)
  }

  var connection: ConnectionID
  var id: UInt64
  var what: What
  var standing: NavStanding
  var owner: String
  var peer: Peer
}
