/// The message `hello`, which opens a session.
package struct Hello: Hashable, Sendable {
  /// The lowest and highest protocol version that the client supports.
  package var versions: ClosedRange<UInt64> = 1...1
  /// The identity of the client's process: 128 random bits, chosen once in each run.
  package var client = ClientID(high: 0, low: 0)
  /// The name of the client for logs and users, at most 128 bytes.
  package var name = ""
  /// A text by which the client matches the answer to this `hello`, at most 64 bytes.
  package var nonce = ""
  /// The flow-control window that the client asks for, in bytes.
  package var window: UInt64 = 65536
  /// Milliseconds without a message after which the daemon sends a `mark`; nil for the daemon's
  /// default.
  package var heartbeat: UInt64?
  /// Whether the session has no flow control, so that only the socket's queue limits the daemon.
  package var hasNoFlowControl = false
  /// The user or program for which a gateway opens the session; nil for the peer itself.
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
  /// The newest bar as UIKit would show it; the daemon may skip older values.
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
  /// The revision and digest of a mirror that diverged from the nav, which the daemon logs.
  package var divergence: MirrorPosition?
  /// Whether a full watch delivers the resolved bar: the bar as UIKit would show it.
  package var deliversResolvedBar = true
  /// Whether the watch waits for a nav that does not exist yet.
  package var waitsForNav = false

  package init() {}
}

/// A revision of a nav and the digest of a mirror at it, by which the daemon checks the mirror.
package struct MirrorPosition: Hashable, Sendable {
  /// The epoch of the revision; nil in `WatchRequest.divergence`, which concerns the present epoch.
  package var epoch: Epoch?
  package var revision: Revision
  package var digest: Digest

  package init(epoch: Epoch?, revision: Revision, digest: Digest) {
    self.epoch = epoch
    self.revision = revision
    self.digest = digest
  }
}

/// The guards of an op, in its member `if`: conditions on the nav's state that must all hold.
package struct Guards: Hashable, Sendable {
  /// Whether the op needs no guard, even if the nav's settings require one (`if.any`).
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
  /// The id that the visible screen, presented or not, must have; the inner nil means no screen.
  package var visible: String??

  package init() {}

  /// A copy that has only the guard `epoch`.
  package var epochOnly: Guards {
    var guards = Guards()
    guards.epoch = epoch
    return guards
  }

  /// Whether all guards except `any` are nil, so that the op can create a nav.
  package var isMetWithoutNav: Bool {
    var guards = self
    guards.any = false
    return guards == Guards()
  }

  /// Whether the guards admit only one state of the nav: `rev` or `dig` is set.
  package var fixesState: Bool { revision != nil || digest != nil }
  /// Whether the guards admit only one stack of the nav: `rev`, `dig` or `stack` is set.
  package var fixesStack: Bool { fixesState || stack != nil }
}

extension Guards {
  /// The names of all guards, for error messages.
  package static let names = "any, epoch, rev, dig, top, depth, stack, has, visible"

  /// Reads the guards of an object up to the first invalid member; returns the name of that member.
  @inline(__always)
  package mutating func readUntilInvalid(_ tape: borrowing JSONTape, _ at: Int) -> String? {
    let end = tape.next(at)
    var key = at + 1
    while key < end {
      guard read(tape.shortName(key), tape, key + 1) else { return tape.string(key) ?? "" }
      key = tape.next(key + 1)
    }
    return nil
  }

  @inline(__always)
  private mutating func read(_ name: ShortName, _ tape: borrowing JSONTape, _ value: Int) -> Bool {
    switch name {
    case "any":
      guard let isAny = tape.bool(value) else { return false }
      any = isAny
    case "epoch":
      guard let text = tape.string(value), let read = Epoch(text) else { return false }
      epoch = read
    case "rev":
      guard let number = tape.integer(value) else { return false }
      revision = Revision(number)
    case "dig":
      guard let text = tape.string(value), let read = Digest(text) else { return false }
      digest = read
    case "top":
      guard let id = Self.idOrNull(tape, value) else { return false }
      top = id
    case "visible":
      guard let id = Self.idOrNull(tape, value) else { return false }
      visible = id
    case "depth":
      guard let number = tape.integer(value) else { return false }
      depth = number
    case "stack":
      guard let ids = tape.strings(value) else { return false }
      stack = ids
    case "has":
      guard let ids = tape.strings(value) else { return false }
      has = ids
    default: return false
    }
    return true
  }

  /// Reads an id, with the inner nil for `null`; returns nil for any other value.
  private static func idOrNull(_ tape: borrowing JSONTape, _ value: Int) -> String?? {
    tape.kind(value) == .null ? .some(nil) : tape.string(value).map { .some($0) }
  }
}

/// The members of an `op` message except its operations, as a client writes them.
///
/// Clients pass the operations as JSON beside it; only the daemon decodes operations.
package struct OpRequest: Sendable {
  package var id: UInt64
  /// The client's id; required without a session, and equal to the session's id in one.
  package var client: ClientID?
  /// The client's name for the log, if there is no session.
  package var name: String?
  package var nav: String
  package var guards: Guards
  /// Whether the change is animated; nil for the default of the operations.
  package var isAnimated: Bool?
  /// What happens while a transition, gesture or question is open; nil for what the nav's settings say.
  package var onBusy: BusyPolicy?
  /// CLOCK_BOOTTIME in milliseconds after which the daemon must not begin the op; nil for none.
  package var startDeadline: UInt64?
  /// The kernel's boot id of the machine whose clock `startDeadline` refers to; nil for the daemon's.
  package var deadlineBootID: String?
  /// Whether the daemon replies as if it performed the op, but changes nothing (`dry`).
  package var isDry = false

  package init(
    id: UInt64, nav: String, guards: Guards = Guards(), isAnimated: Bool? = nil,
    onBusy: BusyPolicy? = nil
  ) {
    self.id = id
    self.nav = nav
    self.guards = guards
    self.isAnimated = isAnimated
    self.onBusy = onBusy
  }
}

extension BusyPolicy: WireNamed { package static let words = names }

/// The verbs of messages to the daemon.
package enum ClientVerb: String, CaseIterable, Sendable {
  case hello, watch, unwatch, op, get, delegate, answer, lease, cluster, credit, ping, bye

  /// The first frame of a message with this verb.
  package var frame: [UInt8] { Array("nsp1.\(rawValue)".utf8) }

  /// Reads the verb of a first frame; nil if the version of the protocol or the verb is unknown.
  package init?(_ frame: Span<UInt8>) {
    // A space fills the word of seven bytes.
    if frame.count == 7, ByteWord(padding: frame).bits == ("nsp1.op " as ShortName).bits {
      self = .op
      return
    }
    // The name must be short, and must not end in a zero byte: `ShortName` would not see that byte.
    guard frame.count > 5, frame.count <= 13, frame[frame.count - 1] != 0,
      ShortName(frame, from: 0, to: 5) == "nsp1."
    else { return nil }
    let name = ShortName(frame, from: 5, to: frame.count)
    guard let found = Self.byName.first(where: { $0.name == name }) else { return nil }
    self = found.verb
  }

  private static let byName = allCases.map { (name: ShortName(unescaped: $0.rawValue), verb: $0) }
}
