/// A message from a client to the daemon, after reading.
package enum ClientMessage: Sendable {
  // All cases but the op are rare. They are indirect, because events are copied and moved with
  // every op and should stay small.

  /// Opens a session.
  indirect case hello(Hello)
  /// Starts a watch on a nav.
  indirect case watch(WatchRequest)
  indirect case unwatch(id: UInt64, nav: String, view: View)
  case op(OpMessage)
  /// Reads a value once.
  indirect case get(GetRequest)
  /// Replaces the session's delegate roles for a nav.
  indirect case delegate(DelegateRequest)
  /// Answers a question to a delegate.
  indirect case answer(ask: UInt64, DelegateAnswer)
  /// Takes, or gives back, the display lease of a nav.
  indirect case lease(LeaseRequest)
  /// Changes how a cluster is divided.
  indirect case cluster(ClusterRequest)
  /// Raises the flow-control limit of the session to this number of bytes since its start.
  case credit(upTo: UInt64)
  /// Requests a `pong`.
  case ping(id: UInt64)
  case bye(id: UInt64)

  package var verb: ClientVerb {
    switch self {
    case .hello: .hello
    case .watch: .watch
    case .unwatch: .unwatch
    case .op: .op
    case .get: .get
    case .delegate: .delegate
    case .answer: .answer
    case .lease: .lease
    case .cluster: .cluster
    case .credit: .credit
    case .ping: .ping
    case .bye: .bye
    }
  }

  /// The nav that the message names; nil for messages without a nav.
  package var nav: String? {
    switch self {
    case .watch(let request): request.nav
    case .unwatch(_, let nav, _): nav
    case .op(let request): request.nav
    case .get(let request): request.nav
    case .delegate(let request): request.nav
    case .lease(let request): request.nav
    case .hello, .answer, .cluster, .credit, .ping, .bye: nil
    }
  }
}

/// The message `hello`, which opens a session.
package struct Hello: Hashable, Sendable {
  /// The lowest and highest protocol version that the client supports.
  package var versions: ClosedRange<UInt64> = 1...1
  /// The identity of the client's process: 128 random bits, chosen once in each run.
  package var client = ClientID(high: 0, low: 0)
  /// The client's name for people, at most 128 bytes.
  package var name = ""
  /// A text by which the client matches the answer to this `hello`, at most 64 bytes.
  package var nonce = ""
  /// The flow-control window that the client asks for, in bytes.
  package var window: UInt64 = 65536
  /// Milliseconds without a message after which the daemon sends a `mark`; nil for the daemon's
  /// default.
  package var heartbeat: UInt64?
  /// Whether the session has no flow control, so that only the socket limits what is sent.
  package var isUncontrolled = false
  /// For whom a gateway opens the session; nil for the peer itself.
  package var actor: SessionActor?

  /// Makes a `hello` with the defaults of the protocol.
  package init() {}
}

/// The identity of a client process: 128 random bits, on the wire as 32 lower-case hex digits.
package struct ClientID: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  package init?(_ text: String) {
    let utf8 = Array(text.utf8)
    guard utf8.count == 32, utf8.allSatisfy(Grammar.isLowerHex),
      let high = UInt64(String(decoding: utf8[..<16], as: UTF8.self), radix: 16),
      let low = UInt64(String(decoding: utf8[16...], as: UTF8.self), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }

  package var text: String { Epoch(bits: high).text + Epoch(bits: low).text }
}

/// The part of a nav's state that a watch delivers.
package enum View: UInt8, CaseIterable, Sendable, WireNamed {
  /// A snapshot, then every diff.
  case full
  /// The newest `resolved`; the daemon may skip older values.
  case bar
  /// The record of the newest top screen; the daemon may skip older values.
  case top

  package static let words = names
  package var text: String { word }
}

/// The message `watch`, which starts a watch on a nav.
package struct WatchRequest: Hashable, Sendable {
  package var id: UInt64 = 0
  package var nav = ""
  package var view = View.full
  /// The position of the mirror from which to resume; nil to begin with a snapshot.
  package var from: MirrorPosition?
  /// A divergence that the client found, for the daemon to log: the revision and the mirror's
  /// digest.
  package var bad: MirrorPosition?
  /// Whether a full watch delivers `resolved`, which is more than half of most diffs.
  package var hasResolved = true
  /// Whether the watch waits for a nav that does not exist yet.
  package var waits = false

  package init() {}
}

