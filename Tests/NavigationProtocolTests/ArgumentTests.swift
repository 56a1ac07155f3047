@testable import NavigationCore
@testable import NavigationHub
import Testing

/// The arguments of operations, by protocol.md §9.5 and §10.
@Suite struct ArgumentTests {
  private func failure(_ operation: String, _ arguments: String) throws -> ReadFailure? {
    guard case .failure(let failure) = try ArgumentRow.read(operation, arguments) else {
      return nil
    }
    return failure
  }

  @Test(arguments: ArgumentRow.all)
  func `a member takes values of its type, and the error for others names it`(
    row: ArgumentRow
  ) throws {
    for (kind, json) in ArgumentRow.values {
      let failure = try failure(row.operation, row.arguments(json))
      guard !row.kinds.contains(kind) else {
        #expect(failure == nil, "\(row.name) \(json)")
        continue
      }
      #expect(failure?.code == row.code, "\(row.name) \(json)")
      guard row.code == .invalidArgument, let text = failure?.text else { continue }
      #expect(text.contains(row.name), "\(row.name) \(json): \(text)")
    }
  }

  @Test(arguments: ArgumentRow.all)
  func `a member ends exactly at its limits`(row: ArgumentRow) throws {
    for json in row.good {
      #expect(try failure(row.operation, row.arguments(json)) == nil, "\(row.name) \(json)")
    }
    for json in row.bad {
      let failure = try failure(row.operation, row.arguments(json))
      #expect(failure?.code == .invalidArgument, "\(row.name) \(json)")
    }
  }

  @Test(arguments: ArgumentRow.all)
  func `null sets the default`(row: ArgumentRow) throws {
    let null = try row.read("null").get()
    guard let initial = row.initial else { return }
    #expect(null == (try row.read(initial).get()))
  }

