import NavigationCore

/// The result of performed operations.
public struct NavigationReply: Hashable, Sendable {
  /// The epoch of the nav.
  public let epoch: String
  /// The revision in which the operations took effect.
  ///
  /// This client's watches of the nav deliver it before the call returns, if they are in sync.
  public let revision: UInt64
  /// Whether the operations changed anything.
  public let changed: Bool
  /// The number of screens after them.
  public let depth: Int
  /// The id of the top screen after them; nil for an empty stack.
  public let top: String?
  /// The result of each operation.
  public let results: [NavigationResult]

  init(_ reply: OkReply) {
    epoch = reply.epoch?.text ?? ""
    revision = reply.revision?.number ?? 0
    changed = reply.changed ?? false
    depth = Int(clamping: reply.depth ?? 0)
    top = reply.top ?? nil
    let values = reply.results.flatMap { NavigationValue.read($0.bytes)?.array } ?? []
    results = values.map { NavigationResult($0) }
  }

  /// The ids of the screens that the operations pushed or set, in the order of the operations.
  ///
  /// If a screen was sent without an id, the daemon chose its id.
  public var ids: [String] { results.flatMap(\.ids) }

  /// The ids of all screens that were removed, in the order of the operations.
  public var popped: [String] { results.flatMap(\.popped) }
}

/// The result of one operation.
public struct NavigationResult: Hashable, Sendable {
  /// The ids of the screens that the operation pushed or set, bottom first.
  public let ids: [String]
  /// The ids of the screens that the operation removed.
  public let popped: [String]
  /// Whether a push changed nothing, because the screen was on the stack already.
  public let wasInStack: Bool
  /// All members of the result, for operations that have others.
  public let value: NavigationValue

  init(_ value: NavigationValue) {
    func texts(_ name: String) -> [String] {
      guard let member = value[name] else { return [] }
      return member.text.map { [$0] } ?? (member.array ?? []).compactMap(\.text)
    }
    self.value = value
    ids = texts("id") + texts("ids")
    popped = texts("popped")
    wasInStack = value["reason"]?.text == "alreadyInStack"
  }
}

/// The outcome of a dry run; see
/// ``NavigationClient/rehearse(_:on:guardedBy:animated:whenBusy:within:)``.
public struct NavigationRehearsal: Hashable, Sendable {
  /// A delegate that the daemon would ask before it performs the operations.
  public struct Delegate: Hashable, Sendable {
    /// The name of its client; empty if this client cannot read the nav.
    public var name: String
    /// The roles in which the daemon would ask it.
    public var roles: [Role]
  }

  /// The answer that the operations would get.
  ///
  /// Its revision is hypothetical. The epoch is zeros if the operations would create the nav.
  public let reply: NavigationReply
  /// The state after the operations.
  ///
  /// It is nil if this client cannot read the nav, if the state is too large for a message, if the
  /// operations would close the nav, or if they would wait. The nav never had this state, so
  /// operations with a guard from it fail.
  public let state: NavigationState?
  /// The delegates that the daemon would ask; their answers can change the outcome.
  public let delegates: [Delegate]
  /// The place among the waiting operations, from 1; nil if the operations would begin at once.
  public let queuePosition: Int?

  init(_ reply: OkReply, nav: String) {
    self.reply = NavigationReply(reply)
    let rehearsal = reply.dryRun
    state = rehearsal?.state.flatMap { Mirror($0) }.map { NavigationState(nav: nav, mirror: $0) }
    delegates = (rehearsal?.delegates ?? []).map { delegate in
      Delegate(name: delegate.name, roles: delegate.roles.map { Delegate.Role(rawValue: $0) })
    }
    queuePosition = rehearsal?.queuePosition.map { Int(clamping: $0) }
  }
}

extension NavigationClient {
  /// Asks what operations would do, and changes nothing: a dry run.
  ///
  /// The daemon makes the checks that it makes for
  /// ``perform(_:on:guardedBy:animated:whenBusy:within:)``, asks no delegate and sends no
  /// event. Other clients can change the nav before the real call of `perform`. Guard that call by
  /// the state for which the rehearsal was made.
  ///
  /// - Parameters:
  ///   - operations: 1 … 16 operations.
  ///   - nav: the name of the nav.
  ///   - guard: the condition on the state of the nav; ``NavigationGuard/unguarded`` for none.
  ///   - animated: whether displays should animate the change; nil for the operation's default.
  ///   - policy: whether the operations would fail or wait while a transition is open.
  ///   - limit: how long to wait for the daemon.
  /// - Returns: the answer that the operations would get, and the state that they would lead to.
  /// - Throws: the error that the operations would get.
  public func rehearse(
    _ operations: [NavigationOperation], on nav: String, guardedBy guard: NavigationGuard,
    animated: Bool? = nil, whenBusy policy: NavigationBusyPolicy? = nil,
    within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationRehearsal {
    var request = OpRequest(
      id: 0, nav: nav, guards: `guard`.guards, isAnimated: animated,
      onBusy: policy.flatMap { BusyPolicy(word: $0.rawValue) })
    request.isDry = true
    let result = await engine.perform(
      request, operations, requiresSyncedMirror: `guard`.requiresSyncedMirror, within: limit)
    switch result {
    case .success(let reply): return NavigationRehearsal(reply, nav: nav)
    case .failure(var error):
      // Also if no answer came, nothing has changed.
      error.mayHaveHappened = false
      throw error
    }
  }
}