/// A revision in the history of a nav, with the digest of its state as proof.
package struct MirrorPosition: Hashable, Sendable {
  /// The epoch of the revision; nil in a report of divergence, which concerns the present epoch.
  package var epoch: Epoch?
  package var revision: Revision
  package var digest: Digest

  package init(epoch: Epoch?, revision: Revision, digest: Digest) {
    self.epoch = epoch
    self.revision = revision
    self.digest = digest
  }
}

/// The guards of an op, the member `if`; all of them must hold.
package struct Guards: Hashable, Sendable {
  /// Whether the client overrides the requirement of a guard (`if.any`).
  package var any = false
  package var epoch: Epoch?
  package var revision: Revision?
  package var digest: Digest?
  /// The id that the top screen must have; the inner nil means that the stack must be empty.
  package var top: String??
  package var depth: UInt64?
  /// The ids that the stack must have, bottom first.
  package var stack: [String]?
  /// Ids that must be on the stack, in any order.
  package var has: [String]?
  /// The id that the visible screen must have, presented ones included; the inner nil: none.
  package var visible: String??

  package init() {}

  package var epochOnly: Guards {
    var guards = Guards()
    guards.epoch = epoch
    return guards
  }

  /// Whether no guard asks for a state, so that an op may make its nav.
  package var isMetWithoutNav: Bool {
    var guards = self
    guards.any = false
    return guards == Guards()
  }

  /// Whether a guard fixes the whole state: `rev` or `dig`.
  package var fixesState: Bool { revision != nil || digest != nil }
  /// Whether a guard fixes the whole stack: `rev`, `dig` or `stack`.
  package var fixesStack: Bool { fixesState || stack != nil }
}

/// The members of an `op` message except its operations, as a client writes them.
///
/// A client has no `OpMessage`: it gives the operations as JSON, which only the daemon reads.
package struct OpRequest: Sendable {
  package var id: UInt64
  /// The client's id; required without a session, else equal to the session's.
  package var client: ClientID?
  /// The client's name for the log, if there is no session.
  package var name: String?
  package var nav: String
  package var guards: Guards
  /// Whether the change is animated; nil for the default of the operations.
  package var isAnimated: Bool?
  /// Whether the op waits for an open transition, gesture or question (`onBusy` `queue`).
  package var waits: Bool
  /// The time by CLOCK_BOOTTIME, in milliseconds, after which the daemon must not begin the op; nil
  /// for none.
  package var due: UInt64?
  /// The machine whose clock `due` counts by: the kernel's boot id; nil for the daemon's.
  package var clock: String?
  /// Whether the daemon only answers what it would answer, and changes nothing (`dry`).
  package var isDry = false

  package init(
    id: UInt64, nav: String, guards: Guards = Guards(), isAnimated: Bool? = nil,
    waits: Bool = false
  ) {
    self.id = id
    self.nav = nav
    self.guards = guards
    self.isAnimated = isAnimated
    self.waits = waits
  }
}

/// A received `op` message: the members of an `OpRequest`, and the operations.
///
/// It is an immutable object, so the checks pass a reference instead of a copy.
package final class OpMessage: Sendable {
  package let id: UInt64
  package let client: ClientID?
  package let name: String?
  package let nav: String
  package let guards: Guards
  package let isAnimated: Bool?
  package let waits: Bool
  package let due: UInt64?
  package let clock: String?
  package let isDry: Bool
  /// The newest row that the client had seen when it sent the op first; nil for the first time.
  package let again: UInt64?
  package let kinds: OperationKinds
  /// All operations, in order, if one has a sender or is not in `readable`; else none.
  ///
  /// Usually they are what `kinds` and `readable` say, and a list of them would be made and freed
  /// for nothing.
  private let unusual: [RequestedOperation]
  /// The decoded operations, in order, without those that are unreadable, create the nav or close
  /// it.
  ///
  /// They have a list of their own, which the hub passes to the nav without copying.
  package let readable: [Operation]
  /// The checksum of the message as it was sent first, which no other one with its id has.
  package let octets: BodyHash

  init(
    id: UInt64, client: ClientID?, name: String?, nav: String, guards: Guards,
    isAnimated: Bool?, waits: Bool, due: UInt64?, clock: String?, isDry: Bool, again: UInt64?,
    kinds: OperationKinds, unusual: [RequestedOperation],
    readable: [Operation], octets: BodyHash
  ) {
    assert(unusual.isEmpty ? kinds.count == readable.count : kinds.count == unusual.count)
    self.id = id
    self.client = client
    self.name = name
    self.nav = nav
    self.guards = guards
    self.isAnimated = isAnimated
    self.waits = waits
    self.due = due
    self.clock = clock
    self.isDry = isDry
    self.again = again
    self.kinds = kinds
    self.unusual = unusual
    self.readable = readable
    self.octets = octets
  }

  /// Whether all operations are in `readable`, and none has a sender.
  package var areUsual: Bool { unusual.isEmpty }

  package func operation(_ index: Int) -> RequestedOperation {
    unusual.isEmpty ? RequestedOperation(kinds[index], .operation(index)) : unusual[index]
  }

  package var operations: [RequestedOperation] { kinds.indices.map { operation($0) } }

  /// The decoded form of an operation; nil if it is unreadable, creates the nav or closes it.
  package func meaning(_ index: Int) -> Operation? {
    guard case .operation(let place) = operation(index).arguments else { return nil }
    return readable[place]
  }
}

