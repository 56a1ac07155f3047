import NavigationCore

/// Reads the two frames of a client's message; reuses its buffers for the next message.
package struct ClientMessageReader: Sendable {
  private var tape = JSONTape()
  private let maximumBytes: Int
  /// Whether the reader reads the member `actor` of a `hello`; a web gateway sets it to false.
  package var readsActors = true

  /// Makes a reader that rejects bodies of more than `maximumBytes` bytes.
  package init(maximumBytes: Int = 65536) { self.maximumBytes = maximumBytes }

  /// Reads a message; opaque values are copied out of the body.
  ///
  /// `frame` is the first frame, such as `nsp1.op`, and `body` the second one, a JSON object. The
  /// error is the answer to the message.
  package mutating func read(
    frame: Span<UInt8>, body: Span<UInt8>
  ) throws(MessageFailure) -> ClientMessage {
    guard let verb = ClientVerb(frame) else { throw unknownVerb(frame, body) }
    do throws(MessageFailure) {
      return try decode(verb, body)
    } catch {
      var failure = error
      failure.verb = verb
      throw failure
    }
  }

  // Never inlined, so that its instructions can be counted by its name.
  @inline(never)
  private mutating func decode(
    _ verb: ClientVerb, _ body: Span<UInt8>
  ) throws(MessageFailure) -> ClientMessage {
    guard body.count <= maximumBytes else {
      throw MessageFailure(
        .limit, "the message has \(body.count) octets; the limit is \(maximumBytes)")
    }
    try parseBody(body)
    do throws(ReadFailure) {
      switch verb {
      case .op: return .op(try op(body))
      case .credit: return .credit(upTo: try requiredInteger("upto"))
      case .answer: return try answer()
      case .hello:
        return .hello(try Hello.table.read(tape, without: readsActors ? [] : ["actor"]))
      case .watch: return .watch(try watch())
      case .unwatch:
        let (id, nav) = (try requiredID(), try nav())
        return .unwatch(id: id, nav: nav, view: try value("view", tape.word) ?? .full)
      case .get:
        let isTrace = memberIndex("what").flatMap { tape.string($0) } == "trace"
        return .get(try GetRequest.table.read(tape, without: isTrace ? [] : ["client", "on"]))
      case .delegate: return .delegate(try delegate())
      case .lease: return .lease(try lease())
      case .cluster: return .cluster(try cluster())
      case .ping: return .ping(id: try requiredID())
      case .bye: return .bye(id: try requiredID())
      }
    } catch {
      let isWithoutID = verb == .hello || verb == .credit || verb == .answer
      throw MessageFailure(error.code, id: isWithoutID ? nil : id(), error.text)
    }
  }

  /// Makes the error for a first frame that names no verb of this protocol version.
  private mutating func unknownVerb(_ frame: Span<UInt8>, _ body: Span<UInt8>) -> MessageFailure {
    switch VerbFrame([UInt8](copying: frame)) {
    case .current:
      guard body.count <= maximumBytes else { return MessageFailure(.badVerb, "unknown verb") }
      do throws(MessageFailure) {
        try parseBody(body)
      } catch {
        return error
      }
      return MessageFailure(.badVerb, id: id(), "unknown verb")
    case .otherVersion(let verb, let version):
      return MessageFailure(
        verb == "hello" ? .version : .badVerb,
        "the message is NSP/\(version), this daemon speaks NSP/1")
    case .malformed:
      return MessageFailure(.badFrame, "the first frame is nsp1. and a verb of a to z")
    }
  }

  private mutating func parseBody(_ body: Span<UInt8>) throws(MessageFailure) {
    do {
      try tape.read(body, maximumDepth: 32)
    } catch {
      throw MessageFailure(.badJSON, "\(error.reason.rawValue) at octet \(error.offset)")
    }
    guard tape.kind(tape.root) == .object else {
      throw MessageFailure(.badJSON, "the body of a message is one JSON object")
    }
  }

  // Reading members of the message itself.

  private func id() -> UInt64? { tape.integer("id", of: tape.root) }

  private func requiredID() throws(ReadFailure) -> UInt64 {
    try need(id(), JSONTape.idIsRequired)
  }

  /// The index of a member's value; nil if the member is absent or null.
  private func memberIndex(_ name: String) -> Int? { tape.value(name, of: tape.root) }

  private func requiredInteger(_ name: String) throws(ReadFailure) -> UInt64 {
    try need(
      tape.integer(name, of: tape.root), "\(name) is a whole number from 0 to 9007199254740991")
  }

  /// Reads a member; nil if it is absent or null.
  private func value<Value>(
    _ name: String, _ read: ReadValue<Value>
  ) throws(ReadFailure) -> Value? {
    guard let at = memberIndex(name) else { return nil }
    return try read(at, name)
  }

  private func nav() throws(ReadFailure) -> String { try nav(memberIndex("nav")) }

  private func nav(_ at: Int?) throws(ReadFailure) -> String {
    try tape.nav(try need(at, JSONTape.navIsRequired), "nav")
  }

  // The messages.

  private func watch() throws(ReadFailure) -> WatchRequest {
    let request = try WatchRequest.table.read(tape)
    try need(
      request.from == nil || request.divergence == nil, "a watch has from or bad, not both")
    try need(
      request.view == .full || memberIndex("resolved") == nil, "resolved goes with view full")
    return request
  }

  private func delegate() throws(ReadFailure) -> DelegateRequest {
    let (id, nav) = (try requiredID(), try nav())
    let words = try need(
      memberIndex("roles").flatMap { tape.strings($0) }, "roles is a list of texts")
    var roles: Set<DelegateRole> = []
    for word in words {
      let names = DelegateRole.allCases.map(\.rawValue)
      roles.insert(
        try need(
          DelegateRole(rawValue: word), "a role is one of \(names.joined(separator: ", "))"))
    }
    var request = DelegateRequest(id: id, nav: nav, roles: roles, orientations: nil)
    guard roles.contains(.orientation) else { return request }
    let form = "the role orientation needs orientations {supported, preferred}"
    let orientations = try need(memberIndex("orientations"), form)
    try tape.needObject(orientations, form)
    request.orientations = try tape.delegateOrientations(orientations)
    return request
  }

  private func answer() throws(ReadFailure) -> ClientMessage {
    let ask = try requiredInteger("ask")
    guard let value = tape.member("value", of: tape.root) else {
      return .answer(ask: ask, .malformed)
    }
    if let verdict = tape.bool(value) { return .answer(ask: ask, .verdict(verdict)) }
    if let animator = tape.string("animator", of: value) {
      let duration = tape.integer("duration", of: value)
      return .answer(ask: ask, .animator(animator, duration: duration))
    }
    if let driver = tape.string("driver", of: value) { return .answer(ask: ask, .driver(driver)) }
    return .answer(ask: ask, .malformed)
  }

  private func lease() throws(ReadFailure) -> LeaseRequest {
    let (id, nav) = (try requiredID(), try nav())
    let takes = try need(try value("take", tape.bool), "take is true or false")
    let isForced = try value("force", tape.bool) ?? false
    return LeaseRequest(id: id, nav: nav, action: !takes ? .release : isForced ? .force : .take)
  }

  private func cluster() throws(ReadFailure) -> ClusterRequest {
    let id = try requiredID()
    if let member = try value("drain", tape.string) {
      return ClusterRequest(id: id, wish: .drain(member, on: try value("on", tape.bool) ?? true))
    }
    guard let place = memberIndex("move"), let target = try value("to", tape.string) else {
      throw ReadFailure("cluster has move and to, or drain, the name of a member")
    }
    if let shard = tape.integer(place) {
      return ClusterRequest(id: id, wish: .move(Int(clamping: shard), to: target))
    }
    return ClusterRequest(id: id, wish: .moveNav(try tape.nav(place, "move"), to: target))
  }

  /// The tape index of each member's value in an `op`; 0, the index of the message itself, if the
  /// member is absent or null.
  private struct OpMemberIndexes {
    var id = 0
    var operations = 0
    var nav = 0
    var client = 0
    var name = 0
    var animated = 0
    var due = 0
    var clock = 0
    var wait = 0
    var guards = 0
    var dry = 0
    var again = 0

    @inline(__always)
    init(_ tape: borrowing JSONTape) {
      let end = tape.next(tape.root)
      var key = tape.root + 1
      while key < end {
        let value = key + 1
        if tape.kind(value) != .null {
          switch tape.shortName(key) {
          case "id": id = value
          case "nav": nav = value
          case "if": guards = value
          case "do": operations = value
          case "client": client = value
          case "name": name = value
          case "animated": animated = value
          case "due": due = value
          case "onBusy": wait = value
          case "clock": clock = value
          case "dry": dry = value
          case "again": again = value
          default: break
          }
        }
        key = tape.next(value)
      }
    }
  }

  private func op(_ body: Span<UInt8>) throws(ReadFailure) -> OpMessage {
    let members = OpMemberIndexes(tape)
    guard members.id != 0, let id = tape.integer(members.id) else {
      throw ReadFailure(JSONTape.idIsRequired)
    }
    guard members.operations != 0, tape.kind(members.operations) == .array,
      (1...16).contains(tape.count(members.operations))
    else { throw ReadFailure("do is a list of 1 to 16 ops") }
    let nav = try nav(members.nav == 0 ? nil : members.nav)
    let client = members.client == 0 ? nil : try tape.client(members.client, "client")
    let name = members.name == 0 ? nil : try tape.clientName(members.name, "name")
    let isAnimated =
      members.animated == 0 ? nil : try tape.bool(members.animated, "animated")
    let due = members.due == 0 ? nil : try tape.integer(members.due, "due")
    let clock = members.clock == 0 ? nil : try tape.string(members.clock, "clock")
    let onBusy = members.wait == 0 ? nil : try busyPolicy(members.wait)
    let isDry = members.dry == 0 ? false : try tape.bool(members.dry, "dry")
    let again = members.again == 0 ? nil : try tape.integer(members.again, "again")
    var guards = Guards()
    if members.guards != 0 { try self.guards(members.guards, into: &guards) }
    var decoded: [Operation] = []
    var kinds = OperationKinds()
    let unusual = operations(members.operations, &kinds, &decoded)
    return OpMessage(
      id: id, client: client, clientName: name, nav: nav, guards: guards, isAnimated: isAnimated,
      onBusy: onBusy, dueBootMilliseconds: due, dueClockID: clock, isDry: isDry,
      newestRowAtFirstSend: again, kinds: kinds, unusual: unusual, decoded: decoded,
      bodyHash: again == nil ? BodyHash(body) : BodyHash(again: body))
  }

  private func busyPolicy(_ at: Int) throws(ReadFailure) -> BusyPolicy {
    try tape.word(at, "onBusy")
  }

  /// Reads the operations; returns all if one has a sender or is not decoded, else none.
  private func operations(
    _ list: Int, _ kinds: inout OperationKinds, _ decoded: inout [Operation]
  ) -> [RequestedOperation] {
    let end = tape.next(list)
    var unusual: [RequestedOperation] = []
    var element = list + 1
    while element < end {
      let operation = tape.operation(element, &decoded)
      if !operation.isDecodedWithoutSender, unusual.isEmpty {
        unusual = kinds.indices.map { RequestedOperation(kinds[$0], .decoded(index: $0)) }
      }
      if !operation.isDecodedWithoutSender || !unusual.isEmpty { unusual.append(operation) }
      kinds.append(operation.kind)
      element = tape.next(element)
    }
    return unusual
  }

  private func guards(_ at: Int, into guards: inout Guards) throws(ReadFailure) {
    try tape.needObject(at, "if is an object of guards")
    if let name = guards.readUntilInvalid(tape, at) {
      throw ReadFailure("if.\(name) is no guard, or has a wrong value; guards are \(Guards.names)")
    }
  }
}
