import Foundation
@testable import NavigationCore
@testable import NavigationHub
import NavigationClient
import Testing

@Suite struct DigestTests {
  static func digest(_ screens: [(String, UInt64)], _ parts: [UInt64]) -> String {
    let names = ["bar", "toolbar", "presented", "transition", "environment", "settings"]
    let checksum = Digest.checksum(
      screens: screens.map { (id: $0.0, version: $0.1) },
      parts: zip(names, parts).map { (name: $0, version: $1) })
    return String(Digest(checksum: checksum, chain: 0).text.prefix(8))
  }

  @Test func `the checksums of the protocol's examples`() {
    let at = Self.digest
    let home: (String, UInt64) = ("home", 3)
    #expect(at([home, ("wifi", 18)], [1, 1, 1, 1, 9, 2]) == "985cc24d")
    #expect(at([home, ("wifi", 18), ("dns", 19)], [1, 1, 1, 19, 9, 2]) == "924da511")
    #expect(at([home, ("wifi", 18), ("dns", 19)], [1, 1, 1, 20, 9, 2]) == "3b5fdb88")
    #expect(at([home, ("wifi", 18)], [1, 1, 1, 20, 9, 2]) == "88b33653")
    #expect(at([home, ("wifi", 22)], [1, 1, 1, 20, 9, 2]) == "1574af9e")
    #expect(at([home], [1, 1, 1, 20, 9, 2]) == "f7f41f99")
    #expect(at([home, ("s24.1", 24)], [1, 1, 1, 24, 9, 2]) == "9bd5ea7a")
  }

  @Test func `a digest is 24 lower-case hex digits, the checksum and the chain`() {
    let digest = Digest(checksum: 10, chain: 0xFEDC)
    let text = "0000000a000000000000fedc"
    #expect(Digest(text) == digest)
    #expect(digest.text == text)
    for text in ["", "0", "0000000a", text.uppercased(), text + "0", "+" + text.dropFirst()] {
      #expect(Digest(text) == nil)
    }
  }

  @Test func `a checksum may be taken in pieces`() {
    let text = Array("123456789".utf8)
    #expect(crc32(text) == 0xCBF4_3926)
    #expect(crc32(Array(text[4...]), seed: crc32(Array(text[..<4]))) == crc32(text))
    #expect(crc32([], seed: 7) == 7)
  }
}

@Suite struct MessageTests {
  @Test(arguments: Samples.client.map(\.body).indices)
  func `the daemon can read every message of the protocol's examples`(index: Int) throws {
    let sample = Samples.client[index]
    var reader = ClientMessageReader()
    let message = try reader.read(
      frame: "nsp1.\(sample.verb)".utf8.span, body: sample.body.utf8.span)
    #expect("nsp1.\(sample.verb)".utf8.elementsEqual(message.verb.frame))
    let json = try JSONSerialization.jsonObject(with: Data(sample.body.utf8))
    let body = try #require(json as? [String: Any])
    #expect(message.nav == body["nav"] as? String)
    if case .op(let request) = message {
      #expect(Int(request.id) == body["id"] as? Int)
      #expect(request.operations.count == (body["do"] as? [Any])?.count)
    }
  }

  @Test(arguments: Samples.server.map(\.body).indices)
  func `a client can read every message of the protocol's examples`(index: Int) throws {
    let sample = Samples.server[index]
    var reader = ServerMessageReader()
    let message = try reader.read(
      verb: Array("nsp1.\(sample.verb)".utf8), body: Array(sample.body.utf8))
    let label = Swift.Mirror(reflecting: message).children.first?.label
    #expect(label == (sample.verb == "diff" ? "diffs" : sample.verb))
  }

  private func read(_ verb: ClientVerb, _ body: [UInt8]) throws -> ClientMessage {
    var reader = ClientMessageReader()
    return try reader.read(frame: verb.frame.span, body: body.span)
  }

