extension NavigationClientError.Reason {
  /// Guard: the nav was made anew.
  public static let epoch = Self(rawValue: "epoch")
  /// Guard: the nav has another revision.
  public static let revision = Self(rawValue: "rev")
  /// Guard: the nav has another digest.
  public static let digest = Self(rawValue: "digest")
  /// Guard: another screen is on top.
  public static let top = Self(rawValue: "top")
  /// Guard or limit: the stack has another number of screens than the guard, or too many.
  public static let depth = Self(rawValue: "depth")
  /// Guard: other screens are on the stack.
  public static let stack = Self(rawValue: "stack")
  /// Guard: a screen is not on the stack.
  public static let has = Self(rawValue: "has")
  /// Guard: another screen is visible.
  public static let visible = Self(rawValue: "visible")
  /// Guard: the watch of the state is not in sync; from this library.
  public static let mirror = Self(rawValue: "mirror")
  /// Limit: a message or value is too large.
  public static let size = Self(rawValue: "size")
  /// Limit: the sender has as many as it may have.
  public static let quota = Self(rawValue: "quota")
  /// Busy: no daemon of the cluster has the nav at the moment.
  public static let noOwner = Self(rawValue: "no-owner")
  /// Gesture: another one, or a transition, is open.
  public static let active = Self(rawValue: "active")
  /// Gesture: a presented screen covers the stack.
  public static let covered = Self(rawValue: "covered")
  /// Gesture: the setting `interactivePop` forbids it; button: it is not enabled.
  public static let disabled = Self(rawValue: "disabled")
  /// Gesture: the root screen is on top.
  public static let root = Self(rawValue: "root")
  /// Gesture: no back button is visible.
  public static let backButton = Self(rawValue: "backButton")
  /// Gesture: `canPop` of the top screen is false.
  public static let blocked = Self(rawValue: "blocked")
  /// Gesture: it goes in the wrong direction.
  public static let direction = Self(rawValue: "direction")
  /// Dismissal: the screen is modal.
  public static let modalInPresentation = Self(rawValue: "modalInPresentation")
  /// Dismissal: the style of the presentation has no swipe.
  public static let style = Self(rawValue: "style")
  /// Button: it is not among those of the top screen.
  public static let notDisplayed = Self(rawValue: "notDisplayed")
}
