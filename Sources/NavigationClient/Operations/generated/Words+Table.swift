// Written from the enumerations of the core; see GeneratedTests.

/// The state of the bar in which an appearance applies, such as UIKit's `standardAppearance`.
public enum AppearanceSlot: String, Hashable, Sendable {
  /// All states without an appearance of their own.
  case standard
  /// The height is compact.
  case compact
  /// The content is scrolled to its edge.
  case scrollEdge
  /// The height is compact and the content is scrolled to its edge.
  case compactScrollEdge
}

/// UIKit's `UIBarMetrics`: the height class of a bar, and whether it has a prompt.
public enum BarMetrics: String, Hashable, Sendable, CaseIterable {
  /// The regular height.
  case `default`
  /// The compact height, as on a phone in landscape.
  case compact
  /// The regular height, with a prompt.
  case defaultPrompt
  /// The compact height, with a prompt.
  case compactPrompt
}

/// UIKit's `UIBarPosition`: where a bar is on the display.
public enum BarPosition: String, Hashable, Sendable, CaseIterable {
  /// Unspecified; an image for it applies where the exact position has none.
  case any
  /// At the bottom of its container.
  case bottom
  /// At the top of its container.
  case top
  /// At the top of the display, below the status bar.
  case topAttached
}

extension BarSetting {
  /// The style of a bar.
  public enum Style: String, Hashable, Sendable {
    /// Dark on light.
    case `default`
    /// Light on dark.
    case black
  }
}

extension NavigationSetting {
  /// The operations that need a guard.
  public enum GuardPolicy: String, Hashable, Sendable {
    /// No operation.
    case none
    /// Operations that remove screens by position; the default.
    case removal
    /// All operations.
    case all
  }
}

extension NavigationSetting {
  /// The operations about which the daemon asks delegates with the role veto.
  public enum VetoScope: String, Hashable, Sendable {
    /// Pushes and pops; the default.
    case pushpop
    /// Dismissals, and nothing else.
    case dismiss
    /// Pushes, pops, dismissals, and replacements of the whole stack.
    case all
  }
}

extension EnvironmentSetting {
  /// The animations that a person wants.
  public enum Animations: String, Hashable, Sendable {
    /// All animations; the default.
    case on
    /// No animations: no change opens a transition.
    case off
    /// A short fade in place of movement.
    case reduced
  }
}

extension NavigationOperation {
  /// A direction of a swipe.
  public enum SwipeDirection: String, Hashable, Sendable {
    /// Up, towards the bar.
    case up
    /// Down, away from the bar.
    case down
  }
}

extension NavigationOperation {
  /// The behaviour of a push if the screen is on the stack already.
  public enum DuplicatePolicy: String, Hashable, Sendable {
    /// The daemon refuses it with `duplicate-screen`.
    case error
    /// The daemon changes nothing and answers `ok`.
    case ignore
    /// The daemon pops to the screen.
    case popTo
    /// The daemon pops to the screen, and sets the members that the description has.
    case update
    /// The daemon takes the screen out and pushes it, as it is.
    case moveToTop
    /// The daemon changes nothing, also if only route and args are those of a pushed record without an
    /// id.
    case ignoreRoute
  }
}

extension NavigationState {
  /// The name of one of the six parts of a nav's state that it has beside the stack.
  public enum Part: String, Hashable, Sendable, CaseIterable {
    /// The properties that clients set of the navigation bar.
    case bar
    /// The properties that clients set of the toolbar.
    case toolbar
    /// The presented screens.
    case presented
    /// The open transition.
    case transition
    /// The properties of the display.
    case environment
    /// The settings of the nav.
    case settings
  }
}

extension NavigationEvent {
  /// How a transition ended.
  ///
  /// A newer daemon can send others than those that have a name here.
  public struct TransitionOutcome: RawRepresentable, Hashable, Sendable,
    CustomStringConvertible
  {
    /// The word of the protocol.
    public let rawValue: String

    /// Makes a value from its word in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }

    /// The display has shown the transition to its end.
    public static let completed = Self(rawValue: "completed")
    /// The transition was cancelled, and its change rolled back.
    public static let cancelled = Self(rawValue: "cancelled")
    /// The display did not report the end in time; the transition counts as completed.
    public static let timedOut = Self(rawValue: "timedOut")
    /// Another operation began before the end: an animation counts as completed, a gesture as cancelled.
    public static let interrupted = Self(rawValue: "interrupted")
  }
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

