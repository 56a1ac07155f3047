import Glibc
import Journal
import NavigationCore
import NavigationDaemon
import NavigationHub
import PostgresJournal

/// `navd-cluster --qualify CONNINFO`: checks a server, and prints a line for each check.
///
/// Exits with 0 if the server kept every promise, 1 if it broke one, 7 if navd could not check it.
func checkPostgresServer(_ conninfo: String) -> Never {
  do throws(JournalError) {
    let checks = try PostgresQualification.run(
      PostgresPlace(
        conninfo: conninfo,
        member: ClusterMember(name: "qualification", endpoint: "", leaseLeft: 0)
      ) { _ in })
    for check in checks {
      print(check.failure.map { "broken  \(check.promise): \($0)" } ?? "kept    \(check.promise)")
    }
    let broken = checks.count { $0.failure != nil }
    print(broken == 0 ? "the server can keep a journal" : "\(broken) of \(checks.count) broken")
    exit(broken == 0 ? 0 : 1)
  } catch {
    print("not checked: \(error)")
    ExitStatus.journalUnavailable.exitProcess()
  }
}
