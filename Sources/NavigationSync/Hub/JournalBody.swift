import Navigation

/// Who caused a row, and how his op is remembered.
struct RowOrigin: Sendable {
  var principal: String
  var client: ClientID
  var op: UInt64
  var name: String
  var process: Int32?
  var octets: OctetsHash
  var reply: RecordedReply
  var operations: [OperationKind]
  var isOverride = false
  var isVetoSkipped = false
  var sender: OpaqueJSON?
}

/// How a row tells the reply.
enum RecordedReply: Sendable {
  /// As it was sent.
  case whole([UInt8])
  /// What the diff beside it does not tell: the top, and what the operations gave.
  case besideDiff(top: String?, outputs: [UInt8])
}

/// The bodies of journal rows: JSON, so that a journal can be read without this program.
enum JournalBody {
  /// The version of the rules by which `resolved` is computed from the state.
  static let resolution: UInt64 = 2

  /// The body of a `changed` row: the diff with null for what the bar shows, which the state tells.
  ///
  /// `rv` says by which rules, so that a later version does not take its own result for what was
  /// sent.
  static func changed(
    diff: EncodedDiff, commit: Commit, origin: RowOrigin?, before: Digest
  ) -> [UInt8] {
    var json = JSONWriter(reserving: diff.bytes.count - (diff.resolved?.count ?? 0) + 384)
    json.beginObject()
    json.name("diff")
    if let place = diff.resolved {
      json.raw(diff.bytes[..<place.lowerBound], nullAnd: diff.bytes[place.upperBound...])
    } else {
      json.raw(diff.bytes)
    }
    json.member("before", hex: before.bits)
    if diff.resolved != nil {
      json.member("rv", resolution)
    }
    if let origin { json.origin(origin) }
    if commit.parts.contains(.transition), !commit.completion.isEmpty {
      json.name("ends")
      json.events(commit.completion)
    }
    if !commit.detached.isEmpty {
      json.name("det")
      json.detached(commit.detached)
    }
    if !commit.released.isEmpty {
      json.name("gone")
      json.beginArray()
      for key in commit.released {
        json.beginObject()
        switch key {
        case .screen(let id): json.optional("screen", id.text)
        case .button(let id): json.optional("button", id.text)
        }
        json.endObject()
      }
      json.endArray()
    }
    json.endObject()
    return json.bytes
  }

  /// The body of a `created` row, and of a snapshot, which has no origin.
  static func state(
    nav: String, epoch: Epoch, owner: String, controller: NavigationController, digest: Digest,
    resolvedAt: Revision, origin: RowOrigin?
  ) -> [UInt8] {
    var json = JSONWriter(reserving: 1024)
    json.beginObject()
    json.optional("nav", nav)
    json.member("kind", plain: controller.kindName)
    json.member("epoch", hex: epoch.bits)
    json.optional("owner", owner)
    json.member("rev", controller.revision.number)
    json.member("resolvedAt", resolvedAt.number)
    json.name("screens")
    json.beginArray()
    for screen in controller.stack { json.screen(screen) }
    json.endArray()
    for part in PartName.allCases {
      json.dynamicName(part.text)
      json.part(part, of: controller)
    }
    if let completion = controller.transition.content.running?.completion, !completion.isEmpty {
      json.name("ends")
      json.events(completion)
    }
    json.name("detached")
    json.detached(controller.detached.all)
    json.member("dig", hex: digest.bits)
    if let origin { json.origin(origin) }
    json.endObject()
    return json.bytes
  }

  /// The body of a `closed` row.
  static func closed(_ origin: RowOrigin) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.origin(origin)
    json.endObject()
    return json.bytes
  }

  /// The body of an `epoch` row.
  static func epoch(_ epoch: Epoch) -> [UInt8] {
    var json = JSONWriter(reserving: 40)
    json.beginObject()
    json.member("epoch", hex: epoch.bits)
    json.endObject()
    return json.bytes
  }

  /// The body of a `report` row.
  static func report(
    _ bad: MirrorPosition, name: String, principal: String, process: Int32?, digest: Digest?
  ) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.name("bad")
    json.beginObject()
    json.member("rev", bad.revision.number)
    json.member("dig", hex: bad.digest.bits)
    if let digest {
      json.member("ours", hex: digest.bits)
    }
    json.endObject()
    json.name("by")
    json.beginObject()
    json.optional("name", name)
    json.optional("principal", principal)
    if let process {
      json.member("pid", UInt64(process))
    }
    json.endObject()
    json.endObject()
    return json.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func origin(_ origin: RowOrigin) {
    name("ops")
    beginArray()
    for kind in origin.operations { string(kind.name) }
    endArray()
    name("by")
    beginObject()
    optional("name", origin.name)
    name("op")
    integer(origin.op)
    optional("principal", origin.principal)
    if let process = origin.process {
      name("pid")
      integer(UInt64(process))
    }
    name("client")
    hex(origin.client.high, origin.client.low)
    endObject()
    name("octets")
    hex(origin.octets.bits)
    switch origin.reply {
    case .whole(let reply):
      name("reply")
      raw(reply)
    case .besideDiff(let top, let outputs):
      name("top")
      if let top { string(top) } else { null() }
      name("out")
      raw(outputs)
    }
    flag("override", origin.isOverride)
    flag("vetoSkipped", origin.isVetoSkipped)
    optional("sender", origin.sender)
  }

  fileprivate mutating func detached(_ records: [DetachedRecords.Record]) {
    beginArray()
    for record in records {
      beginObject()
      switch record {
      case .screen(let screen):
        name("screen")
        self.screen(screen)
      case .button(let button):
        name("button")
        self.button(button)
      }
      endObject()
    }
    endArray()
  }
}
