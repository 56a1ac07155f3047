package import NavigationCore

/// Encoders for the bodies of the messages that change navs, roles, leases or the cluster.
extension ClientMessageWriter {
  /// Returns `body`, with the member `again` if it is an op that the client sends once more.
  ///
  /// `seenRow` is the newest journal row that the client had seen at the first send; nil in that.
  package static func repeated(_ verb: ClientVerb, _ body: [UInt8], seenRow: UInt64?) -> [UInt8] {
    guard verb == .op, let seenRow else { return body }
    return body.dropLast() + Array(",\"again\":\(seenRow)}".utf8)
  }

  /// Encodes the message `op`; to repeat the op, the client must send the same bytes.
  ///
  /// Each operation is a JSON object, such as `{"pop":{}}`, which the function does not check.
  package static func op(_ request: OpRequest, operations: [[UInt8]]) -> [UInt8] {
    var json = beginBody(request.id, nav: request.nav)
    json.optional("client", request.client?.text)
    json.optional("name", request.name)
    if request.guards != Guards() { json.guards(request.guards) }
    if let animated = request.isAnimated { json.member("animated", animated) }
    if let policy = request.onBusy { json.member("onBusy", word: policy.word) }
    if let due = request.startDeadline {
      json.member("due", due)
      json.optional("clock", request.deadlineBootID)
    }
    json.memberIfTrue("dry", request.isDry)
    json.name("do")
    json.beginArray()
    for operation in operations { json.raw(operation) }
    json.endArray()
    json.endObject()
    return json.bytes
  }

  package static func cluster(_ request: ClusterRequest) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("id", request.id)
      switch request.wish {
      case .move(let shard, let member):
        json.member("move", UInt64(shard))
        json.member("to", member)
      case .moveNav(let nav, let member):
        json.member("move", nav)
        json.member("to", member)
      case .drain(let member, let isOn):
        json.member("drain", member)
        json.member("on", isOn)
      }
    }
  }

  package static func delegate(
    id: UInt64, nav: String, _ registration: DelegateRegistration
  ) -> [UInt8] {
    var json = beginBody(id, nav: nav)
    let roles = DelegateRole.allCases.filter { registration.roles.contains($0) }
    json.strings("roles", roles.map(\.rawValue))
    if registration.roles.contains(.orientation) {
      json.name("orientations")
      json.beginObject()
      json.strings("supported", registration.supportedOrientations)
      json.optional("preferred", registration.preferredOrientation)
      json.endObject()
    }
    json.endObject()
    return json.bytes
  }

  /// Encodes the message `answer`; `value` is JSON, which the function does not check.
  package static func answer(_ number: UInt64, value: [UInt8]) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("ask", number)
      json.member("value", raw: value)
    }
  }

  package static func lease(id: UInt64, nav: String, _ wish: LeaseAction) -> [UInt8] {
    var json = beginBody(id, nav: nav)
    json.member("take", wish != .release)
    json.memberIfTrue("force", wish == .force)
    json.endObject()
    return json.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func guards(_ guards: Guards) {
    name("if")
    beginObject()
    memberIfTrue("any", guards.any)
    if let epoch = guards.epoch { member("epoch", hex: epoch.bits) }
    optional("rev", guards.revision)
    if let digest = guards.digest { member("dig", digest) }
    if let top = guards.top {
      name("top")
      if let top { string(top) } else { null() }
    }
    if let depth = guards.depth { member("depth", depth) }
    if let ids = guards.stack { strings("stack", ids) }
    if let ids = guards.has { strings("has", ids) }
    if let visible = guards.visible {
      name("visible")
      if let visible { string(visible) } else { null() }
    }
    endObject()
  }
}
