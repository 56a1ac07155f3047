internal import CNavd
import NavigationClient
import NavigationCore
import NavigationReplica

/// One event for C.
///
/// Its JSON is made when the program asks for it.
final class Event: Sendable {
  /// What the JSON is made of.
  enum Content: Sendable {
    case json(OpaqueJSON)
    indirect case state(String, Mirror, Diff?, why: String?)
  }

  let kind: navd_kind
  let nav: CText?
  let id: UInt64
  let error: ErrorText?
  private let content: Content
  private let texts = Lock<(json: CText?, change: CText?)>((nil, nil))

  init(
    _ kind: navd_kind, nav: String? = nil, id: UInt64 = 0, _ members: JSONObject = [:],
    error: Failure? = nil
  ) {
    self.kind = kind
    self.nav = nav.map { CText($0) }
    self.id = id
    content = .json(.object(members))
    self.error = error.map { ErrorText($0) }
  }

  /// Makes the event of a state; `diff` is nil after a snapshot, and `why` after a resumption.
  init(_ nav: String, _ mirror: Mirror, _ diff: Diff? = nil, why: String? = nil) {
    kind = NAVD_EVENT_STATE
    self.nav = CText(nav)
    id = 0
    content = .state(nav, mirror, diff, why: why)
    error = nil
  }

  var json: CText {
    texts.withLock { texts in
      let text = texts.json ?? CText(body.bytes)
      texts.json = text
      return text
    }
  }

  /// How a state came about, as JSON; nil for other events.
  var change: CText? {
    guard case .state(_, _, let diff, let why) = content else { return nil }
    return texts.withLock { texts in
      let text = texts.change ?? CText(Self.change(diff, why).bytes)
      texts.change = text
      return text
    }
  }

  private var body: OpaqueJSON {
    switch content {
    case .json(let json): json
    case .state(let nav, let mirror, _, _): mirror.snapshot(of: nav)
    }
  }

  private static func change(_ diff: Diff?, _ why: String?) -> OpaqueJSON {
    guard let diff else {
      return .object(why.map { ["why": .string($0)] } ?? ["resumed": .bool(true)])
    }
    var members: JSONObject = [
      "base": .integer(diff.base.number), "cause": .string(diff.cause),
    ]
    var by: JSONObject = [:]
    by.add("name", diff.byName)
    by.add("op", diff.byOp.map { .integer($0) })
    if !by.isEmpty { members.add("by", .object(by)) }
    if diff.isAnimated { members.add("animated", true) }
    members.add("relation", diff.relation)
    members.add("ev", diff.events)
    return .object(members)
  }
}
