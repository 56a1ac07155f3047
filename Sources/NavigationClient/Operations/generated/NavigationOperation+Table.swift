// Written from the table of operations in NavigationCore; see GeneratedTests.

import NavigationCore

extension NavigationOperation {
  /// Closes the nav.
  ///
  /// It stands alone in its list. It needs a guard by revision, digest or stack.
  public static func close() -> NavigationOperation {
    NavigationOperation(.navClose)
  }

  /// Puts the nav on display; it must have a root screen.
  public static func attach() -> NavigationOperation {
    NavigationOperation(.attach)
  }

  /// Takes the nav off the display.
  public static func detach() -> NavigationOperation {
    NavigationOperation(.detach)
  }

  /// Removes the top screen; the root stays.
  ///
  /// It needs a guard. `result`, at most 4 KiB, is for the client that waits for the screen.
  public static func pop(result: NavigationValue? = nil) -> NavigationOperation {
    var arguments: JSONObject = [:]
    arguments.add("result", result?.octets)
    return NavigationOperation(.pop, arguments)
  }

  /// Removes all screens above the root.
  public static func popToRoot() -> NavigationOperation {
    NavigationOperation(.popToRoot)
  }

  /// Restores ids and order of an earlier stack; the screens keep their present content.
  ///
  /// It needs a guard by revision, digest or stack.
  public static func revert(to revision: UInt64) -> NavigationOperation {
    NavigationOperation(.revert, ["rev": .integer(revision)])
  }

  /// Forgets a screen that is not shown.
  public static func releaseScreen(_ screen: String) -> NavigationOperation {
    NavigationOperation(.screenRelease, ["screen": .string(screen)])
  }

  /// Forgets a button that is not in use.
  public static func releaseButton(_ button: String) -> NavigationOperation {
    NavigationOperation(.buttonRelease, ["button": .string(button)])
  }

  /// Sets whether the bar is hidden.
  public static func setBarHidden(_ isHidden: Bool) -> NavigationOperation {
    NavigationOperation(.barSetHidden, ["hidden": .bool(isHidden)])
  }

  /// Sets whether the toolbar is hidden.
  public static func setToolbarHidden(_ isHidden: Bool) -> NavigationOperation {
    NavigationOperation(.toolbarSetHidden, ["hidden": .bool(isHidden)])
  }

  /// Removes the top item of a standalone bar.
  ///
  /// It needs a guard.
  public static func popItem() -> NavigationOperation {
    NavigationOperation(.popItem)
  }

  /// Taps the back button.
  ///
  /// Under a presentation, except a popover, navd refuses it as `covered`. It needs a guard.
  public static func backTap() -> NavigationOperation {
    NavigationOperation(.uiBackTap)
  }

  /// Chooses a screen in the menu of the back button: a person goes back to it.
  ///
  /// If the screen is the top already, nothing changes.
  public static func backMenu(_ screen: String) -> NavigationOperation {
    NavigationOperation(.uiBackMenu, ["screen": .string(screen)])
  }

  /// Presses the Back key: end a search, dismiss, or pop; at the root watches get `backAtRoot`.
  ///
  /// It needs a guard by `visible`, revision or digest.
  public static func backKey() -> NavigationOperation {
    NavigationOperation(.uiBack)
  }

  /// Swipes the outermost presented screen down, as a person does.
  ///
  /// navd refuses it as `dismiss-blocked` with `modalInPresentation`, and in the styles
  /// `fullScreen` and `overFullScreen`. It needs a guard by `visible`, revision or digest.
  /// `result`, at most 4 KiB, is for the client that waits for the screen.
  public static func swipeDown(result: NavigationValue? = nil) -> NavigationOperation {
    var arguments: JSONObject = [:]
    arguments.add("result", result?.octets)
    return NavigationOperation(.uiDismiss, arguments)
  }

  /// Taps the content, which may hide the bars.
  public static func tap() -> NavigationOperation {
    NavigationOperation(.uiTap)
  }

  /// Reports how far the gesture is, from 0 to 1.
  public static func updateGesture(_ value: Double) -> NavigationOperation {
    NavigationOperation(.gestureUpdate, ["value": NavigationValue.number(value).octets])
  }

  /// Ends the gesture with a pop.
  public static func finishGesture() -> NavigationOperation {
    NavigationOperation(.gestureFinish)
  }

  /// Ends the gesture without a pop.
  public static func cancelGesture() -> NavigationOperation {
    NavigationOperation(.gestureCancel)
  }

  /// Reports that the display has shown a transition to its end.
  ///
  /// The event `transitionBegan` has its number.
  public static func completeTransition(_ transition: UInt64) -> NavigationOperation {
    NavigationOperation(.transitionComplete, ["tid": .integer(transition)])
  }
}
