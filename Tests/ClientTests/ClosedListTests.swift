import Foundation
import NavigationCore
import NavigationHub
import Testing

@testable import NavigationClient

/// The library's names for the words of closed lists in the protocol, and what becomes of words that
/// only a newer daemon has.
@Suite struct ClosedListTests {
  private static func words<Name: WireNamed>(_ type: Name.Type) -> [String] {
    type.allCases.map(\.word)
  }

  @Test func `there is a name for every code of the protocol, and for the library's own`() {
    #expect(ClosedLists.codes.sorted() == ErrorCode.allCases.map(\.rawValue).sorted())
    let own: [NavigationClientError.Code] = [
      .replaced, .cancelled, .closed, .unreachable, .forked,
    ]
    #expect(own.allSatisfy { ErrorCode(rawValue: $0.rawValue) == nil })
  }

  @Test func `every reason is a word of the protocol, but the library's own`() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../docs/protocol.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    for reason in ClosedLists.reasons {
      #expect(text.contains("`\(reason)`"), "\(reason)")
    }
    #expect(NavigationClientError.Reason.mirror.rawValue == "mirror")
  }

  @Test func `there is a name for every cause, transition and outcome`() {
    #expect(ClosedLists.causes == Self.words(Cause.self))
    #expect(Set(ClosedLists.operations) == Set(Self.words(RunningTransition.Kind.self)))
    #expect(Set(ClosedLists.outcomes) == Set(Self.words(TransitionOutcome.self)))
    #expect(
      ClosedLists.visibilityCauses == ["api", "screen"] + Self.words(HidingCause.self))
  }

  @Test func `there is a name for every part, position, metrics, mode and system item`() {
    #expect(ClosedLists.parts == PartName.allCases.map(\.text))
    #expect(ClosedLists.positions == Self.words(BarPosition.self))
    #expect(ClosedLists.metrics == Self.words(BarMetrics.self))
    #expect(ClosedLists.modes == Self.words(LargeTitleDisplayMode.self))
    #expect(ClosedLists.items == SystemItem.words)
  }

  @Test func `each aspect of a nav that can be read is asked for by its word`() {
    let aspects: [(NavigationAspect, String)] = [
      (.state, ""), (.bar, #","what":"bar""#), (.top, #","what":"top""#),
      (.screen("a"), #","what":"screen","screen":"a""#), (.detached, #","what":"detached""#),
      (.restoration, #","what":"restoration""#), (.log, #","what":"log""#),
      (.log(from: 7, limit: 3), #","what":"log","from":7,"limit":3"#),
      (.verify, #","what":"verify""#), (.stats, #","what":"stats""#),
    ]
    for (aspect, members) in aspects {
      let body = String(
        decoding: ClientMessageWriter.message(aspect.request(of: "k")), as: UTF8.self)
      #expect(body == #"{"id":0,"nav":"k"\#(members)}"#)
    }
  }

  @Test func `a word that only a newer daemon has comes through as it is`() throws {
    var reader = ServerMessageReader()
    let refusal = try reader.read(
      verb: ServerVerb.err.frame,
      body: Array(
        #"{"id":1,"code":"moon","reason":"full","msg":"","effect":"none","retry":"no","since":{"rev":2,"t":1,"cause":"tide"}}"#
          .utf8))
    guard case .err(let reply) = refusal else {
      Issue.record("not read")
      return
    }
    let error = NavigationClientError(reply)
    #expect(error.code.rawValue == "moon" && error.reason?.rawValue == "full")
    #expect(error.topChange?.cause == NavigationCause(rawValue: "tide"))
    let began = NavigationEvent(name: .transitionBegan, details: ["tid": 1, "op": "orbit"])
    #expect(ClosedLists.operation(of: began.kind) == "orbit")
    let new = NavigationEvent(name: .init(rawValue: "moonRise"), details: ["screen": "a"])
    #expect(new.kind == .other && new.screen == "a")
  }
}
