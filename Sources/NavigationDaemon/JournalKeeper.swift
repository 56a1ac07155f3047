package import Journal
import NavigationCore
package import NavigationHub

/// The differences between the programs navd and navd-cluster, such as where each has its journal.
///
/// `navd` keeps the journal in a directory, and `navd-cluster` in a database. They are two
/// programs, because the library of the database needs twenty more: 5 MB of resident memory and 5
/// ms of each start (docs/decisions/021).
package struct JournalKeeper: Sendable {
  let program: String
  /// Checks the server of a connection string and ends the process; nil if there is no such option.
  let qualify: (@Sendable (_ conninfo: String) -> Never)?
  /// Returns the fault of a configuration that this program cannot serve; nil if it can.
  let configurationFault: @Sendable (LoadedConfiguration) -> ConfigurationError?
  /// Returns the error for an option that the program does not support; nil for any other option.
  let optionRefusal: @Sendable (_ option: String) -> DaemonError?
  /// Connects to the database of a cluster; nil for a program with its journal in the state
  /// directory.
  let makeClusterPlace: MakePlace?

  /// Connects to the database of a cluster as the member with this name, address and key.
  ///
  /// The last argument is a function that gets warnings about the database.
  package typealias MakePlace =
    @Sendable (
      Configuration, ClusterMember, @escaping @Sendable (String) -> Void
    ) throws(JournalError) -> any ClusterPlace

  package init(
    program: String, qualify: (@Sendable (String) -> Never)?,
    configurationFault: @escaping @Sendable (LoadedConfiguration) -> ConfigurationError?,
    optionRefusal: @escaping @Sendable (_ option: String) -> DaemonError? = { _ in nil },
    makeClusterPlace: MakePlace?
  ) {
    self.program = program
    self.qualify = qualify
    self.configurationFault = configurationFault
    self.optionRefusal = optionRefusal
    self.makeClusterPlace = makeClusterPlace
  }

  package static let directory = JournalKeeper(
    program: "navd", qualify: nil,
    configurationFault: { loaded in
      guard loaded.configuration.cluster.database != nil else { return nil }
      return loaded.refusal(
        "cluster", "database",
        "needs navd-cluster: this program keeps its journal in a directory")
    }, makeClusterPlace: nil)
}
