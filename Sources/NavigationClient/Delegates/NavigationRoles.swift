import Navigation
import NavigationSync

/// What a client decides for a nav: each closure makes it play one role as a delegate.
///
/// The daemon asks before it commits, with the stack locked meanwhile: operations on the stack that
/// a closure performs itself are refused with `transition-in-progress`. Answers count until the
/// question's deadline. A closure that throws, or takes longer, gives no answer: a veto is then
/// decided by the nav's setting `veto.policy` (`deny` unless set), for the others nothing is chosen.
/// When the round has ended without it, the closure's task is cancelled.
public struct NavigationRoles: Sendable {
  /// Decides whether a screen may be pushed or popped.
  public typealias Veto = @Sendable (NavigationVetoQuestion) async throws -> Bool
  /// Chooses what animates a transition; nil leaves it to the display.
  public typealias Animator =
    @Sendable (NavigationAnimatorQuestion) async throws ->
    NavigationAnimation?
  /// Chooses what drives a transition interactively, by its name; nil if nothing does.
  public typealias Interaction = @Sendable (NavigationInteractionQuestion) async throws -> String?

  let veto: Veto?
  let animator: Animator?
  let interaction: Interaction?
  let orientations: NavigationOrientations?

  /// Chooses the roles to play.
  ///
  /// - Parameters:
  ///   - veto: asked for every screen that is pushed or popped; all clients that play this role
  ///     are asked, and one `false` is enough.
  ///   - animator: asked for every animated transition, if it registered last.
  ///   - interaction: asked for every animator, if it registered last.
  ///   - orientations: what the nav may be turned to, as long as the roles are played.
  public init(
    veto: Veto? = nil, animator: Animator? = nil, interaction: Interaction? = nil,
    orientations: NavigationOrientations? = nil
  ) {
    self.veto = veto
    self.animator = animator
    self.interaction = interaction
    self.orientations = orientations
  }

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
    switch ask.question {
    case .shouldPush(let screen):
      return try await veto?(.init(question: about, screen: screen, change: .push)).json
    case .shouldPop(let screen, let cause):
      return try await veto?(.init(question: about, screen: screen, change: .pop(cause: cause)))
        .json
    case .animatorFor(let operation, let from, let to):
      let answer = try await animator?(
        .init(question: about, operation: operation, from: from, to: to))
      return answer?.value ?? .null
    case .interactionFor(let animator):
      let driver = try await interaction?(.init(question: about, animator: animator))
      return driver.map { ["driver": .string($0)] } ?? .null
    case .unknown: return nil
    }
  }
}

extension Bool {
  fileprivate var json: NavigationValue { .bool(self) }
}

/// What every question says.
public struct NavigationQuestion: Hashable, Sendable {
  /// The name of the nav.
  public let nav: String
  /// The life of the nav.
  public let epoch: String
  /// The revision that is asked about: the state before the operation.
  public let revision: UInt64
  /// When an answer is not listened to any more.
  public let deadline: ContinuousClock.Instant

  init(_ ask: Ask, _ deadline: ContinuousClock.Instant) {
    nav = ask.nav
    epoch = ask.epoch.text
    revision = ask.revision.number
    self.deadline = deadline
  }
}

/// Whether a screen may be pushed or popped.
public struct NavigationVetoQuestion: Hashable, Sendable {
  /// What would be done with the screen.
  public enum Change: Hashable, Sendable {
    /// It would be put on the stack.
    case push
    /// It would be taken off the stack, because of `api`, `backButton`, `gesture` and so on.
    case pop(cause: String)
  }

  /// What every question says.
  public let question: NavigationQuestion
  /// The id of the screen.
  public let screen: String
  /// What would be done with it.
  public let change: Change
}

/// What is to animate a transition.
public struct NavigationAnimatorQuestion: Hashable, Sendable {
  /// What every question says.
  public let question: NavigationQuestion
  /// `push`, `pop`, `present` or `dismiss`.
  public let operation: String
  /// The id of the screen that goes.
  public let from: String?
  /// The id of the screen that comes.
  public let to: String?
}

/// What is to drive a transition interactively.
public struct NavigationInteractionQuestion: Hashable, Sendable {
  /// What every question says.
  public let question: NavigationQuestion
  /// The animator that was chosen for it.
  public let animator: String
}

/// What animates a transition.
public struct NavigationAnimation: Hashable, Sendable {
  /// The name under which displays know it.
  public var name: String
  /// How long it takes; nil if the display knows that.
  public var duration: Duration?

  /// Names an animation.
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

/// How a display may be held.
public struct NavigationOrientation: RawRepresentable, Hashable, Sendable {
  /// The word for it.
  public let rawValue: String

  /// Makes an orientation from its word.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Upright.
  public static let portrait = Self(rawValue: "portrait")
  /// Upside down.
  public static let portraitUpsideDown = Self(rawValue: "portraitUpsideDown")
  /// On its left side.
  public static let landscapeLeft = Self(rawValue: "landscapeLeft")
  /// On its right side.
  public static let landscapeRight = Self(rawValue: "landscapeRight")
}

/// What a nav may be turned to.
public struct NavigationOrientations: Hashable, Sendable {
  /// All that it may be turned to.
  public var supported: [NavigationOrientation]
  /// What it is turned to at first; one of the supported.
  public var preferred: NavigationOrientation?

  /// Makes a value from its members.
  public init(supported: [NavigationOrientation], preferred: NavigationOrientation? = nil) {
    self.supported = supported
    self.preferred = preferred
  }
}
