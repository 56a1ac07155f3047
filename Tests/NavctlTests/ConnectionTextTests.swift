import Foundation
import NavigationClient
import NavigationCore
import Testing

@testable import navctl
@testable import RuntimePaths

/// What navctl says when it has no answer of the daemon.
@Suite struct ConnectionTextTests {
  private static let local = "ipc:///run/navd/navd.sock"
  private static let remote = "tcp://10.0.0.1:5555"

  private static let all: [[String]] = [
    ConnectionErrorText.unreachable(local), ConnectionErrorText.unreachable(remote),
    ConnectionErrorText.noPermission(
      SocketAccessDenial(reason: "no permission", remedy: "join", isPermanent: true)),
    ConnectionErrorText.unauthorised(local, key: nil),
    ConnectionErrorText.unauthorised(remote, key: "KEY"),
    ConnectionErrorText.tooManyConnections(local),
    ConnectionErrorText.brokenHandshake(local, serverKey: nil),
    ConnectionErrorText.brokenHandshake(remote, serverKey: "KEY"),
    ConnectionErrorText.sessionEnded("revoked"), ConnectionErrorText.sessionEnded("fenced"),
    ConnectionErrorText.noDaemonFound([PathError.Tried(path: "/a", reason: "not there")]),
    ConnectionErrorText.timeout(local, isChange: false),
    ConnectionErrorText.timeout(local, isChange: true),
  ]

  @Test(arguments: all)
  func `each text begins with a code that explain knows, and has one remedy`(
    lines: [String]
  ) throws {
    let code = try #require(lines.first?.split(separator: ":").first.map(String.init))
    #expect(try CodeExplanation.find(code).code == code)
    #expect(lines.filter { $0.hasPrefix("try: ") }.count == 1, "\(lines)")
    for line in lines { #expect(!line.hasSuffix(".") && !line.contains("\n")) }
  }

  @Test func `where navd runs decides how it is started`() {
    #expect(
      ConnectionErrorText.unreachable(Self.local) == [
        "no-daemon: nothing answers at ipc:///run/navd/navd.sock",
        "try: systemctl restart navd.socket, or run navd; another address: --endpoint or NAVD_ENDPOINT",
      ])
    #expect(
      ConnectionErrorText.unreachable(Self.remote)[1]
        == "try: systemctl status navd on that machine; another address: --endpoint or NAVD_ENDPOINT"
    )
  }

  @Test func `a client without a right is told the line of the configuration, or the command`() {
    #expect(
      ConnectionErrorText.unauthorised(Self.local, key: nil)[1].contains(
        "role = ui uid:N in [access] of navd.conf(5)"))
    #expect(
      ConnectionErrorText.unauthorised(Self.remote, key: "-KEY").last
        == "try: on navd's machine: navctl key authorize NAME '-KEY' --role ui")
  }

  @Test func `a wrong server key stands on a line of its own, for a comparison`() {
    let lines = ConnectionErrorText.brokenHandshake(Self.remote, serverKey: "KEY")
    #expect(lines[1] == "KEY" && lines.count == 4)
    #expect(lines[3].contains("--server-key KEY, or NAVD_SERVER_KEY"))
    #expect(
      ConnectionErrorText.brokenHandshake(Self.local, serverKey: nil)
        == ["protocol: the program at \(Self.local) is not navd", "try: navctl doctor"])
  }

  @Test func `a timeout says whether the change may have been made`() {
    #expect(!ConnectionErrorText.timeout(Self.local, isChange: false)[0].contains("change"))
    let lines = ConnectionErrorText.timeout(Self.local, isChange: true)
    #expect(lines[0].hasSuffix("did not answer in time; it may have made the change"))
    #expect(lines[1].hasPrefix("try: navctl show NAV"))
  }

  @Test func `an ended session has its reason as code`() {
    #expect(
      ConnectionErrorText.sessionEnded("fenced") == [
        "fenced: navd ended the session", "try: again",
      ])
    #expect(ConnectionErrorText.sessionEnded("revoked")[1].contains("navctl key authorize"))
    #expect(ConnectionErrorText.noDaemonStatus == 7)
  }
}

