/// The verbs of messages from the daemon to clients.
package enum ServerVerb: UInt8, CaseIterable, WireNamed {
  case welcome, ok, err, queued, snap, diff, diffs, latest, event, ask, settled, lost, traced,
    mark, end, bye, pong

  // Not `names`: to print a name looks conformances up, 0.3 of the 5 ms that `navctl push` takes.
  package static let words = [
    "welcome", "ok", "err", "queued", "snap", "diff", "diffs", "latest", "event", "ask", "settled",
    "lost", "traced", "mark", "end", "bye", "pong",
  ]

  /// The first frame of a message with this verb.
  package var frame: [UInt8] { Self.frames[Int(rawValue)] }

  private static let frames = words.map { Array("nsp1.\($0)".utf8) }

  /// Whether the bytes of messages with this verb count against the session's flow-control credit.
  package var usesCredit: Bool {
    switch self {
    case .snap, .diff, .diffs, .latest, .event, .traced: true
    case .welcome, .ok, .err, .queued, .ask, .settled, .lost, .mark, .end, .bye, .pong: false
    }
  }
}

/// A decoded message from the daemon, without members that this client does not know.
package enum ServerMessage: Sendable {
  case welcome(Welcome)
  case ok(OkReply)
  case err(ErrReply)
  case queued(id: UInt64, position: UInt64)
  case snap(SnapshotPart)
  /// One diff, or several consecutive diffs of one nav.
  case diffs([Diff])
  case latest(Latest)
  case event(EphemeralEvent)
  case ask(Ask)
  case settled(VetoSettlement)
  case lost(LeaseOrRoleLoss)
  case traced(TracedMessages)
  case mark(Mark)
  case end(WatchEnd)
  case bye(why: String, after: UInt64?)
  case pong(id: UInt64, boot: Epoch, time: UInt64)
  /// A message with a verb that this version of the client does not know.
  case unknown
}

/// The answer to `hello`.
package struct Welcome: Hashable, Sendable {
  /// The nonce of the client's `hello`.
  package var nonce: String
  /// The id of the daemon's run, which differs in each run.
  package var boot: Epoch
  /// The name and version of the daemon, such as `navd/0.1.0`.
  package var server: String
  /// The names of features that not every daemon has, such as `shards`.
  package var features: [String] = []
  /// Whether the daemon belongs to a cluster, whose daemons divide the navs (protocol §17).
  package var isInCluster: Bool { features.contains("shards") }
  /// The time in milliseconds without a message after which the daemon sends a `mark`.
  package var heartbeat: UInt64
  /// The role that the daemon's access rules give the client.
  package var role: String
  /// The principal under which a cluster stores the client's ops; nil outside of a cluster.
  package var principal: String? = nil
  /// The highest id of this client's ops that the daemon has performed or refused.
  ///
  /// The client sends ops without a reply again, with the same bytes.
  package var lastOp: UInt64
  /// The number of the newest journal row of each shard that the daemon serves.
  package var newestRows: [Shard: UInt64] = [:]
  /// The flow-control window of the session in bytes, after the daemon has limited it.
  package var window: UInt64
  /// The largest body that the daemon accepts, in bytes.
  package var maximumBody: UInt64
  /// The maximum number of ops and reads without a reply yet.
  package var maximumRequests: UInt64 = 64
}

/// The message `ok`; which members it has depends on the request.
package struct OkReply: Hashable, Sendable {
  package var id: UInt64
  package var nav: String?
  package var epoch: Epoch?
  package var revision: Revision?
  /// For an op that changed the nav: the number of its journal row.
  package var journalRow: UInt64?
  /// For an op: whether it made a new revision.
  package var changed: Bool?
  package var depth: UInt64?
  /// The id of the top screen; the inner nil stands for an empty stack.
  package var top: String??
  package var digest: Digest?
  /// For an op: the results of its operations, a JSON array.
  package var results: OpaqueJSON?
  /// For a watch: `snap`, `resume` or `latest`, by the first message that follows.
  package var watchMode: String?
  /// For a watch that begins with a snapshot: the reason, such as `join` or `lag`.
  package var snapshotReason: String?
  /// For a get: the value read.
  package var value: OpaqueJSON?
  /// For a get of the log: the oldest revision that the daemon can read.
  package var oldestReadable: Revision?
  /// For a lease: the name of the client that holds the display; nil if no client does.
  package var leaseOwner: String?
  /// For a dry run: the delegates, the queue position and the state that the op would have.
  package var dryRun: DryRun?

  /// The part of the reply to a dry run that the reply to the op itself does not have.
  package struct DryRun: Hashable, Sendable {
    package var delegates: [Delegate]
    /// The position in the queue of the nav, if the op would wait for a transition.
    package var queuePosition: UInt64?
    /// The state after the op; nil if the client may not read it, or if it is too large.
    package var state: SnapshotPart?
  }

  /// A delegate that the daemon would ask about the op.
  package struct Delegate: Hashable, Sendable {
    /// The name of the delegate's client; empty if the requesting client may not read the nav.
    package var name: String
    package var roles: [String]
  }
}

