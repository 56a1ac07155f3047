import Foundation
import NavigationClient
import NavigationCore
import RuntimePaths
import Testing

@testable import navctl

@Suite struct SeenTests {
  private let session = TerminalSession(
    boot: "b00t", device: 34816, sessionID: 4711, leaderStartTicks: 99)

  private func withStore(_ body: (SeenStore, String) throws -> Void) throws {
    let directory = NSTemporaryDirectory() + "navctl-" + UUID().uuidString
    defer { unlinkAll(directory) }
    try body(SeenStore(directory: directory + "/seen", session: session), directory)
  }

  private func unlinkAll(_ path: String) {
    do { try FileManager.default.removeItem(atPath: path) } catch { Issue.record(error) }
  }

  @Test func `what was saved is loaded`() throws {
    try withStore { store, _ in
      #expect(store.load(endpoint: "ipc:///a", nav: "kiosk") == nil)
      for memory in [try seen(), try seen(rev: 19, top: nil), try seen(rev: 1 << 53 - 1)] {
        try store.save(memory, endpoint: "ipc:///a", nav: "kiosk")
        #expect(store.load(endpoint: "ipc:///a", nav: "kiosk") == memory)
      }
    }
  }

  @Test func `another nav, endpoint or session remembers nothing of it`() throws {
    try withStore { store, directory in
      try store.save(try seen(), endpoint: "ipc:///a", nav: "kiosk")
      #expect(store.load(endpoint: "ipc:///a", nav: "kiosk2") == nil)
      #expect(store.load(endpoint: "ipc:///b", nav: "kiosk") == nil)
      var other = session
      other.leaderStartTicks = 100
      let recycled = SeenStore(directory: directory + "/seen", session: other)
      #expect(recycled.load(endpoint: "ipc:///a", nav: "kiosk") == nil)
    }
  }

  @Test func `a closed nav is forgotten`() throws {
    try withStore { store, _ in
      try store.save(try seen(), endpoint: "e", nav: "kiosk")
      store.forget(endpoint: "e", nav: "kiosk")
      #expect(store.load(endpoint: "e", nav: "kiosk") == nil)
    }
  }

  @Test func `saving leaves one file, which only its owner reads`() throws {
    try withStore { store, directory in
      try store.save(try seen(), endpoint: "e", nav: "kiosk")
      try store.save(try seen(rev: 19), endpoint: "e", nav: "kiosk")
      let files = try FileManager.default.contentsOfDirectory(atPath: directory + "/seen")
      #expect(files.count == 1)
      let path = store.path(endpoint: "e", nav: "kiosk")
      #expect(FileStatus.probe(path)?.mode == 0o600)
      #expect(FileStatus.probe(directory + "/seen")?.mode == 0o700)
    }
  }

  @Test func `names of any form make a plain file name`() throws {
    let store = SeenStore(directory: "/d", session: session)
    let names = ["kiosk", "../../etc/passwd", "a/b", "a%2Fb", String(repeating: "n", count: 5000)]
    let paths = names.map { store.path(endpoint: "ipc:///run/x", nav: $0) }
    #expect(Set(paths).count == names.count)
    for path in paths {
      #expect(path.hasPrefix("/d/") && path.utf8.count == 35)
      #expect(path.dropFirst(3).allSatisfy { $0.isHexDigit })
    }
  }

  @Test func `every part of the session is part of the key`() {
    let sessions = [
      session, TerminalSession(boot: "b00u", device: 34816, sessionID: 4711, leaderStartTicks: 99),
      TerminalSession(boot: "b00t", device: 34817, sessionID: 4711, leaderStartTicks: 99),
      TerminalSession(boot: "b00t", device: 34816, sessionID: 4712, leaderStartTicks: 99),
      TerminalSession(boot: "b00t", device: 34816, sessionID: 4711, leaderStartTicks: 98),
    ]
    let paths = sessions.map {
      SeenStore(directory: "/d", session: $0).path(endpoint: "e", nav: "n")
    }
    #expect(Set(paths).count == sessions.count)
  }

