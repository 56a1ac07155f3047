import NavigationClient
import NavigationCore
import Testing

@testable import NavctlSupport

import enum NavigationCore.ButtonArgument
import enum NavigationCore.ItemEdit
import enum NavigationCore.Operation
import struct NavigationCore.OpaqueJSON
import NavigationReplica

/// What the commands write is read by the daemon as the operation that navctl(1) describes.
@Suite struct TypedOperationTests {
  /// The message that navctl sends, as the daemon reads it.
  private func read(_ operations: [NavigationOperation]) throws -> OpMessage {
    let body = ClientMessageWriter.op(
      OpRequest(id: 1, nav: "kiosk"), operations: operations.map(\.octets.bytes))
    var reader = ClientMessageReader(maximumBytes: 65_536)
    let message = try reader.read(frame: ClientVerb.op.frame.span, body: body.span)
    guard case .op(let request) = message else { throw UsageError("not an op") }
    return request
  }

  /// The operation that the daemon reads; an error if it cannot read the arguments.
  private func meaning(_ operation: NavigationOperation) throws -> NavigationCore.Operation {
    let request = try read([operation])
    let first = try #require(request.operations.first)
    if case .unreadable(let failure) = first.arguments {
      throw UsageError("\(operation.text): \(failure)")
    }
    return try #require(request.meaning(0))
  }

  private func item(_ options: [(String, String?)]) throws -> [ItemEdit] {
    guard
      case .setItem(let screen, let edits, _) = try meaning(
        Operations.item(line(options), screen: "wifi"))
    else { throw UsageError("not an item") }
    #expect(screen.text == "wifi")
    return edits
  }

