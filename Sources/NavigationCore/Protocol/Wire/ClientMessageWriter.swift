/// Encoders for the bodies of messages to the daemon.
package enum ClientMessageWriter {
  /// Encodes `hello`.
  package static func hello(_ hello: Hello) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.name("ver")
    json.beginArray()
    json.integer(hello.versions.lowerBound)
    json.integer(hello.versions.upperBound)
    json.endArray()
    json.member("client", hello.client.text)
    json.member("name", hello.name)
    json.member("nonce", hello.nonce)
    json.member("window", hello.window)
    if let heartbeat = hello.heartbeat {
      json.member("hb", heartbeat)
    }
    if hello.isUncontrolled {
      json.member("flow", plain: "none")
    }
    json.list("features", hello.features)
    if let actor = hello.actor {
      json.name("actor")
      json.beginObject()
      json.member("name", actor.name)
      json.member("role", actor.role.name)
      json.list("navs", actor.navs.map(\.text))
      json.endObject()
    }
    json.endObject()
    return json.bytes
  }

  /// Encodes `watch`.
  package static func watch(_ request: WatchRequest) -> [UInt8] {
    var json = begin(request.id, nav: request.nav)
    if request.view != .full {
      json.member("view", plain: request.view.wireName)
    }
    if !request.hasResolved { json.member("resolved", false) }
    if let from = request.from { json.position("from", from) }
    if let bad = request.bad { json.position("bad", bad) }
    json.endObject()
    return json.bytes
  }

  /// Encodes `unwatch`.
  package static func unwatch(id: UInt64, nav: String, view: View) -> [UInt8] {
    var json = begin(id, nav: nav)
    json.member("view", plain: view.wireName)
    json.endObject()
    return json.bytes
  }

  /// Encodes `op`.
  ///
  /// - Parameters:
  ///   - request: all members except the operations.
  ///   - operations: one JSON object for each operation, such as `{"pop":{}}`; they are not
  ///     checked.
  /// - Returns: the body; to repeat the op, the client must send the same bytes.
  package static func op(_ request: OpRequest, operations: [[UInt8]]) -> [UInt8] {
    var json = begin(request.id, nav: request.nav)
    if let client = request.client {
      json.member("client", client.text)
    }
    json.optional("name", request.name)
    if request.guards != Guards() { json.guards(request.guards) }
    if let animated = request.isAnimated {
      json.member("animated", animated)
    }
    if request.waits {
      json.member("onBusy", plain: "queue")
    }
    if let due = request.due {
      json.member("due", due)
      json.optional("clock", request.clock)
    }
    if request.isDry { json.member("dry", true) }
    json.name("do")
    json.beginArray()
    for operation in operations { json.raw(operation) }
    json.endArray()
    json.endObject()
    return json.bytes
  }

  /// Encodes `get`.
  package static func get(_ request: GetRequest) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.member("id", request.id)
    json.optional("nav", request.nav)
    if request.what != .state {
      json.member("what", request.what.rawValue)
    }
    json.optional("at", request.at)
    json.optional("screen", request.screen)
    json.optional("from", request.from)
    if let epoch = request.epoch {
      json.member("epoch", hex: epoch.bits)
    }
    if request.offset > 0 {
      json.member("offset", request.offset)
    }
    if request.limit != 100 {
      json.member("limit", request.limit)
    }
    json.optional("client", request.client)
    if !request.isOn {
      json.member("on", false)
    }
    json.endObject()
    return json.bytes
  }

  /// Encodes `cluster`.
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

  /// Encodes `delegate`.
  package static func delegate(
    id: UInt64, nav: String, _ registration: DelegateRegistration
  ) -> [UInt8] {
    var json = begin(id, nav: nav)
    let roles = DelegateRole.allCases.filter { registration.roles.contains($0) }
    json.list("roles", roles.map(\.rawValue))
    if registration.roles.contains(.orientation) {
      json.name("orientations")
      json.beginObject()
      json.list("supported", registration.supportedOrientations)
      json.optional("preferred", registration.preferredOrientation)
      json.endObject()
    }
    json.endObject()
    return json.bytes
  }

  /// Encodes `answer`.
  ///
  /// - Parameters:
  ///   - number: the number of the question within the session.
  ///   - value: a JSON value; it is not checked.
  /// - Returns: the body.
  package static func answer(_ number: UInt64, value: [UInt8]) -> [UInt8] {
    var json = JSONWriter(reserving: 64)
    json.beginObject()
    json.member("ask", number)
    json.member("value", raw: value)
    json.endObject()
    return json.bytes
  }

  /// Encodes `lease`.
  package static func lease(id: UInt64, nav: String, _ wish: LeaseWish) -> [UInt8] {
    var json = begin(id, nav: nav)
    json.member("take", wish != .release)
    if wish == .force {
      json.member("force", true)
    }
    json.endObject()
    return json.bytes
  }

  /// Encodes `credit`.
  package static func credit(upTo limit: UInt64) -> [UInt8] {
    var json = JSONWriter(reserving: 32)
    json.beginObject()
    json.member("upto", limit)
    json.endObject()
    return json.bytes
  }

  /// Encodes the body of `ping` and `bye`, which have only an id.
  package static func id(_ id: UInt64) -> [UInt8] {
    var json = JSONWriter(reserving: 32)
    json.beginObject()
    json.member("id", id)
    json.endObject()
    return json.bytes
  }

  private static func begin(_ id: UInt64, nav: String) -> JSONWriter {
    var json = JSONWriter()
    json.beginObject()
    json.member("id", id)
    json.member("nav", nav)
    return json
  }
}

extension JSONWriter {
  fileprivate mutating func optional(_ name: StaticString, _ revision: Revision?) {
    guard let revision else { return }
    self.name(name)
    integer(revision.number)
  }

  fileprivate mutating func position(_ name: StaticString, _ position: MirrorPosition) {
    self.name(name)
    beginObject()
    if let epoch = position.epoch {
      self.name("epoch")
      hex(epoch.bits)
    }
    self.name("rev")
    integer(position.revision.number)
    self.name("dig")
    hex(position.digest.bits)
    endObject()
  }

  fileprivate mutating func guards(_ guards: Guards) {
    name("if")
    beginObject()
    flag("any", guards.any)
    if let epoch = guards.epoch {
      name("epoch")
      hex(epoch.bits)
    }
    optional("rev", guards.revision)
    if let digest = guards.digest {
      name("dig")
      hex(digest.bits)
    }
    if let top = guards.top {
      name("top")
      if let top { string(top) } else { null() }
    }
    if let depth = guards.depth {
      name("depth")
      integer(depth)
    }
    if let ids = guards.stack { list("stack", ids) }
    if let ids = guards.has { list("has", ids) }
    if let visible = guards.visible {
      name("visible")
      if let visible { string(visible) } else { null() }
    }
    endObject()
  }

  /// Writes a member with an array of strings, which can be empty.
  package mutating func list(_ name: StaticString, _ texts: [String]) {
    self.name(name)
    beginArray()
    for text in texts { string(text) }
    endArray()
  }
}
