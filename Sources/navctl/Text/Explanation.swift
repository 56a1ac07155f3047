import CommandLineOptions
import NavigationCore

/// Explains a code of an error, of navd's log or of the end of a session.
struct CodeExplanation: Hashable, Sendable {
  let code: String
  /// The exit status of a command that fails with it; nil if no command fails with it.
  let exitStatus: Int32?
  let errorCode: ErrorCode?
  let meaning: String
  let cause: String
  let remedy: String
  let example: String

  /// Every code that navctl or navd prints: those of navctl first, then those of the protocol.
  static let all = ownCodes + ErrorCode.allCases.map { CodeExplanation($0) }

  /// Finds the explanation of a code; the error for an unknown code suggests similar ones.
  static func find(_ code: String) throws(UsageError) -> CodeExplanation {
    if let found = all.first(where: { $0.code == code }) { return found }
    let near = nearest(to: code)
    let question = near.isEmpty ? "" : "; is it '\(near.joined(separator: "', '"))'?"
    throw UsageError(
      "there is no code '\(TerminalText.visible(code))'\(question)",
      remedy: "navctl explain, which lists all codes")
  }

  /// At most three codes that are similar to a misspelt one, the most similar first.
  static func nearest(to code: String) -> [String] {
    let wanted = code.lowercased()
    let ranked = all.map(\.code).map { known in
      let isPart = !wanted.isEmpty && (known.contains(wanted) || wanted.contains(known))
      let difference = abs(known.utf8.count - wanted.utf8.count)
      return (known, isPart ? 1 : Suggestion.editDistance(wanted, known), difference)
    }
    return ranked.filter { known, distance, _ in distance <= min(3, known.utf8.count - 1) }
      .sorted { ($0.1, $0.2, Text($0.0)) < ($1.1, $1.2, Text($1.0)) }.prefix(3).map(\.0)
  }

  /// The explanation in lines of at most `columns`, except the example and the remedy.
  func lines(columns: Int) -> [String] {
    var lines = [
      exitStatus.map { "\(code)  exit status \($0)" } ?? "\(code)  no error of a command"
    ]
    lines += TerminalText.wrapped(meaning, columns: columns - 2).map { "  \($0)" }
    lines += TerminalText.wrapped("why: \(cause)", columns: columns - 2).map { "  \($0)" }
    if let errorCode {
      lines.append("  effect \(errorCode.effect.rawValue), retry \(errorCode.retry.rawValue)")
    }
    lines.append("  example: \(example)")
    lines.append("  try: \(remedy)")
    return lines
  }

  var json: OpaqueJSON {
    var members: JSONObject = ["code": .string(code)]
    members.add("exit", exitStatus.map { .integer(UInt64($0)) })
    if let errorCode {
      members.add("effect", errorCode.effect.rawValue)
      members.add("retry", errorCode.retry.rawValue)
    }
    return .object(
      members + [
        "meaning": .string(meaning), "why": .string(cause), "example": .string(example),
        "try": .string(remedy),
      ])
  }

  /// The codes of navctl's own errors, of notes in navd's log, and of the ends of sessions.
  static let ownCodes: [CodeExplanation] = {
    let lines = table.split(separator: "\n").map(String.init)
    return stride(from: 0, to: lines.count, by: 4).map { row in
      let head = lines[row].split(separator: " ", maxSplits: 2).map(String.init)
      return CodeExplanation(
        code: head[0], exitStatus: Int32(head[1]), errorCode: nil, meaning: head[2],
        cause: lines[row + 1], remedy: lines[row + 2], example: lines[row + 3])
    }
  }()

