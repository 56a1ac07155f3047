package import Navigation
package import NavigationSync

/// What the user of one terminal last saw of one nav.
package struct Seen: Hashable, Sendable {
  /// The life of the nav.
  package var epoch: Epoch
  /// The revision.
  package var revision: Revision
  /// The top screen; nil for an empty stack.
  package var top: String?

  /// Makes a memory.
  package init(epoch: Epoch, revision: Revision, top: String?) {
    self.epoch = epoch
    self.revision = revision
    self.top = top
  }

  /// What the answer to an operation shows; nil if it shows too little.
  package init?(_ reply: OkReply) {
    guard let epoch = reply.epoch, let revision = reply.revision, let top = reply.top else {
      return nil
    }
    self.init(epoch: epoch, revision: revision, top: top)
  }

  /// What the body of a snapshot shows; nil if it is not one.
  package init?(state: JSONValue) {
    guard let epoch = state["epoch"]?.string.flatMap({ Epoch($0) }),
      let revision = state["rev"]?.integer, state["screens"] != nil
    else { return nil }
    let top = state["screens"]?.elements.last?["id"]?.string
    self.init(epoch: epoch, revision: Revision(revision), top: top)
  }

  /// What a mirror shows.
  package init(_ mirror: Mirror) {
    self.init(epoch: mirror.epoch, revision: mirror.revision, top: mirror.top)
  }

  /// In words: "rev 18, top wifi".
  package var text: String { Self.text(revision: revision, top: top) }

  /// A place in words.
  package static func text(revision: Revision, top: String?) -> String {
    "rev \(revision.number), top \(top ?? "none")"
  }
}

/// The contents of the file that remembers what a user saw.
package enum SeenFile {
  /// The format; a file of another one counts as none.
  private static let version: UInt64 = 1

  /// The contents for what was seen of a nav through an endpoint.
  package static func encode(_ seen: Seen, endpoint: String, nav: String) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.name("version")
    json.integer(version)
    json.name("endpoint")
    json.string(endpoint)
    json.name("nav")
    json.string(nav)
    json.name("epoch")
    json.string(seen.epoch.text)
    json.name("rev")
    json.integer(seen.revision.number)
    if let top = seen.top {
      json.name("top")
      json.string(top)
    }
    json.endObject()
    return json.bytes + [0x0A]
  }

  /// Reads contents; nil for anything but what `encode` wrote for the same nav and endpoint.
  ///
  /// A damaged file, or that of another nav with the same key, must not become a guard.
  package static func decode(_ bytes: [UInt8], endpoint: String, nav: String) -> Seen? {
    guard bytes.last == 0x0A else { return nil }
    let value: JSONValue
    do { value = try JSONValue(bytes.dropLast()) } catch { return nil }
    guard value["version"]?.integer == version, value["endpoint"]?.string == endpoint,
      value["nav"]?.string == nav, let epoch = value["epoch"]?.string.flatMap({ Epoch($0) }),
      let revision = value["rev"]?.integer
    else { return nil }
    return Seen(epoch: epoch, revision: Revision(revision), top: value["top"]?.string)
  }
}

extension JSONValue {
  /// Reads a text that is part of another one.
  fileprivate init(_ bytes: ArraySlice<UInt8>) throws(JSONError) { try self.init(Array(bytes)) }
}
