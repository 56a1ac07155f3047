import NavigationCore
@testable import RuntimePaths
import Testing

@testable import navctl
@testable import NavigationClient

@Suite struct ErrorTextTests {
  private let desync = #"""
    {"id":46,"code":"desync","reason":"top","expected":"wifi","msg":"top is s24.1, not wifi",
     "effect":"none","retry":"resync","nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":24,
     "dig":"9bd5ea7a0000000000000000","depth":2,"top":"s24.1"}
    """#

  @Test func `a refused pop says what changed since`() throws {
    #expect(
      ErrorText.lines(try refusal(desync), nav: "kiosk", seen: try seen()) == [
        "desync: top is s24.1, not wifi",
        "seen rev 18, top wifi; now rev 24, top s24.1, depth 2",
        "try: see the present state: navctl show kiosk",
      ])
    #expect(
      ErrorText.lines(try refusal(desync), nav: nil, seen: nil)[1]
        == "now rev 24, top s24.1, depth 2")
  }

  @Test func `a nav that was made anew is called so`() throws {
    let anew = desync.replacing("c0ffee12c0ffee12", with: "00000000000000aa")
    let lines = ErrorText.lines(try refusal(anew), nav: nil, seen: try seen())
    #expect(lines[1].hasSuffix("; the nav has a new epoch"))
  }

  @Test func `a remedy names the command that was refused`() throws {
    let error = try refusal(
      #"{"id":1,"code":"invalid-argument","msg":"m","effect":"none","retry":"no"}"#)
    let lines = ErrorText.lines(error, nav: nil, seen: nil, of: RefusedCommand(command: "set"))
    #expect(lines.last == "try: see the expected arguments: navctl set --help")
  }

  @Test(arguments: ErrorCode.allCases)
  func `every code has a cause, a remedy and its exit status`(code: ErrorCode) throws {
    let error = try refusal(
      #"{"id":1,"code":"\#(code.rawValue)","msg":"because","effect":"none","retry":"no"}"#)
    let lines = ErrorText.lines(error, nav: "kiosk", seen: nil)
    #expect(lines.first == "\(code.rawValue): because")
    #expect(lines.last?.hasPrefix("try: ") == true && lines.last != "try: ")
    #expect(lines.allSatisfy { !$0.contains("\n") && $0.utf8.count <= 120 })
    #expect(ErrorText.exitStatus(error) == code.exitStatus)
  }

  @Test(arguments: [("no", 1), ("same", 4), ("later", 4), ("resync", 3), ("odd", 1)])
  func `an unknown code is judged by its retry`(retry: String, status: Int32) throws {
    let error = try refusal(
      #"{"id":1,"code":"new-one","msg":"m","effect":"unknown","retry":"\#(retry)"}"#)
    #expect(ErrorText.exitStatus(error) == status)
    let lines = ErrorText.lines(error, nav: nil, seen: nil)
    #expect(lines[1] == "it is unknown whether navd made the change")
  }

  @Test func `where no daemon is found, each path is named`() {
    let tried = [
      PathError.Tried(path: "/tmp/navd-1/navd.sock", reason: "not there"),
      PathError.Tried(path: "/run/navd/navd.sock", reason: "a regular file, not a socket"),
    ]
    let lines = ConnectionErrorText.noDaemonFound(tried)
    #expect(lines[1] == "tried /tmp/navd-1/navd.sock: not there")
    #expect(lines[2] == "tried /run/navd/navd.sock: a regular file, not a socket")
    #expect(lines.last?.hasPrefix("try: ") == true)
    #expect(ConnectionErrorText.unreachable("ipc:///x")[0].contains("ipc:///x"))
  }
}

@Suite struct OperationSummaryTests {
  @Test func `one line says where the nav stands and what was done`() throws {
    let answer = try reply(
      #"""
      {"id":45,"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":24,"changed":true,"depth":2,
       "top":"s24.1","dig":"9bd5ea7a0000000000000000","out":[{"popped":["a","b"]},{"id":"s24.1"}]}
      """#)
    let operations = [NavigationOperation(.popToRoot), NavigationOperation(.push)]
    #expect(
      OperationSummary.line(answer, operations: operations)
        == "kiosk  rev 24  top s24.1  depth 2  popped a b  pushed s24.1")
  }

  @Test func `nothing changed is said`() throws {
    let answer = try reply(
      #"{"id":1,"nav":"k","rev":2,"changed":false,"depth":1,"top":"a","out":[{"popped":null}]}"#)
    #expect(
      OperationSummary.line(answer, operations: [NavigationOperation(.pop)])
        == "k  rev 2  top a  depth 1  unchanged")
    let closed = try reply(#"{"id":1,"nav":"k","rev":2,"depth":1,"top":"a","out":[{}]}"#)
    #expect(
      OperationSummary.line(closed, operations: [NavigationOperation(.navClose)])
        == "k  rev 2  top a  depth 1  closed")
  }
}

@Suite struct WatchLinesTests {
  private func diff(_ body: String) throws -> Diff {
    var reader = ServerMessageReader()
    let message = try reader.read(verb: ServerVerb.diff.frame, body: Array(body.utf8))
    guard case .diffs(let diffs) = message, let diff = diffs.first else {
      throw UsageError("not a diff")
    }
    return diff
  }

  private let push = #"""
    {"nav":"kiosk","epoch":"c0ffee12c0ffee12","base":18,"rev":19,"seq":9001,"cause":"api",
     "by":{"name":"remote-1","op":42},"ch":[{"at":2,"del":["a"],"ins":[{"id":"dns","ver":19}]},
     {"set":"screen","to":{"id":"home","ver":19}},{"set":"bar","to":{"ver":19}}],
     "depth":3,"dig":"924da5110000000000000000"}
    """#

  @Test func `a connection that ends while nobody reads the lines is not to blame`() {
    #expect(
      WatchLines.lossText(afterWriteOf: 0) == "connection lost; watch continues when navd is back")
    #expect(
      WatchLines.lossText(afterWriteOf: 12_400).hasPrefix("the output was not read for 12 s; watch")
    )
  }

  @Test func `a revision is a line`() throws {
    var lines = WatchLines()
    #expect(
      lines.diff(try diff(push), top: "dns") == "rev 19  replace a → dns by remote-1  depth 3")
  }

  @Test func `the first snapshot is one, a later one is a resync`() throws {
    var lines = WatchLines()
    let state = try value(StateDrawingTests.state)
    let first = lines.snapshot(state, why: "join", at: 7)
    #expect(first.text == "snapshot  rev 18  join  [home wifi]")
    #expect(try JSONValue(first.json.bytes)["state"]?["dig"]?.string == "985cc24d0000000000000000")
    _ = lines.diff(try diff(push), top: "dns")
    let second = lines.snapshot(state, why: "epoch", at: 8)
    #expect(second.text == "resync  rev 18  after rev 19  epoch  [home wifi]")
    #expect(try JSONValue(second.json.bytes)["after"]?["rev"]?.integer == 19)
  }

  @Test func `who resumes and gets a snapshot is told`() throws {
    let position = try ArgumentReader.position(
      "c0ffee12c0ffee12:7:985cc24d0000000000000000", option: "from")
    var lines = WatchLines(after: position)
    let text = lines.snapshot(try value(StateDrawingTests.state), why: "lag", at: 9).text
    #expect(text == "resync  rev 18  after rev 7  lag  [home wifi]")
  }
}

@Suite struct MirrorTextTests {
  private let state = #"""
    {"nav":"kiosk","kind":"controller","epoch":"c0ffee12c0ffee12","rev":18,"screens":[{"id":"home","ver":3,"new":1}],"bar":{"ver":1},"settings":{"ver":2,"attached":true},"resolved":{"top":"home"},"dig":"985cc24d0000000000000000"}
    """#

  @Test func `a state is written as it was read`() throws {
    let mirror = try #require(MirrorText.mirror(try value(state)))
    #expect(mirror.revision.number == 18 && mirror.top == "home" && mirror.parts.count == 2)
    #expect(String(decoding: mirror.snapshot(of: "kiosk").bytes, as: UTF8.self) == state)
    #expect(MirrorText.mirror(try value("{}")) == nil)
  }

  @Test func `a diff is written as it was read`() throws {
    let text = #"""
      {"nav":"kiosk","epoch":"c0ffee12c0ffee12","base":18,"rev":19,"seq":9001,"cause":"api","by":{"name":"remote-1","op":42},"animated":true,"relation":"new","ch":[{"at":2,"del":["a"],"ins":[{"id":"dns","ver":19}]},{"set":"screen","to":{"id":"home","ver":19}},{"set":"bar","to":{"ver":19}}],"resolved":{"top":"dns"},"ev":[{"didPush":{"screen":"dns"}}],"depth":3,"dig":"924da5110000000000000000"}
      """#
    var reader = ServerMessageReader()
    let message = try reader.read(verb: ServerVerb.diff.frame, body: Array(text.utf8))
    guard case .diffs(let diffs) = message else { throw UsageError("not a diff") }
    #expect(String(decoding: MirrorText.diff(try #require(diffs.first)), as: UTF8.self) == text)
  }
}
