import NavigationCore

/// A capability of the daemon beside the first version of the protocol, by its name there.
///
/// Later versions can add further names.
public struct NavigationFeature: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let rawValue: String

  /// Makes a feature from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The text of ``rawValue``.
  public var description: String { rawValue }

  init(_ feature: Feature) { rawValue = feature.rawValue }

  /// The operations `replace`, `insert` and `remove`, and `inclusive` of `popTo`.
  public static let stackEdits = NavigationFeature(.stackEdits)
  /// The values `popTo`, `update` and `moveToTop` of `onDuplicate`.
  public static let onDuplicate = NavigationFeature(.onDuplicate)
  /// The member `canPop` of a screen.
  public static let canPop = NavigationFeature(.canPop)
  /// Guards by what is visible.
  public static let visibleGuard = NavigationFeature(.visibleGuard)
  /// A person's swipe down, `modalInPresentation`, and vetoes of dismissals.
  public static let dismissals = NavigationFeature(.dismissals)
  /// The events `willHide`, `didHide`, `didPresent` and `didDismiss`.
  public static let lifecycleEvents = NavigationFeature(.lifecycleEvents)
  /// Results of pops and dismissals.
  public static let results = NavigationFeature(.results)
  /// The setting `animations` of the display.
  public static let animations = NavigationFeature(.animations)
  /// The menu of the back button.
  public static let backMenu = NavigationFeature(.backMenu)
  /// Sessions that gateways open for others.
  public static let actors = NavigationFeature(.actors)
  /// Dry runs: ``NavigationClient/rehearse(_:on:guardedBy:animated:whenBusy:within:)``.
  public static let dryRun = NavigationFeature(.dryRun)
  /// The virtual nav `$heads`, and the lag of each session in `$clients`.
  public static let heads = NavigationFeature(.heads)
  /// `get` `trace`: an administrator sees the messages of other clients.
  public static let trace = NavigationFeature(.trace)
  /// `get` `diffs` and `refusals`: history with contents, and what was refused.
  public static let history = NavigationFeature(.history)
  /// Navs that other daemons of a cluster serve.
  public static let shards = NavigationFeature(.shards)
}
