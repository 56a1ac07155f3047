import NavigationCore

/// The delegate roles of a client: each closure registers one role and answers its questions.
///
/// The daemon asks before it commits a change, and locks the stack until the answer. If a closure
/// itself changes the stack, the daemon refuses that with `transition-in-progress`. A closure that
/// throws or misses the deadline has no answer. The nav's setting `veto.policy` (default `deny`)
/// then decides a veto; a transition gets no animator or no interaction. If the question ends
/// before the closure, the client cancels its task.
public struct NavigationRoles: Sendable {
  /// Decides whether the daemon pushes or pops a screen.
  public typealias Veto = @Sendable (NavigationVetoQuestion) async throws -> Bool
  /// Chooses the animation of a transition; nil leaves the choice to the display.
  public typealias Animator =
    @Sendable (NavigationAnimatorQuestion) async throws ->
    NavigationAnimation?
  /// Chooses the interactive driver of a transition by its name; nil for none.
  public typealias Interaction = @Sendable (NavigationInteractionQuestion) async throws -> String?

  let veto: Veto?
  let animator: Animator?
  let interaction: Interaction?
  let orientations: NavigationOrientations?

  /// Makes the roles from closures and orientations; nil registers no role.
  ///
  /// - Parameters:
  ///   - veto: called for every screen to push, pop or dismiss, by the setting `vetoScope`. The
  ///     daemon asks all clients with this role, and one `false` refuses the change.
  ///   - animator: called for every animated transition, at the client that registered last.
  ///   - interaction: called for every animator, at the client that registered last.
  ///   - orientations: the orientations of the nav while the roles are registered.
  public init(
    veto: Veto? = nil, animator: Animator? = nil, interaction: Interaction? = nil,
    orientations: NavigationOrientations? = nil
  ) {
    self.veto = veto
    self.animator = animator
    self.interaction = interaction
    self.orientations = orientations
  }

  /// The roles in the form of the protocol.
  var registration: DelegateRegistration {
    var roles: Set<DelegateRole> = []
    if veto != nil { roles.insert(.veto) }
    if animator != nil { roles.insert(.animator) }
    if interaction != nil { roles.insert(.interaction) }
    if orientations != nil { roles.insert(.orientation) }
    return DelegateRegistration(
      roles: roles, supportedOrientations: orientations?.supported.map(\.rawValue) ?? [],
      preferredOrientation: orientations?.preferred?.rawValue)
  }

  /// Answers a question with a JSON value; nil if there is no answer.
  func answer(_ ask: Ask, by deadline: ContinuousClock.Instant) async throws -> NavigationValue? {
    let about = NavigationQuestion(ask, deadline)
    func decide(
      _ screen: String, _ change: NavigationVetoQuestion.Change
    ) async throws -> NavigationValue? {
      guard let veto else { return nil }
      return .bool(try await veto(.init(question: about, screen: screen, change: change)))
    }
    switch ask.question {
    case .shouldPush(let screen): return try await decide(screen, .push)
    case .shouldPop(let screen, let cause):
      return try await decide(screen, .pop(cause: .init(rawValue: cause)))
    case .shouldDismiss(let screen, let cause):
      return try await decide(screen, .dismiss(cause: .init(rawValue: cause)))
    case .animatorFor(let operation, let from, let to):
      let answer = try await animator?(
        .init(question: about, operation: .init(rawValue: operation), from: from, to: to))
      return answer?.value ?? .null
    case .interactionFor(let animator):
      let driver = try await interaction?(.init(question: about, animator: animator))
      return driver.map { ["driver": .string($0)] } ?? .null
    case .unknown: return nil
    }
  }
}

/// The members that all questions share.
public struct NavigationQuestion: Hashable, Sendable {
  /// The name of the nav.
  public let nav: String
  /// The epoch of the nav.
  public let epoch: String
  /// The revision before the change.
  public let revision: UInt64
  /// The time after which the daemon ignores an answer.
  public let deadline: ContinuousClock.Instant

  init(_ ask: Ask, _ deadline: ContinuousClock.Instant) {
    nav = ask.nav
    epoch = ask.epoch.text
    revision = ask.revision.number
    self.deadline = deadline
  }
}

/// A question whether the daemon should push, pop or dismiss a screen.
public struct NavigationVetoQuestion: Hashable, Sendable {
  /// The change that waits for the answer.
  public enum Change: Hashable, Sendable {
    /// A push of the screen.
    case push
    /// A pop of the screen, with its cause.
    case pop(cause: NavigationCause)
    /// A dismissal of the presented screen, with its cause.
    case dismiss(cause: NavigationCause)
  }

  /// The nav, its revision and the deadline.
  public let question: NavigationQuestion
  /// The id of the screen.
  public let screen: String
  /// The change of the screen.
  public let change: Change
}

/// A question for the animation of a transition.
public struct NavigationAnimatorQuestion: Hashable, Sendable {
  /// The nav, its revision and the deadline.
  public let question: NavigationQuestion
  /// The effect of the transition on the stack or the presentations.
  public let operation: NavigationTransitionOperation
  /// The id of the disappearing screen.
  public let from: String?
  /// The id of the appearing screen.
  public let to: String?
}

/// A question for the interactive driver of a transition.
public struct NavigationInteractionQuestion: Hashable, Sendable {
  /// The nav, its revision and the deadline.
  public let question: NavigationQuestion
  /// The animator of the transition.
  public let animator: String
}

/// The animation of a transition.
public struct NavigationAnimation: Hashable, Sendable {
  /// The name under which displays know it.
  public var name: String
  /// The duration; nil to leave it to the display.
  public var duration: Duration?

  /// Makes an animation from its name and duration.
  public init(_ name: String, duration: Duration? = nil) {
    self.name = name
    self.duration = duration
  }

  var value: NavigationValue {
    var members: [String: NavigationValue] = ["animator": .string(name)]
    members["duration"] = duration.map { .integer($0.milliseconds) }
    return .object(members)
  }
}

/// The orientations that a nav supports.
public struct NavigationOrientations: Hashable, Sendable {
  /// All supported orientations.
  public var supported: [NavigationOrientation]
  /// The initial orientation, which must be a supported one.
  public var preferred: NavigationOrientation?

  /// Makes orientations; without `preferred`, the display chooses among `supported`.
  public init(supported: [NavigationOrientation], preferred: NavigationOrientation? = nil) {
    self.supported = supported
    self.preferred = preferred
  }
}