  @Test func `null inside veto, profile and interactivePop sets the default`() throws {
    for (member, name, initial) in [
      ("veto", "deadline", "2000"), ("veto", "policy", #""deny""#), ("veto", "required", "false"),
      ("profile", "os", "17"), ("profile", "compactHeight", "32"),
      ("profile", "shadowNeedsBackground", "true"), ("profile", "extraSystemItems", "false"),
      ("interactivePop", "mode", #""edge""#), ("interactivePop", "enabled", "true"),
    ] {
      func read(_ value: String) throws -> Operation {
        try ArgumentRow.read("nav.configure", #"{"\#(member)":{"\#(name)":\#(value)}}"#).get()
      }
      #expect(try read("null") == (try read(initial)), "\(member).\(name)")
    }
  }

  @Test func `only the item of a screen is never null`() throws {
    let record = { (member: String) in #"{"screen":{"id":"a",\#(member)}}"# }
    #expect(try failure("push", record(#""item":null"#))?.code == .invalidArgument)
    let bare = try ArgumentRow.read("push", #"{"screen":{}}"#).get()
    #expect(try ArgumentRow.read("push", #"{"screen":{"id":null}}"#).get() == bare)
    #expect(try ArgumentRow.read("push", #"{"screen":{"kind":null}}"#).get() == bare)
    #expect(try ArgumentRow.read("push", #"{"screen":{"item":{}}}"#).get() == bare)
  }

  @Test(arguments: ArgumentRow.all)
  func `a misspelt member is refused by its name`(row: ArgumentRow) throws {
    // A member of the environment that has another way to be set is readonly.
    let known = Set(ArgumentRow.all.filter { $0.operation == row.operation }.map(\.name))
      .union(["orientations"])
    let value = try #require(
      ArgumentRow.values.first { row.kinds.contains($0.kind) }?.json ?? row.good.first)
    for name in [
      row.name + "s", String(row.name.dropLast()), " " + row.name, row.name + #"\u0000"#,
    ]
    where !known.contains(name) {
      let arguments = ArgumentRow.arguments(row.operation, #""\#(name)":\#(value)"#)
      let failure = try failure(row.operation, arguments)
      #expect(failure?.code == .invalidArgument, "\(row.operation) \(name)")
      let plain = name.replacing(#"\u0000"#, with: "\0")
      #expect(failure?.text.contains(plain) == true, "\(row.operation) \(name)")
    }
  }

  /// The names of protocol.md §9.6 that no client sets.
  static let derived = [
    "root", "top", "visible", "class", "item", "items", "frame", "bounds", "alpha", "subviews",
    "ver", "kind", "attached", "topItem", "backItem", "viewControllers", "navigationItem",
    "fullInteractivePopGestureRecognizer",
  ]

  @Test(arguments: [
    ("screen.set", ""), ("item.set", ""), ("button.set", ""), ("bar.set", ""), ("toolbar.set", ""),
    ("env.set", ""), ("nav.configure", ""), ("nav.configure", "veto"),
    ("nav.configure", "profile"), ("nav.configure", "interactivePop"), ("item.set", "appearance"),
    ("bar.set", "appearance"), ("bar.set", "shadowImage"), ("proxy.set", ""),
  ])
  func `a derived name is readonly wherever it is set`(operation: String, member: String) throws {
    // The class of a proxy is an argument.
    for name in Self.derived where operation != "proxy.set" || name != "class" {
      let ref = member == "shadowImage" ? #""ref":"a","# : ""
      let members =
        switch member {
        case "": #""\#(name)":{}"#
        default: #""\#(member)":{\#(ref)"\#(name)":{}}"#
        }
      let failure = try failure(operation, ArgumentRow.arguments(operation, members))
      #expect(failure?.code == .readonly, "\(operation) \(member) \(name)")
      #expect(failure?.text.contains(name) == true)
    }
  }

  @Test(arguments: [
    ("bar.set", ["hidden", "hid"]), ("toolbar.set", ["hidden"]),
    ("env.set", ["owner", "orientations"]),
    ("nav.configure", ["attached", "root", "top", "visible", "navigationBar", "toolbar", "proxy"]),
  ])
  func `what has an operation of its own is readonly, ahead of other faults`(
    operation: String, names: [String]
  ) throws {
    for name in names {
      // A fault that stands before it in the message comes after it in the order of checks.
      let failure = try failure(operation, #"{"zz":1,"\#(name)":null}"#)
      #expect(failure?.code == .readonly, "\(operation) \(name)")
    }
  }

  /// Values that navd keeps unread, each in the arguments of an operation.
  private static let opaque: [(operation: String, head: String, tail: String)] = [
    ("screen.set", #"{"screen":"a","args":"#, "}"),
    ("button.set", #"{"button":"a","customView":"#, "}"),
    ("nav.configure", #"{"container":"#, "}"),
    ("item.set", #"{"screen":"a","titleView":"#, "}"),
    ("item.set", #"{"screen":"a","titleView":{"view":"#, "}}"),
    ("bar.set", #"{"titleTextAttributes":{"font":"#, "}}"),
    ("proxy.set", #"{"titleTextAttributes":{"UITextAttributeTextShadowOffset":"#, "}}"),
  ]

  @Test func `an opaque value ends at 64 KiB, and keeps its octets`() throws {
    for (operation, head, tail) in Self.opaque {
      let most = "\"" + String(repeating: "x", count: 65534) + "\""
      #expect(try failure(operation, head + most + tail) == nil, "\(head)")
      let failure = try failure(operation, head + most.dropLast() + "x\"" + tail)
      #expect(failure?.code == .limit && failure?.reason == "size", "\(head)")
      #expect(failure?.text.contains("65536") == true)
    }
    let object = #"{ "x" : [ 1.50 , "é\u0041" ] }"#
    let read = try ArgumentRow.read("appearance.set", #"{"slot":"compact","object":\#(object)}"#)
    let expected = OpaqueJSON(validated: Array(object.utf8))
    #expect(try read.get() == .setAppearance(.compact, expected, screen: nil))
  }

  @Test func `the sender of a push ends at 1 KiB`() throws {
    for operation in ["push", "show"] {
      let most = "\"" + String(repeating: "x", count: 1022) + "\""
      for (sender, isRight) in [(most, true), (most.dropLast() + "x\"", false), ("null", true)] {
        let arguments = #"{"screen":"a","sender":\#(sender)}"#
        let failure = try failure(operation, arguments)
        #expect(failure?.code == (isRight ? nil : .invalidArgument), "\(sender.utf8.count)")
      }
    }
  }

  /// Operations that take no arguments.
  private static let bare = [
    "pop", "popToRoot", "attach", "detach", "popItem", "ui.backTap", "ui.back", "ui.tap",
    "gesture.finish",
    "gesture.cancel", "nav.close",
  ]

  @Test func `an operation without arguments takes an empty object and nothing else`() throws {
    for operation in Self.bare where operation != "nav.close" {
      #expect(try failure(operation, "{}") == nil, "\(operation)")
    }
    for operation in Self.bare {
      for arguments in [#"{"zz":null}"#, #"{"screen":"a"}"#, "null", "[]", "\"\"", "0", "false"] {
        let failure = try failure(operation, arguments)
        #expect(failure?.code == .invalidArgument, "\(operation) \(arguments)")
        #expect(failure?.text.contains(operation) == true, "\(failure?.text ?? "")")
      }
    }
  }

  @Test(arguments: [
    ("popTo", #"{"screen":"a","route":"r"}"#), ("popTo", #"{"screen":"a","match":"top"}"#),
    ("popTo", #"{"route":1}"#), ("popTo", #"{"route":"r","match":"first"}"#),
    ("popTo", #"{"route":"r","match":null}"#), ("setStack", "{}"), ("setStack", #"{"screens":{}}"#),
    ("setStack", #"{"screens":[1]}"#), ("button.set", #"{"title":"t"}"#),
    ("button.release", "{}"), ("button.activate", #"{"button":"-"}"#),
    ("appearance.set", #"{"object":null}"#), ("appearance.set", #"{"slot":"compact"}"#),
    ("appearance.set", #"{"slot":"large","object":{}}"#), ("ui.swipe", "{}"),
    ("ui.swipe", #"{"dir":"left"}"#), ("bar.setHidden", "{}"),
    ("toolbar.setHidden", #"{"hidden":null}"#), ("transition.complete", "{}"),
    ("transition.complete", #"{"tid":-1}"#), ("gesture.update", #"{"value":"0"}"#),
    ("gesture.begin", "{}"), ("gesture.begin", #"{"kind":"edge","translation":"1"}"#),
    ("segue", #"{"kind":"unwind","screen":"a"}"#), ("revert", #"{"rev":-1}"#),
    ("open", #"{"route":1}"#), ("push", #"{"screen":"a","onDuplicate":"skip"}"#),
    ("present", #"{"screen":"a","style":"?"}"#), ("nav.create", #"{"root":"a","kind":"tab"}"#),
    ("nav.create", #"{"root":"a","classes":{}}"#), ("nav.create", #"{"classes":[]}"#),
    ("nav.create", #"{"kind":"bar","root":"a"}"#), ("nav.create", #"{"root":"a","settings":1}"#),
    ("nav.create", #"{"classes":{"bar":1}}"#), ("nav.create", #"{"classes":{"tab":"T"}}"#),
  ])
  func `what the table of operations does not offer is invalid`(
    operation: String, arguments: String
  ) throws {
    #expect(try failure(operation, arguments)?.code == .invalidArgument)
  }

  @Test(arguments: [
    "push", "show", "popTo", "screen.set", "screen.release", "item.set", "present", "nav.create",
    "pushItem",
  ])
  func `a missing screen is nil-screen, and so is null`(operation: String) throws {
    let name =
      switch operation {
      case "nav.create": "root"
      case "pushItem": "item"
      default: "screen"
      }
    #expect(try failure(operation, "{}")?.code == .nilScreen)
    #expect(try failure(operation, #"{"\#(name)":null}"#)?.code == .nilScreen)
    #expect(try failure(operation, #"{"\#(name)":7}"#)?.code == .invalidArgument)
  }
}
