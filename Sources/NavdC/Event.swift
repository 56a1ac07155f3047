internal import CNavd
import NavigationClient
import NavigationCore

/// One event for C, which makes its JSON when the program asks for it.
final class Event: Sendable {
  /// The source of the JSON: the JSON itself, or a state and the diffs that led to it.
  enum Content: Sendable {
    case json(OpaqueJSON)
    indirect case state(String, Mirror, [Diff], why: String?)
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

  /// Makes the event of a snapshot with its `why`, of changes with diffs, or of a resumed watch.
  init(_ nav: String, _ mirror: Mirror, _ diffs: [Diff] = [], why: String? = nil) {
    kind = NAVD_EVENT_STATE
    self.nav = CText(nav)
    id = 0
    content = .state(nav, mirror, diffs, why: why)
    error = nil
  }

  /// The later state with the changes of both; nil unless both are changed states of one nav.
  func joined(with later: Event) -> Event? {
    guard case .state(let nav, _, let diffs, _) = content, !diffs.isEmpty,
      case .state(nav, let mirror, let more, _) = later.content, !more.isEmpty
    else { return nil }
    return Event(nav, mirror, diffs + more)
  }

  var json: CText {
    texts.withLock { texts in
      let text = texts.json ?? CText(body.bytes)
      texts.json = text
      return text
    }
  }

  /// The change or the snapshot that led to a state, as JSON; nil for other events.
  var change: CText? {
    guard case .state(_, _, let diffs, let why) = content else { return nil }
    return texts.withLock { texts in
      let text = texts.change ?? CText(Self.change(diffs, why).bytes)
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

  private static func change(_ diffs: [Diff], _ why: String?) -> OpaqueJSON {
    guard let base = diffs.first?.base, let diff = diffs.last else {
      return .object(why.map { ["why": .string($0)] } ?? ["resumed": .bool(true)])
    }
    var members: JSONObject = [
      "base": .integer(base.number), "cause": .string(diff.cause),
    ]
    let by: JSONObject = [
      "name": diff.byName.map { .string($0) }, "op": diff.byOp.map { .integer($0) },
    ]
    if !by.isEmpty { members.add("by", .object(by)) }
    if diff.isAnimated { members.add("animated", true) }
    if diffs.count == 1 { members.add("relation", diff.topRelation) }
    let events = diffs.map { $0.events.bytes.dropFirst().dropLast() }
      .filter { $0.contains { $0 > 0x20 } }
    members.add("ev", OpaqueJSON(validated: [0x5B] + events.joined(separator: [0x2C]) + [0x5D]))
    return .object(members)
  }
}

extension OkReply {
  /// The answer to an op, as the daemon wrote it but for its id.
  var members: JSONObject {
    [
      "nav": nav.map { .string($0) }, "epoch": epoch.map { .string($0.text) },
      "rev": revision.map { .integer($0.number) }, "changed": changed.map { .bool($0) },
      "depth": depth.map { .integer($0) },
      "top": top.map { $0.map { .string($0) } ?? .null },
      "dig": digest.map { .string($0.text) }, "out": results,
    ]
  }
}

extension Ask {
  /// The question as one object, for programs.
  var members: JSONObject {
    var members: JSONObject = [:]
    members.add("kind", question.wireForm.name)
    for (name, text) in question.wireForm.members { members.add(name, text) }
    members.add("rev", .integer(revision.number))
    members.add("within", .integer(withinMilliseconds))
    return members
  }
}
