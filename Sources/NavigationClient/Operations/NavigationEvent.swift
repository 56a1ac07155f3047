import NavigationCore

/// An event of a nav, such as `didPush` with the id of a screen.
public struct NavigationEvent: Hashable, Sendable {
  /// The name of the event.
  public let name: Name
  /// The members of the event.
  public let details: NavigationValue

  /// The id of the screen of the event; nil if it has none.
  public var screen: String? { details["screen"]?.text }

  static func list(_ bytes: [UInt8]) -> [NavigationEvent] {
    guard let events = NavigationValue.read(bytes)?.array else { return [] }
    return events.flatMap { event in
      (event.object ?? [:]).sorted { $0.key < $1.key }.map {
        NavigationEvent(name: Name(rawValue: $0.key), details: $0.value)
      }
    }
  }

  /// An event of the protocol with its details as values.
  public enum Kind: Hashable, Sendable {
    /// A screen is about to be on top.
    case willShow(screen: String, isAnimated: Bool)
    /// A screen is on top.
    case didShow(screen: String, isAnimated: Bool)
    /// A screen is about to leave the top.
    case willHide(screen: String, isAnimated: Bool)
    /// A screen has left the top.
    case didHide(screen: String, isAnimated: Bool)
    /// A screen was pushed, and its transition is over.
    case didPush(screen: String)
    /// A screen was popped, and its transition is over; with the result from the operation.
    case didPop(screen: String, result: NavigationValue?)
    /// A screen was presented, and its transition is over.
    case didPresent(screen: String)
    /// A presented screen was dismissed, and its transition is over; with the result that the
    /// operation gave.
    case didDismiss(screen: String, result: NavigationValue?)
    /// A transition has begun; the display reports when it is complete.
    case transitionBegan(Transition)
    /// A gesture has moved a transition to `value`, 0 … 1; a slow reader gets only the newest one.
    case transitionProgress(id: UInt64, value: Double)
    /// A transition is over.
    case transitionEnded(id: UInt64, TransitionOutcome)
    /// The bar hides or shows with a transition; it `jumps` if that is not animated.
    case barChange(transition: UInt64, isHidden: Bool, isAnimated: Bool, jumps: Bool)
    /// The bars were hidden or shown outside of a transition; true means shown.
    case barsVisibilityChanged(bar: Bool?, toolbar: Bool?, cause: BarsVisibilityCause?)
    /// A person tried to pop this screen, which does not allow it (`canPop`).
    case popBlocked(screen: String)
    /// A person tried to dismiss this screen, which does not allow it.
    case dismissAttempted(screen: String)
    /// A person pressed the Back key at the root, where nothing can be dismissed.
    case backAtRoot
    /// A button was tapped, or an element of its menu was chosen; without a button, of the menu at the
    /// title.
    case buttonActivated(button: String?, element: String?, action: String?)

    /// An event that this version does not know.
    case other
  }

  /// A transition that has begun.
  public struct Transition: Hashable, Sendable {
    /// Its number, for ``NavigationOperation/completeTransition(_:)``.
    public var id: UInt64
    /// Its effect on the stack or the presentations.
    public var operation: NavigationTransitionOperation
    /// The disappearing screen.
    public var from: String?
    /// The appearing screen.
    public var to: String?
    /// Whether a gesture drives it, instead of time.
    public var isInteractive: Bool
    /// The animator that a delegate has chosen.
    public var animator: String?
    /// The duration that a delegate has chosen; nil if it left that to the display.
    public var duration: Duration?
    /// The interactive driver that a delegate has chosen, by its name.
    public var driver: String?
    /// Whether the display asked for reduced animations, which is a short fade.
    public var isReduced: Bool
  }

  /// The cause of hidden or shown bars; a newer daemon can send others.
  public struct BarsVisibilityCause: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The word of the protocol.
    public let rawValue: String

    /// Makes a cause from its word in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }

    /// An operation of a program.
    public static let api = Self(rawValue: "api")
    /// The preference of the screen that became the top.
    public static let screen = Self(rawValue: "screen")
    /// A tap, by the setting `hidesBarsOnTap`.
    public static let tap = Self(rawValue: "tap")
    /// A swipe, by the setting `hidesBarsOnSwipe`.
    public static let swipe = Self(rawValue: "swipe")
    /// A keyboard appeared, by the setting `hidesBarsWhenKeyboardAppears`.
    public static let keyboard = Self(rawValue: "keyboard")
    /// The height became compact, by the setting `hidesBarsWhenVerticallyCompact`.
    public static let verticallyCompact = Self(rawValue: "vCompact")
  }

  /// The event with its details as values; `other` also if one of them is missing.
  public var kind: Kind { screenKind ?? transitionKind ?? otherKind ?? .other }

  private var screenKind: Kind? {
    guard let screen else { return nil }
    let isAnimated = details["animated"]?.bool ?? false
    return switch name {
    case .willShow: .willShow(screen: screen, isAnimated: isAnimated)
    case .didShow: .didShow(screen: screen, isAnimated: isAnimated)
    case .willHide: .willHide(screen: screen, isAnimated: isAnimated)
    case .didHide: .didHide(screen: screen, isAnimated: isAnimated)
    case .didPush: .didPush(screen: screen)
    case .didPop: .didPop(screen: screen, result: details["result"])
    case .didPresent: .didPresent(screen: screen)
    case .didDismiss: .didDismiss(screen: screen, result: details["result"])
    case .popBlocked: .popBlocked(screen: screen)
    case .dismissAttempted: .dismissAttempted(screen: screen)
    default: nil
    }
  }

  private var transitionKind: Kind? {
    guard let id = details["tid"]?.integer.flatMap({ UInt64(exactly: $0) }) else { return nil }
    switch name {
    case .transitionBegan:
      guard let operation = details["op"]?.text else { return nil }
      return .transitionBegan(
        Transition(
          id: id, operation: .init(rawValue: operation), from: details["from"]?.text,
          to: details["to"]?.text,
          isInteractive: details["interactive"]?.bool ?? false,
          animator: details["animator"]?.text,
          duration: details["duration"]?.integer.map { .milliseconds($0) },
          driver: details["driver"]?.text, isReduced: details["style"] == "fade"))
    case .transitionProgress:
      return details["value"]?.double.map { .transitionProgress(id: id, value: $0) }
    case .transitionEnded:
      return details["outcome"]?.text.map {
        .transitionEnded(id: id, TransitionOutcome(rawValue: $0))
      }
    case .barChange:
      return details["hidden"]?.bool.map {
        .barChange(
          transition: id, isHidden: $0, isAnimated: details["animated"]?.bool ?? false,
          jumps: details["jump"]?.bool ?? false)
      }
    default: return nil
    }
  }

  private var otherKind: Kind? {
    switch name {
    case .backAtRoot: .backAtRoot
    case .barsVisibilityChanged:
      .barsVisibilityChanged(
        bar: details["bar"]?.bool, toolbar: details["toolbar"]?.bool,
        cause: details["cause"]?.text.map { BarsVisibilityCause(rawValue: $0) })
    case .buttonActivated:
      .buttonActivated(
        button: details["button"]?.text, element: details["element"]?.text,
        action: details["action"]?.text)
    default: nil
    }
  }
}
