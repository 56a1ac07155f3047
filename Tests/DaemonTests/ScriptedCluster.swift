import NavigationCore
import NavigationHub

@testable import Journal

/// A cluster's journal that stores nothing, and fails and loses its lease when a test says so.
///
/// `@unchecked Sendable`: a test changes it while no other thread uses it.
final class ScriptedCluster: ClusterJournal, ClusterKeeper, @unchecked Sendable {
  /// A server, which keeps the files.
  private struct Server: ClusterPlace {
    let cluster: ScriptedCluster

    var directory: JournalDirectory? { nil }

    func openReader() throws(JournalError) -> JournalReader {
      throw .unreadable(path: "test", reason: "nothing is stored")
    }

    func join(retention: Retention) throws(JournalError) -> any ClusterJournal { cluster }
  }

  var retention = Retention.standard
  var lease: JournalLease?
  /// The error of each checkpoint; nil if they succeed.
  var failure: JournalError?
  /// Is called with the shards that the daemon gives up.
  var onDrop: ([Shard]) -> Void = { _ in }

  var place: any JournalPlace { Server(cluster: self) }
  var name: String { "test" }
  var walPages: Int { 0 }
  var problem: JournalError? { nil }
  var fileSizes: (journal: Int, log: Int) { (0, 0) }
  var keeper: any ClusterKeeper { self }

  func stage(_ records: JournalRecords) throws(JournalError) {}
  func commitStaged() throws(JournalError) {}
  func discardStaged() {}
  func checkpoint() throws(JournalError) { if let failure { throw failure } }
  func countTime(until now: UInt64) {}
  func maintain(now: UInt64, budget: Int) throws(JournalError) -> MaintenanceReport {
    MaintenanceReport()
  }
  func close() throws(JournalError) {}

  func adopt(_ taken: [Journal]) {}
  func release(_ shards: [Shard], to member: String?) {}
  func drop(_ shards: [Shard]) { onDrop(shards) }

  func read() throws(JournalError) -> ClusterState {
    ClusterState(view: ClusterView(ownName: "one", members: []))
  }
  func take(_ shards: [Shard]) throws(JournalError) -> [Journal] { [] }
  func store(_ wish: ClusterCommand) throws(JournalError) -> ClusterCommandFailure? { nil }
  func wait(for descriptor: Int32, until time: UInt64) {}
}
