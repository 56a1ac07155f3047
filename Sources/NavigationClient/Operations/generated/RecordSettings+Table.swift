// Written from the tables of members in the core; see GeneratedTests.

import NavigationCore

/// One member of a navigation bar, for ``NavigationOperation/setBar(_:)`` and the proxy.
///
/// Members that are not named keep their values; ``reset(_:)`` resets one to its default.
public struct BarSetting: Hashable, Sendable {
  let member: JSONObject.Member

  init(_ name: String, _ value: NavigationValue) { self.init(name, json: value.octets) }

  private init(_ name: String, json value: OpaqueJSON) {
    member = .init(name: name, value: value)
  }

  /// Resets a member to its default.
  public static func reset(_ name: Name) -> BarSetting { .init(name.rawValue, nil) }

  /// The names of the members, as the functions that set them.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, as the function of the same name sets it.
    case barStyle, isTranslucent = "translucent", barTintColor, tintColor, backgroundColor,
      shadowImage, backIndicatorImage, backIndicatorMask, titleTextAttributes, titleOffsets,
      backgroundImages, prefersLargeTitles
  }
}

extension BarSetting {
  /// The style of the bar: `default` or `black`.
  public static func barStyle(_ style: BarSetting.Style) -> BarSetting {
    .init("barStyle", .string(style.rawValue))
  }

  /// Whether the bar is translucent, so that the content behind it is visible.
  public static func isTranslucent(_ isOn: Bool) -> BarSetting {
    .init("translucent", .bool(isOn))
  }

  /// The colour of the bar.
  public static func barTintColor(_ color: String) -> BarSetting {
    .init("barTintColor", .string(color))
  }

  /// The colour of its buttons.
  public static func tintColor(_ color: String) -> BarSetting {
    .init("tintColor", .string(color))
  }

  /// The colour behind the bar.
  public static func backgroundColor(_ color: String) -> BarSetting {
    .init("backgroundColor", .string(color))
  }

  /// The image below the bar, by its name.
  public static func shadowImage(_ image: ImageDescription) -> BarSetting {
    .init("shadowImage", image.value)
  }

  /// The image of the back button.
  public static func backIndicatorImage(_ image: ImageDescription) -> BarSetting {
    .init("backIndicatorImage", image.value)
  }

  /// The mask of the back button's image in transitions.
  public static func backIndicatorMask(_ image: ImageDescription) -> BarSetting {
    .init("backIndicatorMask", image.value)
  }

  /// The attributes of the title text.
  public static func titleTextAttributes(
    _ attributes: [TitleTextAttribute: NavigationValue]
  ) -> BarSetting {
    .init("titleTextAttributes", .object(named(attributes, \.rawValue)))
  }

  /// The vertical offset of the title in points, for each metrics.
  public static func titleOffsets(_ offsets: [BarMetrics: Double]) -> BarSetting {
    .init("titleOffsets", .object(named(offsets.mapValues { .number($0) }, \.rawValue)))
  }

  /// The images behind the bar, for each position and metrics.
  public static func backgroundImages(_ images: [BackgroundPlace: ImageDescription]) -> BarSetting {
    .init("backgroundImages", .object(named(images.mapValues(\.value), \.text)))
  }

  /// Whether titles are large, as far as the items of the screens allow it.
  public static func prefersLargeTitles(_ isOn: Bool) -> BarSetting {
    .init("prefersLargeTitles", .bool(isOn))
  }
}

/// One member of a toolbar, for ``NavigationOperation/setToolbar(_:)``.
///
/// Members that are not named keep their values; ``reset(_:)`` resets one to its default.
public struct ToolbarSetting: Hashable, Sendable {
  let member: JSONObject.Member

  init(_ name: String, _ value: NavigationValue) { self.init(name, json: value.octets) }

  private init(_ name: String, json value: OpaqueJSON) {
    member = .init(name: name, value: value)
  }

  /// Resets a member to its default.
  public static func reset(_ name: Name) -> ToolbarSetting { .init(name.rawValue, nil) }

  /// The names of the members, as the functions that set them.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, as the function of the same name sets it.
    case barStyle, tintColor, barTintColor, isTranslucent = "translucent"
  }
}

