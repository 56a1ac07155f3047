package import NavigationCore

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

/// A received `op` message: the members of an `OpRequest`, and the operations.
///
/// A message is an immutable object, so the checks pass a reference instead of a copy.
package final class OpMessage: Sendable {
  package let id: UInt64
  package let client: ClientID?
  package let clientName: String?
  package let nav: String
  package let guards: Guards
  package let isAnimated: Bool?
  package let onBusy: BusyPolicy?
  package let dueBootMilliseconds: UInt64?
  package let dueClockID: String?
  package let isDry: Bool
  /// The number of the newest row that the client had seen at the first sending; nil for a first one.
  package let newestRowAtFirstSend: UInt64?
  package let kinds: OperationKinds
  /// All operations, in order, if one has a sender or is not in `decoded`; else none.
  private let allIfUnusual: [RequestedOperation]
  /// The decoded operations, in order, without those that are unreadable, create the nav or close
  /// it.
  ///
  /// The hub passes this list to the nav without copying it.
  package let decoded: [Operation]
  /// The checksum of the message as the client sent it first.
  ///
  /// By this checksum the hub tells a repetition from another message with the same id.
  package let bodyHash: BodyHash

  init(
    id: UInt64, client: ClientID?, clientName: String?, nav: String, guards: Guards,
    isAnimated: Bool?, onBusy: BusyPolicy?, dueBootMilliseconds: UInt64?, dueClockID: String?,
    isDry: Bool, newestRowAtFirstSend: UInt64?, kinds: OperationKinds,
    unusual: [RequestedOperation], decoded: [Operation], bodyHash: BodyHash
  ) {
    assert(unusual.isEmpty ? kinds.count == decoded.count : kinds.count == unusual.count)
    self.id = id
    self.client = client
    self.clientName = clientName
    self.nav = nav
    self.guards = guards
    self.isAnimated = isAnimated
    self.onBusy = onBusy
    self.dueBootMilliseconds = dueBootMilliseconds
    self.dueClockID = dueClockID
    self.isDry = isDry
    self.newestRowAtFirstSend = newestRowAtFirstSend
    self.kinds = kinds
    allIfUnusual = unusual
    self.decoded = decoded
    self.bodyHash = bodyHash
  }

  /// Whether all operations are in `decoded`, and none has a sender.
  package var areDecodedWithoutSender: Bool { allIfUnusual.isEmpty }

  package func operation(_ index: Int) -> RequestedOperation {
    allIfUnusual.isEmpty ? .init(kinds[index], .decoded(index: index)) : allIfUnusual[index]
  }

  package var operations: [RequestedOperation] { kinds.indices.map { operation($0) } }

  /// The decoded form of an operation; nil if it is unreadable, creates the nav or closes it.
  package func decodedOperation(_ index: Int) -> Operation? {
    guard case .decoded(let place) = operation(index).arguments else { return nil }
    return decoded[place]
  }
}

/// The kinds of the operations of an op, at most 16, without memory of their own.
package struct OperationKinds: RandomAccessCollection, Sendable {
  private var kinds = InlineArray<16, OperationKind>(repeating: .unknown)
  package private(set) var count = 0
  /// Whether all kinds are ordinary ones, see `OperationKind.isOrdinary`.
  ///
  /// Nine tests of the hub for rare kinds read only this flag for most ops.
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
  var isDecodedWithoutSender: Bool {
    if case .decoded = arguments { sender == nil } else { false }
  }

  /// Where to find the decoded operation, or the reason why there is none.
  package enum Arguments: Sendable {
    /// The index of the decoded operation in `OpMessage.decoded`.
    case decoded(index: Int)
    indirect case create(Creation)
    case close
    indirect case unreadable(ReadFailure)
  }

  package init(_ kind: OperationKind, _ arguments: Arguments, sender: OpaqueJSON? = nil) {
    self.kind = kind
    self.arguments = arguments
    self.sender = sender
  }

  /// Whether `formFailure` is nil; in the usual case found without making an error.
  func isWellFormed(isStandalone: Bool) -> Bool {
    if case .decoded = arguments { return isStandalone || !kind.isForBarItems }
    return formFailure(isStandalone: isStandalone) == nil
  }

  /// The error for which the hub refuses the op before any operation runs; nil if there is none.
  func formFailure(isStandalone: Bool) -> ReadFailure? {
    if kind.isForBarItems, !isStandalone {
      return ReadFailure(
        .barManaged,
        "cannot call \(kind.name) directly on a bar managed by a controller; use push, pop or "
          + "setStack")
    }
    guard case .unreadable(let failure) = arguments else { return nil }
    return isStandalone && standaloneFailure != nil ? nil : failure
  }

  /// The error for an operation that a standalone bar does not support; nil if it does.
  var standaloneFailure: ReadFailure? {
    guard kind.suitsStandaloneBars else {
      return ReadFailure("\(kind.name) is not for a nav of kind bar")
    }
    guard case .unreadable(let failure) = arguments, failure.code == .barDelegateManaged else {
      return nil
    }
    return ReadFailure("a bar's delegate registers by the verb delegate")
  }
}

extension Operation {
  /// The rights that the arguments need beside those of the kind, and the guard that the policy
  /// `removal` requires if it depends on the arguments.
  package var needs: (guarded: OperationKind.NeededGuard, rights: Rights) {
    switch self {
    case .push(_, let policy), .show(_, let policy): (.none, policy.mayPop ? .pop : [])
    case .replace(let screen, _, _): (screen == nil ? .topScreen : .none, [])
    case .insert(_, .below), .insert(_, .above): (.none, [])
    case .insert(_, .at): (.wholeStack, [])
    case .pop, .popTo, .popToRoot, .setStack, .remove, .createScreen, .setScreen, .releaseScreen,
      .setItem, .createButton, .setButton, .releaseButton, .activateButton, .configure, .attach,
      .detach, .present, .dismiss, .swipeDown, .returning, .open, .restore, .revert, .backTap,
      .backKey, .backMenu, .setBar, .setToolbar, .setBarHidden, .setToolbarHidden, .setAppearance,
      .setProxy, .setEnvironment, .tapContent, .swipeContent, .completeTransition, .beginGesture,
      .updateGesture, .finishGesture, .cancelGesture, .expireTransition, .interruptTransition,
      .recoverAfterRestart, .setDisplayOwner, .adoptLooks, .setOrientations:
      (.none, [])
    }
  }
}
