import Foundation
import NavigationCore
import NavigationClient
import RuntimePaths
import Testing

@testable import navctl

/// Files of seen states and texts of mirrors under attack, and what becomes of old files.
@Suite struct SeenFileTests {
  @Test func `a changed octet before the state, or of its names, leaves no guard`() throws {
    let bytes = SeenState.encode(try seen(), endpoint: "ipc:///a", nav: "kiosk")
    let text = String(decoding: bytes, as: UTF8.self)
    let head = try #require(text.range(of: #""epoch":""#))
    let name = try #require(text.range(of: #"","rev":"#))
    let places =
      [0..<text.utf8.distance(from: text.startIndex, to: head.upperBound)]
      + [
        text.utf8.distance(
          from: text.startIndex, to: name.lowerBound)..<(text.utf8.distance(
            from: text.startIndex, to: name.upperBound))
      ]
    for place in places.joined() {
      for octet in [0x00, 0x0A, 0x22, 0x2C, 0x31, 0x61, 0x7D, 0xFF] as [UInt8]
      where bytes[place] != octet {
        var odd = bytes
        odd[place] = octet
        #expect(
          SeenState.decode(odd, endpoint: "ipc:///a", nav: "kiosk") == nil,
          "\(String(decoding: odd, as: UTF8.self))")
      }
    }
    #expect(SeenState.decode(bytes + bytes, endpoint: "ipc:///a", nav: "kiosk") == nil)
    #expect(SeenState.decode([], endpoint: "", nav: "") == nil)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `any state, endpoint and nav come back as they were saved`(seed: UInt64) {
    var texts = SampleTexts(seed: seed)
    let seen = SeenState(
      epoch: Epoch(bits: texts.random.next()), revision: Revision(texts.random.next() >> 11),
      top: texts.below(4) == 0 ? nil : texts.text(atMost: 64) + texts.pick(SampleTexts.steering),
      visible: texts.pick([nil, .some(nil), .some("pin")]))
    let (endpoint, nav) = (texts.text(atMost: 40), texts.text(atMost: 40))
    let bytes = SeenState.encode(seen, endpoint: endpoint, nav: nav)
    #expect(SeenState.decode(bytes, endpoint: endpoint, nav: nav) == seen)
    #expect(SeenState.decode(bytes, endpoint: endpoint + "x", nav: nav) == nil)
  }

  @Test func `a mirror is what the terminal has seen, also without screens`() throws {
    let state =
      #"{"nav":"k","epoch":"c0ffee12c0ffee12","rev":18,"screens":[{"id":"wifi","ver":1}],"dig":"000000000000000000000000"}"#
    let mirror = try #require(MirrorText.mirror(try value(state)))
    #expect(SeenState(mirror) == (try seen(rev: 18, top: "wifi", visible: .some("wifi"))))
    #expect(SeenState(mirror).text == "rev 18, top wifi")
    let empty = try #require(
      MirrorText.mirror(
        try value(state.replacing(#"{"id":"wifi","ver":1}"#, with: ""))))
    #expect(SeenState(empty).top == nil && SeenState(empty).text == "rev 18, top none")
    #expect(
      String(decoding: MirrorText.position(empty, nav: "k"), as: UTF8.self)
        == #"{"nav":"k","epoch":"c0ffee12c0ffee12","rev":18,"depth":0,"top":null,"dig":"000000000000000000000000"}"#
    )
  }

  @Test(arguments: ["epoch", "rev", "screens", "dig"])
  func `a state without a member that a mirror needs makes none`(member: String) throws {
    let state =
      #"{"epoch":"c0ffee12c0ffee12","rev":18,"screens":[{"id":"a","ver":1}],"dig":"000000000000000000000000"}"#
    #expect(MirrorText.mirror(try value(state)) != nil)
    #expect(MirrorText.mirror(try value(state.replacing("\"\(member)\"", with: "\"x\""))) == nil)
    for screen in ["{}", #"{"id":"a"}"#, #"{"ver":1}"#, #"{"id":1,"ver":1}"#, "1"] {
      let odd = state.replacing(#"{"id":"a","ver":1}"#, with: screen)
      #expect(MirrorText.mirror(try value(odd)) == nil, "\(screen)")
    }
  }

  @Test func `files of a month ago go with the next new one, and nothing else goes`() throws {
    let directory = NSTemporaryDirectory() + "seen-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let session = TerminalSession(boot: "b", device: 1, sessionID: 2, leaderStartTicks: 3)
    let store = SeenStore(directory: directory, session: session)
    try store.save(try seen(), endpoint: "e", nav: "first")
    let hash = String(repeating: "0a", count: 16)
    let day = 86_400.0
    for (name, age) in [
      (hash, 31.0), ("\(hash).123", 31), (String(repeating: "0b", count: 16), 29),
      ("notes", 400), (hash.uppercased(), 400), (String(hash.dropLast()), 400),
    ] {
      let path = "\(directory)/\(name)"
      try writeFileAtomically(path, [])
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -age * day)], ofItemAtPath: path)
    }
    let before = try namesInDirectory(directory)
    // A state that has its file already removes nothing.
    try store.save(try seen(rev: 19), endpoint: "e", nav: "first")
    #expect(try namesInDirectory(directory) == before)
    try store.save(try seen(), endpoint: "e", nav: "second")
    let after = try namesInDirectory(directory)
    #expect(Set(before).subtracting(after) == [hash, "\(hash).123"])
    #expect(store.load(endpoint: "e", nav: "first")?.revision == Revision(19))
  }

  @Test func `a file that cannot be read or written is no state, or an error with its path`() throws
  {
    let directory = NSTemporaryDirectory() + "seen-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let session = TerminalSession(boot: "b", device: 1, sessionID: 2, leaderStartTicks: 3)
    try writeFileAtomically(directory, [])
    let store = SeenStore(directory: directory, session: session)
    #expect(store.load(endpoint: "e", nav: "n") == nil)
    let error = #expect(throws: SystemError.self) {
      try store.save(try seen(), endpoint: "e", nav: "n")
    }
    #expect(error?.path.hasPrefix(directory) == true)
    store.forget(endpoint: "e", nav: "n")
    #expect(session.text == "b 1 2 3")
  }

  @Test func `this process has one terminal session, with the boot that is handed over`() throws {
    let environment = ProcessEnvironment(["NAVD_BOOT_ID": String(repeating: "a", count: 32)])
    // Nil only if the leader of the session has ended.
    guard let session = TerminalSession.current(environment) else { return }
    #expect(session.boot == String(repeating: "a", count: 32))
    #expect(session.sessionID == Int64(getsid(0)))
    #expect(TerminalSession.current(environment) == session)
  }
}