extension ToolbarSetting {
  /// The style of the toolbar.
  public static func barStyle(_ style: BarSetting.Style) -> ToolbarSetting {
    .init("barStyle", .string(style.rawValue))
  }

  /// The colour of its buttons.
  public static func tintColor(_ color: String) -> ToolbarSetting {
    .init("tintColor", .string(color))
  }

  /// The colour of the toolbar.
  public static func barTintColor(_ color: String) -> ToolbarSetting {
    .init("barTintColor", .string(color))
  }

  /// Whether the toolbar is translucent, so that the content behind it is visible.
  public static func isTranslucent(_ isOn: Bool) -> ToolbarSetting {
    .init("translucent", .bool(isOn))
  }
}

/// One member of a screen, for ``NavigationOperation/setScreen(_:_:)``.
///
/// Members that are not named keep their values; ``reset(_:)`` resets one to its default.
public struct ScreenSetting: Hashable, Sendable {
  let member: JSONObject.Member

  init(_ name: String, _ value: NavigationValue) { self.init(name, json: value.octets) }

  private init(_ name: String, json value: OpaqueJSON) {
    member = .init(name: name, value: value)
  }

  /// Resets a member to its default.
  public static func reset(_ name: Name) -> ScreenSetting { .init(name.rawValue, nil) }

  /// The names of the members, as the functions that set them.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, as the function of the same name sets it.
    case title, route, args, restorationID, prefersBarHidden, prefersToolbarHidden,
      hidesBottomBarWhenPushed, wantsFullScreenLayout, extendsUnderOpaqueBars, canPop,
      isModalInPresentation = "modalInPresentation", edges, toolbarItems, accessibilityLabel,
      language
  }
}

extension ScreenSetting {
  /// The title, which the bar shows, and the back button of the screen above.
  public static func title(_ text: String) -> ScreenSetting {
    .init("title", .string(text))
  }

  /// The route, by which the application finds the content.
  public static func route(_ route: String) -> ScreenSetting {
    .init("route", .string(route))
  }

  /// Further data for the application, at most 64 KiB.
  public static func args(_ value: NavigationValue) -> ScreenSetting {
    .init("args", value)
  }

  /// The id for saving and restoring.
  public static func restorationID(_ id: String) -> ScreenSetting {
    .init("restorationID", .string(id))
  }

  /// Whether the bar is hidden while the screen is the top.
  public static func prefersBarHidden(_ isOn: Bool) -> ScreenSetting {
    .init("prefersBarHidden", .bool(isOn))
  }

  /// Whether the toolbar is hidden while the screen is the top.
  public static func prefersToolbarHidden(_ isOn: Bool) -> ScreenSetting {
    .init("prefersToolbarHidden", .bool(isOn))
  }

  /// Whether the toolbar is hidden while the screen is the top, if it has no other preference.
  public static func hidesBottomBarWhenPushed(_ isOn: Bool) -> ScreenSetting {
    .init("hidesBottomBarWhenPushed", .bool(isOn))
  }

  /// Whether the screen extends under every bar.
  public static func wantsFullScreenLayout(_ isOn: Bool) -> ScreenSetting {
    .init("wantsFullScreenLayout", .bool(isOn))
  }

  /// Whether the screen also extends under opaque bars.
  public static func extendsUnderOpaqueBars(_ isOn: Bool) -> ScreenSetting {
    .init("extendsUnderOpaqueBars", .bool(isOn))
  }

  /// Whether a person may pop the screen while it is the top; programs always may.
  public static func canPop(_ isOn: Bool) -> ScreenSetting {
    .init("canPop", .bool(isOn))
  }

  /// Whether a person cannot swipe the screen away while it is presented.
  public static func isModalInPresentation(_ isOn: Bool) -> ScreenSetting {
    .init("modalInPresentation", .bool(isOn))
  }

  /// The edges at which the screen extends under bars.
  public static func edges(_ edges: [ScreenDescription.Edge]) -> ScreenSetting {
    .init("edges", .array(edges.map { .string($0.rawValue) }))
  }

