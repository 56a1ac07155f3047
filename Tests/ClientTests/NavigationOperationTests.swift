import Navigation
import NavigationClient
import NavigationSync
import Testing

@Suite struct NavigationOperationTests {
  private static let item = ItemDescription(
    title: "T", prompt: "P", hidesBackButton: true, leftItemsSupplementBackButton: true,
    leftItems: [ButtonDescription(id: "b1", .title("B"), isDone: true, action: "go")],
    rightItems: [ButtonDescription(.systemItem("add")), "b7", .existing("b8")],
    backBarButtonItem: ButtonDescription(.image("wave.png")), clearing: [.titleView, .title])

  /// Every builder, with the operation that the daemon must read.
  static let all: [(NavigationOperation, OperationKind)] = [
    (.create(root: ScreenDescription(id: "home", title: "Home", item: item)), .navCreate),
    (.create(), .navCreate), (.createBar(), .navCreate), (.close(), .navClose),
    (.configure(["guard": "all", "attached": nil]), .navConfigure), (.attach(), .attach),
    (.detach(), .detach),
    (.push(.init(title: "A", route: "a", args: ["n": -1.5, "l": [true, nil]])), .push),
    (.push("a", onDuplicate: .ignore), .push), (.show(.existing("a")), .show), (.pop(), .pop),
    (.popTo("home"), .popTo), (.popToRoot(), .popToRoot), (.setStack(["home", "a"]), .setStack),
    (.backTap(), .uiBackTap), (.setBarHidden(true), .barSetHidden),
    (.setToolbarHidden(false), .toolbarSetHidden),
    (.createScreen(.init(id: "x", restorationID: "r")), .screenCreate),
    (.setScreen("x", ["title": nil, "route": "r"]), .screenSet),
    (.releaseScreen("x"), .screenRelease), (.itemSet("x", item, requireOnStack: true), .itemSet),
    (.createButton(.init(id: "b", .systemItem("done"))), .buttonCreate),
    (.setButton("b", ["title": "B"]), .buttonSet), (.releaseButton("b"), .buttonRelease),
    (.activateButton("b"), .buttonActivate), (.revert(to: 3), .revert),
  ]

  @Test(arguments: all.indices)
  func `what a builder writes is what the daemon reads`(index: Int) throws {
    let (operation, kind) = Self.all[index]
    let body = ClientMessageWriter.op(
      OpRequest(id: 1, nav: "kiosk", operations: []), operations: [Array(operation.json.utf8)])
    var reader = ClientMessageReader(maximumBytes: 65536)
    guard case .op(let request) = try reader.read(verb: .op, body: body) else {
      Issue.record("not an op: \(operation.json)")
      return
    }
    #expect(request.operations.map(\.kind) == [kind])
    guard kind != .revert, kind != .navConfigure else { return }
    // A daemon may not support all of them yet; how they read is settled all the same.
    if case .unreadable(let failure)? = request.operations.first?.arguments,
      failure.code != .unsupported
    {
      Issue.record("\(operation.json): \(failure)")
    }
  }

  @Test func `raw JSON must be one operation`() throws {
    #expect(try NavigationOperation(json: #"{"pop":{}}"#) == .pop())
    for json in ["", "{}", "[]", #"{"pop":{},"push":{}}"#, #"{"pop":{}"#] {
      #expect(throws: NavigationClientError.self) { try NavigationOperation(json: json) }
    }
  }

  @Test func `a value written and read is the same`() throws {
    let value: NavigationValue = [
      "text": "a\"\\\n\u{1F600}", "list": [1, -2, 0.5, true, false, nil], "empty": [:],
      "big": 9_007_199_254_740_991,
    ]
    #expect(try NavigationValue(json: value.json) == value)
    #expect(value["list"]?.array?[1].integer == -2)
    #expect(value["empty"]?.object == [:])
    #expect(
      value.json
        == #"{"big":9007199254740991,"empty":{},"list":[1,-2,0.5,true,false,null],"text":"a\"\\\n😀"}"#
    )
  }
}