/// The message `err`, which refuses a request.
package struct ErrReply: Error, Hashable, Sendable {
  /// The id of the refused request; nil if the daemon could not read the id.
  package var id: UInt64?
  /// The nonce of the refused `hello`; nil for other requests.
  package var nonce: String?
  /// The code on the wire; this version of the client may not know it.
  package var code: String
  package var message: String
  /// The effect of the request on the state: `none` or `unknown`.
  package var effect: String
  /// Whether and when to send the request again: `no`, `same`, `resync` or `later`.
  package var retry: String
  /// The reason in one word, for codes that have several.
  package var reason: String?
  /// The value of the guard that failed, as JSON; for `no-route`, the roles or screens that the
  /// route wants.
  package var expected: OpaqueJSON?
  /// Whether a guard or a get names a revision that is newer than the nav's.
  package var namesFutureRevision = false
  /// Whether the error names the verb of the refused message, which has no id.
  package var hasVerb = false
  /// The change that put the present screen on top, for `desync`; nil if navd does not know it.
  package var topChange: TopChange?
  /// The time in milliseconds after which the client can send the request again.
  package var after: UInt64?
  /// The index of the refused operation within the op.
  package var index: UInt64?
  package var nav: String?
  package var epoch: Epoch?
  /// The revision of the nav when the daemon refused the request.
  package var revision: Revision?
  package var digest: Digest?
  package var depth: UInt64?
  /// The id of the top screen; the inner nil stands for an empty stack.
  package var top: String??
  /// The daemon that has the nav now, for `moved`.
  package var daemon: DaemonAddress?
  /// The whole body of the message as JSON, for members that this type does not have.
  package var body: OpaqueJSON

  /// The size in bytes of the member `again`, which the client adds when it repeats a request.
  ///
  /// Requests stay this much smaller than the daemon's limit.
  package static let bytesForAgainMember = 32
  /// The maximum size of a request in bytes, unless a `welcome` has another limit.
  package static let defaultMaximumBody = 65536 - bytesForAgainMember

  /// Makes the client's own error for a request of `count` octets, of which the daemon accepts at
  /// most `limit`.
  package static func tooLarge(_ id: UInt64, _ count: Int, limit: Int) -> ErrReply {
    var error = OutgoingError(
      .limit, id: id, "the message has \(count) octets; the limit is \(limit)")
    error.reason = "size"
    return ErrReply(byClient: error)
  }

  /// Makes the client's own error for an op that it sent as another principal, `former`.
  ///
  /// Daemons look up repeated ops by principal, so they would not find the op under the new one.
  package static func sentUnderOtherPrincipal(_ former: String, _ id: UInt64) -> ErrReply {
    let text = "the op was sent as \(former), and may have been performed; resynchronise"
    return ErrReply(byClient: OutgoingError(.opTooOld, id: id, text))
  }

  /// The code, if this version of the client knows it.
  package var knownCode: ErrorCode? { ErrorCode(rawValue: code) }

  /// The member `retry` as a case; `no` if this version of the client does not know the value.
  package var retryPolicy: Retry { Retry(rawValue: retry) ?? .no }
}

extension ErrReply {
  /// Makes a reply for an error that the client found, without a message from the daemon.
  package init(byClient error: OutgoingError) {
    self.init(
      id: error.id, code: error.code.rawValue, message: error.text,
      effect: error.code.effect.rawValue, retry: error.code.retry.rawValue,
      body: OpaqueJSON(validated: ServerMessageWriter.error(error)))
    reason = error.reason
  }

  /// The last change of the top screen, which explains why a guard failed.
  package struct TopChange: Hashable, Sendable {
    package var revision: Revision
    /// Wall-clock time of the daemon in milliseconds since 1970.
    package var time: UInt64
    /// The cause of the change, such as `api`, `gesture` or `backButton`.
    package var cause: String
    /// The client that made the change; nil if the daemon made it itself.
    package var author: Author?
    /// The screen that was on top before, if the change removed it.
    package var popped: String?
    /// The screen that was on top before, if the change covered it.
    package var covered: String?
  }

  /// The client that changed a nav.
  package struct Author: Hashable, Sendable {
    /// The name that the client gave itself, which the daemon has not verified.
    package var name: String
    /// The authenticated principal: `uid:N`, or the name of a key.
    package var principal: String
    /// The id of the client's process; nil if the kernel did not report one to the daemon.
    package var process: UInt64?
  }
}

