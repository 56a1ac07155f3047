/// The cause of a revision.
///
/// It is a structure and no enumeration, because a newer daemon can send causes that this library
/// does not name.
public struct NavigationCause: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The word of the protocol.
  public let rawValue: String

  /// Makes a cause from its word in the protocol.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The text of ``rawValue``.
  public var description: String { rawValue }

  /// An operation of a program.
  public static let api = Self(rawValue: "api")
  /// A segue.
  public static let segue = Self(rawValue: "segue")
  /// A person used the back button, its menu, or a button that pops.
  public static let backButton = Self(rawValue: "backButton")
  /// A person swiped.
  public static let gesture = Self(rawValue: "gesture")
  /// The display reported the end of a transition.
  public static let complete = Self(rawValue: "complete")
  /// A transition was cancelled.
  public static let cancel = Self(rawValue: "cancel")
  /// The daemon ended a transition or gesture at its deadline.
  public static let timeout = Self(rawValue: "timeout")
  /// ``NavigationOperation/restore(_:root:)``.
  public static let restore = Self(rawValue: "restore")
  /// ``NavigationOperation/revert(to:)``.
  public static let revert = Self(rawValue: "revert")
  /// ``NavigationOperation/open(_:)``.
  public static let open = Self(rawValue: "open")
  /// A client took or released the display, or the orientations of a delegate changed.
  public static let lease = Self(rawValue: "lease")
  /// The daemon ended, at its start, the transition that was open before.
  public static let recovery = Self(rawValue: "recovery")
  /// The nav took over the look of all bars of a class.
  public static let appearance = Self(rawValue: "appearance")
}

/// The effect of a transition on the stack or the presentations; UIKit's
/// `UINavigationController.Operation`.
///
/// A newer daemon can send others than those that have a name here.
public struct NavigationTransitionOperation: RawRepresentable, Hashable, Sendable,
  CustomStringConvertible
{
  /// The word of the protocol.
  public let rawValue: String

  /// Makes an operation from its word in the protocol.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The text of ``rawValue``.
  public var description: String { rawValue }

  /// A screen comes onto the stack.
  public static let push = Self(rawValue: "push")
  /// A screen leaves the stack.
  public static let pop = Self(rawValue: "pop")
  /// A screen is presented over the stack.
  public static let present = Self(rawValue: "present")
  /// A presented screen is dismissed.
  public static let dismiss = Self(rawValue: "dismiss")
}
