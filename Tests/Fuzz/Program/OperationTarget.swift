import FuzzSupport
import NavigationCore
@testable import NavigationHub

/// Passes lines to a hub with a few navs: most are operations, the others say what else happens.
///
/// | line | effect |
/// | --- | --- |
/// | `{…}`, `[…]` | an op with this operation or list of operations, on the selected nav |
/// | `?` and one of both | the same, dry |
/// | `+` and one of both | the same, animated |
/// | `a`, `b`, `c`, `p` | selects a nav: `p` has the looks of all, `c` is not there |
/// | `1`, `2`, `3` | selects a connection |
/// | `t` and text | time passes, twice as long for each octet |
/// | `F` | the next commit fails |
/// | `K` | the daemon is killed and starts again |
/// | `X` | the connection ends, and is made again |
/// | `!verb{…}` | a message as it stands |
///
/// Laws: those of `Stage`, and what is refused, or is dry, changes nothing.
struct OperationTarget: FuzzTarget {
  /// The most lines of an input that count.
  private static let maximumLines = 64
  private let prepared: Stage

  init() {
    var stage = Stage()
    for (number, (nav, operations)) in Self.preparation.enumerated() {
      stage.send(.op, ConnectionID(1), Self.op(UInt64(number) + 1, nav, operations))
      demand(stage.answers.contains { $0.verb == .ok }, "\(nav) is not prepared: \(stage.answers)")
    }
    prepared = stage
  }

  private static let preparation = [
    (
      "a",
      #"[{"nav.create":{"root":{"id":"home","title":"Home","route":"home"},"settings":{"routes":["#
        + #"{"match":"s/:page","screens":["home",{"route":"s/{page}"}]}]}}},{"attach":{}},"#
        + #"{"push":{"screen":{"id":"x1","title":"One","args":{"n":1},"item":{"rightItems":["#
        + #"{"id":"b1","title":"Done","action":"go"}]}}}}]"#
    ),
    ("b", #"[{"nav.create":{"kind":"bar"}},{"pushItem":{"item":{"id":"i1","title":"I"}}}]"#),
    (
      "$appearance",
      #"[{"proxy.set":{"class":"NavigationBar","barTintColor":"red"}}]"#
    ),
  ]

  private static func op(_ id: UInt64, _ nav: String, _ operations: String, _ more: String = "")
    -> [UInt8]
  { Array(#"{"id":\#(id),"nav":"\#(nav)","if":{"any":true}\#(more),"do":\#(operations)}"#.utf8) }

  mutating func run(_ input: Span<UInt8>) { observe(play(input.octets).states.count) }

  /// Plays the lines of an input; returns what they have led to.
  func play(_ input: [UInt8]) -> Stage {
    var stage = prepared
    var (nav, connection) = ("a", ConnectionID(1))
    var id: UInt64 = 100
    for line in input.lines.prefix(Self.maximumLines) {
      guard let letter = line.first else { continue }
      switch Character(Unicode.Scalar(letter)) {
      case "{", "[": perform(line, "", &stage, nav, connection, &id)
      case "?": perform(line.dropFirst(), #","dry":true"#, &stage, nav, connection, &id)
      case "+": perform(line.dropFirst(), #","animated":true"#, &stage, nav, connection, &id)
      case "a", "b", "c": nav = String(UnicodeScalar(letter))
      case "p": nav = NavName.appearance.text
      case "1", "2", "3": connection = ConnectionID(UInt64(letter & 15))
      case "t": stage.passTime(1 << UInt64(line.count % 18))
      case "F": stage.failsNextCommit = true
      case "K": stage.restart()
      case "X":
        stage.close(connection)
        stage.greet(connection)
      case "!":
        let end = line.firstIndex(of: UInt8(ascii: "{")) ?? line.endIndex
        stage.send(
          frame: Array("nsp1.".utf8) + line[..<end].dropFirst(), connection, Array(line[end...]))
      default: break
      }
    }
    return stage
  }

  private func perform(
    _ line: ArraySlice<UInt8>, _ members: String, _ stage: inout Stage, _ nav: String,
    _ connection: ConnectionID, _ id: inout UInt64
  ) {
    id += 1
    let list = Array(line).text
    let before = stage.states
    stage.send(
      .op, connection,
      Self.op(id, nav, line.first == UInt8(ascii: "[") ? list : "[\(list)]", members))
    let isRefused = stage.answers.contains {
      $0.connection == connection && $0.verb == .err && $0.id == id
    }
    if isRefused || members.contains("dry") {
      demand(stage.states == before, "a refused or dry op changes a nav: \(list)")
    }
  }
}