/// The explanations of codes.
@Suite struct ExplanationTextTests {
  @Test func `a code is explained in lines, the remedy last`() throws {
    let lines = try CodeExplanation.find("guard-required").lines(columns: 60)
    #expect(lines[0] == "guard-required  exit status 2")
    #expect(lines.contains("  effect none, retry no"))
    #expect(
      lines.last == "  try: add the expected state: --top ID, --visible ID, --rev N, or --any")
    let note = try CodeExplanation.find("override").lines(columns: 60)
    #expect(note[0] == "override  no error of a command")
    #expect(!note.contains { $0.hasPrefix("  effect") })
  }

  @Test(arguments: CodeExplanation.all)
  func `the JSON of a code has what the lines have`(explanation: CodeExplanation) throws {
    let json = try JSONValue(explanation.json.bytes)
    #expect(json["code"]?.string == explanation.code)
    #expect(json["exit"]?.integer == explanation.exitStatus.map { UInt64($0) })
    #expect(json["meaning"]?.string == explanation.meaning)
    #expect(json["why"]?.string == explanation.cause && json["try"]?.string == explanation.remedy)
    #expect(json["example"]?.string == explanation.example)
    #expect(json["retry"]?.string == explanation.errorCode?.retry.rawValue)
    let words = explanation.lines(columns: 1000).joined(separator: "\n")
    for text in [explanation.meaning, explanation.cause, explanation.example] {
      #expect(words.contains(text))
    }
  }

  @Test func `an unknown code is refused with those that are near, and cannot steer`() throws {
    let near = #expect(throws: UsageError.self) { try CodeExplanation.find("gaurd-required") }
    #expect(near?.message == "there is no code 'gaurd-required'; is it 'guard-required'?")
    #expect(near?.remedy == "navctl explain, which lists all codes")
    let odd = #expect(throws: UsageError.self) { try CodeExplanation.find("\u{1B}[2Jzzzzzzz") }
    #expect(odd?.message == "there is no code '\u{FFFD}[2Jzzzzzzz'")
  }

  @Test(
    arguments: stride(from: 0, to: CodeExplanation.all.count, by: 5).map {
      CodeExplanation.all[$0].code
    })
  func `a code with one letter wrong is found again`(code: String) {
    // Codes of two letters resemble too many others.
    guard code.count > 3 else { return }
    let middle = code.index(code.startIndex, offsetBy: code.count / 2)
    let typos = ["#\(code.dropFirst())", "\(code[..<middle])#\(code[middle...].dropFirst())"]
    for typo in typos {
      let near = CodeExplanation.nearest(to: typo)
      #expect(near.contains(code) && near.count <= 3, "\(typo): \(near)")
    }
    #expect(CodeExplanation.nearest(to: code.uppercased()).first == code)
  }

  @Test func `a long word is near to no code, even if it begins as one`() {
    #expect(CodeExplanation.nearest(to: String(repeating: "x", count: 2000)).isEmpty)
    #expect(CodeExplanation.nearest(to: "desynchronisation").first == "desync")
  }
}

/// The remedies that depend on the command which was refused.
@Suite struct RemedyChoiceTests {
  private func remedy(
    _ code: ErrorCode, _ command: String?, _ operation: OperationKind? = nil, nav: String = "k",
    leased: String? = nil
  ) -> String {
    Remedies.remedy(
      for: code, nav: nav,
      of: RefusedCommand(
        command: command, operation: operation, rights: operation?.rights, leasedNav: leased))
  }

