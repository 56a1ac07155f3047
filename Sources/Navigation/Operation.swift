/// What can be asked of a nav, in UIKit's words; the arguments are read, not yet checked.
///
/// The daemon reads it from a message. A client sends JSON, whose arguments only the daemon checks.
package enum Operation: Hashable, Sendable {
  /// UIKit's `pushViewController(_:animated:)`.
  case push(ScreenArgument, onDuplicate: DuplicatePolicy)
  /// UIKit's `show(_:sender:)`: a push that is animated unless said otherwise.
  case show(ScreenArgument, onDuplicate: DuplicatePolicy)
  /// UIKit's `popViewController(animated:)`.
  case pop
  /// UIKit's `popToViewController(_:animated:)`.
  case popTo(PopTarget)
  /// UIKit's `popToRootViewController(animated:)`.
  case popToRoot
  /// UIKit's `setViewControllers(_:animated:)`.
  case setStack([ScreenArgument])
  /// Makes a detached screen.
  case createScreen(ScreenRecord)
  /// Changes members of a screen.
  case setScreen(ScreenID, [ScreenEdit])
  /// Forgets a detached screen.
  case releaseScreen(ScreenID)
  /// Changes members of a screen's navigation item.
  case setItem(ScreenID, [ItemEdit], requireOnStack: Bool)
  /// Makes a button that stands in no list yet.
  case createButton(ButtonRecord)
  /// Changes a button wherever it is shown.
  case setButton(ButtonID, [ButtonEdit])
  /// Forgets an unused button.
  case releaseButton(ButtonID)
  /// Sends a shown button's action, as a tap does.
  case activateButton(ButtonID)
  /// Changes settings.
  case configure([SettingsEdit])
  /// Puts the controller on display: from now on it must have a root.
  case attach
  /// Takes the controller off display.
  case detach
  // Presentations. Two cases are out of line: with them, every operation would be larger.

  /// UIKit's `present(_:animated:)`; without a presenter what is visible presents.
  indirect case present(ScreenArgument, from: ScreenID?, style: String?)
  /// UIKit's `dismiss(animated:)`: what a screen presents and everything above it, or the whole
  /// chain.
  case dismiss(from: ScreenID?)

  // Replacements of the stack that name no screens themselves.

  /// Goes to a route by the templates in the settings.
  case open(route: String)
  /// Puts back what was saved; the root is for a payload of which nothing is left.
  indirect case restore([RestorationEntry], root: ScreenArgument?)
  /// Puts back the stack of an earlier revision; what it was is found by who keeps the history.
  case revert(to: Revision, stack: [ScreenID]?)

  // Items of a standalone bar, which keeps them as screens of which only the item is used.

  /// UIKit's `pushItem(_:animated:)`.
  case pushItem(ScreenArgument)
  /// UIKit's `popItem(animated:)`.
  case popItem
  /// UIKit's `setItems(_:animated:)`.
  case setItems([ScreenArgument])
  /// A tap on the back button, of a controller too.
  case backTap

  // Bars and the display.

  /// Changes members of the bar.
  case setBar([BarEdit])
  /// Changes members of the toolbar.
  case setToolbar([ToolbarEdit])
  /// UIKit's `setNavigationBarHidden(_:animated:)`.
  case setBarHidden(Bool)
  /// UIKit's `setToolbarHidden(_:animated:)`.
  case setToolbarHidden(Bool)
  /// Sets one appearance object of the bar, or of a screen's item; nil removes it.
  case setAppearance(AppearanceSlot, OpaqueJSON?, screen: ScreenID?)
  /// Changes what all bars of a class look like unless they say otherwise.
  case setProxy(className: String, [BarLookEdit])
  /// Changes what the display reports.
  case setEnvironment([EnvironmentEdit])
  /// A tap on the content.
  case tap
  /// A swipe over the content.
  case swipe(SwipeDirection)

  // Transitions.

  /// The display has finished the animation that this revision began.
  case completeTransition(Revision)
  /// A finger begins to pop the top screen; `translation` is its way so far, to the right.
  case beginGesture(isFullScreen: Bool, translation: Double, owner: String)
  /// The finger has gone this part of the way, 0 … 1.
  case updateGesture(Double)
  /// The finger lets go, and the screen is popped.
  case finishGesture
  /// The finger lets go, and nothing has happened.
  case cancelGesture

  // The daemon itself asks for these; no client can.

  /// Nobody completed the transition in time: an animation is complete, a gesture is cancelled.
  case expireTransition
  /// The daemon was restarted: the transition expires, and nobody holds the display or gives
  /// orientations.
  case recover
  /// Another client holds the display, or none.
  case setDisplayOwner(String?)
  /// The orientation delegate gave these, or is gone.
  case setOrientations(DelegateOrientations?)
}

