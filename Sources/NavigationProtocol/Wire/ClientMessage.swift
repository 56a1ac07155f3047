package import Navigation

/// Everything a client can say.
package enum ClientMessage: Sendable {
  // All but the op are rare, and kept out of line: events are copied and moved with every op.

  /// Opens a session.
  indirect case hello(Hello)
  /// Follows a nav.
  indirect case watch(WatchRequest)
  /// Stops following.
  indirect case unwatch(id: UInt64, nav: String, view: View)
  /// Changes a nav.
  case op(OpMessage)
  /// Reads once.
  indirect case get(GetRequest)
  /// Plays roles of a delegate, which answers questions.
  indirect case delegate(DelegateRequest)
  /// Answers a question.
  indirect case answer(ask: UInt64, DelegateAnswer)
  /// Takes or gives back the display.
  indirect case lease(LeaseRequest)
  /// Raises the flow-control limit to this absolute number of octets.
  case credit(upTo: UInt64)
  /// Asks for a sign of life.
  case ping(id: UInt64)
  /// Leaves.
  case bye(id: UInt64)

  /// The nav that it is about; nil for none.
  package var nav: String? {
    switch self {
    case .watch(let request): request.nav
    case .unwatch(_, let nav, _): nav
    case .op(let request): request.nav
    case .get(let request): request.nav
    case .delegate(let request): request.nav
    case .lease(let request): request.nav
    case .hello, .answer, .credit, .ping, .bye: nil
    }
  }
}

/// The opening of a session.
package struct Hello: Hashable, Sendable {
  /// The lowest and highest version of the protocol that the client speaks.
  package var versions: ClosedRange<UInt64>
  /// 128 random bits in hex, one per run of the process.
  package var client: ClientID
  /// What people call the client.
  package var name: String
  /// What the answer is matched by.
  package var nonce: String
  /// Flow-control window in octets.
  package var window: UInt64
  /// Milliseconds of silence after which the daemon gives a sign of life; nil for its default.
  package var heartbeat: UInt64?
  /// Whether the client leaves flow control to the socket.
  package var isUncontrolled: Bool

  /// Makes a value from its members.
  package init(
    versions: ClosedRange<UInt64> = 1...1, client: ClientID, name: String = "", nonce: String,
    window: UInt64 = 65536, heartbeat: UInt64? = nil, isUncontrolled: Bool = false
  ) {
    self.versions = versions
    self.client = client
    self.name = name
    self.nonce = nonce
    self.window = window
    self.heartbeat = heartbeat
    self.isUncontrolled = isUncontrolled
  }
}