/// A screen or part in a mirror: its id, its version and its JSON as received.
///
/// The JSON includes members that this version of the client does not know.
package struct MirrorRecord: Hashable, Sendable {
  /// The id of the screen, or the name of the part.
  package var id: String
  /// The revision at which the record last changed.
  package var version: Revision
  package var json: OpaqueJSON

  package init(id: String, version: Revision, json: OpaqueJSON) {
    self.id = id
    self.version = version
    self.json = json
  }
}

/// The message `snap`, one part of a snapshot; most snapshots have only one part.
package struct SnapshotPart: Hashable, Sendable {
  package var nav: String
  /// The kind of the nav, such as `controller` or `bar`.
  package var kind: String
  package var epoch: Epoch
  package var revision: Revision
  /// The stack index of the first screen in this part.
  package var first: UInt64
  package var isLast: Bool
  /// The reason for the snapshot, such as `join` or `lag`.
  package var why: String?
  /// The screens in this part, bottom first.
  package var screens: [MirrorRecord]
  /// The six parts of the nav's state, in the order of `PartName`.
  ///
  /// Only the last message of a snapshot has them; a virtual nav has none.
  package var parts: [MirrorRecord]
  /// The resolved bar as JSON, if the watch asked for it; only in the last message.
  package var resolved: OpaqueJSON?
  /// The digest of the state; nil except in the last message.
  package var digest: Digest?
}

/// The changes that a revision makes to a mirror, the message `diff`.
package struct Diff: Hashable, Sendable {
  package var nav: String
  package var epoch: Epoch
  /// The revision to which the diff applies.
  package var base: Revision
  /// The revision that the diff produces.
  package var revision: Revision
  /// The number of the revision's journal row; rows of other navs have numbers in between.
  package var journalRow: UInt64
  /// The cause of the revision, such as `api`, `gesture` or `backButton`.
  package var cause: String
  /// The name of the client whose request led to the revision; nil if the daemon made it by itself.
  package var byName: String?
  /// The id of the requesting client's op; nil if no op led to the revision.
  package var byOp: UInt64?
  package var isAnimated: Bool
  /// If the op replaced the whole stack, how the new top relates to the old stack, such as `back`.
  package var topRelation: String?
  /// The changes, to be applied in order.
  package var changes: [Change]
  /// The resolved bar as JSON, if it changed and the watch asked for it.
  package var resolved: OpaqueJSON?
  /// The events of the revision, a JSON array.
  package var events: OpaqueJSON
  package var depth: UInt64
  package var digest: Digest

  /// A change of the list of screens, or of one screen or part.
  package enum Change: Hashable, Sendable {
    case splice(at: UInt64, removed: [String], inserted: [MirrorRecord])
    case setScreen(MirrorRecord)
    case setPart(MirrorRecord)
  }
}

/// The message `latest`: the newest value for a watch with the view `bar` or `top`.
package struct Latest: Hashable, Sendable {
  package var nav: String
  /// The view of the watch: `bar` or `top`.
  package var view: String
  package var epoch: Epoch
  package var revision: Revision
  /// The value as JSON: the resolved bar, or the record of the top screen.
  package var value: OpaqueJSON
}

/// The message `event`: events of a nav that belong to no revision.
package struct EphemeralEvent: Hashable, Sendable {
  package var nav: String
  package var epoch: Epoch
  /// The revision of the nav when the events happened.
  package var revision: Revision
  /// The events, a JSON array.
  package var events: OpaqueJSON
}

/// The message `mark`, which also shows that the daemon is alive.
///
/// A mark has the positions of the session's full watches to which the daemon has sent all diffs.
package struct Mark: Hashable, Sendable {
  /// The daemon's wall clock in milliseconds since 1970; 0 if the mark has no time.
  package var time: UInt64
  /// The navs with their newest revisions and digests.
  package var positions: [Position]
  /// The number of the newest journal row of the shard of each of these navs.
  package var newestRows: [Shard: UInt64] = [:]

  /// The newest revision of one nav.
  package struct Position: Hashable, Sendable {
    package var nav: String
    package var revision: Revision
    package var digest: Digest
  }
}

/// The message `end`, by which the daemon ends a watch.
package struct WatchEnd: Hashable, Sendable {
  package var nav: String
  package var view: String
  package var epoch: Epoch
  /// The last revision of the watch.
  package var revision: Revision
  /// The reason: `closed`, `forbidden` if the client lost the right `read`, or `moved`.
  package var why: String
  /// The daemon that has the nav now, for `moved`; nil while no daemon has it.
  package var daemon: DaemonAddress?
}

/// The daemon to which a nav has moved.
package struct DaemonAddress: Hashable, Sendable {
  package var endpoint: String
  /// The public key of the daemon, in Z85; nil if it has none.
  package var key: String?
  /// The address of the daemon's gateway for browsers; nil if it has none.
  package var web: String?

  package init(endpoint: String, key: String? = nil, web: String? = nil) {
    self.endpoint = endpoint
    self.key = key
    self.web = web
  }
}