  @Test func `no part of a damaged file becomes a guard`() throws {
    let bytes = SeenState.encode(try seen(), endpoint: "e", nav: "kiosk")
    #expect(SeenState.decode(bytes, endpoint: "e", nav: "kiosk") == (try seen()))
    for length in 0..<bytes.count {
      #expect(SeenState.decode(Array(bytes.prefix(length)), endpoint: "e", nav: "kiosk") == nil)
    }
    #expect(SeenState.decode(bytes, endpoint: "e", nav: "other") == nil)
    #expect(SeenState.decode(bytes, endpoint: "f", nav: "kiosk") == nil)
    let text = String(decoding: bytes, as: UTF8.self)
    let newer = text.replacing("\"version\":1", with: "\"version\":2")
    #expect(SeenState.decode(Array(newer.utf8), endpoint: "e", nav: "kiosk") == nil)
  }

  @Test func `a snapshot and an answer show what there is`() throws {
    #expect(
      SeenState(state: try value(StateDrawingTests.state)) == (try seen(visible: .some("wifi"))))
    let presenting =
      #"{"epoch":"c0ffee12c0ffee12","rev":18,"screens":[{"id":"wifi"}],"#
      + #""presented":{"chain":[{"screen":{"id":"a"}},{"screen":{"id":"pin"}}]}}"#
    #expect(SeenState(state: try value(presenting)) == (try seen(visible: .some("pin"))))
    #expect(SeenState(state: try value("{}")) == nil)
    let answer = try reply(
      #"{"id":1,"nav":"k","epoch":"c0ffee12c0ffee12","rev":3,"changed":true,"depth":0,"top":null}"#)
    #expect(SeenState(answer) == (try seen(rev: 3, top: nil)))
    #expect(SeenState(try reply(#"{"id":1,"nav":"k","epoch":"c0ffee12c0ffee12","rev":3}"#)) == nil)
  }

  @Test func `an operation keeps what is visible, unless it presents or dismisses`() throws {
    let answer = try reply(#"{"id":1,"nav":"k","epoch":"c0ffee12c0ffee12","rev":19,"top":"dns"}"#)
    func visible(_ before: SeenState?, _ operations: [NavigationOperation]) -> String?? {
      SeenState(answer, after: before, operations)?.visible
    }
    let plain = try seen(visible: .some("wifi"))
    let covered = try seen(visible: .some("pin"))
    #expect(visible(plain, [.push("dns")]) == .some("dns"))
    #expect(visible(covered, [.push("dns"), .setBarHidden(true)]) == .some("pin"))
    for operations in [
      [.dismiss()], [.push("dns"), .present("pin")], [.swipeDown()], [.backKey()],
      [.segue(.showDetail, to: "x")],
    ] as [[NavigationOperation]] {
      #expect(visible(covered, operations) == nil)
    }
    // Nothing was shown, only the top, or another life of the nav.
    #expect(visible(nil, [.push("dns")]) == nil)
    #expect(visible(try seen(), [.push("dns")]) == nil)
    var other = plain
    other.epoch = try #require(Epoch("00000000000000ff"))
    #expect(visible(other, [.push("dns")]) == nil)
  }

  @Test(arguments: [
    ([("XDG_STATE_HOME", "/x"), ("HOME", "/h")], "/x/navctl/seen"),
    ([("HOME", "/h")], "/h/.local/state/navctl/seen"),
    ([("XDG_STATE_HOME", "relative"), ("HOME", "/h")], "/h/.local/state/navctl/seen"),
    ([], nil),
  ])
  func `the directory follows the XDG rules`(variables: [(String, String)], expected: String?) {
    let environment = ProcessEnvironment(Dictionary(uniqueKeysWithValues: variables))
    #expect(SeenStore.directory(environment) == expected)
  }

  @Test func `a process name cannot shift the fields of its status`() throws {
    let text = "12 (a) b) S 1 12 4711 34816 12 0 0 0 0 0 0 0 0 0 20 0 1 0 98765 1 2"
    let status = try #require(ProcessStatus(text))
    #expect(
      status.sessionID == 4711 && status.terminalDevice == 34816 && status.startTicks == 98765)
    #expect(ProcessStatus("12 (a) S 1 12") == nil)
    #expect(ProcessStatus("") == nil)
  }
}
