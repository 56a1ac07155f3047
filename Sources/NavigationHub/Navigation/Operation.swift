package import NavigationCore

/// An operation on a nav, in UIKit's words; its arguments are read, but not checked yet.
///
/// The daemon reads operations from messages. A client sends JSON, whose arguments only the daemon checks.
package enum Operation: Hashable, Sendable {
  /// UIKit's `pushViewController(_:animated:)`.
  case push(ScreenArgument, onDuplicate: DuplicatePolicy)
  /// UIKit's `show(_:sender:)`: a push that is animated by default.
  case show(ScreenArgument, onDuplicate: DuplicatePolicy)
  /// UIKit's `popViewController(animated:)`, and `popItem(animated:)` of a standalone bar.
  case pop
  /// UIKit's `popToViewController(_:animated:)`; `inclusive` pops the target too.
  case popTo(PopTarget, inclusive: Bool = false)
  /// UIKit's `popToRootViewController(animated:)`.
  case popToRoot
  /// UIKit's `setViewControllers(_:animated:)`, and `setItems(_:animated:)` of a standalone bar.
  case setStack([ScreenArgument])
  /// Puts a screen in the place of another; of the top if `screen` is nil.
  ///
  /// Displays animate a new top as a push, or as a pop if `isBack`.
  indirect case replace(ScreenID?, with: ScreenArgument, isBack: Bool)
  /// Puts a screen into the stack.
  indirect case insert(ScreenArgument, StackPlace)
  /// Takes screens out of the stack, at any depth.
  case remove([ScreenID])
  /// Makes a detached screen.
  case createScreen(ScreenRecord, replaces: Bool = false)
  case setScreen(ScreenID, [ScreenEdit])
  /// Forgets a detached screen.
  case releaseScreen(ScreenID)
  case setItem(ScreenID, [ItemEdit], requireOnStack: Bool)
  /// Makes a detached button.
  case createButton(ButtonRecord)
  /// Changes a button wherever it is shown.
  case setButton(ButtonID, [Edit<ButtonContent>])
  /// Forgets an unused button.
  case releaseButton(ButtonID)
  /// Sends the action of a shown button, or of an element of its menu, as a tap does; without a button,
  /// of the menu at the title.
  case activateButton(ButtonID?, element: ButtonID? = nil)
  case configure([Edit<Settings>])
  /// Puts the controller on display: from now on it must have a root.
  case attach
  /// Takes the controller off display.
  case detach
  // Presentations. Two cases are out of line: with them, every operation would be larger.

  /// UIKit's `present(_:animated:)`; if `from` is nil, the visible screen presents.
  indirect case present(ScreenArgument, from: ScreenID?, style: String?)
  /// UIKit's `dismiss(animated:)`: removes what `from` presents and everything above, or `from`
  /// itself if it presents nothing.
  ///
  /// A screen of the stack, like nil, dismisses the whole chain of presented screens.
  case dismiss(from: ScreenID?)

  /// A person swipes the outermost presented screen down.
  case swipeDown

  /// One of the pops and dismissals, with a result that belongs to the lowest screen that it removes.
  indirect case returning(Operation, result: OpaqueJSON)

  // Replacements of the stack that name no screens themselves.

  /// Opens a route by the templates in the settings; `role` is that of the client that opens it.
  /// `dismissesFirst` is nil for what the settings say.
  case open(route: String, role: String? = nil, dismissesFirst: Bool? = nil)
  /// Restores saved screens; `root` is the new stack if none of them can be restored.
  indirect case restore([RestorationEntry], root: ScreenArgument?)
  /// Restores the stack of an earlier revision; the hub takes `stack` from the journal.
  case revert(to: Revision, stack: [ScreenID]?)

  // Items of a standalone bar, which keeps them as screens of which only the item is used.

  /// A tap on the back button of a standalone bar or of a controller's bar.
  case backTap
  /// The Back key: dismisses the outermost presented screen, or else pops the top.
  case backKey
  /// A person goes back to this screen, which is chosen in the menu of the back button.
  case backMenu(ScreenID)

  // Bars and the display.

  case setBar([Edit<Bar>])
  case setToolbar([Edit<Toolbar>])
  /// UIKit's `setNavigationBarHidden(_:animated:)`.
  case setBarHidden(Bool)
  /// UIKit's `setToolbarHidden(_:animated:)`.
  case setToolbarHidden(Bool)
  /// Sets one appearance object of the bar, or of a screen's item; nil removes it.
  case setAppearance(AppearanceSlot, OpaqueJSON?, screen: ScreenID?)
  /// Changes UIKit's appearance proxy of a class: the look of all its bars where they set no value.
  case setProxy(className: String, [Edit<Bar>])
  /// Changes members of the environment, which the display reports.
  case setEnvironment([Edit<Environment>])
  /// A tap on the screen's content, which can hide or show the bars.
  case tapContent
  /// A swipe over the screen's content, which can hide or show the bars.
  case swipeContent(SwipeDirection)

  // Transitions.

  /// The display finished the animation that began with this revision.
  case completeTransition(Revision)
  /// A swipe begins to pop the top screen; `translation` is its way so far, to the right.
  case beginGesture(isFullScreen: Bool, translation: Double, owner: String)
  /// The swipe has gone this part of its way, 0 … 1.
  case updateGesture(Double)
  /// The swipe ends, and the top screen is popped.
  case finishGesture
  /// The swipe ends without effect.
  case cancelGesture

  // The daemon itself asks for these; no client can.

  /// The deadline passed: navd completes an animation as timed out, and cancels a gesture.
  case expireTransition
  /// Ends the transition where it stands, for an operation that begins from there.
  case interruptTransition(progress: Double?)
  /// Ends, after a restart of the daemon, the transition, the display lease and the delegate's
  /// orientations.
  case recoverAfterRestart
  /// Another client became the owner of the display; nil for none.
  case setDisplayOwner(String?)
  /// Takes over those looks of `$appearance` that are for the bar classes of this nav.
  case adoptLooks([Text: BarLook])
  /// The orientation delegate's answer; nil if there is no such delegate any more.
  case setOrientations(DelegateOrientations?)
}

