/// Encoders for the bodies of messages to the daemon that change no nav.
///
/// The module NavigationClient has the encoders of messages that change navs.
package enum ClientMessageWriter {
  /// Encodes the body of a message `hello`, `watch` or `get` by the table of its members.
  package static func message(_ message: some TabledRecord) -> [UInt8] {
    JSONWriter.value { $0.record(message) }
  }

  package static func unwatch(id: UInt64, nav: String, view: View) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("id", id)
      json.member("nav", nav)
      json.member("view", word: view.word)
    }
  }

  package static func credit(upTo limit: UInt64) -> [UInt8] {
    JSONWriter.object(reserving: 32) { $0.member("upto", limit) }
  }

  /// Encodes the body of `ping` and `bye`, which have only an id.
  package static func pingOrBye(id: UInt64) -> [UInt8] {
    JSONWriter.object(reserving: 32) { $0.member("id", id) }
  }

  /// Begins the body of a message with the members `id` and `nav`; the caller writes the rest.
  package static func beginBody(_ id: UInt64, nav: String) -> JSONWriter {
    var json = JSONWriter()
    json.beginObject()
    json.member("id", id)
    json.member("nav", nav)
    return json
  }
}

extension JSONWriter {
  /// Writes a member with a revision; writes nothing for nil.
  package mutating func optional(_ name: StaticString, _ revision: Revision?) {
    guard let revision else { return }
    self.name(name)
    integer(revision.number)
  }

  /// Writes a member with an array of strings, which can be empty.
  package mutating func strings(_ name: StaticString, _ texts: [String]) {
    array(name, texts) { $0.string($1) }
  }
}