/// The identity of a client process: 128 random bits, on the wire as 32 lower-case hex digits.
package struct ClientID: Hashable, Sendable {
  /// The upper 64 bits.
  package let high: UInt64
  /// The lower 64 bits.
  package let low: UInt64

  /// Makes a value from its members.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Reads 32 hex digits; nil for anything else.
  package init?(_ text: String) {
    let utf8 = Array(text.utf8)
    guard utf8.count == 32, utf8.allSatisfy(Grammar.isLowerHex),
      let high = UInt64(String(decoding: utf8[..<16], as: UTF8.self), radix: 16),
      let low = UInt64(String(decoding: utf8[16...], as: UTF8.self), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }

  /// The 32 hex digits.
  package var text: String { Epoch(bits: high).text + Epoch(bits: low).text }
}

/// What a watch shows.
package enum View: UInt8, CaseIterable, Sendable, WireNamed {
  /// Snapshot, then every diff.
  case full
  /// The newest `resolved` only.
  case bar
  /// The newest top screen only.
  case top

  /// The word on the wire.
  package var wireName: StaticString {
    switch self {
    case .full: "full"
    case .bar: "bar"
    case .top: "top"
    }
  }

  /// The word on the wire.
  package var text: String { wireName.description }
}

/// The wish to follow a nav.
package struct WatchRequest: Hashable, Sendable {
  /// The id of the message, which answers repeat.
  package var id: UInt64
  /// The name of the nav.
  package var nav: String
  /// What the watch shows.
  package var view: View
  /// The position of the mirror to resume from.
  package var from: MirrorPosition?
  /// A divergence that the client found: the revision and the digest it computed.
  package var bad: MirrorPosition?
  /// Whether a full view has what the bar shows, which is more than half of most diffs.
  package var hasResolved: Bool

  /// Makes a value from its members.
  package init(
    id: UInt64, nav: String, view: View = .full, from: MirrorPosition? = nil,
    bad: MirrorPosition? = nil, hasResolved: Bool = true
  ) {
    self.id = id
    self.nav = nav
    self.view = view
    self.from = from
    self.bad = bad
    self.hasResolved = hasResolved
  }
}

/// A place in the history of a nav, with the digest that proves it.
package struct MirrorPosition: Hashable, Sendable {
  /// Nil in a report of divergence, which is about the daemon's current epoch.
  package var epoch: Epoch?
  /// The revision.
  package var revision: Revision
  /// The digest of the state at the revision.
  package var digest: Digest

  /// Makes a value from its members.
  package init(epoch: Epoch?, revision: Revision, digest: Digest) {
    self.epoch = epoch
    self.revision = revision
    self.digest = digest
  }
}

/// The conditions of an operation; all must hold.
package struct Guards: Hashable, Sendable {
  /// Whether the client says that it knows what it does.
  package var any = false
  /// The life of the nav that revisions belong to.
  package var epoch: Epoch?
  /// The revision.
  package var revision: Revision?
  /// The digest of the state at the revision.
  package var digest: Digest?
  /// The id of the top screen; the inner nil stands for an empty stack.
  package var top: String??
  /// How many screens are on the stack.
  package var depth: UInt64?
  /// The exact ids, bottom first.
  package var stack: [String]?
  /// Ids that must be on the stack.
  package var has: [String]?

  /// Makes a value from its members.
  package init() {}

  /// Whether one of them names the whole stack.
  package var fixesStack: Bool { revision != nil || digest != nil || stack != nil }
}

/// A list of operations to perform as one, but for the operations themselves.
///
/// A client has no `OpMessage`: it gives the operations as JSON, which only the daemon reads.
package struct OpRequest: Sendable {
  /// The id of the message, which answers repeat.
  package var id: UInt64
  /// Given without a session, or equal to the session's.
  package var client: ClientID?
  /// Given without a session, for the log.
  package var name: String?
  /// The name of the nav.
  package var nav: String
  /// The conditions.
  package var guards: Guards
  /// Whether the change is animated.
  package var isAnimated: Bool?
  /// Whether to wait for a transition instead of being refused.
  package var waits: Bool
  /// CLOCK_BOOTTIME in milliseconds after which the operation must not begin.
  package var due: UInt64?

  /// Makes a value from its members.
  package init(
    id: UInt64, client: ClientID? = nil, name: String? = nil, nav: String,
    guards: Guards = Guards(),
    isAnimated: Bool? = nil, waits: Bool = false, due: UInt64? = nil
  ) {
    self.id = id
    self.client = client
    self.name = name
    self.nav = nav
    self.guards = guards
    self.isAnimated = isAnimated
    self.waits = waits
    self.due = due
  }
}

/// An op as it was read: an `OpRequest` and its operations.
///
/// It goes from check to check and never changes, so it is one object rather than a copy at each.
package final class OpMessage: Sendable {
  /// The id of the message, which answers repeat.
  package let id: UInt64
  /// Given without a session, or equal to the session's.
  package let client: ClientID?
  /// Given without a session, for the log.
  package let name: String?
  /// The name of the nav.
  package let nav: String
  /// The conditions.
  package let guards: Guards
  /// Whether the change is animated.
  package let isAnimated: Bool?
  /// Whether to wait for a transition instead of being refused.
  package let waits: Bool
  /// CLOCK_BOOTTIME in milliseconds after which the operation must not begin.
  package let due: UInt64?
  /// The operations, in order.
  package let operations: [RequestedOperation]
  /// What those of them mean that could be read and that a nav performs itself, in order.
  ///
  /// A list of its own, so that it is handed to the nav as it is.
  package let readable: [Operation]
  /// What tells the message from another one with its id.
  package let octets: BodyHash

  init(
    id: UInt64, client: ClientID?, name: String?, nav: String, guards: Guards, isAnimated: Bool?,
    waits: Bool, due: UInt64?, operations: [RequestedOperation], readable: [Operation],
    octets: BodyHash
  ) {
    self.id = id
    self.client = client
    self.name = name
    self.nav = nav
    self.guards = guards
    self.isAnimated = isAnimated
    self.waits = waits
    self.due = due
    self.operations = operations
    self.readable = readable
    self.octets = octets
  }

  /// What one of the operations means; nil if it cannot be read, or makes or closes the nav.
  package func meaning(of operation: RequestedOperation) -> Operation? {
    guard case .operation(let place) = operation.arguments else { return nil }
    return readable[place]
  }
}

/// One operation as it was read: its kind is always known, its arguments perhaps not readable.
///
/// An `Operation` alone is not enough. The daemon checks rights and guards by the kind before it
/// reports arguments that it cannot read (protocol.md, 9.4), and a nav neither creates nor closes
/// itself.
package struct RequestedOperation: Sendable {
  /// What sort of thing it is.
  package var kind: OperationKind
  /// The arguments as far as they could be read.
  package var arguments: Arguments
  /// UIKit's `sender` of a push or show: who asked for it, for the log.
  package var sender: OpaqueJSON?

  /// The arguments, or why there are none.
  package enum Arguments: Sendable {
    /// The place of the operation among those of the request that are readable.
    case operation(Int)
    indirect case create(Creation)
    case close
    indirect case unreadable(ReadFailure)
  }

  /// Makes a value from its members.
  package init(_ kind: OperationKind, _ arguments: Arguments, sender: OpaqueJSON? = nil) {
    self.kind = kind
    self.arguments = arguments
    self.sender = sender
  }
}

/// What to read.
package struct GetRequest: Hashable, Sendable {
  /// What can be read.
  package enum What: String, CaseIterable, Sendable {
    case state, bar, top, screen, detached, restoration, log, verify, stats, backup
  }

  /// The id of the message, which answers repeat.
  package var id: UInt64
  /// The name of the nav.
  package var nav: String?
  /// What to read.
  package var what: What
  /// The revision to read at.
  package var at: Revision?
  /// The screen to read.
  package var screen: String?
  /// Where to begin.
  package var from: Revision?
  /// The most entries to read.
  package var limit: UInt64

  /// Makes a value from its members.
  package init(
    id: UInt64, nav: String?, what: What = .state, at: Revision? = nil, screen: String? = nil,
    from: Revision? = nil, limit: UInt64 = 100
  ) {
    self.id = id
    self.nav = nav
    self.what = what
    self.at = at
    self.screen = screen
    self.from = from
    self.limit = limit
  }
}

/// The wish to be asked.
package struct DelegateRequest: Hashable, Sendable {
  /// The id of the message, which answers repeat.
  package var id: UInt64
  /// The name of the nav.
  package var nav: String
  /// The roles, which replace the session's earlier ones; none ends them.
  package var roles: Set<DelegateRole>
  /// The value of the role `orientation`.
  package var orientations: DelegateOrientations?
}

/// What a delegate answers.
package enum DelegateAnswer: Hashable, Sendable {
  /// Whether a screen may come or go.
  case verdict(Bool)
  /// How a transition is animated.
  case animator(String, duration: UInt64?)
  /// What drives it.
  case driver(String)
  /// Nothing to say.
  case none
}

/// The wish to hold the display, or to let go of it.
package struct LeaseRequest: Hashable, Sendable {
  /// The id of the message, which answers repeat.
  package var id: UInt64
  /// The name of the nav.
  package var nav: String
  /// What the session wants.
  package var wish: LeaseWish
}

/// What a session wants of the display lease of a nav.
package enum LeaseWish: Hashable, Sendable {
  /// To hold it, if nobody else does.
  case take
  /// To hold it, whoever does; takes the role `admin`.
  case force
  /// To hold it no longer.
  case release
}
