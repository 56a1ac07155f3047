import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Nothing that a client may choose is in a redacted recording, except ids and routes.
@Suite struct RecordingRedactionTests {
  /// Operations with a secret in each place, with the keys of objects too; `•` becomes a number.
  private static let ops = [
    #"{"push":{"screen":{"id":"a","title":"SECRET•","route":"wifi/home","args":{"SECRET•":["SECRET•"]},"restorationID":"SECRET•"},"sender":{"SECRET•":"SECRET•"}}}"#,
    #"{"push":{"screen":{"id":"b","title":"SECRET•","route":"wifi/other","item":{"title":"SECRET•","prompt":"SECRET•","titleView":{"view":{"SECRET•":1},"height":30}}}}}"#,
    #"{"item.set":{"screen":"b","rightItems":[{"id":"r","action":"SECRET•","image":{"ref":"SECRET•"},"landscapeImage":"SECRET•"},{"id":"v","customView":{"SECRET•":"SECRET•"}}],"backBarButtonItem":{"id":"k","title":"SECRET•"}}}"#,
    #"{"item.set":{"screen":"a","backBarButtonItem":{"id":"k2","image":"SECRET•"},"leftItems":[{"id":"l","title":"SECRET•"}],"leftItemsSupplementBackButton":true}}"#,
    #"{"screen.set":{"screen":"b","toolbarItems":[{"id":"t","title":"SECRET•","action":"SECRET•"}],"edges":["top"]}}"#,
    #"{"appearance.set":{"slot":"standard","screen":"b","object":{"SECRET•":"SECRET•"}}}"#,
    #"{"appearance.set":{"slot":"compact","object":{"background":"SECRET•"}}}"#,
    #"{"bar.set":{"barTintColor":"SECRET•","tintColor":"SECRET•","backgroundColor":"SECRET•","shadowImage":"SECRET•","backIndicatorImage":"SECRET•","backIndicatorMask":{"ref":"SECRET•"},"prefersLargeTitles":true}}"#,
    #"{"bar.set":{"titleTextAttributes":{"font":{"SECRET•":"SECRET•"},"color":"SECRET•","shadowColor":"SECRET•","shadowOffset":"SECRET•"},"backgroundImages":{"any/default":"SECRET•"},"titleOffsets":{"default":3}}}"#,
    #"{"toolbar.set":{"tintColor":"SECRET•","barTintColor":"SECRET•"}},{"toolbar.setHidden":{"hidden":false}}"#,
    #"{"nav.configure":{"backTitles":{"de":"SECRET•"}}}"#,
    #"{"nav.configure":{"container":{"SECRET•":"SECRET•"},"restorationID":"SECRET•","simultaneous":[["edge","SECRET•"]]}}"#,
    #"{"nav.configure":{"routes":[{"match":"SECRET•/:page","screens":[{"route":"SECRET•/{page}","title":"SECRET•"}]}]}}"#,
    #"{"env.set":{"locale":"SECRET•","scrollEdge":true}}"#,
    #"{"screen.set":{"screen":"b","accessibilityLabel":"SECRET•","language":"x-SECRET•"}}"#,
    #"{"item.set":{"screen":"b","accessibilityLabel":"SECRET•","language":"x-SECRET•"}}"#,
    #"{"button.set":{"button":"r","accessibilityLabel":"SECRET•","accessibilityHint":"SECRET•","accessibilityIdentifier":"SECRET•","isEnabled":false}}"#,
    #"{"present":{"screen":{"id":"p","title":"SECRET•","args":{"SECRET•":true}},"style":"SECRET•"}}"#,
    #"{"present":{"screen":{"id":"q","title":"SECRET•"},"style":"popover"}}"#,
    #"{"dismiss":{"result":{"SECRET•":"SECRET•"}}}"#,
    #"{"pop":{"result":"SECRET•"}}"#,
    #"{"pop":{"result":{"SECRET•":"SECRET•"}}}"#,
    #"{"setStack":{"screens":["home",{"id":"c","title":"SECRET•","route":"wifi/home"}]}}"#,
  ]

