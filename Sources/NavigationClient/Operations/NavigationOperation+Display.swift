import NavigationCore

extension NavigationOperation {
  /// Sets members of the navigation bar.
  public static func setBar(_ settings: [BarSetting]) -> NavigationOperation {
    NavigationOperation(.barSet, JSONObject(settings.map(\.member)))
  }

  /// Sets members of the toolbar.
  public static func setToolbar(_ settings: [ToolbarSetting]) -> NavigationOperation {
    NavigationOperation(.toolbarSet, JSONObject(settings.map(\.member)))
  }

  /// Sets the look of all bars or toolbars of a class; a value of a bar itself takes precedence.
  ///
  /// It is an operation of the nav `$appearance`, and takes no `tintColor`.
  public static func setProxy(
    ofClass name: String? = nil, _ settings: [BarSetting]
  ) -> NavigationOperation {
    NavigationOperation(
      .proxySet, ["class": name.map { .string($0) }] + JSONObject(settings.map(\.member)))
  }

  /// Sets one appearance of the bar, or of one screen's item; nil removes it.
  ///
  /// - Parameters:
  ///   - slot: the state in which it applies.
  ///   - appearance: members such as `background`, `shadow`, `title` and `indicator`.
  ///   - screen: the id of the screen; nil for the bar.
  /// - Returns: the operation.
  public static func setAppearance(
    _ slot: AppearanceSlot, _ appearance: [String: NavigationValue]?, of screen: String? = nil
  ) -> NavigationOperation {
    NavigationOperation(
      .appearanceSet,
      [
        "slot": .string(slot.rawValue),
        "object": (appearance.map { .object($0) } ?? NavigationValue.null).octets,
        "screen": screen.map { .string($0) },
      ])
  }

  /// Sets properties of the display; while a client holds it, only that client can.
  public static func setEnvironment(_ facts: [EnvironmentSetting]) -> NavigationOperation {
    NavigationOperation(.envSet, JSONObject(facts.map(\.member)))
  }

  /// Changes settings of the nav; each given setting is set with all its parameters.
  public static func configure(_ settings: [NavigationSetting]) -> NavigationOperation {
    NavigationOperation(.navConfigure, JSONObject(settings.map(\.member)))
  }

  /// Presses a visible button, or chooses an action in a menu: watches get `buttonActivated`, or its
  /// action `nav.pop` pops.
  ///
  /// - Parameters:
  ///   - button: the id of the button; nil for the menu at the title.
  ///   - element: the id of the action in the menu; nil for the button's own action.
  /// - Returns: the operation.
  public static func activateButton(
    _ button: String?, element: String? = nil
  ) -> NavigationOperation {
    NavigationOperation(
      .buttonActivate,
      ["button": button.map { .string($0) }, "element": element.map { .string($0) }])
  }

  /// Swipes over the content; this hides or shows the bars if `hidesBarsOnSwipe` is true.
  public static func swipe(_ direction: SwipeDirection) -> NavigationOperation {
    NavigationOperation(.uiSwipe, ["dir": .string(direction.rawValue)])
  }

  /// Begins a swipe back; the gesture belongs to this client until it ends.
  ///
  /// It needs a guard.
  ///
  /// - Parameters:
  ///   - kind: whether it began at the edge or anywhere.
  ///   - translation: the distance so far; the daemon refuses one that is not above 0.
  /// - Returns: the operation.
  public static func beginGesture(
    _ kind: NavigationGestureKind, translation: Double = 1
  ) -> NavigationOperation {
    NavigationOperation(
      .gestureBegin,
      [
        "kind": .string(kind.rawValue),
        "translation": NavigationValue.number(translation).octets,
      ])
  }
}
