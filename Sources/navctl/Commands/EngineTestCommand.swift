import CommandLineOptions
import Glibc
import RuntimePaths

/// `engine-test`: checks a database server before a cluster trusts it.
///
/// The checks need the client library of the database, so that `navd-cluster` has them.
enum EngineTestCommand: Command {
  static let declaration = CommandSet.Command(
    "engine-test", "Check a database server for a cluster", Subject.administration,
    .init("CONNINFO"),
    note: """
      CONNINFO is a connection string of PostgreSQL. The command runs navd-cluster --qualify, which
      needs the package navd-cluster: races of two writers, syncing, fencing, and the settings of
      the server. It prints a line for each check. Passwords come from a service file, never from
      the command line.
      """, example: "engine-test 'host=db1,db2 dbname=navd user=navd'")

  static func run(_ invocation: Invocation) throws {
    let words = ["navd-cluster", "--qualify", invocation.line.positionals[0]]
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    unsafe execvp("navd-cluster", &arguments)
    let isMissing = errno == ENOENT
    throw PlainFailure(
      lines: [
        "command: cannot start navd-cluster: \(SystemError.text(of: errno))",
        "try: install the package navd-cluster, or put its directory into PATH",
      ], status: isMissing ? 127 : 126)
  }
}
