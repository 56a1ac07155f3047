import CommandLineOptions
import NavigationCore

/// The meaning, the cause and the remedy of a code of an error, of navd's log or of a session end.
struct Explanation: Hashable, Sendable {
  let code: String
  /// The exit status of a command that fails with it; nil if no command fails with it.
  let exitStatus: Int32?
  let refusal: ErrorCode?
  let meaning: String
  let cause: String
  let remedy: String
  /// A command line that shows or corrects such a case.
  let example: String

  init(_ code: ErrorCode) {
    let row = code.row
    self.init(
      code.rawValue, exitStatus: row.exitStatus, refusal: code, row.meaning, cause: row.cause,
      remedy: Remedies.remedy(for: code), example: row.example)
  }

  init(
    _ code: String, exitStatus: Int32?, refusal: ErrorCode? = nil, _ meaning: String,
    cause: String, remedy: String, example: String
  ) {
    (self.code, self.exitStatus, self.refusal, self.meaning) = (code, exitStatus, refusal, meaning)
    (self.cause, self.remedy, self.example) = (cause, remedy, example)
  }

  /// Every code that navctl or navd prints: those of navctl first, then those of the protocol.
  static let all = others + ErrorCode.allCases.map { Explanation($0) }

  /// Finds the explanation of a code; throws the most similar codes, if it is unknown.
  static func find(_ code: String) throws(UsageError) -> Explanation {
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
      return (known, isPart ? 1 : Suggestion.distance(wanted, known), difference)
    }
    return ranked.filter { known, distance, _ in distance <= min(3, known.utf8.count - 1) }
      .sorted { ($0.1, $0.2, Text($0.0)) < ($1.1, $1.2, Text($1.0)) }.prefix(3).map(\.0)
  }

  /// Lines break at `columns`, except the example and the remedy.
  func lines(columns: Int) -> [String] {
    var lines = [
      exitStatus.map { "\(code)  exit status \($0)" } ?? "\(code)  no error of a command"
    ]
    lines += TerminalText.wrapped(meaning, columns: columns - 2).map { "  \($0)" }
    lines += TerminalText.wrapped("why: \(cause)", columns: columns - 2).map { "  \($0)" }
    if let refusal {
      lines.append("  effect \(refusal.effect.rawValue), retry \(refusal.retry.rawValue)")
    }
    lines.append("  example: \(example)")
    lines.append("  try: \(remedy)")
    return lines
  }

  var json: OpaqueJSON {
    var members: JSONObject = ["code": .string(code)]
    members.add("exit", exitStatus.map { .integer(UInt64($0)) })
    if let refusal {
      members.add("effect", refusal.effect.rawValue)
      members.add("retry", refusal.retry.rawValue)
    }
    for (name, text) in [
      ("meaning", meaning), ("why", cause), ("example", example), ("try", remedy),
    ] {
      members.add(name, text)
    }
    return .object(members)
  }

  /// The codes of navctl's own errors, of notes in navd's log, and of the ends of sessions.
  static let others: [Explanation] = [
    Explanation(
      "no-daemon", exitStatus: 7, "No navd answers at the endpoint.",
      cause: "It is not running, it listens elsewhere, or the network does not reach it.",
      remedy:
        "start it: systemctl restart navd.socket, or run navd; another address: --endpoint or NAVD_ENDPOINT",
      example: "navctl --endpoint ipc:///run/navd/navd.sock status"),
    Explanation(
      "timeout", exitStatus: 4,
      "The reply, or the event that the command waited for, did not arrive in time.",
      cause: "navd is busy or stopped, the network is slow, or the condition of wait and watch was "
        + "not met. navd may still have made a change.",
      remedy:
        "wait longer: --timeout 30s; see the state: navctl show NAV; find the cause: navctl doctor",
      example: "navctl wait kiosk --top wifi --timeout 30s"),
    Explanation(
      "usage", exitStatus: 2, "The command line is wrong.",
      cause:
        "An option or an argument is missing, misspelt or not possible here. navctl sent nothing.",
      remedy: "navctl help COMMAND", example: "navctl help push"),
    Explanation(
      "recording", exitStatus: 1,
      "The file is no recording that can be read, or its contents contradict its digests.",
      cause:
        "The file is damaged or incomplete, a newer navctl made it, or a digest in it does not "
        + "match. The message names the line or the revision.",
      remedy: "ask for the file again, or record anew: navctl record NAV FILE",
      example: "navctl play kiosk.navrec --verify"),
    Explanation(
      "history", exitStatus: 8, "The history that navd sent contradicts itself.",
      cause: "A revision does not lead to the digest that navd has for it. navctl wrote no file.",
      remedy: "navctl verify NAV; report it with navctl dump", example: "navctl verify kiosk"),
    Explanation(
      "interrupted", exitStatus: 1, "A signal ended the command before its file was complete.",
      cause: "Ctrl-C, the end of the terminal, or SIGTERM. navctl removed what it had written.",
      remedy: "run the command again; --last 500 takes less time",
      example: "navctl record kiosk kiosk.navrec --last 500"),
    Explanation(
      "page", exitStatus: 1, "The page that shows a recording in a browser is missing.",
      cause: "It belongs to the package navd-inspector, or make inspector builds it.",
      remedy: "install navd-inspector, or name the directory: --page DIR",
      example: "navctl record kiosk kiosk.html --html"),
    Explanation(
      "not-admitted", exitStatus: 5,
      "navd does not accept the client: its key is not authorised, or it has no right.",
      cause:
        "Over tcp, the key is not authorised, was revoked, or has neither a role nor a grant. On "
        + "a socket of this machine, no line of [access] names the user. navd logs the same "
        + "code.",
      remedy:
        "on navd's machine: navctl key authorize NAME PUBLIC-KEY --role ui; for a user: role = "
        + "ui uid:N in navd.conf(5)",
      example: "navctl key authorize panel-1 \"$(cat panel-1.pub)\" --role ui"),
    Explanation(
      "wrong-server-key", exitStatus: 5,
      "The program at the endpoint is not the navd with the given server key.",
      cause:
        "The key belongs to another navd, navd's secret key was replaced, or another program uses "
        + "the port.",
      remedy: "on navd's machine: navctl key public FILE, with secret-key of navd.conf(5); then "
        + "--server-key KEY",
      example: "navctl --server-key \"$(cat navd.pub)\" status"),
    Explanation(
      "too-many-connections", exitStatus: 5,
      "navd has reached its limit of connections, of all clients or of this user or key.",
      cause: "Programs keep their connections open. navctl retries until its timeout.",
      remedy: "wait longer: --timeout 60s; end programs; raise connections or "
        + "connections-per-principal in navd.conf(5)",
      example: "navctl list --clients"),
    Explanation(
      "revoked", exitStatus: 5,
      "The key of the client is no longer authorised; navd ended its sessions.",
      cause:
        "The administrator revoked the key, or authorised it under another name. navd logs the "
        + "same code.",
      remedy: "on navd's machine: navctl key list, then navctl key authorize NAME PUBLIC-KEY",
      example: "navctl key list"),
    Explanation(
      "key", exitStatus: 2, "A key, or a file of keys, cannot be used.",
      cause:
        "A public key must have 40 characters, only its owner may read the file of a secret key, "
        + "and navctl does not overwrite a file. The message names the fault.",
      remedy: "follow the message; navctl help key", example: "navctl key public panel-1.key"),
    Explanation(
      "file", exitStatus: 1, "A file cannot be read or written.",
      cause: "The directory is missing or full, or this user may not write there.",
      remedy: "choose another file", example: "navctl save kiosk /tmp/kiosk.json"),
    Explanation(
      "nothing", exitStatus: 1, "There is nothing to save.",
      cause: "Only screens with a restoration id are saved, and only if the nav has one.",
      remedy:
        "navctl set NAV settings restorationID=NAV; navctl set NAV screen ID restorationID=ID",
      example: "navctl set kiosk settings restorationID=kiosk"),
    Explanation(
      "input", exitStatus: 1, "Standard input cannot be read.",
      cause: "It is closed, or a read failed.",
      remedy: "give the input by a pipe or a file: navctl restore NAV FILE",
      example: "echo finish | navctl gesture kiosk begin"),
    Explanation(
      "output", exitStatus: 1, "Standard output cannot be written.",
      cause: "The disk is full, or the program that read the output has ended.",
      remedy: "free disk space, or read the output to its end", example: "navctl list"),
    Explanation(
      "command", exitStatus: 126, "The command behind -- or --exec cannot be started.",
      cause: "It does not exist (status 127), or this user may not run it (status 126).",
      remedy: "name a program in PATH, or its full path",
      example: "navctl lease kiosk take -- /bin/true"),
    Explanation(
      "protocol", exitStatus: 7,
      "A message cannot be read, or the program at the endpoint is not navd.",
      cause:
        "The client and navd have different versions. As the end of a session: the client sent "
        + "three malformed messages.",
      remedy: "compare the versions: navctl --version, navctl status", example: "navctl status"),
    Explanation(
      "failed", exitStatus: 7, "An error occurred that has no code of its own.",
      cause: "A system call failed; the message contains the error text of the system.",
      remedy: "navctl doctor", example: "navctl doctor"),
    Explanation(
      "override", exitStatus: nil, "A client changed a nav without a guard, by --any.",
      cause: "A note in navd's log with the name of the client; navd performed the operation.",
      remedy: "find the author: navctl log NAV", example: "journalctl -u navd NAVD_CODE=override"),
    Explanation(
      "trace", exitStatus: nil, "A client sees the messages of other clients.",
      cause: "A note in navd's log: navctl trace, which needs the role admin.",
      remedy: "find the sessions: navctl list --clients",
      example: "journalctl -u navd NAVD_CODE=trace"),
    Explanation(
      "forced", exitStatus: nil, "A client took the display from its holder.",
      cause: "A note in navd's log: lease take --force, which needs the right admin.",
      remedy: "find the holder: navctl show NAV", example: "journalctl -u navd NAVD_CODE=forced"),
    Explanation(
      "veto-skipped", exitStatus: nil, "A delegate did not answer, and navd allowed the change.",
      cause: "A note in navd's log: the delegate did not answer in time, and veto.policy is allow.",
      remedy: "check the delegate; to refuse instead: navctl set NAV settings veto.policy=deny",
      example: "journalctl -u navd NAVD_CODE=veto-skipped"),
    Explanation(
      "bye", exitStatus: nil, "The client ended its session.",
      cause: "A reason in the statistics of ended sessions; not an error.", remedy: "none needed",
      example: "navctl status -o json"),
    Explanation(
      "lost", exitStatus: nil, "The connection of a session was lost.",
      cause:
        "The client ended without bye, or the network failed. A reason in the statistics of "
        + "ended sessions.",
      remedy: "none needed; the client reconnects by itself",
      example: "navctl status -o json"),
    Explanation(
      "renewed", exitStatus: nil, "The client began a new session on the same connection.",
      cause: "A reason in the statistics of ended sessions; not an error.", remedy: "none needed",
      example: "navctl status -o json"),
    Explanation(
      "stalled", exitStatus: nil, "navd ended a session because its client read nothing for 30 s.",
      cause: "The client hangs, or reads slower than the navs that it watches change. After it "
        + "reconnects, it continues where it was.",
      remedy: "find it: navctl top; navctl doctor",
      example: "navctl top --count 1"),
  ]
}