  @Test func `names written with escapes read as what they stand for`() throws {
    let body = #"{"\u0069d":7,"n\u0061v":"n","\u0064o":[{"p\u006fp":{}}],"\u0069f":{"re\u0076":3}}"#
    guard case .op(let request) = try read(.op, Array(body.utf8)) else {
      Issue.record("no op")
      return
    }
    #expect(request.id == 7 && request.nav == "n" && request.guards.revision == Revision(3))
    #expect(request.operations.map(\.kind) == [.pop])
  }

  @Test(arguments: UInt64(1)...4)
  func `an operation reads the same alone and among others`(seed: UInt64) throws {
    let texts = [
      #"{"pop":{}}"#, #"{"push":{"screen":"a"}}"#, #"{"push":{"screen":"b","sender":7}}"#,
      #"{"popToRoot":{}}"#, #"{"pop":{"x":1}}"#, #"{"nav.close":{}}"#, #"{"nope":{}}"#,
      #"{"nav.create":{"root":"r"}}"#, "3",
    ]
    func read(_ operations: [String]) throws -> OpMessage? {
      let body = #"{"id":7,"nav":"n","do":[\#(operations.joined(separator: ","))]}"#
      guard case .op(let op) = try self.read(.op, Array(body.utf8)) else { return nil }
      return op
    }
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      // Only usual operations now and then.
      let choice = UInt64(random.next() % 3 == 0 ? 2 : texts.count)
      let chosen = (0...Int(random.next() % 16)).map { _ in texts[Int(random.next() % choice)] }
      let op = try #require(try read(chosen))
      #expect(op.kinds.count == chosen.count && op.operations.count == chosen.count)
      var readable: [NavigationHub.Operation] = []
      for (index, text) in chosen.enumerated() {
        let alone = try #require(try read([text]))
        #expect(op.kinds[index] == alone.kinds[0] && op.operation(index).kind == alone.kinds[0])
        #expect(op.operation(index).sender == alone.operation(0).sender)
        #expect(op.decodedOperation(index) == alone.decodedOperation(0))
        switch (op.operation(index).arguments, alone.operation(0).arguments) {
        case (.decoded, .decoded), (.close, .close), (.create, .create): break
        case (.unreadable(let one), .unreadable(let other)): #expect(one == other)
        default: Issue.record("\(text) reads otherwise")
        }
        if let meaning = alone.decodedOperation(0) { readable.append(meaning) }
      }
      #expect(op.decoded == readable)
      #expect(
        op.areDecodedWithoutSender
          == chosen.allSatisfy { texts.prefix(2).contains($0) || $0 == texts[3] })
    }
  }

  @Test func `a name with something behind it is another name`() {
    for name in [#"id\u0000"#, "id ", "idididid", "ididididid", "", #"\u0000"#] {
      let body = #"{"\#(name)":7,"nav":"n","do":[{"pop":{}}]}"#
      #expect(throws: MessageFailure.self) { _ = try read(.op, Array(body.utf8)) }
    }
  }

  @Test func `what a client writes reads back equal`() throws {
    let id = ClientID(high: 1, low: UInt64.max)
    var plain = Hello()
    (plain.client, plain.nonce) = (id, "n")
    var full = plain
    (full.versions, full.name, full.nonce, full.window) = (1...3, "é\"", "", 5)
    (full.heartbeat, full.hasNoFlowControl) = (7, true)
    full.actor = SessionActor(name: "a", role: .ui, navs: [try #require(NavGlob("k*"))])
    for hello in [plain, full] {
      guard case .hello(let back) = try read(.hello, ClientMessageWriter.message(hello)) else {
        Issue.record("no hello")
        return
      }
      #expect(back == hello)
    }
    let place = MirrorPosition(
      epoch: Epoch(bits: 5), revision: Revision(9), digest: Digest(checksum: 7, chain: 0))
    let bad = MirrorPosition(
      epoch: nil, revision: Revision(9), digest: Digest(checksum: 7, chain: 0))
    let changes: [(inout WatchRequest) -> Void] = [
      { $0.nav = "kiosk" }, { ($0.nav, $0.view) = ("$navs", .bar) },
      { ($0.nav, $0.from, $0.waitsForNav) = ("a/b", place, true) }, { $0.divergence = bad },
      { ($0.from, $0.deliversResolvedBar) = (place, false) },
    ]
    for (index, change) in changes.enumerated() {
      var request = WatchRequest()
      (request.id, request.nav) = (UInt64(index), "k")
      change(&request)
      guard case .watch(let back) = try read(.watch, ClientMessageWriter.message(request)) else {
        Issue.record("no watch")
        return
      }
      #expect(back == request)
    }
    for request in [
      GetRequest(id: 1, nav: nil, what: .stats),
      GetRequest(id: 2, nav: "k", at: Revision(4)),
      GetRequest(
        id: 3, nav: "k", what: .log, screen: "s", from: Revision(2), limit: 9_007_199_254_740_991),
    ] {
      guard case .get(let back) = try read(.get, ClientMessageWriter.message(request)) else {
        Issue.record("no get")
        return
      }
      #expect(back == request)
    }
  }

  @Test func `an op that a client writes reads back equal`() throws {
    var guards = Guards()
    guards.any = true
    guards.epoch = Epoch(bits: 1)
    guards.revision = Revision(2)
    guards.digest = Digest(checksum: 3, chain: 0)
    guards.top = .some(nil)
    guards.depth = 4
    guards.stack = ["a", "b"]
    guards.has = []
    for guards in [guards, Guards()] {
      var request = OpRequest(id: 7, nav: "k", guards: guards, isAnimated: false, onBusy: .queue)
      (request.client, request.name) = (ClientID(high: 3, low: 4), "n")
      (request.startDeadline, request.deadlineBootID) = (99, "c0")
      let body = ClientMessageWriter.op(request, operations: [Array(#"{"pop":{}}"#.utf8)])
      guard case .op(let back) = try read(.op, body) else {
        Issue.record("no op")
        return
      }
      #expect(back.id == 7 && back.client == request.client && back.clientName == "n")
      #expect(back.nav == "k" && back.guards == guards && back.isAnimated == false)
      #expect(back.onBusy == .queue && back.dueBootMilliseconds == 99 && back.dueClockID == "c0")
      #expect(back.operations.map(\.kind) == [.pop])
    }
  }

  @Test func `a verb is known by its frame, and by nothing else`() {
    for verb in ClientVerb.allCases {
      #expect(ClientVerb(verb.frame.span) == verb)
      for other in [
        verb.frame + [0], verb.frame.dropLast() + [0], verb.frame + [0x73], [0] + verb.frame,
      ] {
        #expect(ClientVerb(Array(other).span) == nil)
      }
    }
    for text in ["", "nsp1", "nsp1.", "nsp2.op", "Nsp1.op", "nsp1.o", "nsp1.abcdefghi"] {
      #expect(ClientVerb(Array(text.utf8).span) == nil)
    }
  }

  @Test(arguments: [
    ("nsp1.op", VerbFrame.current("op")),
    ("nsp1.abcdefghijklmnopqrs", .current("abcdefghijklmnopqrs")),
    ("nsp1.abcdefghijklmnopqrst", .malformed), ("nsp2.hello", .otherVersion("hello", version: 2)),
    ("nsp10.op", .otherVersion("op", version: 10)), ("nsp1.", .malformed), ("nsp1.Op", .malformed),
    ("nsp1.o p", .malformed), ("nsp.op", .malformed), ("", .malformed), ("nspx.op", .malformed),
    // Other spellings of a number, and this version in another frame than its own.
    ("nsp+1.op", .malformed), ("nsp01.op", .malformed), ("nsp+2.op", .malformed),
    ("nsp02.hello", .malformed), ("nsp-1.op", .malformed), ("nsp1.op.op", .malformed),
  ])
  func `the first frame is read strictly`(text: String, frame: VerbFrame) {
    #expect(VerbFrame(Array(text.utf8)) == frame)
  }
}
