import NavigationCore
import NavigationHub
import Testing

@testable import Web

@Suite struct PageStreamTests {
  private static let till = actor("till")
  private static let hello =
    #"["hello",{"ver":[1,1],"client":"0123456789abcdef0123456789abcdef","nonce":"n"}]"#

  private func stream() -> PageStream { PageStream(id: "s", actor: Self.till, at: 1000) }

  private func post(
    _ stream: inout PageStream, _ number: UInt64, _ text: String
  ) -> PageStream.PostVerdict {
    var reader = ClientMessageReader(maximumBytes: 65_536)
    return stream.post(number, Array(text.utf8), reader: &reader, at: 2000)
  }

  @Test func `a stream begins with its id and the number of the first post`() {
    let text = String(decoding: stream().openingLine, as: UTF8.self)
    #expect(text == "[\"stream\",{\"id\":\"s\",\"next\":1}]\n")
  }

  @Test func `a post is taken once, in order, whole`() {
    var stream = stream()
    #expect(post(&stream, 2, Self.hello) == .ahead(nextPost: 1))
    #expect(post(&stream, 1, Self.hello + "\n" + #"["ping",{"id":1}]"#) == .accepted(nextPost: 2))
    welcome(&stream)
    #expect(stream.dueMessages.map { String(decoding: $0.frame, as: UTF8.self) } == ["nsp1.ping"])
    #expect(post(&stream, 1, "anything") == .accepted(nextPost: 2))
    #expect(post(&stream, 3, #"["ping",{"id":2}]"#) == .ahead(nextPost: 2))
    #expect(stream.dueMessages.count == 1)
    guard case .refused = post(&stream, 2, #"["ping",{"id":2}]"# + "\nx") else {
      Issue.record("a post with a bad line was taken")
      return
    }
    #expect(stream.dueMessages.count == 1)
    #expect(post(&stream, 2, #"["ping",{"id":2}]"#) == .accepted(nextPost: 3))
    #expect(stream.dueMessages.count == 2)
  }

