import CommandLineOptions
import Foundation
import NavigationClient
import NavigationCore
import NavigationHub
import Testing

@testable import navctl

@Suite struct OperationsTests {
  @Test func `create attaches unless told not to`() throws {
    let operations = try OperationParser.create(line([("root", "home"), ("title", "Home")]))
    #expect(
      operations.map(\.text) == [
        #"{"nav.create":{"root":{"id":"home","title":"Home"}}}"#, #"{"attach":{}}"#,
      ])
    let detached = try OperationParser.create(line([("detached", nil)]))
    #expect(detached.map(\.text) == [#"{"nav.create":{"classes":{}}}"#])
    let plain = try OperationParser.create(line([("settings", #"{"guard":"all"}"#)]))
    #expect(plain[0].text == #"{"nav.create":{"root":{},"settings":{"guard":"all"}}}"#)
  }

  @Test func `an id alone pushes what is known, anything more makes a screen`() throws {
    #expect(try OperationParser.push(line(), id: "dns").text == #"{"push":{"screen":"dns"}}"#)
    #expect(
      try OperationParser.push(line([("new", nil)]), id: "dns").text
        == #"{"push":{"screen":{"id":"dns"}}}"#)
    let made = try OperationParser.push(
      line([
        ("title", "DNS \"x\""), ("route", "r"), ("args", " [1] "), ("item-title", "T"),
        ("show", nil),
      ]), id: nil)
    #expect(
      made.text
        == #"{"show":{"screen":{"title":"DNS \"x\"","route":"r","args":[1],"item":{"title":"T"}}}}"#
    )
    #expect(throws: UsageError.self) { try OperationParser.push(line(), id: nil) }
    #expect(throws: UsageError.self) { try OperationParser.push(line([("args", "{")]), id: "a") }
  }

  @Test func `pop-to takes a screen or a route`() throws {
    #expect(try OperationParser.popTo(line(), id: "home").text == #"{"popTo":{"screen":"home"}}"#)
    #expect(
      try OperationParser.popTo(line([("route", "a/b"), ("unique", nil)]), id: nil).text
        == #"{"popTo":{"route":"a/b","match":"unique"}}"#)
    for (options, id) in [
      ([("route", "r")], "home"), ([], nil), ([("unique", nil)], "home"),
    ] as [([(String, String?)], String?)] {
      #expect(throws: UsageError.self) { try OperationParser.popTo(line(options), id: id) }
    }
  }

  @Test func `stack takes ids and records`() throws {
    #expect(
      try OperationParser.stack(["home", #"{"id":"about","title":"About"}"#]).text
        == #"{"setStack":{"screens":["home",{"id":"about","title":"About"}]}}"#)
    #expect(try OperationParser.stack([]).text == #"{"setStack":{"screens":[]}}"#)
    #expect(throws: UsageError.self) { try OperationParser.stack(["{"]) }
  }

  @Test func `set makes the operation of each object`() throws {
    for (words, expected) in [
      (
        "screen wifi title=5 args={\"a\":1} route=",
        #"{"screen.set":{"screen":"wifi","title":"5","args":{"a":1},"route":null}}"#
      ),
      (
        #"item wifi title="" hidesBackButton=true rightItems=scan=Scan,edit leftItems= requireOnStack=true"#,
        #"{"item.set":{"screen":"wifi","title":"","hidesBackButton":true,"#
          + #""rightItems":[{"id":"scan","title":"Scan"},"edit"],"leftItems":null,"#
          + #""requireOnStack":true}}"#
      ),
      (
        "item wifi backBarButtonItem.title=Back",
        #"{"item.set":{"screen":"wifi","backBarButtonItem":{"title":"Back"}}}"#
      ),
      (
        "button ok isEnabled=false isSelected=true accessibilityLabel=5 accessibilityHint=H",
        #"{"button.set":{"button":"ok","isEnabled":false,"isSelected":true,"#
          + #""accessibilityLabel":"5","accessibilityHint":"H"}}"#
      ),
      ("button ok style=done", #"{"button.set":{"button":"ok","style":"done"}}"#),
      (
        "bar hidden=true barTintColor=123456",
        #"{"bar.set":{"barTintColor":"123456"}},{"bar.setHidden":{"hidden":true}}"#
      ),
      ("bar hidden=", #"{"bar.setHidden":{"hidden":false}}"#),
      ("toolbar hidden=", #"{"toolbar.setHidden":{"hidden":true}}"#),
      ("toolbar translucent=", #"{"toolbar.set":{"translucent":null}}"#),
      (
        "appearance standard.background=clear compact=",
        #"{"appearance.set":{"slot":"standard","object":{"background":"clear"}}},"#
          + #"{"appearance.set":{"slot":"compact","object":null}}"#
      ),
      (
        "appearance wifi scrollEdge=",
        #"{"appearance.set":{"slot":"scrollEdge","object":null,"screen":"wifi"}}"#
      ),
      ("proxy MyBar barTintColor=red", #"{"proxy.set":{"class":"MyBar","barTintColor":"red"}}"#),
      ("proxy translucent=true", #"{"proxy.set":{"translucent":true}}"#),
      (
        "display vCompact=true locale=zh-Hans scale=3",
        #"{"env.set":{"vCompact":true,"locale":"zh-Hans","scale":3}}"#
      ),
      (
        "settings veto.deadline=500 queue=2 veto.policy=allow",
        #"{"nav.configure":{"veto":{"deadline":500,"policy":"allow"},"queue":2}}"#
      ),
    ] {
      let words = words.split(separator: " ").map(String.init)
      let object = try #require(NavObject(rawValue: words[0]))
      let id = KeyValues.isKeyValue(words[1]) ? nil : words[1]
      let members = Array(words.dropFirst(id == nil ? 1 : 2))
      let operations = try object.operations(id: id, members)
      #expect(operations.map(\.text).joined(separator: ",") == expected)
    }
    for object in [NavObject.screen, .item, .button] {
      #expect(throws: UsageError.self) { try object.operations(id: nil, ["title=T"]) }
    }
  }

  @Test func `an object has the members that the daemon reads, and their values`() throws {
    #expect(NavObject.bar.allowedValues(of: "hidden") == ["true", "false"])
    #expect(
      NavObject.item.allowedValues(of: "largeTitleDisplayMode") == ["automatic", "always", "never"])
    #expect(NavObject.settings.allowedValues(of: "veto.policy") == ["deny", "allow"])
    #expect(NavObject.display.allowedValues(of: "idiom") == ["phone", "pad"])
    #expect(NavObject.button.allowedValues(of: "systemItem").contains("refresh"))
    #expect(NavObject.screen.allowedValues(of: "title").isEmpty)
    // Every name in the daemon's readers is tried for every object.
    let wire = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Sources/NavigationHub/Protocol/Wire")
    var names: Set<String> = []
    for file in try FileManager.default.contentsOfDirectory(atPath: wire.path)
    where file.contains("Reader") || file.contains("Members") || file.hasPrefix("JSONTape") {
      let source = try String(contentsOf: wire.appendingPathComponent(file), encoding: .utf8)
      names.formUnion(source.matches(of: /"([A-Za-z]+)"/).map { String($0.1) })
    }
    names.formUnion(AccessibilityMember.allCases.map(\.word))
    #expect(names.count > 150)
    for object in NavObject.allCases {
      let own = Set(object.keys.filter { !$0.contains(".") })
      // UIKit's names of the lists of buttons, and the arguments of the operations.
      let others: Set = [
        "leftBarButtonItems", "rightBarButtonItems", "leftBarButtonItem", "rightBarButtonItem",
        "screen", "button", "class",
      ]
      let read = names.filter { object.refusal(of: "\($0)=") == nil }
      #expect(
        read.subtracting(others) == own,
        "\(object)")
      for key in object.keys where key.contains(".") {
        let refusal = object.refusal(of: "\(key)={}") ?? ""
        #expect(!refusal.contains("has no member"), "\(key): \(refusal)")
      }
    }
  }

  @Test func `screen and button create, release and tap`() throws {
    for (object, verb, words, expected) in [
      (
        .screen, "create", ["about", "title=About"],
        #"{"screen.create":{"id":"about","title":"About"}}"#
      ),
      (.screen, "create", ["title=About"], #"{"screen.create":{"title":"About"}}"#),
      (.screen, "create", [#"{"id":"a"}"#], #"{"screen.create":{"id":"a"}}"#),
      (.screen, "release", ["a"], #"{"screen.release":{"screen":"a"}}"#),
      (
        .button, "create", ["ok", "systemItem=done"],
        #"{"button.create":{"id":"ok","systemItem":"done"}}"#
      ),
      (.button, "release", ["ok"], #"{"button.release":{"button":"ok"}}"#),
      (.button, "activate", ["ok"], #"{"button.activate":{"button":"ok"}}"#),
      (
        .button, "activate", ["ok", "element=7"],
        #"{"button.activate":{"button":"ok","element":"7"}}"#
      ), (.button, "activate", ["element=up"], #"{"button.activate":{"element":"up"}}"#),
    ] as [(NavObject, String, [String], String)] {
      #expect(try OperationParser.record(object, verb: verb, words).text == expected)
    }
    for (object, verb, words) in [
      (.screen, "set", ["a", "b=c"]), (.screen, "release", []), (.screen, "activate", ["a"]),
      (.button, "release", ["ok", "title=T"]), (.button, "tap", ["ok"]),
      (.button, "activate", []), (.button, "activate", ["ok", "title=T"]),
      (.screen, "create", ["{}", "title=T"]),
    ] as [(NavObject, String, [String])] {
      #expect(throws: UsageError.self) { try OperationParser.record(object, verb: verb, words) }
    }
  }

  @Test func `a text may begin like JSON, and keeps what it is`() throws {
    for (word, json) in [
      ("prompt=[1/3] Network", #""[1/3] Network""#), ("title={name}", #""{name}""#),
      (#"title="hi" he said"#, #""\"hi\" he said""#), ("title=\"\"", "\"\""), ("title=", "null"),
      (#"title="5""#, #""5""#), ("backBarButtonItem.title=[B]", #"{"title":"[B]"}"#),
    ] {
      let name = word.prefix { !"=.".contains($0) }
      #expect(
        try NavObject.item.operations(id: "s", [word])[0].text
          == #"{"item.set":{"screen":"s","\#(name)":\#(json)}}"#)
    }
    #expect(throws: UsageError.self) {
      try NavObject.item.operations(id: "s", ["rightItems=[a"])
    }
  }

  @Test func `free JSON has the values that were typed`() throws {
    #expect(
      try NavObject.screen.operations(id: "s", ["args.title=5", "args.rightItems=x", "title=5"])[0]
        .text
        == #"{"screen.set":{"screen":"s","args":{"title":5,"rightItems":"x"},"title":"5"}}"#)
  }

  @Test(
    arguments: [
      (.screen, "screen=home"), (.item, "screen=home"), (.button, "button=b"), (.proxy, "class=X"),
    ] as [(NavObject, String)])
  func `an id that is named twice is a fault of the command line`(
    object: NavObject, word: String
  ) throws {
    #expect(throws: UsageError.self) { try object.operations(id: "x", [word]) }
    #expect(throws: UsageError.self) {
      try OperationParser.record(.screen, verb: "create", ["x", "id=y"])
    }
    #expect(try OperationParser.record(.screen, verb: "create", ["id=y"]).kind == .screenCreate)
  }

  @Test func `a typed operation is known by its name`() throws {
    let operation = try NavigationOperation(typed: #" {"ui.backTap": {}} "#)
    #expect(operation.kind == .uiBackTap && operation.text == #"{"ui.backTap": {}}"#)
    #expect(try NavigationOperation(typed: #"{"later":{}}"#).kind == .unknown)
    for text in ["", "[]", "{}", #"{"pop":{},"push":{}}"#, "{pop}"] {
      #expect(throws: UsageError.self) { try NavigationOperation(typed: text) }
    }
  }

  @Test func `every title becomes valid JSON`() throws {
    let text = "a\"\\\n\u{1}长"
    let operation = try NavObject.screen.operations(id: "s", ["title=\(text)"])[0]
    #expect(try JSONValue(operation.octets.bytes)["screen.set"]?["title"]?.string == text)
  }
}

@Suite struct NavArgumentsTests {
  private func split(
    _ positionals: [String], _ rest: ClosedRange<Int>, option: String? = nil,
    variable: String? = nil
  ) throws -> [String] {
    let split = try NavArguments(
      positionals, rest: rest, option: option, variable: variable, usage: "navctl x NAV")
    return [split.nav] + split.rest
  }

  @Test func `the first argument is the nav`() throws {
    #expect(try split(["kiosk"], 0...0) == ["kiosk"])
    #expect(try split(["kiosk", "wifi"], 0...1) == ["kiosk", "wifi"])
    #expect(try split(["kiosk", "a", "b"], 0...Int.max) == ["kiosk", "a", "b"])
  }

  @Test func `the variable names the nav that is left out`() throws {
    #expect(try split([], 0...0, variable: "env") == ["env"])
    #expect(try split(["wifi"], 0...1, variable: "env") == ["env", "wifi"])
    #expect(try split(["a", "b"], 0...Int.max, variable: "env") == ["env", "a", "b"])
    #expect(try split(["wifi", "T"], 2...2, variable: "env") == ["env", "wifi", "T"])
  }

  @Test func `one argument more than the command takes is the nav`() throws {
    #expect(try split(["kiosk"], 0...0, variable: "env") == ["kiosk"])
    #expect(try split(["kiosk", "wifi"], 0...1, variable: "env") == ["kiosk", "wifi"])
  }

  @Test func `the option leaves all arguments to the command`() throws {
    #expect(try split(["wifi"], 0...1, option: "opt", variable: "env") == ["opt", "wifi"])
    #expect(throws: UsageError.self) { try split(["kiosk"], 0...0, option: "opt") }
  }

  @Test func `no nav, too few and bad names are refused`() {
    #expect(throws: UsageError("the command needs a nav", remedy: "navctl x NAV, or set NAVD_NAV"))
    {
      try split([], 0...0)
    }
    for (words, name) in [(["kiosk"], "SCREEN"), (["kiosk", "wifi"], "REV")] {
      #expect(throws: UsageError("\(name) is missing", remedy: "navctl x kiosk SCREEN REV")) {
        try NavArguments(
          words, rest: 2...2, option: nil, variable: nil, usage: "navctl x NAV SCREEN REV")
      }
    }
    #expect(throws: UsageError.self) { try split(["wifi"], 2...2, variable: "env") }
    #expect(throws: UsageError.self) { try split(["Kiosk"], 0...0) }
    #expect(throws: UsageError.self) { try split(["a", "b", "c"], 0...1) }
  }
}

@Suite struct QuantitiesTests {
  @Test(arguments: [
    ("5", 5000), ("500ms", 500), ("1.5s", 1500), ("2m", 120_000), ("1h", 3_600_000), ("0", 0),
  ])
  func `times have units`(text: String, expected: UInt64) throws {
    #expect(try ArgumentReader.milliseconds(text, option: "timeout") == expected)
  }

  @Test(arguments: ["", "s", "-1", "5x", "1e9", "inf", "99999h", "1.2.3"])
  func `what is no time is refused`(text: String) {
    #expect(throws: UsageError.self) { try ArgumentReader.milliseconds(text, option: "timeout") }
  }

  @Test func `a position has three parts`() throws {
    let position = try ArgumentReader.position(
      "c0ffee12c0ffee12:18:985cc24d0000000000000000", option: "from")
    #expect(position.revision.number == 18 && position.digest.text == "985cc24d0000000000000000")
    for text in ["", "1:2:3", "c0ffee12c0ffee12:18", "c0ffee12c0ffee12:x:985cc24d0000000000000000"]
    {
      #expect(throws: UsageError.self) { try ArgumentReader.position(text, option: "from") }
    }
  }

  @Test func `exactly one condition can be waited for`() throws {
    #expect(try WaitCondition(line([("top", "wifi")])) == .top("wifi"))
    #expect(throws: UsageError.self) { try WaitCondition(line()) }
    #expect(throws: UsageError.self) { try WaitCondition(line([("top", "a"), ("depth", "1")])) }
    #expect(WaitCondition.topHasIDOrRoute("r").holds(top: "a", route: "r", depth: 0, revision: 0))
    #expect(WaitCondition.topHasIDOrRoute("a").holds(top: "a", route: "r", depth: 0, revision: 0))
    #expect(!WaitCondition.topHasIDOrRoute("x").holds(top: "a", route: nil, depth: 0, revision: 0))
    #expect(WaitCondition.revision(7).holds(top: nil, route: nil, depth: 0, revision: 8))
    #expect(!WaitCondition.revision(7).holds(top: nil, route: nil, depth: 0, revision: 6))
    #expect(WaitCondition.depth(2).holds(top: "a", route: nil, depth: 2, revision: 1))
    #expect(WaitCondition.top(nil).holds(top: nil, route: nil, depth: 0, revision: 1))
  }
}
