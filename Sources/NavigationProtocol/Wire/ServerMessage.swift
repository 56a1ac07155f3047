package import Navigation

/// The verbs of messages from the daemon.
package enum ServerVerb: String, CaseIterable, Sendable {
  case welcome, ok, err, queued, snap, diff, diffs, latest, event, ask, settled, mark, end, bye,
    pong

  /// The frame that announces the verb.
  package var frame: [UInt8] { Self.frames[place] }

  private static let frames = allCases.map { Array("nsp1.\($0.rawValue)".utf8) }

  /// The place among all cases.
  private var place: Int {
    switch self {
    case .welcome: 0
    case .ok: 1
    case .err: 2
    case .queued: 3
    case .snap: 4
    case .diff: 5
    case .diffs: 6
    case .latest: 7
    case .event: 8
    case .ask: 9
    case .settled: 10
    case .mark: 11
    case .end: 12
    case .bye: 13
    case .pong: 14
    }
  }

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
  /// A question to a delegate.
  case ask(Ask)
  /// The end of a question.
  case settled(Settlement)
  case mark(Mark)
  case end(WatchEnd)
  case bye(why: String, after: UInt64?)
  case pong(id: UInt64, boot: Epoch, time: UInt64)
  /// A verb that this client does not know, or has no use for.
  case unknown
}

/// The answer to `hello`.
package struct Welcome: Hashable, Sendable {
  /// What `hello` and its answer are matched by.
  package var nonce: String
  /// Names the run of the daemon.
  package var boot: Epoch
  /// The daemon and its version.
  package var server: String
  /// Milliseconds of silence after which a sign of life comes.
  package var heartbeat: UInt64
  /// The role that the daemon gives the client.
  package var role: String
  /// The highest decided op of this client; ops in flight are sent again with the same octets.
  package var lastOp: UInt64
  /// The flow-control window after clamping, in octets.
  package var window: UInt64
  /// The largest body that the daemon takes, in octets.
  package var maximumBody: UInt64
}

/// A positive answer; which members it has depends on the request.
package struct OkReply: Hashable, Sendable {
  /// The id of the message, which answers repeat.
  package var id: UInt64
  /// The name of the nav.
  package var nav: String?
  /// The life of the nav that revisions belong to.
  package var epoch: Epoch?
  /// The revision.
  package var revision: Revision?
  /// Whether the op made a revision.
  package var changed: Bool?
  /// How many screens are on the stack.
  package var depth: UInt64?
  /// The id of the top screen; the inner nil stands for an empty stack.
  package var top: String??
  /// The digest of the state at the revision.
  package var digest: Digest?
  /// The results of the operations, a JSON array.
  package var out: OpaqueJSON?
  /// `snap`, `resume` or `latest`, of a watch.
  package var mode: String?
  /// Why it is so, in the protocol's words.
  package var why: String?
  /// What was read, of a get.
  package var value: OpaqueJSON?
  /// The oldest revision that can be read.
  package var floor: Revision?
  /// Who holds the display, of a lease; nil for nobody.
  package var owner: String?
}

/// A negative answer.
package struct ErrReply: Error, Hashable, Sendable {
  /// The id of the message, which answers repeat.
  package var id: UInt64?
  /// What `hello` and its answer are matched by.
  package var nonce: String?
  /// The code as it stands on the wire; a client may not know it.
  package var code: String
  /// What is wrong, for people.
  package var message: String
  /// Whether anything happened.
  package var effect: String
  /// When to send again.
  package var retry: String
  /// A detail of the code.
  package var reason: String?
  /// What a failed guard expected, as JSON.
  package var expected: OpaqueJSON?
  /// Whether what was asked for lies in the future.
  package var isFuture = false
  /// Since when the top is what it is, of `desync`.
  package var since: Since?
  /// Milliseconds to wait before sending again.
  package var after: UInt64?
  /// Which op of the message is refused.
  package var index: UInt64?
  /// The name of the nav.
  package var nav: String?
  /// The life of the nav that revisions belong to.
  package var epoch: Epoch?
  /// The revision.
  package var revision: Revision?
  /// The digest of the state at the revision.
  package var digest: Digest?
  /// How many screens are on the stack.
  package var depth: UInt64?
  /// The id of the top screen; the inner nil stands for an empty stack.
  package var top: String??
  /// Where the nav lives now, of `moved`.
  package var endpoint: String?
  /// The whole body, for what is not read here.
  package var body: OpaqueJSON

  /// The largest body that a daemon takes unless it says otherwise, in octets.
  package static let usualMaximumBody = 65536

  /// What a client answers itself when a request is larger than the daemon takes.
  package static func tooLarge(_ id: UInt64, _ count: Int, limit: Int) -> ErrReply {
    let text = "the message has \(count) octets; the limit is \(limit)"
    var error = OutgoingError(.limit, id: id, text)
    error.reason = "size"
    let body = ServerMessageWriter.error(error)
    var reply = ErrReply(
      id: id, code: error.code.rawValue, message: text, effect: Effect.nothing.rawValue,
      retry: Retry.no.rawValue, body: OpaqueJSON(validated: body))
    reply.reason = error.reason
    return reply
  }

  /// The code, if this version knows it.
  package var knownCode: ErrorCode? { ErrorCode(rawValue: code) }

  /// Whether, and how, to try again: an unknown code is treated by its `retry`.
  package var retryPolicy: Retry { Retry(rawValue: retry) ?? .no }
}

