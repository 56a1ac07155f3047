/// Messages as the protocol's description shows them.
enum Samples {
  static let client: [(verb: String, body: String)] = [
    (
      "hello",
      #"{"ver":[1,1],"client":"6f1c0f5e9a7d4c52b0d3c6c1f5a2e9d1","name":"shell","#
        + #""nonce":"a41f09c2","window":65536,"hb":5000,"features":[]}"#
    ),
    ("bye", #"{"id":90}"#),
    ("watch", #"{"id":2,"nav":"kiosk"}"#),
    (
      "watch",
      #"{"id":3,"nav":"kiosk","from":{"epoch":"c0ffee12c0ffee12","rev":18,"#
        + #""dig":"985cc24d0000000000000000"}}"#
    ),
    ("watch", #"{"id":4,"nav":"kiosk","view":"bar"}"#),
    ("unwatch", #"{"id":5,"nav":"kiosk","view":"bar"}"#),
    ("op", #"{"id":44,"nav":"kiosk","if":{"top":"wifi"},"do":[{"pop":{}}]}"#),
    (
      "op",
      #"{"id":45,"nav":"kiosk","if":{"epoch":"c0ffee12c0ffee12","top":"home"},"#
        + #""animated":true,"onBusy":"queue","due":81234567, "do":[{"popToRoot":{}},"#
        + #"{"push":{"screen":{"title":"Now playing","route":"media/now","#
        + #""args":{"src":"bt"}}}}]}"#
    ),
    (
      "op",
      #"{"id":1,"client":"0b9c64e1f8d24f0c9a6f6f5d3b0c77aa","nav":"kiosk","#
        + #""if":{"any":true},"do":[{"pop":{}}]}"#
    ),
    (
      "op",
      #"{"id":50,"nav":"kiosk","do":[{"nav.create":{"root":{"id":"home","#
        + #""title":"Home"}}},{"attach":{}}]}"#
    ),
    (
      "op",
      #"{"id":51,"nav":"hud","do":[{"nav.create":{"kind":"bar"}},"#
        + #"{"pushItem":{"item":{"id":"i","item":{"title":"Owen"}}}}]}"#
    ),
    (
      "op",
      #"{"id":52,"nav":"kiosk","do":[{"item.set":{"screen":"wifi","title":"Wi-Fi ✓","#
        + #""rightItems":[]}},{"bar.set":{"prefersLargeTitles":true}}]}"#
    ),
    (
      "op",
      #"{"id":53,"nav":"kiosk","if":{"rev":22},"do":[{"setStack":{"screens":["home","#
        + #"{"id":"about","title":"About"}]}}]}"#
    ),
    (
      "op",
      #"{"id":54,"nav":"kiosk","do":[{"present":{"screen":{"id":"pin"},"#
        + #""style":"overCurrentContext"}},{"button.create":{"id":"ok","#
        + #""systemItem":"done"}}]}"#
    ),
    (
      "op",
      #"{"id":55,"nav":"kiosk","if":{"top":"wifi"},"#
        + #""do":[{"gesture.begin":{"kind":"edge","translation":5}}]}"#
    ),
    ("op", #"{"id":56,"nav":"kiosk","do":[{"gesture.update":{"value":0.4}}]}"#),
    (
      "op",
      #"{"id":57,"nav":"kiosk","do":[{"transition.complete":{"tid":19}},"#
        + #"{"env.set":{"vCompact":true,"locale":"zh-Hans"}}]}"#
    ),
    (
      "op",
      #"{"id":58,"nav":"kiosk","do":[{"appearance.set":{"slot":"scrollEdge","#
        + #""object":{"background":"clear"}}},{"proxy.set":{"class":"MyBar","#
        + #""barTintColor":"red"}}]}"#
    ),
    ("op", #"{"id":59,"nav":"kiosk","if":{"rev":23},"do":[{"revert":{"rev":18}}]}"#),
    ("delegate", #"{"id":60,"nav":"kiosk","roles":["veto","animator"]}"#),
    (
      "delegate",
      #"{"id":61,"nav":"kiosk","roles":["veto","animator","orientation"],"#
        + #""orientations":{"supported":["portrait"],"preferred":"portrait"}}"#
    ),
    ("answer", #"{"ask":7,"value":false}"#),
    ("answer", #"{"ask":8,"value":{"animator":"fade","duration":500}}"#),
    ("lease", #"{"id":70,"nav":"kiosk","take":true}"#),
    ("lease", #"{"id":71,"nav":"kiosk","take":false}"#),
    ("cluster", #"{"id":72,"move":17,"to":"b"}"#),
    ("cluster", #"{"id":73,"move":"kiosk","to":"b"}"#),
    ("cluster", #"{"id":74,"drain":"a"}"#), ("cluster", #"{"id":75,"drain":"a","on":false}"#),
    ("get", #"{"id":80,"nav":"kiosk"}"#),
    ("get", #"{"id":81,"nav":"kiosk","at":18,"what":"state"}"#),
    ("get", #"{"id":82,"nav":"kiosk","what":"log","from":17,"limit":2}"#),
    ("get", #"{"id":83,"nav":"kiosk","what":"restoration"}"#),
    ("credit", #"{"upto":196608}"#),
    ("ping", #"{"id":91}"#),
  ]

  static let server: [(verb: String, body: String)] = [
    (
      "welcome",
      #"{"ver":1,"nonce":"a41f09c2","boot":"5d0c8f1e77aa92b4","server":"navd/0.1.0","#
        + #""features":[],"hb":5000, "you":{"via":"ipc","uid":1000,"gid":1000,"pid":4711,"#
        + #""role":"ui"},"ops":{"last":41}, "limits":{"message":65536,"inflight":64,"#
        + #""watches":1024,"depth":64,"window":1048576}}"#
    ),
    ("ok", #"{"id":90}"#),
    ("bye", #"{"why":"shutting-down","after":500}"#),
    (
      "snap",
      #"{"nav":"kiosk","kind":"controller","epoch":"c0ffee12c0ffee12","rev":18,"i":0,"#
        + #""last":true,"why":"join","screens":[ {"id":"home","ver":3,"title":"Home","#
        + #""route":"home"}, {"id":"wifi","ver":18,"title":"Wi-Fi","#
        + #""route":"settings/wifi","args":{"ssid":"attic"},"#
        + #" "item":{"rightItems":[{"id":"scan","title":"Scan","action":"wifi.scan"}]}}],"#
        + #" "bar":{"ver":1},"toolbar":{"ver":1},"presented":{"ver":1},"#
        + #""transition":{"ver":1}, "environment":{"ver":9,"owner":"shell","#
        + #""backTitleBudget":12},"settings":{"ver":2,"attached":true},"#
        + #" "resolved":{"top":"wifi","back":"home","visible":"wifi","height":44,"#
        + #""layoutHeight":44,"metrics":"default", "left":[{"back":{"text":"Home","#
        + #""source":"title","indicator":"default","candidates":["Home","Back",null]}}],"#
        + #" "middle":{"title":"Wi-Fi","placement":"inline"}, "right":[{"button":"scan","#
        + #""title":"Scan","action":"wifi.scan","tintApplies":true}],"#
        + #" "background":"white","translucent":true,"textColor":"black","#
        + #""tintColor":"blue","shadow":{"hairline":"1/2"},"content":{"top":0},"#
        + #" "toolbar":{"visible":false,"items":[]},"orientations":["portrait","#
        + #""landscapeLeft","landscapeRight"],"swipeBack":true}, "dig":"985cc24d0000000000000000"}"#
    ),
    (
      "ok",
      #"{"id":2,"nav":"kiosk","mode":"snap","why":"join","epoch":"c0ffee12c0ffee12","#
        + #""rev":18}"#
    ),
    (
      "ok",
      #"{"id":3,"nav":"kiosk","mode":"resume","epoch":"c0ffee12c0ffee12","rev":22}"#
    ),
    (
      "ok",
      #"{"id":4,"nav":"kiosk","mode":"latest","epoch":"c0ffee12c0ffee12","rev":22}"#
    ),
    ("ok", #"{"id":5,"nav":"kiosk"}"#),
    (
      "diff",
      #"{"nav":"kiosk","epoch":"c0ffee12c0ffee12","base":18,"rev":19,"seq":9001,"#
        + #""cause":"api","by":{"name":"remote-1","op":42}, "animated":true,"ch":[{"at":2,"#
        + #""del":[],"ins":[{"id":"dns","ver":19,"title":"DNS"}]}, {"set":"transition","#
        + #""to":{"ver":19,"tid":19,"op":"push","from":"wifi","to":"dns","#
        + #""phase":"animating","deadline":1000}}], "resolved":{"top":"dns","back":"wifi","#
        + #""visible":"dns","height":44}, "ev":[{"willShow":{"screen":"dns","#
        + #""animated":true}},{"transitionBegan":{"tid":19,"op":"push","from":"wifi","#
        + #""to":"dns"}}], "depth":3,"dig":"924da5110000000000000000"}"#
    ),
    (
      "diff",
      #"{"nav":"kiosk","epoch":"c0ffee12c0ffee12","base":19,"rev":20,"seq":9002,"#
        + #""cause":"complete","by":{"name":"shell","op":7}, "ch":[{"set":"transition","#
        + #""to":{"ver":20}}], "ev":[{"didPush":{"screen":"dns"}},"#
        + #"{"didShow":{"screen":"dns","animated":true}},{"transitionEnded":{"tid":19,"#
        + #""outcome":"completed"}}], "depth":3,"dig":"3b5fdb880000000000000000"}"#
    ),
    (
      "diff",
      #"{"nav":"kiosk","epoch":"c0ffee12c0ffee12","base":20,"rev":21,"seq":9007,"#
        + #""cause":"backButton","by":{"name":"shell","op":8}, "ch":[{"at":2,"#
        + #""del":["dns"],"ins":[]}],"resolved":{"top":"wifi","back":"home","#
        + #""visible":"wifi","height":44}, "ev":[{"willShow":{"screen":"wifi","#
        + #""animated":false}},{"didPop":{"screen":"dns"}},{"didShow":{"screen":"wifi","#
        + #""animated":false}}], "depth":2,"dig":"88b336530000000000000000"}"#
    ),
    (
      "diff",
      #"{"nav":"kiosk","epoch":"c0ffee12c0ffee12","base":21,"rev":22,"seq":9008,"#
        + #""cause":"api","by":{"name":"remote-1","op":43}, "ch":[{"set":"screen","#
        + #""to":{"id":"wifi","ver":22,"title":"Wi-Fi ✓","route":"settings/wifi"}}],"#
        + #" "resolved":{"top":"wifi","back":"home","visible":"wifi","height":44},"ev":[],"#
        + #""depth":2,"dig":"1574af9e0000000000000000"}"#
    ),
    (
      "diffs",
      #"{"nav":"kiosk","list":[ {"nav":"kiosk","epoch":"c0ffee12c0ffee12","base":22,"#
        + #""rev":23,"seq":9010,"cause":"api","ch":[{"at":1,"del":["wifi"],"ins":[]}],"#
        + #" "ev":[{"willShow":{"screen":"home","animated":false}},"#
        + #"{"didPop":{"screen":"wifi"}},{"didShow":{"screen":"home","animated":false}}],"#
        + #" "depth":1,"dig":"f7f41f990000000000000000"}, {"nav":"kiosk","epoch":"c0ffee12c0ffee12","#
        + #""base":23,"rev":24,"seq":9011,"cause":"api","animated":true, "ch":[{"at":1,"#
        + #""del":[],"ins":[{"id":"s24.1","ver":24,"title":"Now playing","#
        + #""route":"media/now","args":{"src":"bt"}}]}, {"set":"transition","#
        + #""to":{"ver":24,"tid":24,"op":"push","from":"home","to":"s24.1","#
        + #""phase":"animating","deadline":1000}}], "ev":[{"willShow":{"screen":"s24.1","#
        + #""animated":true}},{"transitionBegan":{"tid":24,"op":"push","from":"home","#
        + #""to":"s24.1"}}], "depth":2,"dig":"9bd5ea7a0000000000000000"}]}"#
    ),
    (
      "latest",
      #"{"nav":"kiosk","view":"bar","epoch":"c0ffee12c0ffee12","rev":22,"#
        + #""value":{"top":"wifi","back":"home","height":44}}"#
    ),
    (
      "event",
      #"{"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":22,"#
        + #""ev":[{"buttonActivated":{"button":"scan","action":"wifi.scan"}}]}"#
    ),
    ("mark", #"{"t":1732147200123,"at":[["kiosk",22,"1574af9e0000000000000000"]]}"#),
    (
      "end",
      #"{"nav":"kiosk","view":"full","epoch":"c0ffee12c0ffee12","rev":23,"#
        + #""why":"closed"}"#
    ),
    (
      "ok",
      #"{"id":44,"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":23,"changed":true,"#
        + #""depth":1,"top":"home","dig":"f7f41f990000000000000000","out":[{"popped":"wifi"}]}"#
    ),
    ("queued", #"{"id":45,"nav":"kiosk","pos":1}"#),
    (
      "ok",
      #"{"id":45,"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":24,"changed":true,"#
        + #""depth":2,"top":"s24.1","dig":"9bd5ea7a0000000000000000","out":[{"popped":[]},{"id":"s24.1"}]}"#
    ),
    (
      "err",
      #"{"id":46,"code":"desync","reason":"top","expected":"wifi","msg":"top is s24.1,"#
        + #" not wifi","effect":"none","retry":"resync", "nav":"kiosk","#
        + #""epoch":"c0ffee12c0ffee12","rev":24,"dig":"9bd5ea7a0000000000000000","depth":2,"top":"s24.1"}"#
    ),
    ("ok", #"{"id":60,"nav":"kiosk"}"#),
    (
      "ask",
      #"{"ask":7,"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":22,"within":2000,"#
        + #""q":{"shouldPop":{"screen":"wifi","cause":"backButton"}}}"#
    ),
    ("settled", #"{"ask":7,"outcome":"denied","by":"shell"}"#),
    ("lost", #"{"nav":"kiosk","of":"lease","code":"lease-lost","msg":"","owner":"shell"}"#),
    (
      "traced",
      #"{"list":[{"t":1732147200000,"dir":"in","verb":"op","principal":"uid:0","size":2,"body":{}}],"dropped":3,"end":"revoked"}"#
    ),
    (
      "ask",
      #"{"ask":8,"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":22,"within":2000,"#
        + #""q":{"animatorFor":{"op":"push","from":"wifi","to":"dns"}}}"#
    ),
    ("ok", #"{"id":70,"nav":"kiosk","owner":"shell"}"#),
    (
      "ok",
      #"{"id":83,"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":22,"value":{"v":1,"#
        + #""entries":[{"path":"nav/home#0","screen":{"id":"home","title":"Home"}}]}}"#
    ),
    (
      "ok",
      #"{"id":82,"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":22,"floor":1,"#
        + #""value":[ {"rev":18,"t":1732147200000,"cause":"api","by":{"name":"shell","#
        + #""op":6},"do":["push"],"before":"b578b3010000000000000000","dig":"985cc24d0000000000000000"}]}"#
    ),
    ("pong", #"{"id":91,"boot":"5d0c8f1e77aa92b4","t":1732147200123}"#),
    (
      "err",
      #"{"id":null,"code":"version","msg":"the message is NSP/2, this daemon speaks NSP/1","effect":"none","#
        + #""retry":"no","have":[1,1]}"#
    ),
  ]

  static let clientMessages = client.map(\.body)
  static let serverMessages = server.map(\.body)
}
