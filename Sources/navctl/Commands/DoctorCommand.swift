import CLinux
import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationSync
import RuntimePaths

/// `doctor`: looks for what is wrong with the daemon or with the way to it.
enum DoctorCommand: Command {
  static let declaration = CommandSet.Command(
    "doctor", "Look for what is wrong, and say what to do about it", group: Subject.daemon,
    epilogue: """
      Looks at the socket and this user's access, the daemon and its version, its clock, storage, \
      disk, limits and peers. A line each: ok, warn or fail, with a remedy. Status 1 if something \
      fails, else 0.

      Example: navctl doctor
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let findings = Doctor.findings(facts(invocation))
    if invocation.isJSON {
      try Output.line(Doctor.json(findings))
    } else {
      try invocation.write(Doctor.lines(findings, columns: invocation.columns))
    }
    return findings.contains { $0.verdict == .fail } ? 1 : 0
  }

  /// Finds out what can be found out; what goes wrong is a finding and no error.
  private static func facts(_ invocation: Invocation) -> DoctorFacts {
    var facts = DoctorFacts()
    facts.version = Program.number
    do throws(PathError) {
      facts.endpoint = try PathRules(environment: invocation.environment, userID: effectiveUserID())
        .clientEndpoint(option: invocation.line.value(of: "endpoint"))
    } catch {
      facts.endpointFailure = String(error.description.map { $0 == "\n" ? ";" : $0 })
    }
    if let path = facts.socketPath {
      facts.socket = FileStatus.probe(path)
      facts.mayConnect = unsafe access(path, W_OK) == 0
    }
    guard let endpoint = facts.endpoint else { return facts }
    do {
      try ask(invocation, endpoint, &facts)
    } catch let refusal as Refusal {
      facts.failure = "it refuses: \(refusal.error.code): \(refusal.error.message)"
    } catch {
      facts.failure = "\(error)"
    }
    return facts
  }

  private static func ask(
    _ invocation: Invocation, _ endpoint: String, _ facts: inout DoctorFacts
  ) throws {
    let timeout = Duration.milliseconds(invocation.timeoutMilliseconds)
    var connection = try NavigationConnection.connect(
      to: endpoint, as: try invocation.identity(endpoint), name: "navctl", timeout: timeout)
    let start = SystemClock.monotonicMilliseconds()
    let pong = try connection.ping(timeout: timeout)
    facts.took = SystemClock.monotonicMilliseconds() - start
    facts.daemonTime = pong.time
    facts.ownTime = SystemClock.wallMilliseconds()
    facts.statistics = try StatusCommand.read(invocation, &connection).statistics
  }
}
