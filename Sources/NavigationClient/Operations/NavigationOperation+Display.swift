extension NavigationOperation {
  /// Sets members of the navigation bar.
  public static func setBar(_ settings: [BarSetting]) -> NavigationOperation {
    NavigationOperation("bar.set", settings.map(\.member))
  }

  /// Sets members of the toolbar.
  public static func setToolbar(_ settings: [ToolbarSetting]) -> NavigationOperation {
    NavigationOperation("toolbar.set", settings.map(\.member))
  }

  /// Sets what all bars of a class have that do not say otherwise themselves.
  ///
  /// The bar's own `tintColor` and the like that are no appearance members are refused.
  public static func setProxy(
    ofClass name: String? = nil, _ settings: [BarSetting]
  ) -> NavigationOperation {
    var arguments: [Member] = []
    arguments.add("class", name)
    return NavigationOperation("proxy.set", arguments + settings.map(\.member))
  }

  /// Where an appearance is used.
  public enum AppearanceSlot: String, Hashable, Sendable {
    /// Everywhere else.
    case standard
    /// When there is little height.
    case compact
    /// While the content is scrolled to its edge.
    case scrollEdge
    /// Both.
    case compactScrollEdge
  }

  /// Sets one appearance of the bar, or of what it shows for one screen; nil takes it away.
  ///
  /// - Parameters:
  ///   - slot: where it is used.
  ///   - appearance: `background`, `shadow`, `title`, `indicator`, and what displays understand.
  ///   - screen: the id of the screen; nil for the bar.
  /// - Returns: the operation.
  public static func setAppearance(
    _ slot: AppearanceSlot, _ appearance: [String: NavigationValue]?, of screen: String? = nil
  ) -> NavigationOperation {
    var arguments = [
      Member("slot", .value(.string(slot.rawValue))),
      Member("object", .value(appearance.map { .object($0) } ?? .null)),
    ]
    arguments.add("screen", screen)
    return NavigationOperation("appearance.set", arguments)
  }

  /// Tells what the display is like; while one is held, only its holder may.
  public static func setEnvironment(_ facts: [EnvironmentSetting]) -> NavigationOperation {
    NavigationOperation("env.set", facts.map(\.member))
  }

  /// Sets settings of the nav, each replaced whole.
  public static func configure(_ settings: [NavigationSetting]) -> NavigationOperation {
    NavigationOperation("nav.configure", settings.map(\.member))
  }
}

extension NavigationOperation {
  /// Taps the content, which hides or shows the bars if they do that on taps.
  public static func tap() -> NavigationOperation { NavigationOperation("ui.tap") }

  /// A direction of a swipe.
  public enum SwipeDirection: String, Hashable, Sendable {
    /// Towards the bar.
    case up
    /// Away from the bar.
    case down
  }

  /// Swipes the content, which hides or shows the bars if they do that on swipes.
  public static func swipe(_ direction: SwipeDirection) -> NavigationOperation {
    NavigationOperation("ui.swipe", [Member("dir", .value(.string(direction.rawValue)))])
  }

  /// Begins to go back by a gesture, which is this client's until it ends.
  ///
  /// Must be guarded.
  ///
  /// - Parameters:
  ///   - kind: where it begins.
  ///   - translation: how far it has gone already, negative in the wrong direction.
  /// - Returns: the operation.
  public static func beginGesture(
    _ kind: NavigationGestureKind, translation: Double = 1
  ) -> NavigationOperation {
    NavigationOperation(
      "gesture.begin",
      [
        Member("kind", .value(.string(kind.rawValue))),
        Member("translation", .value(.number(translation))),
      ])
  }

  /// Goes on with the gesture: 0 for where it began, 1 for its end.
  public static func updateGesture(_ value: Double) -> NavigationOperation {
    NavigationOperation("gesture.update", [Member("value", .value(.number(value)))])
  }

  /// Ends the gesture; the screen is popped.
  public static func finishGesture() -> NavigationOperation {
    NavigationOperation("gesture.finish")
  }

  /// Ends the gesture; the screen stays.
  public static func cancelGesture() -> NavigationOperation {
    NavigationOperation("gesture.cancel")
  }

  /// Says that the animation of a transition has ended.
  ///
  /// - Parameter transition: its number, from the event `transitionBegan`.
  /// - Returns: the operation.
  public static func completeTransition(_ transition: UInt64) -> NavigationOperation {
    NavigationOperation(
      "transition.complete", [Member("tid", .value(.integer(Int64(clamping: transition))))])
  }
}
