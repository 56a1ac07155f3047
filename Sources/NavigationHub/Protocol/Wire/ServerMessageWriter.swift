package import NavigationCore

extension ServerMessageWriter {
  /// Encodes `ok` to a request that is no op; `nav` is nil for a request without a nav.
  package static func ok(id: UInt64, nav: String? = nil) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("id", id)
      json.optional("nav", nav)
    }
  }

  /// Encodes `ok` to an op, with the number of its row; nil if it changed nothing.
  ///
  /// `delivered` is the number of sessions that get its ephemeral event.
  package static func ok(
    id: UInt64, standing: NavStanding, sequence: UInt64?, outputs: ShortList<OperationOutput>,
    delivered: Int
  ) -> [UInt8] {
    var json = JSONWriter()
    return encodedOk(id, standing, sequence, outputs, delivered, &json).bytes
  }

  /// Encodes `ok` to an op in the memory of `json`, and returns the place of `out` in it.
  package static func encodedOk(
    id: UInt64, standing: NavStanding, sequence: UInt64, outputs: ShortList<OperationOutput>,
    delivered: Int, _ json: inout JSONWriter
  ) -> EncodedOk {
    json.removeAll()
    return encodedOk(id, standing, sequence, outputs, delivered, &json)
  }

  /// Encodes `ok` to an op with `dry`: the answer that the op would get, and what it would lead to.
  ///
  /// `delegates` would be asked, `position` is the place among the waiting ops if the op would wait,
  /// and `state` is the state after it, if the sender may read it.
  package static func dryRunResult(
    id: UInt64, standing: NavStanding, changed: Bool, outputs: ShortList<OperationOutput>,
    delegates: [(name: String, roles: [String])] = [], position: Int? = nil, state: [UInt8]? = nil
  ) -> [UInt8] {
    JSONWriter.object(reserving: 256 + (state?.count ?? 0)) { json in
      json.member("id", id)
      json.member("nav", standing.nav)
      json.standing(standing)
      json.member("dry", true)
      json.member("changed", changed)
      if let position { json.member("pos", UInt64(position)) }
      json.name("out")
      json.outputs(outputs, delivered: 0)
      json.array("delegates", delegates) { json, delegate in
        json.beginObject()
        json.member("name", delegate.name)
        json.strings("roles", delegate.roles)
        json.endObject()
      }
      if let state { json.member("state", raw: state) }
    }
  }

  private static func encodedOk(
    _ id: UInt64, _ standing: NavStanding, _ sequence: UInt64?,
    _ outputs: ShortList<OperationOutput>, _ delivered: Int, _ json: inout JSONWriter
  ) -> EncodedOk {
    json.beginObject()
    json.member("id", id)
    json.navRevision(standing.nav, standing.epoch, standing.revision)
    json.member("changed", sequence != nil)
    if let sequence { json.member("seq", sequence) }
    json.member("depth", UInt64(standing.depth))
    json.name("top")
    if let top = standing.top { json.string(top) } else { json.null() }
    json.member("dig", standing.digest)
    json.name("out")
    let start = json.count
    json.outputs(outputs, delivered: delivered)
    let end = json.count
    json.endObject()
    return EncodedOk(bytes: json.bytes, outputsRange: start..<end)
  }

  /// Encodes `ok` to `watch`, with the mode and the revision at which the watch begins.
  package static func watching(
    id: UInt64, nav: String, mode: String, why: String?, epoch: Epoch, revision: Revision
  ) -> [UInt8] {
    JSONWriter.object(reserving: 128) { json in
      json.member("id", id)
      json.member("nav", nav)
      json.member("mode", word: mode)
      json.optional("why", why)
      json.revision(epoch, revision)
    }
  }

  /// Encodes `ok` to `get`, with the value and the revision that it belongs to.
  package static func value(
    id: UInt64, nav: String?, epoch: Epoch?, revision: Revision?, floor: Revision?,
    next: Revision? = nil, _ value: [UInt8]
  ) -> [UInt8] {
    JSONWriter.object(reserving: value.count + 128) { json in
      json.member("id", id)
      json.optional("nav", nav)
      if let epoch { json.member("epoch", hex: epoch.bits) }
      json.optional("rev", revision)
      json.optional("floor", floor)
      json.optional("next", next)
      json.member("value", raw: value)
    }
  }

  /// Encodes `latest`, the newest value of a view that may skip values.
  package static func latest(
    nav: String, view: View, epoch: Epoch, revision: Revision, value: [UInt8]
  ) -> [UInt8] {
    JSONWriter.object(reserving: value.count + 128) { json in
      json.member("nav", nav)
      json.member("view", word: view.word)
      json.revision(epoch, revision)
      json.member("value", raw: value)
    }
  }

  /// Encodes `diffs`, several consecutive revisions in one message.
  ///
  /// `byteCount` is the size of all the diffs together.
  package static func diffs(
    nav: String, _ diffs: ArraySlice<EncodedDiff>, hasResolved: Bool, byteCount: Int
  ) -> [UInt8] {
    JSONWriter.object(reserving: byteCount + 256) { json in
      json.member("nav", nav)
      json.array("list", diffs) { $0.diff($1, hasResolved: hasResolved) }
    }
  }

  /// Encodes `event` for an activated button, or an element of a menu; `button` is nil for the menu at
  /// the title.
  package static func event(
    nav: String, epoch: Epoch, revision: Revision, button: ButtonID?, element: ButtonID?,
    action: String?
  ) -> [UInt8] {
    event(nav, epoch, revision, "buttonActivated") { json in
      json.optional("button", button?.text)
      json.optional("element", element?.text)
      json.optional("action", action)
    }
  }

  /// Encodes `event` for a refused action of a person: `popBlocked`, `dismissAttempted`,
  /// `backAtRoot`.
  ///
  /// `screen` is the id, as JSON, of the screen that forbids the action; nil for `backAtRoot`.
  package static func event(
    nav: String, epoch: Epoch, revision: Revision, _ name: StaticString, screen: [UInt8]? = nil
  ) -> [UInt8] {
    event(nav, epoch, revision, name) { json in
      if let screen { json.member("screen", raw: screen) }
    }
  }

  /// Encodes `mark` with the time, and the revision and digest of each nav.
  package static func mark(
    time: UInt64, _ positions: [(nav: String, Revision, Digest)], rows: [(Shard, UInt64)]
  ) -> [UInt8] {
    JSONWriter.object(reserving: 64 + positions.count * 64) { json in
      json.member("t", time)
      json.array("at", positions) { json, position in
        json.beginArray()
        json.string(position.nav)
        json.integer(position.1.number)
        json.hex(position.2)
        json.endArray()
      }
      json.newestRows(rows)
    }
  }

  /// Encodes `end`, which ends a watch.
  package static func end(
    nav: String, view: View, epoch: Epoch, revision: Revision, why: String,
    _ details: [(name: StaticString, json: [UInt8])] = []
  ) -> [UInt8] {
    JSONWriter.object(reserving: 128) { json in
      json.member("nav", nav)
      json.member("view", word: view.word)
      json.revision(epoch, revision)
      json.member("why", word: why)
      for detail in details { json.member(detail.name, raw: detail.json) }
    }
  }

  package static func bye(why: String, after: UInt64?) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("why", word: why)
      if let after { json.member("after", after) }
    }
  }

  package static func ask(
    _ number: UInt64, nav: String, epoch: Epoch, revision: Revision, within: UInt64,
    _ question: Question
  ) -> [UInt8] {
    let form = question.wireForm
    return JSONWriter.object(reserving: 192) { json in
      json.member("ask", number)
      json.navRevision(nav, epoch, revision)
      json.member("within", within)
      json.object("q") { json in
        json.dynamicName(form.name)
        json.beginObject()
        for case (let name, let text?) in form.members {
          json.dynamicName(name)
          json.string(text)
        }
        json.endObject()
      }
    }
  }

  package static func settled(_ ask: UInt64, _ outcome: String, by name: String?) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("ask", ask)
      json.member("outcome", word: outcome)
      json.optional("by", name)
    }
  }

  /// Encodes `lost`; `owner` is the session that has the display now.
  package static func lost(
    _ roleOrLease: String, of nav: String, _ code: ErrorCode, _ text: String, owner: String? = nil
  ) -> [UInt8] {
    JSONWriter.object(reserving: 96) { json in
      json.member("nav", nav)
      json.member("of", word: roleOrLease)
      json.member("code", code.rawValue)
      json.member("msg", text)
      json.optional("owner", owner)
    }
  }

  package static func queued(id: UInt64, nav: String, position: Int) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("id", id)
      json.member("nav", nav)
      json.member("pos", UInt64(position))
    }
  }

  /// Encodes `ok` to `lease`.
  package static func leased(id: UInt64, nav: String, owner: String?) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("id", id)
      json.member("nav", nav)
      json.name("owner")
      if let owner { json.string(owner) } else { json.null() }
    }
  }

  /// Encodes `event` with the progress of a transition.
  package static func progress(
    nav: String, epoch: Epoch, revision: Revision, transition: Revision, value: [UInt8]
  ) -> [UInt8] {
    event(nav, epoch, revision, "transitionProgress") { json in
      json.member("tid", transition.number)
      json.member("value", raw: value)
    }
  }

  private static func event(
    _ nav: String, _ epoch: Epoch, _ revision: Revision, _ name: StaticString,
    _ members: (inout JSONWriter) -> Void
  ) -> [UInt8] {
    JSONWriter.object(reserving: 128) { json in
      json.navRevision(nav, epoch, revision)
      json.name("ev")
      json.beginArray()
      json.beginObject()
      json.object(name, members)
      json.endObject()
      json.endArray()
    }
  }

  package static func pong(id: UInt64, boot: Epoch, time: UInt64) -> [UInt8] {
    JSONWriter.object(reserving: 80) { json in
      json.member("id", id)
      json.member("boot", hex: boot.bits)
      json.member("t", time)
    }
  }
}

extension JSONWriter {
  /// Writes the number of the newest row of some shards.
  mutating func newestRows(_ rows: [(Shard, UInt64)]) {
    let pairs = rows.map { "[\($0.0.number),\($0.1)]" }.joined(separator: ",")
    member("seq", raw: Array("[\(pairs)]".utf8))
  }
}

/// An encoded `ok` to an op, and the place of `out` in it.
package struct EncodedOk {
  package var bytes: [UInt8]
  /// The byte range of the value of `out`, the results of the operations.
  package var outputsRange: Range<Int>
}