  /// A nav that performed all of these operations, half of them animated.
  private static func planted() throws -> (World, Client, Int) {
    let world = World { $0.opsPerSecond = 1_000_000 }
    let client = Client(world, 1, user: 4242)
    let name = #"{"ver":[1,1],"client":"\#(client.client)","name":"SECRET0","nonce":"n"}"#
    #expect(try client.ask("hello", name).verb == .welcome)
    try client.must(
      #"{"nav.create":{"root":{"id":"home","title":"SECRET1","route":"home"}}},{"attach":{}}"#)
    try world.client(2, user: 0).must(
      #"{"proxy.set":{"barTintColor":"SECRET1"}}"#, nav: "$appearance")
    var count = 2
    for animated in [false, true] {
      if animated {
        try client.must(#"{"setStack":{"screens":["home"]}}"#, #""if":{"any":true}"#)
        let roles = #""roles":["animator"],"veto":false"#
        try client.ask("delegate", #"{"id":\#(client.nextID()),"nav":"kiosk",\#(roles)}"#)
      }
      for op in ops {
        let parts = op.split(separator: "•", omittingEmptySubsequences: false)
        let text = parts.enumerated().map { index, part in
          index < parts.count - 1 ? "\(part)\(count + index)" : String(part)
        }.joined()
        count += parts.count - 1
        let flag = animated ? #","animated":true"# : ""
        let replies = try client.send("op", client.opBody(text, #""if":{"any":true}"# + flag))
        for ask in replies where ask.verb == .ask {
          let question = try #require(ask.json["ask"] as? Int, "\(ask.text)")
          try client.send(
            "answer", #"{"ask":\#(question),"value":{"animator":"SECRET\#(count)","duration":5}}"#)
          count += 1
        }
        if !animated {
          let refused = replies.last { $0.verb == .err }
          #expect(refused == nil, "\(refused?.text ?? "") to \(text)")
        }
        try world.wait(2000)
      }
    }
    return (world, client, count)
  }

  /// The decompressed bytes of a recording, as text.
  private static func contents(_ recorded: Recorded) throws -> String {
    var reader = GzipReader()
    reader.append(recorded.file)
    var bytes: [UInt8] = []
    while let more = try reader.next() { bytes += more }
    let isAtEnd = reader.isAtEnd
    #expect(isAtEnd)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `no planted secret is in a redacted recording, and it passes the proof`() throws {
    let (_, client, count) = try Self.planted()
    let whole = try Self.contents(try Recorded(client))
    let found = (0..<count).filter { whole.contains("SECRET\($0)") }
    // Otherwise the test plants nothing.
    #expect(found.count > 60, "\(count)")
    #expect(whole.contains("uid:4242"))
    for from in [nil, 8] {
      let recorded = try Recorded(client, from: from, redaction: RecordingRedaction())
      let redacted = try Self.contents(recorded)
      #expect(
        !redacted.contains("SECRET"),
        "\(redacted.firstRange(of: "SECRET").map { redacted[$0.lowerBound...].prefix(80) } ?? "")")
      #expect(!redacted.contains("4242") && !redacted.contains("4711"))
      #expect(redacted.contains("wifi/home") && redacted.contains(#""title":"redacted""#))
      #expect(redacted.contains(#""redacted":["contents","clients","principals"]"#))
      #expect(try Recorded.verify(recorded.file) > 20)
    }
  }

  @Test func `a screen with a matching route keeps its contents in each place`() throws {
    let (_, client, _) = try Self.planted()
    let glob = try #require(NavGlob("*/home"))
    let recorded = try Recorded(client, redaction: RecordingRedaction(keeping: [glob]))
    let text = try Self.contents(recorded)
    #expect(text.contains(#""title":"SECRET2""#) && text.contains("keep */home"))
    #expect(!text.contains(#""title":"SECRET8""#) && !text.contains("SECRET1\""))
    #expect(try Recorded.verify(recorded.file) > 20)
  }

  @Test func `an unknown member, or a known one of another kind, is left out`() throws {
    let entry =
      #"{"kind":"changed","rev":2,"later":"x","cause":{"x":1},"by":{"name":"n","op":7,"x":1},"do":["push","x"],"#
      + #""ch":[{"at":0,"del":["a"],"ins":[{"id":"b","ver":2,"later":{"x":1},"title":["x"]}]},{"set":"later","to":{"ver":2,"x":1}},{"set":"bar","to":{"ver":2,"x":1,"class":"x"}}],"ev":[{"later":{"screen":"x"}},{"didShow":{"screen":"b","animated":true,"x":1}}]}"#
    let redacted = try RecordingRedaction().redacted(Array(entry.utf8))
    #expect(
      String(decoding: redacted, as: UTF8.self)
        == #"{"kind":"changed","rev":2,"by":{"name":"redacted"},"do":["push"],"#
        + #""ch":[{"at":0,"del":["a"],"ins":[{"id":"b","ver":2}]},{"set":"later","to":{}},{"set":"bar","to":{"ver":2}}],"ev":[{},{"didShow":{"screen":"b","animated":true}}]}"#
    )
  }
}
