package import Navigation

/// The verbs of messages from the daemon.
package enum ServerVerb: String, CaseIterable, Sendable {
  case welcome, ok, err, queued, snap, diff, diffs, latest, event, ask, settled, mark, end, bye,
    pong

  /// The frame that announces the verb.
  package var frame: [UInt8] { Self.frames[self] ?? Array("nsp1.\(rawValue)".utf8) }

  private static let frames: [ServerVerb: [UInt8]] = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0, Array("nsp1.\($0.rawValue)".utf8)) })

  /// Whether messages with this verb count against the receiver's credit.
  package var usesCredit: Bool {
    switch self {
    case .snap, .diff, .diffs, .latest, .event: true
    case .welcome, .ok, .err, .queued, .ask, .settled, .mark, .end, .bye, .pong: false
    }
  }
}

/// Everything the daemon can say, as a client reads it; unknown members are ignored.
package enum ServerMessage: Sendable {
  case welcome(Welcome)
  case ok(OkReply)
  case err(ErrReply)
  case queued(id: UInt64, position: UInt64)
  case snap(SnapshotPart)
  /// One diff, or several of one nav in a row.
  case diffs([Diff])
  case latest(Latest)
  case event(EphemeralEvent)
  case mark(Mark)
  case end(WatchEnd)
  case bye(why: String, after: UInt64?)
  case pong(id: UInt64, boot: Epoch, time: UInt64)
  /// A verb that this client does not know, or has no use for.
  case unknown
}

/// The answer to `hello`.
package struct Welcome: Hashable, Sendable {
  package var nonce: String
  package var boot: Epoch
  package var server: String
  package var heartbeat: UInt64
  package var role: String
  /// The highest decided op of this client; ops in flight are sent again with the same octets.
  package var lastOp: UInt64
  /// The flow-control window after clamping, in octets.
  package var window: UInt64
}

/// A positive answer; which members it has depends on the request.
package struct OkReply: Hashable, Sendable {
  package var id: UInt64
  package var nav: String?
  package var epoch: Epoch?
  package var revision: Revision?
  package var changed: Bool?
  package var depth: UInt64?
  /// The id of the top screen; the inner nil stands for an empty stack.
  package var top: String??
  package var digest: Digest?
  /// The results of the operations, a JSON array.
  package var out: OpaqueJSON?
  /// `snap`, `resume` or `latest`, of a watch.
  package var mode: String?
  package var why: String?
  /// What was read, of a get.
  package var value: OpaqueJSON?
  package var floor: Revision?
}

/// A negative answer.
package struct ErrReply: Error, Hashable, Sendable {
  package var id: UInt64?
  package var nonce: String?
  /// The code as it stands on the wire; a client may not know it.
  package var code: String
  package var message: String
  package var effect: String
  package var retry: String
  package var reason: String?
  package var expected: OpaqueJSON?
  package var after: UInt64?
  package var index: UInt64?
  package var nav: String?
  package var epoch: Epoch?
  package var revision: Revision?
  package var digest: Digest?
  package var depth: UInt64?
  package var top: String??
  /// The whole body, for what is not read here.
  package var body: OpaqueJSON

  /// The code, if this version knows it.
  package var knownCode: ErrorCode? { ErrorCode(rawValue: code) }

  /// Whether, and how, to try again: an unknown code is treated by its `retry`.
  package var retryPolicy: Retry { Retry(rawValue: retry) ?? .no }
}

/// A record as a mirror keeps it: identity, version, and the bytes as they came.
///
/// The bytes keep members that this version does not know.
package struct MirrorRecord: Hashable, Sendable {
  package var id: String
  package var version: Revision
  package var json: OpaqueJSON

  package init(id: String, version: Revision, json: OpaqueJSON) {
    self.id = id
    self.version = version
    self.json = json
  }
}

/// One message of a snapshot; most snapshots have only one.
package struct SnapshotPart: Hashable, Sendable {
  package var nav: String
  package var kind: String
  package var epoch: Epoch
  package var revision: Revision
  /// The index of the first screen in this part.
  package var first: UInt64
  package var isLast: Bool
  package var why: String?
  package var screens: [MirrorRecord]
  /// The six parts, by name in the order of the digest; only in the last message, none of a
  /// virtual nav.
  package var parts: [MirrorRecord]
  package var resolved: OpaqueJSON?
  package var digest: Digest?
}

/// One revision as a change of the mirror.
package struct Diff: Hashable, Sendable {
  package var nav: String
  package var epoch: Epoch
  package var base: Revision
  package var revision: Revision
  package var sequence: UInt64
  package var cause: String
  /// The name of the client that asked, and its op.
  package var byName: String?
  package var byOp: UInt64?
  package var isAnimated: Bool
  package var relation: String?
  package var changes: [Change]
  /// What the bar shows, if it changed.
  package var resolved: OpaqueJSON?
  /// The events of the revision, a JSON array.
  package var events: OpaqueJSON
  package var depth: UInt64
  package var digest: Digest

  /// A change of the list of screens, or of one record.
  package enum Change: Hashable, Sendable {
    case splice(at: UInt64, removed: [String], inserted: [MirrorRecord])
    case setScreen(MirrorRecord)
    case setPart(MirrorRecord)
  }
}

/// The newest value of a conflated view.
package struct Latest: Hashable, Sendable {
  package var nav: String
  package var view: String
  package var epoch: Epoch
  package var revision: Revision
  package var value: OpaqueJSON
}

/// Something that happened without a revision.
package struct EphemeralEvent: Hashable, Sendable {
  package var nav: String
  package var epoch: Epoch
  package var revision: Revision
  /// The events, a JSON array.
  package var events: OpaqueJSON
}

/// Where the full watches that are caught up stand; also a sign of life.
package struct Mark: Hashable, Sendable {
  package var time: UInt64
  package var positions: [Position]

  package struct Position: Hashable, Sendable {
    package var nav: String
    package var revision: Revision
    package var digest: Digest
  }
}

/// The end of a watch.
package struct WatchEnd: Hashable, Sendable {
  package var nav: String
  package var view: String
  package var epoch: Epoch
  package var revision: Revision
  package var why: String
  package var endpoint: String?
}
