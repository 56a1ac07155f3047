@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct GoldenTests {
  /// The bytes that the hub sends, one message a kind, with a seed that fixes epochs.
  @Test func `messages have the bytes that they always had`() throws {
    let world = World()
    let client = try world.client()
    let created = try client.must(
      #"{"nav.create":{"root":{"id":"home","title":"Home","route":"home"}}},{"attach":{}}"#)
    let epoch = try world.entry("kiosk").epoch.text
    // The chain begins with the epoch.
    let first = "429b8f8b" + epoch
    #expect(
      created.text
        == #"{"id":1,"nav":"kiosk","epoch":"\#(epoch)","rev":1,"changed":true,"seq":1,"depth":1,"top":"home","dig":"\#(first)","out":[{},{}]}"#
    )
    let watched = try client.watch()
    #expect(
      watched[0].text
        == #"{"id":2,"nav":"kiosk","mode":"snap","why":"join","epoch":"\#(epoch)","rev":1}"#)
    #expect(
      watched[1].text
        == #"{"nav":"kiosk","kind":"controller","epoch":"\#(epoch)","rev":1,"i":0,"last":true,"why":"join","screens":[{"id":"home","ver":1,"title":"Home","route":"home"}],"bar":{"ver":1},"toolbar":{"ver":1},"presented":{"ver":1},"transition":{"ver":1},"environment":{"ver":1},"settings":{"ver":1,"attached":true},"resolved":{"top":"home","visible":"home","height":44,"layoutHeight":44,"metrics":"default","left":[],"middle":{"title":"Home","placement":"inline"},"right":[],"background":"white","translucent":true,"textColor":"black","tintColor":"blue","shadow":{"hairline":"1/2"},"content":{"top":0},"toolbar":{"visible":false,"items":[]},"orientations":["portrait","landscapeLeft","landscapeRight"],"swipeBack":false},"dig":"\#(first)"}"#
    )
    // The fixed epoch of this seed makes the chain the same in each run.
    let second = "9f9779c83ccb125be2f6f098"
    let diff =
      #"{"nav":"kiosk","epoch":"\#(epoch)","base":1,"rev":2,"seq":2,"cause":"api","by":{"name":"c1","op":3},"ch":[{"at":1,"del":[],"ins":[{"id":"wifi","ver":2,"title":"Wi-Fi ✓"}]}],"resolved":{"top":"wifi","back":"home","visible":"wifi","height":44,"layoutHeight":44,"metrics":"default","left":[{"back":{"text":"Home","source":"title","indicator":"default","candidates":["Home","Back",null],"menu":[{"screen":"home","text":"Home"}]}}],"middle":{"title":"Wi-Fi ✓","placement":"inline"},"right":[],"background":"white","translucent":true,"textColor":"black","tintColor":"blue","shadow":{"hairline":"1/2"},"content":{"top":0},"toolbar":{"visible":false,"items":[]},"orientations":["portrait","landscapeLeft","landscapeRight"],"swipeBack":true},"ev":[{"willHide":{"screen":"home","animated":false}},{"willShow":{"screen":"wifi","animated":false}},{"didPush":{"screen":"wifi"}},{"didHide":{"screen":"home","animated":false}},{"didShow":{"screen":"wifi","animated":false}}],"depth":2,"dig":"\#(second)"}"#
    let pushed = try client.send(
      "op", client.opBody(#"{"push":{"screen":{"id":"wifi","title":"Wi-Fi ✓"}}}"#))
    #expect(pushed[0].text == diff)
    let refused = try client.op(#"{"pop":{}}"#, #""if":{"top":"home"}"#)
    #expect(
      refused.text
        == #"{"id":4,"code":"desync","reason":"top","expected":"home","msg":"top is wifi, not home","effect":"none","retry":"resync","since":{"rev":2,"t":1732147200000,"cause":"api","by":{"name":"c1","principal":"uid:1000","pid":4711},"covered":"home"},"nav":"kiosk","epoch":"\#(epoch)","rev":2,"dig":"\#(second)","depth":2,"top":"wifi"}"#
    )
    let viewer = try world.client(2)
    let latest = try viewer.watch(#""view":"top""#)
    #expect(
      latest[1].text
        == #"{"nav":"kiosk","view":"top","epoch":"\#(epoch)","rev":2,"value":{"id":"wifi","ver":2,"title":"Wi-Fi ✓"}}"#
    )
    let pong = try client.ask("ping", #"{"id":91}"#)
    #expect(pong.text == #"{"id":91,"boot":"\#(world.hub.boot.text)","t":\#(world.now.wall)}"#)
    let closed = try client.send("op", client.opBody(#"{"nav.close":{}}"#, #""if":{"rev":2}"#))
    #expect(
      closed[0].text
        == #"{"nav":"kiosk","view":"full","epoch":"\#(epoch)","rev":2,"why":"closed"}"#)
  }

  @Test func `every kind of change and record is written in a fixed order`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    let replies = try client.send(
      "op",
      client.opBody(
        #"{"item.set":{"screen":"home","rightItems":[{"id":"b","systemItem":"done","style":"done"},{"image":{"hasAlpha":true,"ref":"w.png"},"action":"go"}],"prompt":"P"}},{"nav.configure":{"queue":3,"guard":"all"}},{"screen.set":{"screen":"home","edges":["right","top"],"args":{"z":[1.50,null]}}}"#,
        #""animated":true"#))
    #expect(
      replies[0].text.contains(
        #""animated":true,"ch":[{"set":"screen","to":{"id":"home","ver":2,"title":"Home","args":{"z":[1.50,null]},"edges":["top","right"],"item":{"prompt":"P","rightItems":[{"id":"b","systemItem":"done","style":"done"},{"id":"b2.1","image":{"ref":"w.png","hasAlpha":true},"action":"go"}]}}},{"set":"settings","to":{"ver":2,"attached":true,"guard":"all","queue":3}}]"#
      ), "\(replies[0].text)")
  }
}
