import NavigationCore

/// An event of a nav, such as `didPush` with the id of a screen.
public struct NavigationEvent: Hashable, Sendable {
  /// The name of an event; ``NavigationEvent/Kind`` has its details too.
  ///
  /// A newer daemon can send others than those that have a name here.
  public struct Name: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The word of the protocol.
    public let rawValue: String

    /// Makes a name from its word in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }

    /// A screen is about to be on top.
    public static let willShow = Self(rawValue: "willShow")
    /// A screen is on top.
    public static let didShow = Self(rawValue: "didShow")
    /// A screen is about to be on top no more.
    public static let willHide = Self(rawValue: "willHide")
    /// A screen is on top no more.
    public static let didHide = Self(rawValue: "didHide")
    /// A screen was pushed, and its transition is over.
    public static let didPush = Self(rawValue: "didPush")
    /// A screen was popped, and its transition is over.
    public static let didPop = Self(rawValue: "didPop")
    /// A screen was presented, and its transition is over.
    public static let didPresent = Self(rawValue: "didPresent")
    /// A presented screen was dismissed, and its transition is over.
    public static let didDismiss = Self(rawValue: "didDismiss")
    /// A transition has begun.
    public static let transitionBegan = Self(rawValue: "transitionBegan")
    /// A gesture drives a transition.
    public static let transitionProgress = Self(rawValue: "transitionProgress")
    /// A transition is over.
    public static let transitionEnded = Self(rawValue: "transitionEnded")
    /// The bar is hidden or shown together with a transition.
    public static let barChange = Self(rawValue: "barChange")
    /// The bars were hidden or shown for another reason.
    public static let barsVisibilityChanged = Self(rawValue: "barsVisibilityChanged")
    /// A person tried to pop a screen that does not allow it.
    public static let popBlocked = Self(rawValue: "popBlocked")
    /// A person tried to dismiss a screen that does not allow it.
    public static let dismissAttempted = Self(rawValue: "dismissAttempted")
    /// A person pressed the Back key at the root, where nothing can be dismissed.
    public static let backAtRoot = Self(rawValue: "backAtRoot")
    /// A button was tapped.
    public static let buttonActivated = Self(rawValue: "buttonActivated")
  }

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
}
