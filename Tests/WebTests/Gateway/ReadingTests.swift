import NavigationCore
import NavigationHub
import Testing

@testable import Web

/// What a page of the inspector may send.
@Suite struct ReadingTests {
  private static let hello =
    #"["hello",{"ver":[1,1],"client":"0123456789abcdef0123456789abcdef","nonce":"n"}]"#

  /// The client id that the gateway made.
  static let own = ClientID(high: 1, low: 2)

  private static func stream(_ scope: PageStream.Rights) -> PageStream {
    PageStream(id: "s", actor: actor("till"), rights: scope, at: 1000)
  }

  private static func post(
    _ stream: inout PageStream, _ number: UInt64, _ text: String
  ) -> PageStream.PostVerdict {
    var reader = ClientMessageReader(maximumBytes: 65_536)
    return stream.post(number, Array(text.utf8), reader: &reader, at: 2000)
  }

  /// What becomes of a line behind the hello.
  private static func verdict(
    _ line: String, _ scope: PageStream.Rights = .readOnlyOfUser(own)
  ) -> PageStream.PostVerdict {
    var stream = stream(scope)
    #expect(post(&stream, 1, hello) == .accepted(nextPost: 2))
    return post(&stream, 2, line)
  }

  @Test(arguments: [
    #"["watch",{"id":1,"nav":"a"}]"#, #"["unwatch",{"id":1,"nav":"a"}]"#, #"["ping",{"id":1}]"#,
    #"["credit",{"upto":100}]"#, #"["bye",{"id":1}]"#, #"["get",{"id":1,"nav":"a"}]"#,
    #"["get",{"id":1,"nav":"a","what":"diffs"}]"#, #"["get",{"id":1,"what":"refusals"}]"#,
    #"["get",{"id":1,"what":"stats"}]"#, #"["get",{"id":1,"nav":"a","what":"state","at":3}]"#,
  ])
  func `what reads passes`(line: String) {
    #expect(Self.verdict(line) == .accepted(nextPost: 3))
    #expect(Self.verdict(line, .readOnlyOfActor(Self.own)) == .accepted(nextPost: 3))
  }

  static let writing = [
    #"["op",{"id":1,"nav":"a","do":[{"push":{"screen":{"id":"s"}}}]}]"#,
    #"["op",{"id":1,"nav":"a","dry":true,"do":[{"push":{"screen":{"id":"s"}}}]}]"#,
    #"["delegate",{"id":1,"nav":"a","roles":["veto"]}]"#, #"["answer",{"ask":1,"value":true}]"#,
    #"["lease",{"id":1,"nav":"a","take":true}]"#,
    #"["cluster",{"id":1,"drain":"m1","on":true}]"#,
    #"["get",{"id":1,"what":"backup"}]"#, #"["get",{"id":1,"what":"reload"}]"#,
    #"["get",{"id":1,"nav":"a","what":"verify"}]"#,
  ]

  @Test(arguments: writing, [PageStream.Rights.readOnlyOfUser(own), .readOnlyOfActor(own)])
  func `what changes anything is refused, and the stream goes on`(
    line: String, scope: PageStream.Rights
  ) throws {
    var stream = Self.stream(scope)
    #expect(Self.post(&stream, 1, Self.hello) == .accepted(nextPost: 2))
    let ping = #"["ping",{"id":9}]"#
    // One line is enough: nothing of the post is taken.
    guard case .refused(let refusal) = Self.post(&stream, 2, ping + "\n" + line) else {
      Issue.record("\(line) was taken")
      return
    }
    #expect(refusal.status == 403 && refusal.reason.hasPrefix("line 2: the inspector only reads"))
    stream.noteSent(1)
    #expect(stream.noteDaemonLine(Array("[\"welcome\",{}]\n".utf8)) == nil)
    #expect(stream.dueMessages.isEmpty)
    #expect(Self.post(&stream, 2, ping) == .accepted(nextPost: 3))
    #expect(stream.dueMessages.count == 1)
    // The gateway of other pages carries it.
    #expect(Self.verdict(line, .ofActor) == .accepted(nextPost: 3))
  }

  @Test(arguments: [
    #"["op2",{"id":1}]"#, #"["opx",{"id":1}]"#, #"["get",{"id":1,"id":2}]"#, #"["get",{]}]"#,
    #"["get",{"id":1,"what":"anything"}]"#,
  ])
  func `what the gateway cannot read is refused, since a newer navd could read it`(line: String) {
    switch Self.verdict(line) {
    case .refused(let refusal): #expect([400, 403].contains(refusal.status))
    default: Issue.record("\(line) was taken")
    }
  }

  @Test func `a launched page has the rights of the user, one with a token those of its actor`()
    throws
  {
    for (scope, isNamed) in [
      (PageStream.Rights.readOnlyOfUser(Self.own), false), (.readOnlyOfActor(Self.own), true),
    ] {
      var stream = Self.stream(scope)
      let own = Self.hello.replacing(
        #""nonce""#, with: #""actor":{"name":"root","role":"admin","navs":["*"]},"nonce""#)
      #expect(Self.post(&stream, 1, own) == .accepted(nextPost: 2))
      let message = try #require(stream.dueMessages.first)
      var reader = ClientMessageReader(maximumBytes: 65_536)
      guard
        case .hello(let hello) = try reader.read(frame: message.frame.span, body: message.body.span)
      else {
        Issue.record("no hello")
        return
      }
      #expect(hello.actor == (isNamed ? actor("till") : nil))
      // With an id of its own choice, a page could end the session of another client.
      #expect(hello.client == Self.own)
    }
  }
}
