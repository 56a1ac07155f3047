import Foundation
import NavigationCore
import Testing

@testable import NavigationClient

/// What a program learns from an `err` of the daemon.
@Suite struct ClientErrorTests {
  private func error(_ members: String) throws -> NavigationClientError {
    guard case .err(let refusal) = try read(.err, "{\(members)}") else {
      throw Unexpected(what: members)
    }
    return NavigationClientError(refusal)
  }

  @Test(arguments: [
    ("no", NavigationClientError.Retry.never), ("same", .unchanged),
    ("resync", .afterResynchronising), ("later", .later), ("someday", .never), ("", .never),
  ])
  func `retry names the reaction, also for a code that nobody knows yet`(
    word: String, retry: NavigationClientError.Retry
  ) throws {
    let error = try error(#""id":1,"code":"moon","msg":"m","effect":"none","retry":"\#(word)""#)
    #expect(error.retry == retry)
    #expect(error.code == NavigationClientError.Code(rawValue: "moon"))
    #expect(error.description == "moon: m")
  }

  @Test(arguments: [("none", false), ("unknown", true), ("some", true)])
  func `what the daemon does not rule out may have happened`(effect: String, may: Bool) throws {
    let error = try error(#""id":1,"code":"x","msg":"","effect":"\#(effect)","retry":"no""#)
    #expect(error.mayHaveHappened == may)
  }

  @Test func `the line for people has the code, the reason and the message`() throws {
    let error = try error(
      #""id":1,"code":"desync","reason":"top","msg":"top is a, not b","effect":"none","retry":"resync""#
    )
    #expect("\(error)" == "desync (top): top is a, not b")
    #expect(
      "\(NavigationClientError(.closed, "the client is closed"))" == "closed: the client is closed")
  }

  @Test func `the place of the fault, the pause and the nav are passed on`() throws {
    let error = try error(
      #""id":1,"code":"queue-full","msg":"","effect":"none","retry":"later","after":250,"index":3,"#
        + #""nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":9,"dig":"000000000000000000000000","depth":2,"top":"a""#
    )
    #expect(error.retryAfter == .milliseconds(250) && error.index == 3)
    #expect(error.revision == 9 && error.depth == 2 && error.top == "a")
    #expect(error.code == .queueFull && error.topChange == nil && error.reason == nil)
    #expect(try NavigationValue(json: error.json)["after"] == 250)
  }

  @Test func `members that are not there are nil, and an empty stack has no top`() throws {
    let bare = try error(#""id":null,"code":"bad-json","msg":"","effect":"none","retry":"no""#)
    #expect(bare.retryAfter == nil && bare.index == nil && bare.revision == nil)
    #expect(bare.depth == nil && bare.top == nil)
    let empty = try error(
      #""id":1,"code":"no-root","msg":"","effect":"none","retry":"no","depth":0,"top":null"#)
    #expect(empty.depth == 0 && empty.top == nil)
  }

  @Test func `numbers beyond those of this machine do not trap`() throws {
    let most = "9007199254740991"
    let error = try error(
      #""id":1,"code":"x","msg":"","effect":"none","retry":"no","after":\#(most),"index":\#(most),"#
        + #""rev":\#(most),"depth":\#(most)"#)
    #expect(error.retryAfter == .milliseconds(9_007_199_254_740_991))
    #expect(error.index == 9_007_199_254_740_991)
  }

  @Test(
    arguments: [
      (#""popped":"wifi""#, "wifi", nil), (#""covered":"wifi""#, nil, "wifi"), ("", nil, nil),
    ] as [(String, String?, String?)])
  func `the last change of the top says what became of the former one`(
    member: String, popped: String?, covered: String?
  ) throws {
    let tail = member.isEmpty ? "" : "," + member
    let error = try error(
      #""id":1,"code":"desync","msg":"","effect":"none","retry":"resync","#
        + #""since":{"rev":7,"t":5000,"cause":"gesture"\#(tail)}"#)
    let change = try #require(error.topChange)
    #expect(change.revision == 7 && change.millisecondsSince1970 == 5000)
    #expect(change.cause == .gesture && change.author == nil)
    #expect(change.popped == popped && change.covered == covered)
    #expect(change.age(at: 5000) == .zero && change.age(at: 4999) == .zero)
    #expect(change.age(at: 65_000) == .seconds(60))
    #expect(change.age(at: .max) == .milliseconds(Int64.max))
  }

  @Test func `an author over a network has no process`() throws {
    let error = try error(
      #""id":1,"code":"desync","msg":"","effect":"none","retry":"resync","since":{"rev":7,"t":1,"#
        + #""cause":"api","by":{"name":"","principal":"panel"}}"#)
    let author = try #require(error.topChange?.author)
    #expect(author.name == "" && author.principal == "panel" && author.process == nil)
  }

  @Test func `the errors that the library makes itself have the retry of the table`() async throws {
    let large = ErrReply.tooLarge(1, 70_000, limit: 65_536)
    let error = NavigationClientError(large)
    #expect(error.code == .limit && error.reason == .size && !error.mayHaveHappened)
    #expect(large.retry == ErrorCode.limit.retry.rawValue && error.retry == .never)
    #expect(ErrorCode.expired.retry == .no && NavigationClientError(.expired, "").retry == .never)
  }
}
