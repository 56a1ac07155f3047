import NavigationCore

/// Reads the two frames of a client's message; reuses its buffers for the next message.
package struct ClientMessageReader: Sendable {
  private(set) var tape = JSONTape()
  private let maximumBytes: Int
  /// Whether `actor` of a `hello` is read; a gateway ignores that of a page.
  package var takesActors = true

  /// Makes a reader that rejects bodies of more than `maximumBytes` bytes.
  package init(maximumBytes: Int = 65536) { self.maximumBytes = maximumBytes }

  /// Reads a message; opaque values are copied out of the body.
  ///
  /// `frame` is the first frame, such as `nsp1.op`, and `body` the second one, a JSON object. The
  /// error is the answer to the message.
  package mutating func read(
    frame: Span<UInt8>, body: Span<UInt8>
  ) throws(MessageFailure) -> ClientMessage {
    guard let verb = ClientVerb(frame) else { throw unknown(frame, body) }
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
    try scan(body)
    switch verb {
    case .op: return .op(try op(body))
    case .credit: return .credit(upTo: try required("upto", nil))
    case .answer: return try answer()
    case .hello: return .hello(try hello())
    case .watch: return .watch(try watch())
    case .unwatch:
      let id = try requiredID()
      return .unwatch(id: id, nav: try nav(id), view: try view(id))
    case .get: return .get(try get())
    case .delegate: return .delegate(try delegate())
    case .lease: return .lease(try lease())
    case .cluster: return .cluster(try cluster())
    case .ping: return .ping(id: try requiredID())
    case .bye: return .bye(id: try requiredID())
    }
  }

  /// Makes the error for a first frame that names no verb of this protocol version.
  private mutating func unknown(_ frame: Span<UInt8>, _ body: Span<UInt8>) -> MessageFailure {
    switch VerbFrame([UInt8](copying: frame)) {
    case .current:
      guard body.count <= maximumBytes else { return MessageFailure(.badVerb, "unknown verb") }
      do throws(MessageFailure) {
        try scan(body)
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

  private mutating func scan(_ body: Span<UInt8>) throws(MessageFailure) {
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

  func id() -> UInt64? { member("id").flatMap { tape.integer($0) } }

  func requiredID() throws(MessageFailure) -> UInt64 { try requiredID(id()) }

  func requiredID(_ id: UInt64?) throws(MessageFailure) -> UInt64 {
    guard let id else {
      throw MessageFailure(
        .invalidArgument, "id is a whole number from 0 to 9007199254740991, larger every time")
    }
    return id
  }

  func member(_ name: String) -> Int? {
    guard let index = tape.member(name, of: tape.root), tape.kind(index) != .null else {
      return nil
    }
    return index
  }

  func required(_ name: String, _ id: UInt64?) throws(MessageFailure) -> UInt64 {
    try integer(member(name), name, id)
  }

  private func integer(
    _ index: Int?, _ name: String, _ id: UInt64?
  ) throws(MessageFailure) -> UInt64 {
    guard let value = index.flatMap({ tape.integer($0) }) else {
      throw MessageFailure(.invalidArgument, id: id, "\(name) is a whole number from 0 to 2^53-1")
    }
    return value
  }

  private func optional(_ name: String, _ id: UInt64?) throws(MessageFailure) -> UInt64? {
    member(name) == nil ? nil : try required(name, id)
  }

  func text(_ name: String, _ id: UInt64?) throws(MessageFailure) -> String? {
    try text(member(name), name, id)
  }

  private func text(
    _ index: Int?, _ name: String, _ id: UInt64?
  ) throws(MessageFailure) -> String? {
    guard let index else { return nil }
    guard let text = tape.string(index) else {
      throw MessageFailure(.invalidArgument, id: id, "\(name) is a text")
    }
    return text
  }

  func flag(_ name: String, _ id: UInt64?) throws(MessageFailure) -> Bool? {
    try flag(member(name), name, id)
  }

  private func flag(
    _ index: Int?, _ name: String, _ id: UInt64?
  ) throws(MessageFailure) -> Bool? {
    guard let index else { return nil }
    guard let value = tape.bool(index) else {
      throw MessageFailure(.invalidArgument, id: id, "\(name) is true or false")
    }
    return value
  }

  func nav(_ id: UInt64) throws(MessageFailure) -> String { try nav(member("nav"), id) }

  func nav(_ index: Int?, _ id: UInt64) throws(MessageFailure) -> String {
    // Usual names need no string for the check.
    if let index, tape.isPlain(index), Grammar.isNavName(tape.text(index)) {
      return tape.string(index) ?? ""
    }
    guard let nav = try text(index, "nav", id) else {
      throw MessageFailure(.invalidArgument, id: id, "nav, the name of a nav, is required")
    }
    let isName = NavName(nav) != nil || NavName.isVirtual(nav) || nav == NavName.appearance.text
    guard isName else {
      throw MessageFailure(
        .invalidArgument, id: id,
        "a nav's name is a-z or 0-9, then up to 127 of a-z 0-9 . _ / -")
    }
    return nav
  }

  private func view(_ id: UInt64) throws(MessageFailure) -> View {
    guard let word = try text("view", id) else { return .full }
    guard let view = View(word: word) else {
      throw MessageFailure(.invalidArgument, id: id, "view is one of \(View.choices)")
    }
    return view
  }

  private func client(_ index: Int?, _ id: UInt64?) throws(MessageFailure) -> ClientID? {
    guard let text = try text(index, "client", id) else { return nil }
    guard let client = ClientID(text) else {
      throw MessageFailure(.invalidArgument, id: id, "client is 32 lower-case hex digits")
    }
    return client
  }

  private func name(_ index: Int?, _ id: UInt64?) throws(MessageFailure) -> String? {
    guard let name = try text(index, "name", id) else { return nil }
    guard name.utf8.count <= 128 else {
      throw MessageFailure(.invalidArgument, id: id, "name is at most 128 octets")
    }
    return name
  }

  // The messages.

  private func hello() throws(MessageFailure) -> Hello {
    guard let versions = member("ver"), tape.kind(versions) == .array,
      tape.count(versions) == 2, let low = tape.integer(versions + 1),
      let high = tape.integer(versions + 2), low <= high
    else {
      throw MessageFailure(.invalidArgument, "ver is the lowest and highest version, as [1,1]")
    }
    guard let client = try client(member("client"), nil) else {
      throw MessageFailure(.invalidArgument, "client, 32 lower-case hex digits, is required")
    }
    guard let nonce = try text("nonce", nil), nonce.utf8.count <= 64 else {
      throw MessageFailure(.invalidArgument, "nonce, a text of at most 64 octets, is required")
    }
    var hello = Hello(versions: low...high, client: client, nonce: nonce)
    if let name = try name(member("name"), nil) { hello.name = name }
    if let window = try optional("window", nil) { hello.window = window }
    if let heartbeat = try optional("hb", nil) { hello.heartbeat = heartbeat }
    if let flow = try text("flow", nil) {
      guard flow == "none" || flow == "credit" else {
        throw MessageFailure(.invalidArgument, "flow is credit or none")
      }
      hello.isUncontrolled = flow == "none"
    }
    if takesActors, let index = member("actor") { hello.actor = try SessionActor(index, in: tape) }
    return hello
  }

  private func watch() throws(MessageFailure) -> WatchRequest {
    let id = try requiredID()
    var request = WatchRequest(id: id, nav: try nav(id), view: try view(id))
    request.from = try position("from", id, needsEpoch: true)
    request.bad = try position("bad", id, needsEpoch: false)
    guard request.from == nil || request.bad == nil else {
      throw MessageFailure(.invalidArgument, id: id, "a watch has from or bad, not both")
    }
    if let flag = try flag("resolved", id) {
      guard request.view == .full else {
        throw MessageFailure(.invalidArgument, id: id, "resolved goes with view full")
      }
      request.hasResolved = flag
    }
    request.waits = try flag("wait", id) ?? false
    return request
  }

  private func position(
    _ name: String, _ id: UInt64, needsEpoch: Bool
  ) throws(MessageFailure) -> MirrorPosition? {
    guard let index = member(name) else { return nil }
    let revision = tape.member("rev", of: index).flatMap { tape.integer($0) }
    let digest = tape.member("dig", of: index).flatMap { tape.string($0) }.flatMap { Digest($0) }
    let epoch = tape.member("epoch", of: index).flatMap { tape.string($0) }.flatMap { Epoch($0) }
    guard let revision, let digest, !needsEpoch || epoch != nil else {
      throw MessageFailure(
        .invalidArgument, id: id,
        "\(name) has \(needsEpoch ? "epoch (16 hex digits), " : "")rev and dig (24 hex digits)")
    }
    return MirrorPosition(epoch: epoch, revision: Revision(revision), digest: digest)
  }

  private func get() throws(MessageFailure) -> GetRequest {
    let id = try requiredID()
    var request = GetRequest(id: id, nav: member("nav") == nil ? nil : try nav(id))
    if let word = try text("what", id) {
      guard let what = GetRequest.What(rawValue: word) else {
        let choices = GetRequest.What.allCases.map(\.rawValue).joined(separator: ", ")
        throw MessageFailure(.invalidArgument, id: id, "what is one of \(choices)")
      }
      request.what = what
    }
    request.at = try optional("at", id).map { Revision($0) }
    request.screen = try text("screen", id)
    request.from = try optional("from", id).map { Revision($0) }
    if let limit = try optional("limit", id) { request.limit = limit }
    if request.what == .trace {
      request.client = try text("client", id)
      request.isOn = try flag("on", id) ?? true
    }
    return request
  }

  /// The tape index of each member's value in an `op`; 0, the index of the message itself, if the
  /// member is absent or null.
  private struct OpMembers {
    var id = 0
    var list = 0
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
          case "do": list = value
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

  private func op(_ body: Span<UInt8>) throws(MessageFailure) -> OpMessage {
    let members = OpMembers(tape)
    func place(_ member: Int) -> Int? { member == 0 ? nil : member }
    let id = try requiredID(place(members.id).flatMap { tape.integer($0) })
    guard let list = place(members.list), tape.kind(list) == .array,
      (1...16).contains(tape.count(list))
    else {
      throw MessageFailure(.invalidArgument, id: id, "do is a list of 1 to 16 ops")
    }
    let nav = try nav(place(members.nav), id)
    let client = members.client == 0 ? nil : try client(members.client, id)
    let name = members.name == 0 ? nil : try name(members.name, id)
    let isAnimated = members.animated == 0 ? nil : try flag(members.animated, "animated", id)
    let due = members.due == 0 ? nil : try integer(members.due, "due", id)
    let clock = members.clock == 0 ? nil : try text(members.clock, "clock", id)
    let waits = members.wait == 0 ? false : try waits(members.wait, id)
    let isDry = members.dry == 0 ? false : try flag(members.dry, "dry", id) ?? false
    let again = members.again == 0 ? nil : try integer(members.again, "again", id)
    var guards = Guards()
    if members.guards != 0 { try self.guards(members.guards, id, into: &guards) }
    var readable: [Operation] = []
    var kinds = OperationKinds()
    let unusual = operations(list, &kinds, &readable)
    return OpMessage(
      id: id, idDigits: tape.digits(members.id), client: client, name: name, nav: nav,
      guards: guards, isAnimated: isAnimated, waits: waits, due: due, clock: clock,
      isDry: isDry, again: again, kinds: kinds, unusual: unusual, readable: readable,
      octets: again == nil ? BodyHash(body) : BodyHash(again: body))
  }

  private func waits(_ index: Int?, _ id: UInt64) throws(MessageFailure) -> Bool {
    guard let wait = try text(index, "onBusy", id) else { return false }
    guard wait == "reject" || wait == "queue" else {
      throw MessageFailure(.invalidArgument, id: id, "onBusy is reject or queue")
    }
    return wait == "queue"
  }

  /// Reads the operations; returns all of them if one is unusual, see `OpMessage`.
  private func operations(
    _ list: Int, _ kinds: inout OperationKinds, _ readable: inout [Operation]
  ) -> [RequestedOperation] {
    let reader = OperationReader()
    let end = tape.next(list)
    var unusual: [RequestedOperation] = []
    var element = list + 1
    while element < end {
      let operation = reader.operation(tape, element, &readable)
      if !operation.isUsual, unusual.isEmpty {
        unusual = kinds.indices.map { RequestedOperation(kinds[$0], .operation($0)) }
      }
      if !operation.isUsual || !unusual.isEmpty { unusual.append(operation) }
      kinds.append(operation.kind)
      element = tape.next(element)
    }
    return unusual
  }

  private func guards(
    _ at: Int, _ id: UInt64, into guards: inout Guards
  ) throws(MessageFailure) {
    guard tape.kind(at) == .object else {
      throw MessageFailure(.invalidArgument, id: id, "if is an object of guards")
    }
    let end = tape.next(at)
    var key = at + 1
    while key < end {
      guard read(tape.shortName(key), key + 1, into: &guards) else {
        let name = tape.string(key) ?? ""
        throw MessageFailure(
          .invalidArgument, id: id,
          "if.\(name) is no guard, or has a wrong value; guards are any, epoch, rev, dig, top, "
            + "depth, stack, has, visible")
      }
      key = tape.next(key + 1)
    }
  }

  @inline(__always)
  private func read(_ name: ShortName, _ value: Int, into guards: inout Guards) -> Bool {
    switch name {
    case "any":
      guard let any = tape.bool(value) else { return false }
      guards.any = any
    case "epoch":
      guard let epoch = tape.string(value).flatMap({ Epoch($0) }) else { return false }
      guards.epoch = epoch
    case "rev":
      guard let number = tape.integer(value) else { return false }
      guards.revision = Revision(number)
    case "dig":
      guard let digest = tape.string(value).flatMap({ Digest($0) }) else { return false }
      guards.digest = digest
    case "top":
      guard let id = idOrNull(value) else { return false }
      guards.top = id
    case "visible":
      guard let id = idOrNull(value) else { return false }
      guards.visible = id
    case "depth":
      guard let depth = tape.integer(value) else { return false }
      guards.depth = depth
    case "stack":
      guard let ids = tape.strings(value) else { return false }
      guards.stack = ids
    case "has":
      guard let ids = tape.strings(value) else { return false }
      guards.has = ids
    default: return false
    }
    return true
  }

  /// The id that a guard names, the inner nil for `null`; nil for anything else.
  private func idOrNull(_ value: Int) -> String?? {
    tape.kind(value) == .null ? .some(nil) : tape.string(value).map { .some($0) }
  }
}