/// The kinds of the operations of an op, at most 16, without memory of their own.
package struct OperationKinds: RandomAccessCollection, Sendable {
  private var kinds = InlineArray<16, OperationKind>(repeating: .unknown)
  package private(set) var count = 0
  /// Whether all kinds are ordinary ones, see `OperationKind.isOrdinary`.
  ///
  /// An op meets nine tests for other kinds, which look at this alone for most messages.
  package private(set) var areOrdinary = true

  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  package subscript(_ index: Int) -> OperationKind {
    precondition(index >= 0 && index < count, "operation \(index) of \(count)")
    return kinds[index]
  }

  mutating func append(_ kind: OperationKind) {
    kinds[count] = kind
    count += 1
    if !kind.isOrdinary { areOrdinary = false }
  }
}

/// One operation of a received op; its kind is always known, its arguments may be unreadable.
///
/// An `Operation` alone is not enough. The daemon checks rights and guards by the kind before it
/// reports arguments that it cannot read (protocol.md, 9.4), and a nav neither creates nor closes
/// itself.
package struct RequestedOperation: Sendable {
  /// The kind of the operation; `unknown` if no operation has this name.
  package var kind: OperationKind
  package var arguments: Arguments
  /// UIKit's `sender` of a push or show, which navd keeps with the revision, for the log of the nav.
  package var sender: OpaqueJSON?

  /// Whether the operation can be read, neither creates the nav nor closes it, and has no sender.
  var isUsual: Bool {
    if case .operation = arguments { sender == nil } else { false }
  }

  /// Where to find the decoded operation, or the reason why there is none.
  package enum Arguments: Sendable {
    /// The index of the decoded operation in `OpMessage.readable`.
    case operation(Int)
    indirect case create(Creation)
    case close
    indirect case unreadable(ReadFailure)
  }

  package init(_ kind: OperationKind, _ arguments: Arguments, sender: OpaqueJSON? = nil) {
    self.kind = kind
    self.arguments = arguments
    self.sender = sender
  }
}

/// The verbs of messages to the daemon.
package enum ClientVerb: String, CaseIterable, Sendable {
  case hello, watch, unwatch, op, get, delegate, answer, lease, cluster, credit, ping, bye

  package var frame: [UInt8] { Array("nsp1.\(rawValue)".utf8) }

  /// The verb in a frame of this protocol version; nil for an unknown verb or another frame.
  init?(_ frame: Span<UInt8>) {
    // A space fills the word of seven bytes.
    if frame.count == 7, ByteWord(padding: frame).bits == ("nsp1.op " as ShortName).bits {
      self = .op
      return
    }
    // The name must be short, and must not end in a zero byte: `ShortName` would not see that byte.
    guard frame.count > 5, frame.count <= 13, frame[frame.count - 1] != 0,
      ShortName(frame, from: 0, to: 5) == "nsp1."
    else { return nil }
    switch ShortName(frame, from: 5, to: frame.count) {
    case "op": self = .op
    case "credit": self = .credit
    case "answer": self = .answer
    case "ping": self = .ping
    case "watch": self = .watch
    case "unwatch": self = .unwatch
    case "get": self = .get
    case "delegate": self = .delegate
    case "lease": self = .lease
    case "cluster": self = .cluster
    case "hello": self = .hello
    case "bye": self = .bye
    default: return nil
    }
  }
}
