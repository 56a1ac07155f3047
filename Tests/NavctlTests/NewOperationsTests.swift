import CommandLineOptions
import NavigationClient
@testable import NavigationCore
import Testing

@testable import navctl

@Suite struct ScreenOperationsTests {
  @Test func `present takes a known or a new screen, a presenter and a style`() throws {
    #expect(try OperationParser.present(line(), id: "pin").text == #"{"present":{"screen":"pin"}}"#)
    #expect(
      try OperationParser.present(
        line([("title", "PIN"), ("from", "wifi"), ("style", "overCurrentContext")]), id: "pin"
      ).text
        == #"{"present":{"screen":{"id":"pin","title":"PIN"},"from":"wifi","#
        + #""style":"overCurrentContext"}}"#)
    #expect(throws: UsageError.self) { try OperationParser.present(line(), id: nil) }
  }

  @Test func `dismiss names its presenter or nobody, or is a swipe`() throws {
    #expect(try OperationParser.dismiss(line()).text == #"{"dismiss":{}}"#)
    #expect(try OperationParser.dismiss(line([("from", "a")])).text == #"{"dismiss":{"from":"a"}}"#)
    #expect(try OperationParser.dismiss(line([("swipe", nil)])).text == #"{"ui.dismiss":{}}"#)
    #expect(throws: UsageError.self) {
      try OperationParser.dismiss(line([("swipe", nil), ("from", "a")]))
    }
  }

  @Test func `back taps, presses the key, chooses a screen of the menu, or prints the menu`() throws
  {
    func back(_ options: [(String, String?)]) throws -> String? {
      let names = ["queue", "top", "rev"]
      return try OperationParser.back(
        line(options), changeOptions: names.map { OptionDeclaration($0, "") })?.text
    }
    #expect(try back([]) == #"{"ui.backTap":{}}"#)
    #expect(try back([("to", "a")]) == #"{"ui.backMenu":{"screen":"a"}}"#)
    #expect(try back([("key", nil)]) == #"{"ui.back":{}}"#)
    #expect(throws: UsageError.self) { try back([("key", nil), ("to", "a")]) }
    #expect(try back([("menu", nil)]) == nil)
    let others: [(String, String?)] = [
      ("to", "a"), ("key", nil), ("queue", nil), ("top", "a"), ("rev", "1"),
    ]
    for other in others {
      #expect(throws: UsageError.self) { try back([("menu", nil), other]) }
    }
  }

  @Test func `the menu is printed nearest first, an entry without text as a dash`() throws {
    func lines(_ left: String) throws -> [String] {
      Tables.backMenu(try JSONValue(Array(#"{"left":[\#(left)]}"#.utf8)))
    }
    let menu =
      #"[{"screen":"wifi","text":"Wi-Fi\n"},{"screen":"b"},{"screen":"home","text":"Home"}]"#
    #expect(
      try lines(#"{"back":{"text":"Wi-Fi","menu":\#(menu)}},{"button":"k"}"#)
        == ["wifi  Wi-Fi\u{FFFD}", "b     -", "home  Home"])
    #expect(try lines(#"{"button":"k"}"#) == ["no back button"])
  }

  @Test func `a segue shows, or shows a detail`() throws {
    #expect(
      try OperationParser.segue(line(), id: "a").text == #"{"segue":{"kind":"show","screen":"a"}}"#)
    #expect(
      try OperationParser.segue(line([("detail", nil), ("route", "r")]), id: nil).text
        == #"{"segue":{"kind":"showDetail","screen":{"route":"r"}}}"#)
  }

  @Test func `show carries its sender, push has none`() throws {
    #expect(
      try OperationParser.push(line([("show", nil), ("sender", "row")]), id: "a").text
        == #"{"show":{"screen":"a","sender":"row"}}"#)
    #expect(throws: UsageError.self) {
      try OperationParser.push(line([("sender", "row")]), id: "a")
    }
  }

  @Test func `a screen may be a record in JSON, to which no option adds`() throws {
    #expect(
      try OperationParser.push(line(), id: #"{"id":"a","edges":[]}"#).text
        == #"{"push":{"screen":{"id":"a","edges":[]}}}"#)
    #expect(throws: UsageError.self) { try OperationParser.push(line([("title", "T")]), id: "{}") }
  }

  @Test func `revert and restore say where to`() throws {
    #expect(try OperationParser.revert(to: "18").text == #"{"revert":{"rev":18}}"#)
    let payload = #" {"v":1,"entries":[]} "#
    #expect(
      try OperationParser.restore(payload, root: nil).text
        == #"{"restore":{"payload":{"v":1,"entries":[]}}}"#)
    #expect(
      try OperationParser.restore(payload, root: "home").text
        == #"{"restore":{"payload":{"v":1,"entries":[]},"root":"home"}}"#)
    #expect(throws: UsageError.self) { try OperationParser.restore("", root: nil) }
    for text in ["", "0", "-1", "+1", "x"] {
      #expect(throws: UsageError.self) { try OperationParser.revert(to: text) }
    }
  }

  @Test func `a standalone bar is made without a root`() throws {
    #expect(
      try OperationParser.create(line([("kind", "bar")])).map(\.text)
        == [#"{"nav.create":{"kind":"bar"}}"#])
    #expect(throws: UsageError.self) {
      try OperationParser.create(line([("kind", "bar"), ("root", "home")]))
    }
    #expect(throws: UsageError.self) { try OperationParser.create(line([("kind", "lamp")])) }
  }

  @Test func `classes of bars go with an empty stack`() throws {
    #expect(
      try OperationParser.create(line([("bar-class", "MyBar"), ("detached", nil)])).map(\.text)
        == [#"{"nav.create":{"classes":{"bar":"MyBar"}}}"#])
    #expect(throws: UsageError.self) { try OperationParser.create(line([("bar-class", "MyBar")])) }
    #expect(
      try OperationParser.create(line([("root", #"{"id":"a"}"#), ("detached", nil)])).map(\.text)
        == [#"{"nav.create":{"root":{"id":"a"}}}"#])
  }
}

@Suite struct TouchOperationsTests {
  @Test func `a gesture is made of steps`() throws {
    #expect(
      try GestureStep.steps(["begin", "update", "0.4", "1", "finish"])
        == [.begin, .update(fraction: "0.4"), .update(fraction: "1"), .finish])
    #expect(try GestureStep.steps([]) == [])
    for words in [
      ["begin", "begin"], ["finish", "cancel"], ["update"], ["update", "finish"], ["1.5"], ["fly"],
      ["0x1"], ["update", ".5"], ["update", "-1"],
    ] {
      #expect(throws: UsageError.self, "\(words)") { try GestureStep.steps(words) }
    }
  }

  @Test func `each step is an operation`() throws {
    #expect(
      try OperationParser.gesture(.begin, line([("translation", "-5")])).text
        == #"{"gesture.begin":{"kind":"edge","translation":-5}}"#)
    #expect(
      try OperationParser.gesture(.begin, line([("kind", "fullScreen")])).text
        == #"{"gesture.begin":{"kind":"fullScreen"}}"#)
    #expect(
      try OperationParser.gesture(.update(fraction: "0.4"), line()).text
        == #"{"gesture.update":{"value":0.4}}"#)
    #expect(try OperationParser.gesture(.finish, line()).text == #"{"gesture.finish":{}}"#)
    #expect(try OperationParser.gesture(.cancel, line()).text == #"{"gesture.cancel":{}}"#)
    for options in [("kind", "pinch"), ("translation", "x"), ("translation", "[1]")] {
      #expect(throws: UsageError.self) { try OperationParser.gesture(.begin, line([options])) }
    }
  }

  @Test func `transition and swipe are judged before they are sent`() throws {
    #expect(
      try OperationParser.completeTransition("19").text == #"{"transition.complete":{"tid":19}}"#)
    for text in ["", "-1", "+1", "x"] {
      #expect(throws: UsageError.self) { try OperationParser.completeTransition(text) }
    }
    #expect(try OperationParser.swipe("up").text == #"{"ui.swipe":{"dir":"up"}}"#)
    #expect(throws: UsageError.self) { try OperationParser.swipe("left") }
  }
}

@Suite struct MembersTests {
  private func json(_ words: String...) throws -> String {
    String(
      decoding: OpaqueJSON.object(try KeyValues.parse(words, usage: "usage")).bytes,
      as: UTF8.self)
  }

  @Test(arguments: [
    ("a=1", #"{"a":1}"#), ("a=true", #"{"a":true}"#), ("a=null", #"{"a":null}"#),
    ("a=red", #"{"a":"red"}"#), ("a=", #"{"a":null}"#), ("a=b=c", #"{"a":"b=c"}"#),
    ("title=404", #"{"title":"404"}"#), ("title=null", #"{"title":null}"#),
    (#"title="null""#, #"{"title":"null"}"#), (#"title="""#, #"{"title":""}"#),
    ("title=", #"{"title":null}"#), ("a=[1]", #"{"a":[1]}"#),
    ("a.b.c=1", #"{"a":{"b":{"c":1}}}"#), ("container=5", #"{"container":5}"#),
    ("titleTextAttributes.color=123456", #"{"titleTextAttributes":{"color":"123456"}}"#),
    ("titleTextAttributes.shadowColor=1e3", #"{"titleTextAttributes":{"shadowColor":"1e3"}}"#),
  ])
  func `a value is JSON or text`(word: String, expected: String) throws {
    #expect(try json(word) == expected)
  }

  @Test func `what is misspelt is refused and not taken for text`() {
    for words in [["a"], ["=a"], ["a={"], ["a.=1"], ["a b=1"], ["a=1", "a=2"], ["a=1", "a.b=2"]] {
      #expect(throws: UsageError.self, "\(words)") {
        try KeyValues.parse(words, usage: "u")
      }
    }
    #expect(throws: UsageError("'a' is not of the form KEY=VALUE", remedy: "u")) {
      try KeyValues.parse(["a"], usage: "u")
    }
  }

  @Test func `own words tell whether the nav was left out`() throws {
    let split = { (words: [String], option: String?, variable: String?) throws -> [String] in
      let arguments = try NavArguments(
        words, isCommandWord: KeyValues.isKeyValue, option: option, variable: variable,
        usage: "usage")
      return [arguments.nav] + arguments.rest
    }
    #expect(try split(["kiosk", "a=1"], nil, nil) == ["kiosk", "a=1"])
    #expect(try split(["a=1"], nil, "env") == ["env", "a=1"])
    #expect(try split(["kiosk", "a=1"], nil, "env") == ["kiosk", "a=1"])
    #expect(try split(["a=1"], "opt", "env") == ["opt", "a=1"])
    #expect(try split(["kiosk"], nil, "env") == ["kiosk"])
    #expect(try split([], nil, "env") == ["env"])
    #expect(throws: UsageError.self) { try split([], nil, nil) }
    #expect(throws: UsageError.self) { try split(["a=1"], nil, nil) }
  }
}

@Suite struct DelegateTextTests {
  private func ask(_ question: Question) throws -> Ask {
    guard let epoch = Epoch(epoch) else { throw UsageError("not an epoch") }
    return Ask(
      number: 7, nav: "kiosk", epoch: epoch, revision: Revision(22), withinMilliseconds: 2000,
      question: question)
  }

  @Test func `roles and orientations are read`() throws {
    let veto = try DelegateCommand.registration(
      line([("roles", "veto,animator"), ("exec", "true")]))
    #expect(veto == DelegateRegistration(roles: [.veto, .animator]))
    let orientation = try DelegateCommand.registration(
      line([("orientations", #"{"supported":["portrait"],"preferred":"portrait"}"#)]))
    #expect(
      orientation
        == DelegateRegistration(
          roles: [.orientation], supportedOrientations: ["portrait"],
          preferredOrientation: "portrait"))
    for options in [
      [], [("roles", "veto")], [("roles", "king"), ("exec", "true")], [("roles", "orientation")],
      [("orientations", "{}")], [("orientations", #"{"suported":["portrait"]}"#)],
    ] as [[(String, String?)]] {
      #expect(throws: UsageError.self) { try DelegateCommand.registration(line(options)) }
    }
  }

  @Test func `the command finds the question on stdin and in its environment`() throws {
    let ask = try ask(.shouldPop(screen: "wifi", cause: "backButton"))
    #expect(
      String(decoding: DelegateCommand.json(ask), as: UTF8.self)
        == #"{"ask":7,"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":22,"within":2000,"#
        + #""q":{"shouldPop":{"screen":"wifi","cause":"backButton"}}}"#)
    let variables = DelegateCommand.environmentVariables(ask).map { "\($0.0)=\($0.1)" }
    for expected in ["NAVD_NAV=kiosk", "NAVD_QUESTION=shouldPop", "NAVD_SCREEN=wifi"] {
      #expect(variables.contains(expected))
    }
    #expect(
      DelegateCommand.line(ask)
        == "ask 7  shouldPop  screen wifi  cause backButton  rev 22  2000 ms")
    let data = try self.ask(.animatorFor(operation: "push", from: nil, to: "a"))
    #expect(
      String(decoding: DelegateCommand.json(data), as: UTF8.self)
        .contains(#""q":{"animatorFor":{"op":"push","from":null,"to":"a"}}"#))
  }

  @Test(arguments: [(Int32(0), "true"), (1, "false"), (2, "null"), (137, "null")])
  func `the status of a veto is its answer`(status: Int32, expected: String) {
    let answer = DelegateCommand.answer(.shouldPush(screen: "a"), status: status, output: [])
    #expect(answer.value?.text == expected)
    #expect((answer.fault == nil) == (expected != "null"))
  }

  @Test(arguments: [
    (Int32(0), #" {"animator":"fade"} "#, #"{"animator":"fade"}"#), (0, "\n", "null"),
    (1, #"{"animator":"fade"}"#, "null"), (0, "fade", "null"),
  ])
  func `what an animator writes is its answer`(status: Int32, output: String, expected: String) {
    let answer = DelegateCommand.answer(
      .animatorFor(operation: "push", from: nil, to: "a"), status: status,
      output: Array(output.utf8))
    #expect(answer.value?.text == expected)
    #expect((answer.fault == nil) == (output != "fade"))
  }

  @Test func `the end of a round is told`() {
    let settlement = VetoSettlement(number: 7, outcome: "denied", deniedBy: "shell")
    #expect(DelegateCommand.line(settlement) == "settled 7  denied by shell")
    #expect(
      String(decoding: DelegateCommand.json(settlement), as: UTF8.self)
        == #"{"settled":7,"outcome":"denied","by":"shell"}"#)
  }
}