extension ErrReply {
  /// The last revision that changed the top, which explains why a guard does not hold.
  package struct Since: Hashable, Sendable {
    /// The revision.
    package var revision: Revision
    /// Wall-clock time of the daemon in milliseconds since 1970.
    package var time: UInt64
    /// What led to it, as a word of the protocol.
    package var cause: String
    /// Who made it; nil if the daemon did by itself.
    package var author: Author?
    /// The screen that was on top before, if it left the stack.
    package var popped: String?
    /// The screen that was on top before, if it is below others now.
    package var covered: String?
  }

  /// Who changed a nav.
  package struct Author: Hashable, Sendable {
    /// What people call the client.
    package var name: String
    /// What the daemon proved of it: `uid:N`, or the name of a key.
    package var principal: String
    /// The process, where the kernel told it.
    package var process: UInt64?
  }
}

/// A record as a mirror keeps it: identity, version, and the bytes as they came.
///
/// The bytes keep members that this version does not know.
package struct MirrorRecord: Hashable, Sendable {
  /// The id of the message, which answers repeat.
  package var id: String
  /// The revision at which the content last changed.
  package var version: Revision
  /// The record as it came.
  package var json: OpaqueJSON

  /// Makes a value from its members.
  package init(id: String, version: Revision, json: OpaqueJSON) {
    self.id = id
    self.version = version
    self.json = json
  }
}

/// One message of a snapshot; most snapshots have only one.
package struct SnapshotPart: Hashable, Sendable {
  /// The name of the nav.
  package var nav: String
  /// What sort of thing it is.
  package var kind: String
  /// The life of the nav that revisions belong to.
  package var epoch: Epoch
  /// The revision.
  package var revision: Revision
  /// The index of the first screen in this part.
  package var first: UInt64
  /// Whether this is the last part.
  package var isLast: Bool
  /// Why it is so, in the protocol's words.
  package var why: String?
  /// The records, bottom first.
  package var screens: [MirrorRecord]
  /// The six parts, by name in the order of the digest; only in the last message, none of a
  /// virtual nav.
  package var parts: [MirrorRecord]
  /// What the bar shows, as JSON.
  package var resolved: OpaqueJSON?
  /// The digest of the state at the revision.
  package var digest: Digest?
}

/// One revision as a change of the mirror.
package struct Diff: Hashable, Sendable {
  /// The name of the nav.
  package var nav: String
  /// The life of the nav that revisions belong to.
  package var epoch: Epoch
  /// The revision that the diff is applied to.
  package var base: Revision
  /// The revision.
  package var revision: Revision
  /// The commit number of the daemon, which may skip.
  package var sequence: UInt64
  /// What led to the revision.
  package var cause: String
  /// The name of the client that asked, and its op.
  package var byName: String?
  /// The op of the client that asked.
  package var byOp: UInt64?
  /// Whether the change is animated.
  package var isAnimated: Bool
  /// How the new top relates to the old stack, of a whole replacement.
  package var relation: String?
  /// The changes, in order.
  package var changes: [Change]
  /// What the bar shows, if it changed.
  package var resolved: OpaqueJSON?
  /// The events of the revision, a JSON array.
  package var events: OpaqueJSON
  /// How many screens are on the stack.
  package var depth: UInt64
  /// The digest of the state at the revision.
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
  /// The name of the nav.
  package var nav: String
  /// What the watch shows.
  package var view: String
  /// The life of the nav that revisions belong to.
  package var epoch: Epoch
  /// The revision.
  package var revision: Revision
  /// The value, as JSON.
  package var value: OpaqueJSON
}

/// Something that happened without a revision.
package struct EphemeralEvent: Hashable, Sendable {
  /// The name of the nav.
  package var nav: String
  /// The life of the nav that revisions belong to.
  package var epoch: Epoch
  /// The revision.
  package var revision: Revision
  /// The events, a JSON array.
  package var events: OpaqueJSON
}

/// Where the full watches that are caught up stand; also a sign of life.
package struct Mark: Hashable, Sendable {
  /// Milliseconds since 1970.
  package var time: UInt64
  /// The navs with their revisions and digests.
  package var positions: [Position]

  /// Where one nav stands.
  package struct Position: Hashable, Sendable {
    /// The name of the nav.
    package var nav: String
    /// The revision.
    package var revision: Revision
    /// The digest of the state at the revision.
    package var digest: Digest
  }
}

/// The end of a watch.
package struct WatchEnd: Hashable, Sendable {
  /// The name of the nav.
  package var nav: String
  /// What the watch shows.
  package var view: String
  /// The life of the nav that revisions belong to.
  package var epoch: Epoch
  /// The revision.
  package var revision: Revision
  /// Why it is so, in the protocol's words.
  package var why: String
  /// Where the nav lives now.
  package var endpoint: String?
}
