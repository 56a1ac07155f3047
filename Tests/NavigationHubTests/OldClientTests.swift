import Foundation
@testable import NavigationCore
import Testing

/// What clients of earlier versions get and send.
@Suite struct OldClientTests {
  @Test(arguments: ["deny", "allow"])
  func `a delegate that does not know dismissals is not asked about them`(policy: String) throws {
    let stage = try Stage(["A", "B"])
    try stage.delegate(stage.viewer, "veto")
    let veto = #""veto":{"deadline":2000,"policy":"\#(policy)","required":false}"#
    try stage.done(#"{"nav.configure":{"vetoScope":"all",\#(veto)}}"#)
    try stage.done(Stage.present("M"))
    let sent = try stage.send(stage.owner, #"{"dismiss":{}}"#)
    #expect(sent.to(stage.viewer).asked == [])
    #expect(sent.to(stage.owner).last?.verb == .ok)
    // It is still asked about what it knows.
    #expect(try stage.send(stage.owner, Stage.pop).to(stage.viewer).asked == ["shouldPop(B)"])
  }

  @Test func `where a delegate is required, one of an earlier version is one`() throws {
    let stage = try Stage(["A"])
    let veto = #""veto":{"deadline":2000,"policy":"deny","required":true}"#
    try stage.done(#"{"nav.configure":{"vetoScope":"dismiss",\#(veto)}}"#)
    try stage.done(Stage.present("M"))
    try stage.refused(.delegateTimeout, #"{"dismiss":{}}"#)
    try stage.delegate(stage.viewer, "veto")
    try stage.done(#"{"dismiss":{}}"#)
  }

  @Test func `features are a list of names, and unknown ones do no harm`() throws {
    let client = Client(World(), 1)
    func hello(_ features: String) throws -> Sent {
      try client.hello(#","features":\#(features)"#)
    }
    for features in ["[]", #"["dismissals"]"#, #"["moonlight","dismissals"]"#] {
      #expect(try hello(features).verb == .welcome)
    }
    for features in ["1", "{}", "[1]", #"["a",null]"#] {
      #expect(try hello(features).code == "invalid-argument")
    }
  }
}
