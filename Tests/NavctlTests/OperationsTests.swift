import CommandLineOptions
import NavigationClient
import NavigationCore
import Testing

@testable import NavctlSupport

@Suite struct OperationsTests {
  @Test func `create attaches unless told not to`() throws {
    let operations = try Operations.create(line([("root", "home"), ("title", "Home")]))
    #expect(
      operations.map(\.text) == [
        #"{"nav.create":{"root":{"id":"home","title":"Home"}}}"#, #"{"attach":{}}"#,
      ])
    let detached = try Operations.create(line([("detached", nil)]))
    #expect(detached.map(\.text) == [#"{"nav.create":{"classes":{}}}"#])
    let plain = try Operations.create(line([("settings", #"{"guard":"all"}"#)]))
    #expect(plain[0].text == #"{"nav.create":{"root":{},"settings":{"guard":"all"}}}"#)
  }

  @Test func `an id alone pushes what is known, anything more makes a screen`() throws {
    #expect(try Operations.push(line(), id: "dns").text == #"{"push":{"screen":"dns"}}"#)
    #expect(
      try Operations.push(line([("new", nil)]), id: "dns").text
        == #"{"push":{"screen":{"id":"dns"}}}"#)
    let made = try Operations.push(
      line([
        ("title", "DNS \"x\""), ("route", "r"), ("args", " [1] "), ("item-title", "T"),
        ("show", nil),
      ]), id: nil)
    #expect(
      made.text
        == #"{"show":{"screen":{"title":"DNS \"x\"","route":"r","args":[1],"item":{"title":"T"}}}}"#
    )
    #expect(throws: UsageError.self) { try Operations.push(line(), id: nil) }
    #expect(throws: UsageError.self) { try Operations.push(line([("args", "{")]), id: "a") }
  }

  @Test func `pop-to takes a screen or a route`() throws {
    #expect(try Operations.popTo(line(), id: "home").text == #"{"popTo":{"screen":"home"}}"#)
    #expect(
      try Operations.popTo(line([("route", "a/b"), ("unique", nil)]), id: nil).text
        == #"{"popTo":{"route":"a/b","match":"unique"}}"#)
    for (options, id) in [
      ([("route", "r")], "home"), ([], nil), ([("unique", nil)], "home"),
    ] as [([(String, String?)], String?)] {
      #expect(throws: UsageError.self) { try Operations.popTo(line(options), id: id) }
    }
  }

  @Test func `set takes ids and records`() throws {
    #expect(
      try Operations.set(["home", #"{"id":"about","title":"About"}"#]).text
        == #"{"setStack":{"screens":["home",{"id":"about","title":"About"}]}}"#)
    #expect(try Operations.set([]).text == #"{"setStack":{"screens":[]}}"#)
    #expect(throws: UsageError.self) { try Operations.set(["{"]) }
  }

  @Test func `item sets what was named and nothing else`() throws {
    let operation = try Operations.item(
      line([
        ("title", ""), ("hides-back-button", "yes"), ("right", "scan=Scan"), ("right", "edit"),
        ("left", ""), ("back-title", "Back"), ("unset", "prompt"),
      ]), screen: "wifi")
    #expect(
      operation.text
        == #"{"item.set":{"screen":"wifi","title":"","hidesBackButton":true,"leftItems":[],"#
        + #""rightItems":[{"id":"scan","title":"Scan"},"edit"],"#
        + #""backBarButtonItem":{"title":"Back"},"prompt":null}}"#)
    #expect(throws: UsageError.self) { try Operations.item(line(), screen: "wifi") }
  }

  @Test func `button makes, changes, forgets and taps`() throws {
    #expect(
      try Operations.button(line([("system-item", "done")]), verb: "create", id: "ok").text
        == #"{"button.create":{"id":"ok","systemItem":"done"}}"#)
    #expect(
      try Operations.button(line([("title", "T")]), verb: "set", id: "ok").text
        == #"{"button.set":{"button":"ok","title":"T"}}"#)
    let spoken = [
      ("enabled", "no"), ("selected", "yes"), ("label", "L"), ("hint", "H"), ("identifier", "I"),
    ]
    #expect(
      try Operations.button(line(spoken), verb: "set", id: "ok").text
        == #"{"button.set":{"button":"ok","accessibilityLabel":"L","accessibilityHint":"H","accessibilityIdentifier":"I","isEnabled":false,"isSelected":true}}"#
    )
    #expect(
      try Operations.button(line(), verb: "activate", id: "ok").text
        == #"{"button.activate":{"button":"ok"}}"#)
    for (verb, id, options) in [
      ("create", nil, []), ("set", "ok", []), ("release", nil, []), ("tap", "ok", []),
      ("release", "ok", [("title", "T")]),
    ] as [(String, String?, [(String, String?)])] {
      #expect(throws: UsageError.self) {
        try Operations.button(line(options), verb: verb, id: id)
      }
    }
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
    let operation = Operations.title(screen: "s", text: text)
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
    #expect(try Quantities.milliseconds(text, option: "timeout") == expected)
  }

  @Test(arguments: ["", "s", "-1", "5x", "1e9", "inf", "99999h", "1.2.3"])
  func `what is no time is refused`(text: String) {
    #expect(throws: UsageError.self) { try Quantities.milliseconds(text, option: "timeout") }
  }

  @Test func `a position has three parts`() throws {
    let position = try Quantities.position(
      "c0ffee12c0ffee12:18:985cc24d0000000000000000", option: "from")
    #expect(position.revision.number == 18 && position.digest.text == "985cc24d0000000000000000")
    for text in ["", "1:2:3", "c0ffee12c0ffee12:18", "c0ffee12c0ffee12:x:985cc24d0000000000000000"]
    {
      #expect(throws: UsageError.self) { try Quantities.position(text, option: "from") }
    }
  }

  @Test func `exactly one condition can be waited for`() throws {
    #expect(try WaitCondition(line([("top", "wifi")])) == .top("wifi"))
    #expect(throws: UsageError.self) { try WaitCondition(line()) }
    #expect(throws: UsageError.self) { try WaitCondition(line([("top", "a"), ("depth", "1")])) }
    #expect(WaitCondition.shows("r").holds(top: "a", route: "r", depth: 0, revision: 0))
    #expect(WaitCondition.shows("a").holds(top: "a", route: "r", depth: 0, revision: 0))
    #expect(!WaitCondition.shows("x").holds(top: "a", route: nil, depth: 0, revision: 0))
    #expect(WaitCondition.revision(7).holds(top: nil, route: nil, depth: 0, revision: 8))
    #expect(!WaitCondition.revision(7).holds(top: nil, route: nil, depth: 0, revision: 6))
    #expect(WaitCondition.depth(2).holds(top: "a", route: nil, depth: 2, revision: 1))
    #expect(WaitCondition.top(nil).holds(top: nil, route: nil, depth: 0, revision: 1))
  }
}