  /// Makes a value from its word in the protocol.
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

/// An orientation of a display.
///
/// A newer daemon can send others than those that have a name here.
public struct NavigationOrientation: RawRepresentable, Hashable, Sendable,
  CustomStringConvertible
{
  /// The word of the protocol.
  public let rawValue: String

  /// Makes a value from its word in the protocol.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The text of ``rawValue``.
  public var description: String { rawValue }

  /// Upright, the top of the device up.
  public static let portrait = Self(rawValue: "portrait")
  /// Upside down.
  public static let portraitUpsideDown = Self(rawValue: "portraitUpsideDown")
  /// UIKit's interface orientation `landscapeLeft`.
  public static let landscapeLeft = Self(rawValue: "landscapeLeft")
  /// UIKit's interface orientation `landscapeRight`.
  public static let landscapeRight = Self(rawValue: "landscapeRight")
}

/// UIKit's `UIBarButtonItem.SystemItem`: a button that every display knows.
///
/// A newer daemon can send others than those that have a name here.
public struct SystemItem: RawRepresentable, Hashable, Sendable,
  CustomStringConvertible
{
  /// The word of the protocol.
  public let rawValue: String

  /// Makes a value from its word in the protocol.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The text of ``rawValue``.
  public var description: String { rawValue }

  /// The standard button for the end of a task.
  public static let done = Self(rawValue: "done")
  /// Leaves without saving.
  public static let cancel = Self(rawValue: "cancel")
  /// Begins to edit.
  public static let edit = Self(rawValue: "edit")
  /// Saves.
  public static let save = Self(rawValue: "save")
  /// Adds something: a plus sign.
  public static let add = Self(rawValue: "add")
  /// A space that takes the room that is left.
  public static let flexibleSpace = Self(rawValue: "flexibleSpace")
  /// A space of a fixed width.
  public static let fixedSpace = Self(rawValue: "fixedSpace")
  /// Begins a new text.
  public static let compose = Self(rawValue: "compose")
  /// Replies.
  public static let reply = Self(rawValue: "reply")
  /// Shares, or offers other actions.
  public static let action = Self(rawValue: "action")
  /// Puts something into a folder.
  public static let organize = Self(rawValue: "organize")
  /// Shows bookmarks.
  public static let bookmarks = Self(rawValue: "bookmarks")
  /// Searches.
  public static let search = Self(rawValue: "search")
  /// Loads again.
  public static let refresh = Self(rawValue: "refresh")
  /// Stops: a cross.
  public static let stop = Self(rawValue: "stop")
  /// Opens the camera.
  public static let camera = Self(rawValue: "camera")
  /// Deletes.
  public static let trash = Self(rawValue: "trash")
  /// Plays.
  public static let play = Self(rawValue: "play")
  /// Pauses.
  public static let pause = Self(rawValue: "pause")
  /// Goes back in a recording.
  public static let rewind = Self(rawValue: "rewind")
  /// Goes forward in a recording.
  public static let fastForward = Self(rawValue: "fastForward")
  /// Undoes the last change.
  public static let undo = Self(rawValue: "undo")
  /// Makes the last change again.
  public static let redo = Self(rawValue: "redo")
  /// A page curl; needs `extraSystemItems` of the setting `profile`.
  public static let pageCurl = Self(rawValue: "pageCurl")
  /// Closes; needs `extraSystemItems` of the setting `profile`.
  public static let close = Self(rawValue: "close")
}

/// The cause of a revision.
///
/// A newer daemon can send others than those that have a name here.
public struct NavigationCause: RawRepresentable, Hashable, Sendable,
  CustomStringConvertible
{
  /// The word of the protocol.
  public let rawValue: String

  /// Makes a value from its word in the protocol.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The text of ``rawValue``.
  public var description: String { rawValue }

  /// A program sent the operation.
  public static let api = Self(rawValue: "api")
  /// A program performed a segue.
  public static let segue = Self(rawValue: "segue")
  /// A person used the back button, its menu, or a button that pops.
  public static let backButton = Self(rawValue: "backButton")
  /// A person popped or dismissed a screen by a swipe.
  public static let gesture = Self(rawValue: "gesture")
  /// The display reported the end of a transition.
  public static let complete = Self(rawValue: "complete")
  /// A client cancelled an interactive transition.
  public static let cancel = Self(rawValue: "cancel")
  /// The daemon ended a transition or gesture at its deadline.
  public static let timeout = Self(rawValue: "timeout")
  /// A client restored a saved stack, by ``NavigationOperation/restore(_:root:)``.
  public static let restore = Self(rawValue: "restore")
  /// A client went back to an earlier revision, by ``NavigationOperation/revert(to:)``.
  public static let revert = Self(rawValue: "revert")
  /// A client opened a route, by ``NavigationOperation/open(_:dismissing:)``.
  public static let open = Self(rawValue: "open")
  /// A client took or released the display, or the orientations of a delegate changed.
  public static let lease = Self(rawValue: "lease")
  /// The daemon ended, at its start, a transition that was open when it stopped.
  public static let recovery = Self(rawValue: "recovery")
  /// The nav adopted a change of the appearance of all bars of a class (UIKit's appearance proxy).
  public static let appearance = Self(rawValue: "appearance")
  /// An operation with `onBusy` `interrupt` ended the transition before it.
  public static let interrupt = Self(rawValue: "interrupt")
}

extension NavigationRehearsal.Delegate {
  /// A delegate role that a session can have for a nav.
  ///
  /// A newer daemon can send others than those that have a name here.
  public struct Role: RawRepresentable, Hashable, Sendable,
    CustomStringConvertible
  {
    /// The word of the protocol.
    public let rawValue: String

    /// Makes a value from its word in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }

    /// The daemon asks this delegate before it pushes or pops a screen; the answer false refuses the
    /// op.
    public static let veto = Self(rawValue: "veto")
    /// The daemon asks this delegate for the animator of a transition.
    public static let animator = Self(rawValue: "animator")
    /// The daemon asks this delegate for the driver of an interactive transition.
    public static let interaction = Self(rawValue: "interaction")
    /// The daemon asks no questions; the registration lists the supported orientations.
    public static let orientation = Self(rawValue: "orientation")
  }
}

extension NavigationEvent {
  /// The name of an event, without its details.
  ///
  /// A newer daemon can send others than those that have a name here.
  public struct Name: RawRepresentable, Hashable, Sendable,
    CustomStringConvertible
  {
    /// The word of the protocol.
    public let rawValue: String

    /// Makes a value from its word in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }

    /// A screen is about to be on top.
    public static let willShow = Self(rawValue: "willShow")
    /// A screen is on top.
    public static let didShow = Self(rawValue: "didShow")
    /// A screen is about to leave the top.
    public static let willHide = Self(rawValue: "willHide")
    /// A screen has left the top.
    public static let didHide = Self(rawValue: "didHide")
    /// A screen was pushed, and its transition is over.
    public static let didPush = Self(rawValue: "didPush")
    /// A screen was popped, and its transition is over; with the result from the operation.
    public static let didPop = Self(rawValue: "didPop")
    /// A screen was presented, and its transition is over.
    public static let didPresent = Self(rawValue: "didPresent")
    /// A presented screen was dismissed, and its transition is over; with the result that the
    /// operation gave.
    public static let didDismiss = Self(rawValue: "didDismiss")
    /// A transition has begun; the display reports when it is complete.
    public static let transitionBegan = Self(rawValue: "transitionBegan")
    /// A gesture has moved a transition to `value`, 0 … 1; a slow reader gets only the newest one.
    public static let transitionProgress = Self(rawValue: "transitionProgress")
    /// A transition is over.
    public static let transitionEnded = Self(rawValue: "transitionEnded")
    /// The bar hides or shows with a transition; it `jumps` if that is not animated.
    public static let barChange = Self(rawValue: "barChange")
    /// The bars were hidden or shown outside of a transition; true means shown.
    public static let barsVisibilityChanged = Self(rawValue: "barsVisibilityChanged")
    /// A person tried to pop this screen, which does not allow it (`canPop`).
    public static let popBlocked = Self(rawValue: "popBlocked")
    /// A person tried to dismiss this screen, which does not allow it.
    public static let dismissAttempted = Self(rawValue: "dismissAttempted")
    /// A person pressed the Back key at the root, where nothing can be dismissed.
    public static let backAtRoot = Self(rawValue: "backAtRoot")
    /// A button was tapped, or an element of its menu was chosen; without a button, of the menu at the
    /// title.
    public static let buttonActivated = Self(rawValue: "buttonActivated")
  }
}
