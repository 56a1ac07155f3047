/// Encoders for the bodies of messages to the daemon that change no nav.
///
/// NavigationClient has those that do, so that a program without it cannot write any.
package enum ClientMessageWriter {
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
      json.member("flow", word: "none")
    }
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

  package static func watch(_ request: WatchRequest) -> [UInt8] {
    var json = begin(request.id, nav: request.nav)
    if request.view != .full {
      json.member("view", word: request.view.word)
    }
    if !request.hasResolved { json.member("resolved", false) }
    if request.waits { json.member("wait", true) }
    if let from = request.from { json.position("from", from) }
    if let bad = request.bad { json.position("bad", bad) }
    json.endObject()
    return json.bytes
  }

  package static func unwatch(id: UInt64, nav: String, view: View) -> [UInt8] {
    var json = begin(id, nav: nav)
    json.member("view", word: view.word)
    json.endObject()
    return json.bytes
  }

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

  /// Begins the body of a message about a nav.
  package static func begin(_ id: UInt64, nav: String) -> JSONWriter {
    var json = JSONWriter()
    json.beginObject()
    json.member("id", id)
    json.member("nav", nav)
    return json
  }
}

extension JSONWriter {
  /// Writes a member with a revision, if there is one.
  package mutating func optional(_ name: StaticString, _ revision: Revision?) {
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
    hex(position.digest)
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