  /// Four lines for each: code, exit status and meaning; cause; remedy; example.
  private static let table = """
    no-daemon 7 No navd answers at the endpoint.
    It is not running, it listens elsewhere, or the network does not reach it.
    start it: systemctl restart navd.socket, or run navd; another address: --endpoint or \
    NAVD_ENDPOINT
    navctl --endpoint ipc:///run/navd/navd.sock status
    timeout 4 The reply, or the event that the command waited for, did not arrive in time.
    navd is busy or stopped, the network is slow, or the condition of wait and watch was not met. \
    navd may still have made a change.
    wait longer: --timeout 30s; see the state: navctl show NAV; find the cause: navctl doctor
    navctl wait kiosk --top wifi --timeout 30s
    usage 2 The command line is wrong.
    An option or an argument is missing, misspelt or not possible here. navctl sent nothing.
    navctl help COMMAND
    navctl help push
    recording 1 The file is no recording that can be read, or its contents contradict its digests.
    The file is damaged or incomplete, a newer navctl made it, or a digest in it does not match. \
    The message names the line or the revision.
    ask for the file again, or record anew: navctl record NAV FILE
    navctl play kiosk.navrec --verify
    history 8 The history that navd sent contradicts itself.
    A revision does not lead to the digest that navd has for it. navctl wrote no file.
    navctl verify NAV; report it with navctl dump
    navctl verify kiosk
    interrupted 1 A signal ended the command before its file was complete.
    Ctrl-C, the end of the terminal, or SIGTERM. navctl removed what it had written.
    run the command again; --last 500 takes less time
    navctl record kiosk kiosk.navrec --last 500
    page 1 The page that shows a recording in a browser is missing.
    It belongs to the package navd-inspector, or make inspector builds it.
    install navd-inspector, or name the directory: --page DIR
    navctl record kiosk kiosk.html --html
    not-admitted 5 navd does not accept the client: its key is not authorised, or it has no right.
    Over tcp, the key is not authorised, was revoked, or has neither a role nor a grant. On a \
    socket of this machine, no line of [access] names the user. navd logs the same code.
    on navd's machine: navctl key authorize NAME PUBLIC-KEY --role ui; for a user: role = ui uid:N \
    in navd.conf(5)
    navctl key authorize panel-1 "$(cat panel-1.pub)" --role ui
    wrong-server-key 5 The program at the endpoint is not the navd with the given server key.
    The key belongs to another navd, navd's secret key was replaced, or another program uses the \
    port.
    on navd's machine: navctl key public FILE, with secret-key of navd.conf(5); then --server-key \
    KEY
    navctl --server-key "$(cat navd.pub)" status
    too-many-connections 5 navd has reached its limit of connections, of all clients or of this \
    user or key.
    Programs keep their connections open. navctl retries until its timeout.
    wait longer: --timeout 60s; end programs; raise connections or connections-per-principal in \
    navd.conf(5)
    navctl list --clients
    revoked 5 The key of the client is no longer authorised; navd ended its sessions.
    The administrator revoked the key, or authorised it under another name. navd logs the same \
    code.
    on navd's machine: navctl key list, then navctl key authorize NAME PUBLIC-KEY
    navctl key list
    key 2 A key, or a file of keys, cannot be used.
    A public key must have 40 characters, only its owner may read the file of a secret key, and \
    navctl does not overwrite a file. The message names the fault.
    follow the message; navctl help key
    navctl key public panel-1.key
    file 1 A file cannot be read or written.
    The directory is missing or full, or this user may not write there.
    choose another file
    navctl save kiosk /tmp/kiosk.json
    nothing 1 There is nothing to save.
    Only screens with a restoration id are saved, and only if the nav has one.
    navctl set NAV settings restorationID=NAV; navctl set NAV screen ID restorationID=ID
    navctl set kiosk settings restorationID=kiosk
    input 1 Standard input cannot be read.
    It is closed, or a read failed.
    give the input by a pipe or a file: navctl restore NAV FILE
    echo finish | navctl gesture kiosk begin
    output 1 Standard output cannot be written.
    The disk is full, or the program that read the output has ended.
    free disk space, or read the output to its end
    navctl list
    command 126 The command behind -- or --exec cannot be started.
    It does not exist (status 127), or this user may not run it (status 126).
    name a program in PATH, or its full path
    navctl lease kiosk take -- /bin/true
    protocol 7 A message cannot be read, or the program at the endpoint is not navd.
    The client and navd have different versions. As the end of a session: the client sent three \
    malformed messages.
    compare the versions: navctl --version, navctl status
    navctl status
    failed 7 An error occurred that has no code of its own.
    A system call failed; the message contains the error text of the system.
    navctl doctor
    navctl doctor
    override - A client changed a nav without a guard, by --any.
    A note in navd's log with the name of the client; navd performed the operation.
    find the author: navctl log NAV
    journalctl -u navd NAVD_CODE=override
    trace - A client sees the messages of other clients.
    A note in navd's log: navctl trace, which needs the role admin.
    find the sessions: navctl list --clients
    journalctl -u navd NAVD_CODE=trace
    forced - A client took the display from its holder.
    A note in navd's log: lease take --force, which needs the right admin.
    find the holder: navctl show NAV
    journalctl -u navd NAVD_CODE=forced
    veto-skipped - A delegate did not answer, and navd allowed the change.
    A note in navd's log: the delegate did not answer in time, and veto.policy is allow.
    check the delegate; to refuse instead: navctl set NAV settings veto.policy=deny
    journalctl -u navd NAVD_CODE=veto-skipped
    bye - The client ended its session.
    A reason in the statistics of ended sessions; not an error.
    none needed
    navctl status -o json
    lost - The connection of a session was lost.
    The client ended without bye, or the network failed. A reason in the statistics of ended \
    sessions.
    none needed; the client reconnects by itself
    navctl status -o json
    renewed - The client began a new session on the same connection.
    A reason in the statistics of ended sessions; not an error.
    none needed
    navctl status -o json
    stalled - navd ended a session because its client read nothing for 30 s.
    The client hangs, or reads slower than the navs that it watches change. After it reconnects, \
    it continues where it was.
    find it: navctl top; navctl doctor
    navctl top --count 1
    """
}

extension CodeExplanation {
  init(_ code: ErrorCode) {
    let row = code.row
    self.init(
      code: code.rawValue, exitStatus: row.exitStatus, errorCode: code, meaning: row.meaning,
      cause: row.cause, remedy: Remedies.remedy(for: code), example: row.exampleCommand)
  }
}
