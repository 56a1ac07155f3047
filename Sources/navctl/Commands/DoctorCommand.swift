import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

enum DoctorCommand: Command {
  static let declaration = CommandSet.Command(
    "doctor", "Check navd and the way to it; print a remedy for each fault", Subject.daemon,
    note: """
      Checks the socket and this user's access, navd and its version, its clock, storage, disk, \
      limits and peers. Each check prints a line with ok, warn or fail, and a remedy where one is \
      needed. The status is 1 if a check fails, else 0.
      """, example: "doctor")

  static func run(_ invocation: Invocation) throws {
    let findings = findings(invocation)
    if invocation.isJSON {
      try Output.record(.doctor, Doctor.json(findings))
    } else {
      try invocation.write(Doctor.lines(findings, columns: invocation.columns))
    }
    try ExitStatus.end(findings.contains { $0.verdict == .fail } ? 1 : 0)
  }

  static func findings(_ invocation: Invocation) -> [DoctorFinding] {
    Doctor.findings(facts(invocation))
  }

  /// Collects the facts; an error on the way becomes a fact, so that the checks can report it.
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
      facts.denial = AccessDenial.find(facts.endpoint ?? "")
    }
    guard let endpoint = facts.endpoint, facts.denial == nil else { return facts }
    do {
      try ask(invocation, endpoint, &facts)
    } catch let refusal as Refusal {
      facts.failure = "navd refuses: \(refusal.error.code): \(refusal.error.message)"
    } catch {
      facts.failure = "\(error)"
    }
    return facts
  }

  private static func ask(
    _ invocation: Invocation, _ endpoint: String, _ facts: inout DoctorFacts
  ) throws {
    let daemon = try invocation.connect(endpoint, try invocation.identity(endpoint))
    let start = SystemClock.monotonicMilliseconds()
    let pong = try daemon.connection.ping(timeout: daemon.timeout)
    facts.took = SystemClock.monotonicMilliseconds() - start
    facts.daemonTime = pong.time
    facts.ownTime = SystemClock.wallMilliseconds()
    facts.statistics = try StatusCommand.read(daemon).statistics
  }
}
