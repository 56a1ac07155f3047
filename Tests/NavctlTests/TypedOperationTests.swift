import NavigationClient
import NavigationCore
import NavigationHub
import Testing

@testable import navctl

import struct NavigationCore.OpaqueJSON
import enum NavigationHub.ButtonArgument
import enum NavigationHub.ItemEdit
import enum NavigationHub.Operation

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
  private func meaning(_ operation: NavigationOperation) throws -> NavigationHub.Operation {
    let request = try read([operation])
    let first = try #require(request.operations.first)
    if case .unreadable(let failure) = first.arguments {
      throw UsageError("\(operation.text): \(failure)")
    }
    return try #require(request.decodedOperation(0))
  }

  private func item(_ members: String...) throws -> [ItemEdit] {
    guard
      case .setItem(let screen, let edits, _) = try meaning(
        NavObject.item.operations(id: "wifi", members)[0])
    else { throw UsageError("not an item") }
    #expect(screen.text == "wifi")
    return edits
  }

  @Test func `each member of an item is set`() throws {
    #expect(try item("title=5") == [.title("5")])
    #expect(try item(#"prompt="""#) == [.set(\.prompt, "")])
    #expect(try item("hidesBackButton=false") == [.set(\.hidesBackButton, false)])
    #expect(try item("largeTitleDisplayMode=never") == [.set(\.largeTitleDisplayMode, .never)])
    #expect(
      try item("accessibilityLabel=5", "language=de")
        == [.set(\.accessibility[.label], "5"), .set(\.accessibility[.language], "de")])
    #expect(try item("title=", "prompt=") == [.title(nil), .set(\.prompt, nil)])
    #expect(try item("leftItems=", "rightItems=[]") == [.leftItems([]), .rightItems([])])
    guard case .other(let edit)? = try item(#"titleView={"view":"clock"}"#).first else {
      Issue.record("no view")
      return
    }
    #expect(edit.value.titleView?.view.text == #""clock""#)
  }

  @Test func `a button of a side is an id or ID=TITLE`() throws {
    let edits = try item("rightItems=b1,b2=A=B,b3")
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
    #expect(described[2] == "id b3")
  }

  @Test func `requireOnStack refuses a screen that is not on the stack`() throws {
    let operation = try NavObject.item.operations(id: "wifi", ["title=T", "requireOnStack=true"])
    guard case .setItem(_, _, let requiresStack) = try meaning(operation[0]) else {
      Issue.record("not an item")
      return
    }
    #expect(requiresStack)
  }

  @Test(arguments: [
    "title=T", "image=a.png", #"image={"ref":"a.png","hasAlpha":true}"#, "systemItem=done",
    #"customView={"k":1}"#, "customView=clock",
  ])
  func `a button is made from each of its faces`(member: String) throws {
    let operation = try OperationParser.record(
      .button, verb: "create", ["b", member, "style=done", "action=go"])
    guard case .createButton(let record) = try meaning(operation) else {
      Issue.record("not a button")
      return
    }
    #expect(record.id?.text == "b" && record.edits.count == 3)
  }

  @Test func `a screen has the members of its options`() throws {
    let options: [(String, String?)] = [
      ("title", "404"), ("route", "true"), ("restoration-id", "r"), ("args", #"{"a":[1]}"#),
      ("item-title", "I"),
    ]
    guard
      case .push(.record(let record), onDuplicate: .error) = try meaning(
        OperationParser.push(line(options), id: "x"))
    else {
      Issue.record("not a push")
      return
    }
    #expect(record.id?.text == "x" && record.item == [.title("I")])
    #expect(record.edits.contains(.title("404")) && record.edits.contains(.route("true")))
    #expect(record.edits.contains(.set(\.restorationID, "r")))
    #expect(record.edits.contains(.args(OpaqueJSON(validated: Array(#"{"a":[1]}"#.utf8)))))
  }

  @Test func `if-absent ignores a duplicate, and a sender is for the log`() throws {
    let push = try OperationParser.push(
      line([("if-absent", nil), ("show", nil), ("sender", #"{"row":3}"#)]), id: "x")
    guard case .show(.id(let id), onDuplicate: .ignore) = try meaning(push) else {
      Issue.record("not a show")
      return
    }
    #expect(id.text == "x")
    #expect(try read([push]).operations.first?.sender?.text == #"{"row":3}"#)
    let text = try OperationParser.push(line([("show", nil), ("sender", "5")]), id: "x")
    #expect(try read([text]).operations.first?.sender?.text == #""5""#)
  }

  @Test func `a root is a screen, a record or options, with settings beside it`() throws {
    for options in [
      [("root", "home"), ("title", "Home"), ("settings", #"{"queue":3}"#)],
      [("root", #"{"id":"home","title":"Home"}"#), ("settings", #"{"queue":3}"#)],
    ] as [[(String, String?)]] {
      let request = try read(try OperationParser.create(line(options)))
      #expect(request.operations.map(\.kind) == [.navCreate, .attach])
      guard case .create(let creation)? = request.operations.first?.arguments else {
        Issue.record("not a creation")
        return
      }
      #expect("\(creation)".contains("home") && "\(creation)".contains("Home"))
    }
    #expect(throws: UsageError.self) {
      try OperationParser.create(line([("root", #"{"id":"a"}"#), ("title", "T")]))
    }
    #expect(throws: UsageError.self) {
      try OperationParser.create(line([("bar-class", "B"), ("detached", nil), ("root", "a")]))
    }
  }
}