  @Test func `only a command that can make the screen is told to make it`() {
    for (command, operation) in [
      ("push", .push), ("push", .show), ("segue", .segue), ("present", .present),
    ] as [(String, OperationKind)] {
      #expect(
        remedy(.unknownScreen, command, operation)
          == "make it: navctl \(command) k ID --new, or --title TEXT")
    }
    for (command, operation) in [("set", .setStack), ("op", .push)] as [(String, OperationKind)] {
      #expect(
        remedy(.unknownScreen, command, operation)
          == #"give a record in place of the id, which creates it: {"id":"ID","title":"TEXT"}"#)
    }
    for (command, operation) in [("pop-to", .popTo), ("item", .itemSet), ("get", nil)]
      as [(String, OperationKind?)]
    {
      #expect(
        remedy(.unknownScreen, command, operation)
          == "list the screens: navctl show k, navctl get k --what detached")
    }
  }

  @Test func `a screen that is there already is kept, named or changed`() {
    #expect(
      remedy(.duplicateScreen, "push", .show)
        == "keep it: --if-absent; or go back to it: navctl pop-to k ID")
    #expect(
      remedy(.duplicateScreen, "set", .setStack)
        == "name the screen by its id alone; a record makes a new one")
    #expect(
      remedy(.duplicateScreen, "screen", .screenCreate)
        == "change it: navctl set k screen ID KEY=VALUE; or replace it: replace=true")
    #expect(remedy(.duplicateScreen, "op", .push) == "go back to it: navctl pop-to k ID")
  }

  @Test func `a missing right is named as the configuration names it`() {
    let file = "in [access] of navd.conf(5)"
    for (operation, rights) in [
      (.push, "push"), (.pop, "pop"), (.setStack, "push pop"), (.navClose, "admin"),
      (.gestureBegin, "pop"), (.envSet, "push"),
    ] as [(OperationKind, String)] {
      #expect(
        remedy(.forbidden, "x", operation)
          == "add to the configuration: grant = WHO k \(rights) \(file)")
    }
    #expect(remedy(.forbidden, "show").contains("grant = WHO k read"))
    // Some arguments need more than the kind of the operation.
    for (operation, rights) in [
      (.push("a"), "push"), (.push("a", onDuplicate: .moveToTop), "push"),
      (.push("a", onDuplicate: .popTo), "push pop"), (.show("a", onDuplicate: .update), "push pop"),
      (.activateButton("b"), "push pop"), (.backMenu("a"), "pop"),
    ] as [(NavigationOperation, String)] {
      let attempt = RefusedCommand(
        command: "op", operation: operation.kind, rights: operation.neededRights)
      #expect(
        Remedies.remedy(for: .forbidden, nav: "k", of: attempt)
          .contains("grant = WHO k \(rights) in"), "\(operation.text)")
    }
    for command in ["lease", "delegate"] {
      #expect(remedy(.forbidden, command).contains("grant = WHO k push admin"))
    }
    #expect(
      remedy(.forbidden, nil) == "add to the configuration: grant = WHO NAV RIGHT \(file)")
    #expect(
      remedy(.forbidden, "backup")
        == "as root: sudo navctl backup; or role = admin WHO \(file)")
    #expect(remedy(.forbidden, "list", nav: "$clients").hasPrefix("as root: sudo navctl list"))
  }

  @Test func `a lease around a command is not a lease of it`() {
    for command in ["set", "gesture", "transition"] {
      #expect(
        remedy(.leaseLost, command, leased: "k")
          == "run it outside of navctl lease, with a lease of its own: navctl \(command) k ... --lease"
      )
      #expect(remedy(.leaseLost, command, leased: "other").hasPrefix("only the session"))
    }
    #expect(remedy(.leaseLost, "push", leased: "k").hasPrefix("only the session"))
  }

  @Test func `a code of a newer daemon is judged by its retry`() {
    #expect(Remedies.remedy(for: .no, nav: "k").contains("a newer navctl"))
    #expect(Remedies.remedy(for: .resync, nav: "k") == "see the present state: navctl show k")
    for retry in [Retry.sameAfterCorrection, .later] {
      #expect(Remedies.remedy(for: retry, nav: "k") == "try again in a few seconds")
    }
  }

  @Test func `a number that is no nav may be a number of lines`() {
    let text = Remedies.remedy(for: .noNav, nav: "5", of: RefusedCommand(command: "log"))
    #expect(text == "list the navs: navctl list; print 5 revisions: navctl log NAV --limit 5")
    let other = Remedies.remedy(for: .noNav, nav: "5", of: RefusedCommand(command: "show"))
    #expect(other == "list the navs: navctl list; create it: navctl create 5")
  }

  @Test(arguments: ErrorCode.allCases)
  func `no remedy repeats what must not be repeated`(code: ErrorCode) {
    let text = Remedies.remedy(for: code, nav: "k", of: RefusedCommand(command: "c"))
    if text.hasPrefix("try again") {
      #expect(code.retry != .no || code == .expired, "\(code): \(text)")
    }
    #expect(!text.contains("NAV") || text.contains("WHO"), "\(code): \(text)")
    #expect(!text.contains("COMMAND") && !text.hasSuffix("."), "\(code): \(text)")
  }
}