/// A screen that an operation names: one that is known, or one to make in place.
package enum ScreenArgument: Hashable, Sendable {
  /// A known screen.
  case id(ScreenID)
  /// A new screen.
  case record(ScreenRecord)
}

/// What to do when a pushed screen is on the stack already.
package enum DuplicatePolicy: UInt8, Sendable {
  /// Refuse with `duplicate-screen`.
  case error
  /// Succeed without effect.
  case ignore
}

/// Where to pop to.
package enum PopTarget: Hashable, Sendable {
  /// A screen by identity.
  case screen(ScreenID)
  /// The screen with this route: the top-most, or the only one.
  case route(String, mustBeUnique: Bool)
}

/// A screen as a client describes it.
package struct ScreenRecord: Hashable, Sendable {
  /// The identity; nil lets the daemon assign one.
  package var id: ScreenID?
  /// The kind.
  package var kind: ScreenKind
  /// Its other members.
  package var edits: [ScreenEdit]
  /// The members of its navigation item.
  package var item: [ItemEdit]

  /// Makes a record from its members.
  package init(
    id: ScreenID? = nil, kind: ScreenKind = .content, edits: [ScreenEdit] = [],
    item: [ItemEdit] = []
  ) {
    self.id = id
    self.kind = kind
    self.edits = edits
    self.item = item
  }
}

/// One member of a screen to set.
package enum ScreenEdit: Hashable, Sendable {
  /// The members of `Screen` and `ScreenDetails`.
  case title(String?)
  case route(String?)
  case args(OpaqueJSON?)
  case restorationID(String?)
  case prefersBarHidden(Bool?)
  case wantsFullScreenLayout(Bool)
  case extendsUnderOpaqueBars(Bool)
  case edges(Edges)
  case toolbarItems([ButtonArgument])
}

/// One member of a navigation item to set.
package enum ItemEdit: Hashable, Sendable {
  /// The members of `NavigationItem`.
  case title(String?)
  case prompt(String?)
  case titleView(TitleView?)
  case backBarButtonItem(ButtonArgument?)
  case hidesBackButton(Bool)
  case leftItemsSupplementBackButton(Bool)
  case leftItems([ButtonArgument])
  case rightItems([ButtonArgument])
  case largeTitleDisplayMode(LargeTitleDisplayMode)
  case appearance(AppearanceSet)
}

/// A button that a list names: one that is known, or one to make in place.
package enum ButtonArgument: Hashable, Sendable {
  /// A known button.
  case id(ButtonID)
  /// A new button.
  case record(ButtonRecord)
}

/// A button as a client describes it.
package struct ButtonRecord: Hashable, Sendable {
  /// The identity; nil lets the daemon assign one.
  package var id: ButtonID?
  /// Its members.
  package var edits: [ButtonEdit]

  /// Makes the description of a new button from its id and the members to set.
  package init(id: ButtonID? = nil, edits: [ButtonEdit] = []) {
    self.id = id
    self.edits = edits
  }
}

/// One member of a button to set.
package enum ButtonEdit: Hashable, Sendable {
  /// The members of `ButtonContent`.
  case title(String?)
  case image(ImageReference?)
  case landscapeImage(ImageReference?)
  case systemItem(SystemItem?)
  case customView(OpaqueJSON?)
  case style(ButtonStyle)
  case action(String?)
}

/// What one operation hands back.
package enum OperationOutput: Hashable, Sendable {
  /// Nothing.
  case nothing
  /// A screen made, pushed or shown.
  case screen(ScreenID)
  /// The push had no effect because the screen is on the stack already.
  case alreadyInStack(ScreenID)
  /// A button made.
  case button(ButtonID)
  /// The screen that a pop removed; nil at the root.
  case popped(ScreenID?)
  /// The screens that a pop to a screen removed, bottom first.
  case poppedAll([ScreenID])
  /// What a whole-stack replacement removed, bottom first, and the new stack.
  case replaced(popped: [ScreenID], ids: [ScreenID])
  /// The screens that a dismissal removed, outermost last.
  case dismissed([ScreenID])
  /// The new stack, and the paths of the entries that could not be rebuilt.
  case restored(ids: [ScreenID], skipped: [String])
  /// A gesture began.
  case transition(Revision)
  /// A gesture has gone part of its way.
  case progress(Revision, Double)
  /// A button's action was sent; how many watches it went to is for the hub to say.
  case activated(ButtonID, action: String?)
}