  /// The buttons in the toolbar, in display order.
  public static func toolbarItems(_ buttons: [ButtonDescription]) -> ScreenSetting {
    .init("toolbarItems", json: .array(buttons.map(\.wireValue)))
  }

  /// What a screen reader says when the screen comes on display.
  public static func accessibilityLabel(_ text: String) -> ScreenSetting {
    .init("accessibilityLabel", .string(text))
  }

  /// The language of the screen, a tag of BCP 47.
  public static func language(_ tag: String) -> ScreenSetting {
    .init("language", .string(tag))
  }
}

/// One member of a button, for ``NavigationOperation/setButton(_:_:)``.
///
/// Members that are not named keep their values; ``reset(_:)`` resets one to its default.
public struct ButtonSetting: Hashable, Sendable {
  let member: JSONObject.Member

  init(_ name: String, _ value: NavigationValue) { self.init(name, json: value.octets) }

  private init(_ name: String, json value: OpaqueJSON) {
    member = .init(name: name, value: value)
  }

  /// Resets a member to its default.
  public static func reset(_ name: Name) -> ButtonSetting { .init(name.rawValue, nil) }

  /// The names of the members, as the functions that set them.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member, as the function of the same name sets it.
    case title, image, landscapeImage, systemItem, customView, style, action, isEnabled, isSelected,
      accessibilityLabel, accessibilityHint, accessibilityIdentifier, menu,
      changesSelectionAsPrimaryAction, isHidden, badge
  }
}

extension ButtonSetting {
  /// The text.
  public static func title(_ text: String) -> ButtonSetting {
    .init("title", .string(text))
  }

  /// The image.
  public static func image(_ image: ImageDescription) -> ButtonSetting {
    .init("image", image.value)
  }

  /// The image on a phone in landscape.
  public static func landscapeImage(_ image: ImageDescription) -> ButtonSetting {
    .init("landscapeImage", image.value)
  }

  /// The standard button that it is.
  public static func systemItem(_ item: SystemItem) -> ButtonSetting {
    .init("systemItem", .string(item.rawValue))
  }

  /// The custom view, by the description from which displays make it.
  public static func customView(_ view: NavigationValue) -> ButtonSetting {
    .init("customView", view)
  }

  /// How much it stands out: `done` is bold, `prominent` the main action.
  public static func style(_ style: ButtonDescription.Style) -> ButtonSetting {
    .init("style", .string(style.rawValue))
  }

  /// The name of the application's action for a tap.
  public static func action(_ name: String) -> ButtonSetting {
    .init("action", .string(name))
  }

  /// Whether a tap does anything; a back button ignores it.
  public static func isEnabled(_ isOn: Bool) -> ButtonSetting {
    .init("isEnabled", .bool(isOn))
  }

  /// Whether displays show it as selected.
  public static func isSelected(_ isOn: Bool) -> ButtonSetting {
    .init("isSelected", .bool(isOn))
  }

  /// What a screen reader says in place of the face.
  public static func accessibilityLabel(_ text: String) -> ButtonSetting {
    .init("accessibilityLabel", .string(text))
  }

  /// What the button does, said after the label.
  public static func accessibilityHint(_ text: String) -> ButtonSetting {
    .init("accessibilityHint", .string(text))
  }

  /// A name for tests, never said.
  public static func accessibilityIdentifier(_ name: String) -> ButtonSetting {
    .init("accessibilityIdentifier", .string(name))
  }

  /// The menu that it opens, on a tap if it has no action.
  public static func menu(_ menu: [MenuElement]) -> ButtonSetting {
    .init("menu", json: .array(menu.map(\.wireValue)))
  }

  /// Whether a choice selects an element of its menu; without a menu, whether a tap toggles it.
  public static func changesSelectionAsPrimaryAction(_ isOn: Bool) -> ButtonSetting {
    .init("changesSelectionAsPrimaryAction", .bool(isOn))
  }

  /// Whether it is hidden and takes no room.
  public static func isHidden(_ isOn: Bool) -> ButtonSetting {
    .init("isHidden", .bool(isOn))
  }

  /// A number, a text, or true for a badge without content.
  public static func badge(_ badge: Badge) -> ButtonSetting {
    .init("badge", json: badge.wireValue)
  }
}