  @Test func `each option of item sets its member`() throws {
    #expect(try item([("title", "5")]) == [.title("5")])
    #expect(try item([("prompt", "")]) == [.prompt("")])
    #expect(try item([("hides-back-button", "off")]) == [.hidesBackButton(false)])
    #expect(try item([("supplement", "1")]) == [.leftItemsSupplementBackButton(true)])
    #expect(try item([("large-title", "never")]) == [.largeTitleDisplayMode(.never)])
    #expect(
      try item([("label", "5"), ("language", "de")])
        == [.accessibility(.label, "5"), .accessibility(.language, "de")])
    #expect(try item([("unset", "title"), ("unset", "prompt")]) == [.title(nil), .prompt(nil)])
    #expect(try item([("left", ""), ("right", "")]) == [.leftItems([]), .rightItems([])])
    guard case .titleView(let view?)? = try item([("title-view", #"{"view":"clock"}"#)]).first
    else {
      Issue.record("no view")
      return
    }
    #expect(view.view.text == #""clock""#)
  }

  @Test func `a button of a side is an id, ID=TITLE or a record`() throws {
    let edits = try item([
      ("right", "b1"), ("right", "b2=A=B"), ("right", #"{"id":"b3","systemItem":"add"}"#),
    ])
    guard case .rightItems(let buttons)? = edits.first else {
      Issue.record("no buttons")
      return
    }
    let described = buttons.map { button in
      switch button {
      case .id(let id): "id \(id.text)"
      case .record(let record): "\(record.id?.text ?? "-") \(record.edits)"
      }
    }
    #expect(described.count == 3 && described[0] == "id b1")
    #expect(described[1].hasPrefix("b2 ") && described[1].contains(#""A=B""#))
    #expect(described[2].hasPrefix("b3 ") && described[2].contains("add"))
  }

  @Test func `the back button has a title or is a record, not both`() throws {
    for options in [[("back-title", "Back")], [("back-button", #"{"title":"Back"}"#)]] {
      guard case .backBarButtonItem(.record(let record)?)? = try item(options).first else {
        Issue.record("no button")
        continue
      }
      #expect(record.id == nil && record.edits.count == 1)
    }
    #expect(throws: UsageError.self) {
      try item([("back-title", "a"), ("back-button", "{}")])
    }
    #expect(throws: UsageError.self) { try item([("back-button", "x")]) }
    #expect(throws: UsageError.self) { try item([("on-stack", "true")]) }
  }

  @Test func `on-stack refuses a screen that is not on the stack`() throws {
    for (text, expected) in [("true", true), ("false", false)] {
      let operation = try Operations.item(
        line([("title", "T"), ("on-stack", text)]), screen: "wifi")
      guard case .setItem(_, _, let requiresStack) = try meaning(operation) else {
        Issue.record("not an item")
        return
      }
      #expect(requiresStack == expected)
    }
  }

  @Test(arguments: [
    ("title", "T"), ("image", "a.png"), ("image", #"{"ref":"a.png","hasAlpha":true}"#),
    ("system-item", "done"), ("view", #"{"k":1}"#), ("view", #""clock""#),
  ])
  func `a button is made from each of its faces`(option: String, text: String) throws {
    let operation = try Operations.button(
      line([(option, text), ("style", "done"), ("action", "go")]), verb: "create", id: "b")
    guard case .createButton(let record) = try meaning(operation) else {
      Issue.record("not a button")
      return
    }
    #expect(record.id?.text == "b" && record.edits.count == 3)
  }

  @Test func `a button is changed with its landscape image and unset members`() throws {
    let operation = try Operations.button(
      line([("landscape-image", "b.png"), ("unset", "title"), ("unset", "action")]), verb: "set",
      id: "b")
    guard case .setButton(let id, let edits) = try meaning(operation) else {
      Issue.record("not a button")
      return
    }
    #expect(id.text == "b" && edits.count == 3)
    #expect(edits.contains(.title(nil)) && edits.contains(.action(nil)))
    #expect(throws: UsageError.self) {
      try Operations.button(line([("image", "{")]), verb: "set", id: "b")
    }
  }

  @Test func `a screen has the members of its options`() throws {
    let options: [(String, String?)] = [
      ("title", "404"), ("route", "true"), ("restoration-id", "r"), ("args", #"{"a":[1]}"#),
      ("item-title", "I"),
    ]
    guard
      case .push(.record(let record), onDuplicate: .error) = try meaning(
        Operations.push(line(options), id: "x"))
    else {
      Issue.record("not a push")
      return
    }
    #expect(record.id?.text == "x" && record.item == [.title("I")])
    #expect(record.edits.contains(.title("404")) && record.edits.contains(.route("true")))
    #expect(record.edits.contains(.restorationID("r")))
    #expect(record.edits.contains(.args(OpaqueJSON(validated: Array(#"{"a":[1]}"#.utf8)))))
  }

  @Test func `if-absent ignores a duplicate, and a sender is for the log`() throws {
    let push = try Operations.push(
      line([("if-absent", nil), ("show", nil), ("sender", #"{"row":3}"#)]), id: "x")
    guard case .show(.id(let id), onDuplicate: .ignore) = try meaning(push) else {
      Issue.record("not a show")
      return
    }
    #expect(id.text == "x")
    #expect(try read([push]).operations.first?.sender?.text == #"{"row":3}"#)
    let text = try Operations.push(line([("show", nil), ("sender", "5")]), id: "x")
    #expect(try read([text]).operations.first?.sender?.text == #""5""#)
  }

  @Test func `a new item of a standalone bar has a title and a prompt`() throws {
    let operation = try Operations.pushItem(
      line([("title", "T"), ("prompt", "P"), ("new", nil)]), id: nil)
    guard case .pushItem(.record(let record)) = try meaning(operation) else {
      Issue.record("not an item")
      return
    }
    #expect(record.id == nil && record.item == [.title("T"), .prompt("P")])
    guard
      case .pushItem(.record(let bare)) = try meaning(
        Operations.pushItem(line([("new", nil)]), id: "i"))
    else {
      Issue.record("not an item")
      return
    }
    #expect(bare.id?.text == "i" && bare.item.isEmpty)
    #expect(throws: UsageError.self) { try Operations.pushItem(line([("title", "T")]), id: "{}") }
  }

  @Test func `a root is a screen, a record or options, with settings beside it`() throws {
    for options in [
      [("root", "home"), ("title", "Home"), ("settings", #"{"queue":3}"#)],
      [("root", #"{"id":"home","title":"Home"}"#), ("settings", #"{"queue":3}"#)],
    ] as [[(String, String?)]] {
      let request = try read(try Operations.create(line(options)))
      #expect(request.operations.map(\.kind) == [.navCreate, .attach])
      guard case .create(let creation)? = request.operations.first?.arguments else {
        Issue.record("not a creation")
        return
      }
      #expect("\(creation)".contains("home") && "\(creation)".contains("Home"))
    }
    #expect(throws: UsageError.self) {
      try Operations.create(line([("root", #"{"id":"a"}"#), ("title", "T")]))
    }
    #expect(throws: UsageError.self) {
      try Operations.create(line([("bar-class", "B"), ("detached", nil), ("root", "a")]))
    }
  }
}
