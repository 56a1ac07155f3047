import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Texts are octets: of two texts that Unicode calls equal, none stands for the other.
@Suite struct TextTests {
  /// Two texts that Swift's `==` calls equal: a letter as one scalar and as two, a compatibility
  /// ideograph and what it stands for, the sign of kelvin and a letter.
  static let pairs = [
    ("caf\u{E9}", "cafe\u{301}"), ("\u{F900}", "\u{8C48}"), ("\u{212A}", "K"),
  ]
  /// The two orders of each pair.
  static let texts = pairs + pairs.map { ($1, $0) }

  /// An operation with a text in it, by the member that the text is.
  private static let places: [(name: String, op: @Sendable (String) -> String)] = [
    ("title", { #"{"screen.set":{"screen":"A","title":"\#($0)"}}"# }),
    ("route", { #"{"screen.set":{"screen":"A","route":"\#($0)"}}"# }),
    ("restorationID", { #"{"screen.set":{"screen":"A","restorationID":"\#($0)"}}"# }),
    ("args", { #"{"screen.set":{"screen":"A","args":{"t":"\#($0)"}}}"# }),
    ("key of args", { #"{"screen.set":{"screen":"A","args":{"\#($0)":1}}}"# }),
    ("item title", { #"{"item.set":{"screen":"A","title":"\#($0)"}}"# }),
    ("prompt", { #"{"item.set":{"screen":"A","prompt":"\#($0)"}}"# }),
    ("titleView", { #"{"item.set":{"screen":"A","titleView":{"view":"\#($0)"}}}"# }),
    ("button title", { #"{"button.set":{"button":"b","title":"\#($0)"}}"# }),
    ("action", { #"{"button.set":{"button":"b","action":"\#($0)"}}"# }),
    ("image", { #"{"button.set":{"button":"b","image":"\#($0)"}}"# }),
    ("image record", { #"{"button.set":{"button":"b","image":{"ref":"\#($0)"}}}"# }),
    ("customView", { #"{"button.set":{"button":"b","customView":"\#($0)"}}"# }),
    ("locale", { #"{"env.set":{"locale":"\#($0)"}}"# }),
    ("tintColor", { #"{"bar.set":{"tintColor":"\#($0)"}}"# }),
    ("backgroundColor", { #"{"bar.set":{"backgroundColor":"\#($0)"}}"# }),
    ("barTintColor", { #"{"bar.set":{"barTintColor":"\#($0)"}}"# }),
    ("title colour", { #"{"bar.set":{"titleTextAttributes":{"color":"\#($0)"}}}"# }),
    ("font", { #"{"bar.set":{"titleTextAttributes":{"font":"\#($0)"}}}"# }),
    ("shadowImage", { #"{"bar.set":{"shadowImage":"\#($0)"}}"# }),
    ("backgroundImages", { #"{"bar.set":{"backgroundImages":{"default":"\#($0)"}}}"# }),
    ("toolbar", { #"{"toolbar.set":{"tintColor":"\#($0)"}}"# }),
    ("appearance", { #"{"appearance.set":{"slot":"standard","object":{"x":"\#($0)"}}}"# }),
    ("back title", { #"{"nav.configure":{"backTitles":{"de":"\#($0)"}}}"# }),
    ("settings", { #"{"nav.configure":{"restorationID":"\#($0)"}}"# }),
    ("match", { #"{"nav.configure":{"routes":[{"match":"\#($0)","screens":["A"]}]}}"# }),
    (
      "role of a route",
      {
        #"{"nav.configure":{"routes":[{"match":"m","needs":{"roles":["\#($0)"]},"screens":["A"]}]}}"#
      }
    ),
    (
      "route of a route",
      { #"{"nav.configure":{"routes":[{"match":"m","screens":[{"route":"\#($0)"}]}]}}"# }
    ),
  ]

  @Test(arguments: places.indices)
  func `a text that only Unicode calls equal is a change, for clients and for the journal`(
    place: Int
  ) throws {
    let (name, op) = Self.places[place]
    for (former, text) in Self.texts {
      let stage = try Stage(["A"])
      try stage.owner.must(
        #"{"item.set":{"screen":"A","rightItems":[{"id":"b","title":"t"}]}}"#)
      try stage.owner.must(op(former))
      let reply = try stage.owner.must(op(text))
      #expect(reply.json["changed"] as? Bool == true, "\(name) \(text.unicodeScalars)")
      let state = try stage.owner.get("state").body
      #expect(Self.has(state, text) && !Self.has(state, former), "\(name)")
      let diff = try #require(stage.world.sent.last { $0.verb == .diff })
      #expect(Self.has(diff.body, text), "\(name)")
      let again = try stage.owner.must(op(text))
      #expect(again.json["changed"] as? Bool == false, "\(name)")
      try stage.world.restart()
      let reader = try stage.world.client(3)
      #expect(Self.has(try reader.get("state").body, text), "\(name)")
    }
  }

  /// Whether a body has the octets of a text, by which the letter K of names is no text.
  private static func has(_ body: [UInt8], _ text: String) -> Bool {
    body.firstRange(of: Array(text.utf8)) != nil && text != "K"
      || body.firstRange(of: Array("\"K\"".utf8)) != nil && text.utf8.count == 1
  }

  @Test(arguments: texts)
  func `a route names the screens with its octets`(route: String, other: String) throws {
    let stage = try Stage(["A"])
    try stage.owner.must(
      #"{"push":{"screen":{"id":"B","route":"\#(route)"}}},{"push":{"screen":{"id":"C"}}}"#)
    let popTo = #"{"popTo":{"route":"\#(other)"}}"#
    #expect(try stage.owner.op(popTo).code == "not-in-stack")
    let record = #"{"route":"\#(other)"}"#
    try stage.owner.must(#"{"push":{"screen":\#(record),"onDuplicate":"popTo"}}"#)
    #expect(stage.stack.count == 4)
    try stage.owner.must(#"{"popTo":{"route":"\#(route)"}}"#)
    #expect(stage.stack == ["A", "B"])
  }

  @Test(arguments: texts)
  func `the args of a record are compared by octets, keys and texts`(
    text: String, other: String
  ) throws {
    for (args, its) in [
      (#"{"t":"\#(text)"}"#, #"{"t":"\#(other)"}"#), (#"{"\#(text)":1}"#, #"{"\#(other)":1}"#),
      // Two members, which the table for another order must keep apart.
      (#"{"\#(text)":1,"\#(other)":2}"#, #"{"\#(text)":2,"\#(other)":1}"#),
    ] {
      let stage = try Stage(["A"])
      try stage.owner.must(#"{"push":{"screen":{"id":"B","route":"r","args":\#(args)}}}"#)
      try stage.owner.must(
        #"{"push":{"screen":{"route":"r","args":\#(its)},"onDuplicate":"popTo"}}"#)
      #expect(stage.stack.count == 3, "\(args)")
    }
  }

  @Test(arguments: texts)
  func `a template opens the route with its octets`(match: String, route: String) throws {
    let stage = try Stage(["A"])
    let routes = #"[{"match":"\#(match)/:p","screens":[{"route":"{p}"}]}]"#
    try stage.owner.must(#"{"nav.configure":{"routes":\#(routes)}}"#)
    #expect(try stage.owner.op(#"{"open":{"route":"\#(route)/x"}}"#, Stage.any).code == "no-route")
    // A mark behind a slash belongs to the next piece.
    try stage.owner.must(#"{"open":{"route":"\#(match)/\#u{301}"}}"#, Stage.any)
    let made = try #require(try stage.world.entry("kiosk").controller.top?.route)
    #expect(Array(made.utf8) == Array("\u{301}".utf8))
  }

  @Test func `a role that a route needs is named by its octets`() throws {
    let world = World()
    var access = Access()
    access.roles = [Access.RoleRule(Role("K"), [.user(1000)])]
    access.grants = [Access.Grant(.role(Role("K")), try #require(NavGlob("*")), .all)]
    try world.turn([.access(access)])
    let client = try world.kiosk()
    for (role, code) in [("\u{212A}", "no-route"), ("K", nil)] {
      let routes = #"[{"match":"m","needs":{"roles":["\#(role)"]},"screens":["A"]}]"#
      try client.must(#"{"nav.configure":{"routes":\#(routes)}}"#)
      #expect(try client.op(#"{"open":{"route":"m"}}"#, Stage.any).code == code)
    }
  }

  @Test(arguments: texts)
  func `a class has the name that the configuration spells`(name: String, other: String) throws {
    let world = World { $0.isBarByClass[Text(name)] = true }
    let client = try world.client(1, user: 0)
    let create = { (name: String) in #"{"nav.create":{"classes":{"bar":"\#(name)"}}}"# }
    #expect(try client.op(create(other)).code == "class-unknown")
    try client.must(create(name))
    let proxy = #"{"proxy.set":{"class":"\#(other)","barTintColor":"red"}}"#
    #expect(try client.op(proxy, nav: "$appearance").code == "class-unknown")
  }

  @Test func `a guard names ids by their octets`() throws {
    let stage = try Stage(["K"])
    for (name, wrong) in [
      ("top", "\"\u{212A}\""), ("visible", "\"\u{212A}\""), ("has", "[\"\u{212A}\"]"),
      ("stack", "[\"\u{212A}\"]"),
    ] {
      let reply = try stage.owner.op(#"{"attach":{}}"#, #""if":{"\#(name)":\#(wrong)}"#)
      #expect(reply.code == "desync", "\(name): \(reply.text)")
    }
  }

  @Test func `a member has the name that the protocol spells`() throws {
    let stage = try Stage(["A"])
    let names = ["hidesBarsWhen\u{212A}eyboardAppears", "hidesBarsOnTap\u{37E}"]
    for name in names {
      let reply = try stage.owner.op(#"{"nav.configure":{"\#(name)":true}}"#)
      #expect(reply.code == "invalid-argument", "\(reply.text)")
    }
    try stage.owner.must(#"{"nav.configure":{"hidesBarsWhenKeyboardAppears":true}}"#)
  }

  @Test(arguments: texts)
  func `two members of one object, and two paths, differ if their octets do`(
    name: String, other: String
  ) throws {
    let stage = try Stage(["A"])
    try stage.owner.must(
      #"{"screen.set":{"screen":"A","args":{"\#(name)":1,"\#(other)":2}}}"#)
    let entry = { (path: String) in #"{"path":"\#(path)","screen":{"title":"x"}}"# }
    let payload = #"{"v":1,"entries":[\#(entry(name)),\#(entry(other))]}"#
    try stage.owner.must(#"{"restore":{"payload":\#(payload)}}"#, Stage.any)
    #expect(stage.stack.count == 2)
  }

  @Test(arguments: texts)
  func `saved screens are counted by the octets of their restoration identifiers`(
    id: String, other: String
  ) throws {
    let stage = try Stage(["A"], #""restorationID":"nav""#)
    try stage.owner.must(
      #"{"screen.set":{"screen":"A","restorationID":"\#(id)"}},"#
        + #"{"push":{"screen":{"restorationID":"\#(other)"}}}"#)
    let saved = try stage.owner.get("restoration").body
    for path in ["nav/\(id)#0", "nav/\(other)#0"] {
      #expect(saved.firstRange(of: Array(path.utf8)) != nil, "\(path)")
    }
  }

  @Test(arguments: texts)
  func `classes are sorted by octets`(name: String, other: String) throws {
    let world = World { for name in [name, other] { $0.isBarByClass[Text(name)] = true } }
    let client = try world.client(1, user: 0)
    for name in [name, other] {
      try client.must(
        #"{"proxy.set":{"class":"\#(name)","barTintColor":"red"}}"#, nav: "$appearance")
    }
    let state = try client.get("state", nav: "$appearance").body
    let places = try [name, other].map {
      try #require(state.firstRange(of: Array("\"\($0)\":".utf8)))
    }
    let isBefore = name.utf8.lexicographicallyPrecedes(other.utf8)
    #expect((places[0].lowerBound < places[1].lowerBound) == isBefore)
  }

  @Test(arguments: texts)
  func `an op sent again must have the octets of the first`(text: String, other: String) throws {
    let stage = try Stage(["A"])
    let body = { (text: String) in
      #"{"id":77,"nav":"kiosk","do":[{"screen.set":{"screen":"A","title":"\#(text)"}}]}"#
    }
    #expect(try stage.owner.ask("op", body(text)).verb == .ok)
    #expect(try stage.owner.ask("op", body(other)).code == "op-reused")
  }
}