/// A screen as an argument: the id of a known screen, or the record of a new one.
package enum ScreenArgument: Hashable, Sendable {
  case id(ScreenID)
  case record(ScreenRecord)
}

/// The behaviour of a push if the screen is on the stack already.
package enum DuplicatePolicy: UInt8, CaseIterable, Sendable {
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

  /// Whether a pushed record without an id can duplicate a screen with the same route and args.
  package var comparesRoutes: Bool { self != .error && self != .ignore }
  /// Whether the push can pop screens.
  package var mayPop: Bool { self == .popTo || self == .update }
}

/// A place in the stack for a new screen.
package enum StackPlace: Hashable, Sendable {
  /// Directly below a screen of the stack.
  case below(ScreenID)
  /// Directly above a screen of the stack.
  case above(ScreenID)
  /// At an index from 0, the bottom, to the depth of the stack.
  case at(Int)
}

/// The target of a pop.
package enum PopTarget: Hashable, Sendable {
  case screen(ScreenID)
  /// The top-most screen with this route; `mustBeUnique` refuses several matches.
  case route(String, mustBeUnique: Bool)
}

/// A screen as a client describes it.
package struct ScreenRecord: Hashable, Sendable {
  /// The identity; nil lets the daemon assign one.
  package var id: ScreenID?
  /// The kind; nil stands for `content`.
  package var kind: ScreenKind?
  package var edits: [ScreenEdit] = []
  package var item: [ItemEdit] = []
}

/// One member of a screen to set.
package enum ScreenEdit: Hashable, Sendable {
  case title(String?)
  case route(String?)
  case args(OpaqueJSON?)
  case toolbarItems([ButtonArgument])
  indirect case other(Edit<ScreenDetails>)

  package static func set<Value>(
    _ path: Edit<ScreenDetails>.Path<Value>, _ value: Value
  ) -> ScreenEdit { .other(Edit(path, value)) }
}

/// One member of a navigation item to set.
package enum ItemEdit: Hashable, Sendable {
  case title(String?)
  case backBarButtonItem(ButtonArgument?)
  case backAction(ButtonArgument?)
  case leftItems([ButtonArgument])
  case rightItems([ButtonArgument])
  indirect case other(Edit<NavigationItem>)

  package static func set<Value>(
    _ path: Edit<NavigationItem>.Path<Value>, _ value: Value
  ) -> ItemEdit { .other(Edit(path, value)) }
}

/// A button as an argument: the id of a known button, or the record of a new one.
package enum ButtonArgument: Hashable, Sendable {
  case id(ButtonID)
  case record(ButtonRecord)
}

/// A button as a client describes it.
package struct ButtonRecord: Hashable, Sendable {
  /// The identity; nil lets the daemon assign one.
  package var id: ButtonID?
  package var edits: [Edit<ButtonContent>] = []
}

/// The output of one operation, which the reply contains.
package enum OperationOutput: Hashable, Sendable {
  case nothing
  /// The screen that the operation made, pushed, showed or presented.
  case screen(ScreenID)
  /// The push had no effect because the screen is on the stack already.
  case alreadyInStack(ScreenID)
  /// The screen that a push brought to the top, and the screens that it popped, bottom first.
  case found(ScreenID, popped: [ScreenID])
  /// The screen that took the place of another one, and that one.
  case exchanged(ScreenID, popped: ScreenID)
  /// The button that the operation made.
  case button(ButtonID)
  /// The screen that a pop removed; nil at the root.
  case popped(ScreenID?)
  /// The screens that a pop to a screen removed, bottom first.
  case poppedAll([ScreenID])
  /// The screens that a whole-stack replacement removed, and the new stack, both bottom first.
  case replaced(popped: [ScreenID], ids: [ScreenID])
  /// The screens that a dismissal removed, outermost last.
  case dismissed([ScreenID])
  /// The new stack, and the paths of the entries that could not be rebuilt.
  case restored(ids: [ScreenID], skipped: [String])
  /// A gesture began, as the transition of this revision.
  case gestureBegan(Revision)
  /// The transition of a gesture, and how much of its way the gesture has gone, 0 … 1.
  case gestureProgress(Revision, Double)
  /// A button was activated; the hub sends the action and counts the watches that get it.
  case activated(ButtonID?, element: ButtonID? = nil, action: String?)

  /// The lowest of the screens that the operation removed; nil if it removed none.
  var lowestRemoved: ScreenID? {
    switch self {
    case .popped(let id): id
    case .poppedAll(let ids), .dismissed(let ids): ids.first
    case .exchanged(_, let id): id
    default: nil
    }
  }
}