  @Test func `the gateway writes hello itself, whatever the page says of actor and flow`() throws {
    var stream = stream()
    let own = Self.hello.replacing(
      #""nonce""#,
      with: #""flow":"none","actor":{"name":"root","role":"admin","navs":["*"]},"nonce""#)
    #expect(post(&stream, 1, own) == .accepted(nextPost: 2))
    // A later hello begins another session; it gets the actor too.
    #expect(post(&stream, 2, own) == .accepted(nextPost: 3))
    let first = stream.dueMessages
    welcome(&stream)
    #expect(first.count == 1 && stream.dueMessages.count == 1)
    for message in first + stream.dueMessages {
      var reader = ClientMessageReader(maximumBytes: 65_536)
      guard
        case .hello(let hello) = try reader.read(frame: message.frame.span, body: message.body.span)
      else {
        Issue.record("no hello")
        return
      }
      #expect(hello.actor == Self.till && !hello.hasNoFlowControl && hello.nonce == "n")
    }
  }

  @Test(arguments: [
    #"["op",{}]"#, #"["get",{"id":1,"what":"stats"}]"#, #"["ping",{"id":1}]"#,
  ])
  func `nothing comes before hello`(line: String) {
    var stream = stream()
    guard case .refused = post(&stream, 1, line) else {
      Issue.record("\(line) was taken before hello")
      return
    }
    #expect(stream.dueMessages.isEmpty)
  }

  /// navd takes the first hello and accepts it.
  private func welcome(_ stream: inout PageStream) {
    #expect(stream.dueMessages.map(\.isHello) == [true])
    stream.noteSent(1)
    #expect(stream.dueMessages.isEmpty)
    #expect(stream.noteDaemonLine(Array("[\"welcome\",{}]\n".utf8)) == nil)
  }

  @Test func `until navd accepts the first hello, nothing else passes`() {
    var stream = stream()
    let op = #"["op",{"id":1}]"#
    #expect(post(&stream, 1, Self.hello + "\n" + op) == .accepted(nextPost: 2))
    #expect(post(&stream, 2, op) == .accepted(nextPost: 3))
    welcome(&stream)
    #expect(stream.dueMessages.count == 2)
  }

  @Test func `a refused hello ends the stream, and what is behind it never passes`() {
    var stream = stream()
    _ = post(&stream, 1, Self.hello + "\n" + #"["op",{"id":1}]"#)
    stream.noteSent(1)
    let refusal = Array(#"["err",{"nonce":"n","code":"version"}]"#.utf8)
    #expect(stream.noteDaemonLine(refusal) == .sessionOver)
    #expect(stream.dueMessages.isEmpty)
  }

  @Test func `later refusals do not end the stream, the end of the session does`() {
    var stream = stream()
    _ = post(&stream, 1, Self.hello)
    welcome(&stream)
    #expect(stream.noteDaemonLine(Array("[\"err\",{\"id\":1}]\n".utf8)) == nil)
    #expect(stream.noteDaemonLine(Array("[\"bye\",{\"why\":\"fenced\"}]\n".utf8)) == .sessionOver)
  }

  @Test func `the answer to the page's bye ends the stream`() {
    var stream = stream()
    _ = post(&stream, 1, Self.hello)
    welcome(&stream)
    _ = post(&stream, 2, #"["op",{"id":7}]"# + "\n" + #"["bye",{"id":8}]"#)
    #expect(stream.noteDaemonLine(Array("[\"ok\",{\"id\":7,\"nav\":\"a\"}]\n".utf8)) == nil)
    #expect(stream.noteDaemonLine(Array("[\"ok\",{\"id\":8}]\n".utf8)) == .sessionOver)
  }

  @Test(arguments: [
    ["bye", "bye2"], ["bye", "unreadable"], ["unreadable", "bye"], ["bye\nbye2"],
    ["bye\nunreadable"], ["unreadable\nbye"],
  ])
  func `the answer to the first readable bye ends the stream, whatever bye follows`(
    posts: [String]
  ) {
    let lines = [
      "bye": #"["bye",{"id":8}]"#, "bye2": #"["bye",{"id":9}]"#,
      "unreadable": #"["bye",{"id":-1}]"#,
    ]
    var stream = stream()
    _ = post(&stream, 1, Self.hello)
    welcome(&stream)
    for (index, names) in posts.enumerated() {
      let text = names.split(separator: "\n").compactMap { lines[String($0)] }
      let number = UInt64(index + 2)
      let body = text.joined(separator: "\n")
      #expect(post(&stream, number, body) == .accepted(nextPost: number + 1))
    }
    #expect(stream.noteDaemonLine(Array("[\"err\",{\"code\":\"bad-json\"}]\n".utf8)) == nil)
    #expect(stream.noteDaemonLine(Array("[\"ok\",{\"id\":8}]\n".utf8)) == .sessionOver)
  }

  @Test func `what navd does not take is bounded`() {
    var stream = stream()
    #expect(post(&stream, 1, Self.hello) == .accepted(nextPost: 2))
    let long = #"["op",{"x":""# + String(repeating: "x", count: 60_000) + #""}]"#
    #expect(post(&stream, 2, long) == .accepted(nextPost: 3))
    #expect(post(&stream, 3, long) == .accepted(nextPost: 4))
    #expect(post(&stream, 4, long) == .outboxFull)
    welcome(&stream)
    #expect(post(&stream, 4, long) == .outboxFull)
    stream.noteSent(1)
    #expect(post(&stream, 4, long) == .accepted(nextPost: 5))
  }

  @Test func `many small messages count for the memory that they take`() {
    var stream = stream()
    #expect(post(&stream, 1, Self.hello) == .accepted(nextPost: 2))
    // 100 messages of 2 + 7 octets, and 64 for each: 7300.
    let small = Array(repeating: #"["op",{}]"#, count: 100).joined(separator: "\n")
    var number: UInt64 = 2
    while number < 100, post(&stream, number, small) == .accepted(nextPost: number + 1) {
      number += 1
    }
    #expect(number == 19)
    welcome(&stream)
    stream.noteSent(100)
    #expect(post(&stream, number, small) == .accepted(nextPost: number + 1))
    #expect(post(&stream, number + 1, small) == .outboxFull)
    // What went out leaves nothing behind in the count.
    stream.noteSent(stream.dueMessages.count)
    for next in number + 1...number + 17 {
      #expect(post(&stream, next, small) == .accepted(nextPost: next + 1))
    }
    #expect(post(&stream, number + 18, small) == .outboxFull)
  }

  @Test func `without a connection, a hello or a reader the stream ends in its time`() {
    var stream = stream()
    #expect(stream.deadline?.at == 6000 && stream.deadline?.end == .navdGone)
    #expect(stream.nextConnectAt == 1250)
    stream.noteConnectAttempt(at: 1300)
    #expect(stream.nextConnectAt == 1550)
    stream.noteConnected()
    #expect(stream.nextConnectAt == nil)
    #expect(stream.deadline?.at == 11_000 && stream.deadline?.end == .navdGone)
    _ = post(&stream, 1, Self.hello)
    // A navd that is stopped takes connections, and does not answer.
    #expect(stream.deadline?.at == 7000 && stream.deadline?.end == .navdGone)
    welcome(&stream)
    #expect(stream.deadline == nil)
    stream.notePageProgress(isDrained: false, bytesTaken: 0, at: 20_000)
    #expect(stream.deadline?.at == 35_000 && stream.deadline?.end == .pageStalled)
    stream.notePageProgress(isDrained: false, bytesTaken: 0, at: 30_000)
    #expect(stream.deadline?.at == 35_000)
    stream.notePageProgress(isDrained: false, bytesTaken: 5, at: 31_000)
    #expect(stream.deadline?.at == 46_000)
    stream.notePageProgress(isDrained: true, bytesTaken: 15, at: 32_000)
    #expect(stream.deadline == nil)
  }

  @Test func `a stream that has ended waits for its page as long as any, and connects no more`() {
    var stream = stream()
    stream.noteEnd(at: 2000)
    #expect(stream.deadline?.at == 17_000 && stream.deadline?.end == .pageStalled)
    #expect(stream.nextConnectAt == nil)
    #expect(stream.hasEnded && !stream.mayReadDaemon(backlog: 0))
    stream.notePageProgress(isDrained: false, bytesTaken: 0, at: 20_000)
    #expect(stream.deadline?.at == 35_000 && stream.deadline?.end == .pageStalled)
  }

  @Test func `navd is read while little waits for the page`() {
    #expect(stream().mayReadDaemon(backlog: 65_535))
    #expect(!stream().mayReadDaemon(backlog: 65_536))
  }
}

@Suite struct PageMessageTests {
  private func read(_ text: String) -> [String]? {
    guard let messages = try? PageMessage.read(Array(text.utf8)) else { return nil }
    return messages.map {
      String(decoding: $0.frame, as: UTF8.self) + " " + String(decoding: $0.body, as: UTF8.self)
    }
  }

  @Test(arguments: [
    (#"["op",{"a":1}]"#, ["nsp1.op {\"a\":1}"]),
    ("[\"op\",{}]\n[\"bye\",{}]\n", ["nsp1.op {}", "nsp1.bye {}"]),
    (" [ \"op\" , {} ] \r\n", ["nsp1.op {}"]),
    (#"["op",{}],["x",{}]"#, ["nsp1.op {}],[\"x\",{}"]),
  ])
  func `a line is a verb and a body, which is not read`(text: String, messages: [String]) {
    #expect(read(text) == messages)
  }

  @Test(arguments: [
    "", "\n", "\n[\"op\",{}]", "[\"op\",{}]\n\n", "{}", "[]", #"["op"]"#, #"["op",1]"#,
    #"["Op",{}]"#, #"["op" {}]"#, #"[op,{}]"#,
    #"["",{}]"#, #"["abcdefghijklmnopqrst",{}]"#, #"["op",{}"#, "[\"op\",{}]\nx", "\u{0}",
  ])
  func `another form is refused`(text: String) {
    #expect(read(text) == nil)
  }

  @Test func `every prefix and every changed octet of a post is read or refused`() {
    let post = Array("[\"op\",{\"id\":1,\"do\":[{\"pop\":{}}]}]\n[\"ping\",{\"id\":2}]\n".utf8)
    for end in post.indices { _ = try? PageMessage.read(Array(post[..<end])) }
    for place in post.indices {
      for octet in [0, 0x0A, 0x22, 0x5B, 0x7D, 0xFF] as [UInt8] {
        var odd = post
        odd[place] = octet
        for message in (try? PageMessage.read(odd)) ?? [] {
          #expect(message.frame.starts(with: Array("nsp1.".utf8)) && message.frame.count <= 24)
          #expect(!message.body.contains(0x0A))
        }
      }
    }
  }

  @Test func `a line that is too long is named`() {
    let long = "[\"op\",{}]\n[\"op\",{" + String(repeating: " ", count: 65_536) + "}]"
    #expect(throws: RequestGate.Refusal(413, "line 2 has more than 65536 octets")) {
      try PageMessage.read(Array(long.utf8))
    }
  }

  @Test func `a line feed between tokens becomes a space, with the same number of octets`() {
    let body = Array("{\"args\":{\n\"a\":\n1}}".utf8)
    let line = PageMessage.streamLine(frame: Array("nsp1.snap".utf8).span, body: body.span)
    #expect(String(decoding: line, as: UTF8.self) == "[\"snap\",{\"args\":{ \"a\": 1}}]\n")
  }
}
