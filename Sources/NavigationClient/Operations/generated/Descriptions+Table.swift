// Written from the tables of members in the core; see GeneratedTests.

import NavigationCore

extension ScreenDescription {
  /// Describes a new screen.
  ///
  /// - Parameters:
  ///   - id: its id, `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`; nil lets the daemon choose one.
  ///   - title: the title, which the bar shows, and the back button of the screen above.
  ///   - route: the route, by which the application finds the content.
  ///   - args: further data for the application, at most 64 KiB. Every client that can read the
  ///     nav sees it, so it must not contain secrets.
  ///   - restorationID: the id for saving and restoring; nil for a screen that is not saved.
  ///   - item: its content in the bar.
  ///   - toolbarItems: the buttons in the toolbar, in display order.
  ///   - prefersBarHidden: whether the bar is hidden while the screen is the top.
  ///   - prefersToolbarHidden: whether the toolbar is hidden while the screen is the top.
  ///   - hidesBottomBarWhenPushed: whether the toolbar is hidden while the screen is the top, if
  ///     it has no other preference.
  ///   - edges: the edges at which the screen extends under bars; nil for all.
  ///   - extendsUnderOpaqueBars: whether the screen also extends under opaque bars.
  ///   - wantsFullScreenLayout: whether the screen extends under every bar.
  ///   - canPop: whether a person may pop the screen while it is the top; programs always may.
  ///   - isModalInPresentation: whether a person cannot swipe the screen away while it is
  ///     presented.
  ///   - accessibilityLabel: what a screen reader says when the screen comes on display.
  ///   - language: the language of the screen, a tag of BCP 47; nil for that of the display.
  public init(
    id: String? = nil, title: String? = nil, route: String? = nil, args: NavigationValue? = nil,
    restorationID: String? = nil, item: ItemDescription? = nil,
    toolbarItems: [ButtonDescription]? = nil, prefersBarHidden: Bool? = nil,
    prefersToolbarHidden: Bool? = nil, hidesBottomBarWhenPushed: Bool? = nil, edges: [Edge]? = nil,
    extendsUnderOpaqueBars: Bool? = nil, wantsFullScreenLayout: Bool? = nil, canPop: Bool? = nil,
    isModalInPresentation: Bool? = nil, accessibilityLabel: String? = nil, language: String? = nil
  ) {
    var members: JSONObject = [:]
    members.add("id", id)
    members.add("title", title)
    members.add("route", route)
    members.add("args", args?.octets)
    members.add("restorationID", restorationID)
    members.add("item", item.map { .object($0.members) })
    members.add("toolbarItems", toolbarItems.map { .array($0.map(\.wireValue)) })
    members.add("prefersBarHidden", prefersBarHidden)
    members.add("prefersToolbarHidden", prefersToolbarHidden)
    members.add("hidesBottomBarWhenPushed", hidesBottomBarWhenPushed)
    members.add("edges", edges.map { .array($0.map { .string($0.rawValue) }) })
    members.add("extendsUnderOpaqueBars", extendsUnderOpaqueBars)
    members.add("wantsFullScreenLayout", wantsFullScreenLayout)
    members.add("canPop", canPop)
    members.add("modalInPresentation", isModalInPresentation)
    members.add("accessibilityLabel", accessibilityLabel)
    members.add("language", language)
    self.init(members)
  }
}

extension ItemDescription {
  /// The names of the members, for those to reset to their defaults.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member of an item, by its word in the protocol.
    case title, prompt, titleView, backBarButtonItem, backButtonTitle, backButtonDisplayMode,
      hidesBackButton, leftItemsSupplementBackButton, leftItems, rightItems,
      largeTitleDisplayMode, accessibilityLabel, language, appearance, backAction, style,
      subtitle, subtitleView, largeTitle, largeSubtitle, largeSubtitleView, titleAlignment,
      titleMenu, preferredSearchBarPlacement, isSearchActive
  }

  /// Describes an item.
  ///
  /// - Parameters:
  ///   - title: the text in the middle, in place of the screen's title.
  ///   - prompt: a line above the bar.
  ///   - hidesBackButton: whether the bar shows no back button.
  ///   - leftItemsSupplementBackButton: whether the left buttons stand beside the back button
  ///     rather than in its place.
  ///   - leftItems: buttons on the left, left-most first.
  ///   - rightItems: buttons on the right, right-most first.
  ///   - backBarButtonItem: the back button that leads to this screen.
  ///   - backButtonTitle: the text of the back button that leads to this screen; an empty one is
  ///     no text.
  ///   - backButtonDisplayMode: which texts the back button that leads to this screen may show.
  ///   - titleView: a view in the middle, in place of any title.
  ///   - largeTitleDisplayMode: whether its title is large, if the bar prefers large titles.
  ///   - appearance: the appearances of the bar while this screen is on top, by state; they
  ///     replace others.
  ///   - accessibilityLabel: what a screen reader says in place of the title.
  ///   - language: the language of title and prompt, a tag of BCP 47; without it, the screen's.
  ///   - backAction: the button that a tap on this screen's back button activates, in place of
  ///     the pop.
  ///   - style: how the item is laid out.
  ///   - subtitle: the text below the title.
  ///   - subtitleView: a view below the title, in place of the subtitle.
  ///   - largeTitle: the text of the large title, in place of the title.
  ///   - largeSubtitle: the text below the large title, in place of the subtitle.
  ///   - largeSubtitleView: a view below the large title, in place of any subtitle.
  ///   - titleAlignment: where the title stands in the bar.
  ///   - titleMenu: the menu at the title.
  ///   - preferredSearchBarPlacement: where the search field stands; without it there is none.
  ///   - isSearchActive: whether a person searches; `ui.back` ends that before it pops.
  ///   - resetting: members to reset to their defaults.
  public init(
    title: String? = nil, prompt: String? = nil, hidesBackButton: Bool? = nil,
    leftItemsSupplementBackButton: Bool? = nil, leftItems: [ButtonDescription]? = nil,
    rightItems: [ButtonDescription]? = nil, backBarButtonItem: ButtonDescription? = nil,
    backButtonTitle: String? = nil, backButtonDisplayMode: BackButtonDisplayMode? = nil,
    titleView: TitleView? = nil, largeTitleDisplayMode: LargeTitleDisplayMode? = nil,
    appearance: [AppearanceSlot: NavigationValue]? = nil, accessibilityLabel: String? = nil,
    language: String? = nil, backAction: ButtonDescription? = nil, style: ItemStyle? = nil,
    subtitle: String? = nil, subtitleView: NavigationValue? = nil, largeTitle: String? = nil,
    largeSubtitle: String? = nil, largeSubtitleView: NavigationValue? = nil,
    titleAlignment: TitleAlignment? = nil, titleMenu: [MenuElement]? = nil,
    preferredSearchBarPlacement: SearchBarPlacement? = nil, isSearchActive: Bool? = nil,
    resetting: [Name] = []
  ) {
    var members: JSONObject = [:]
    members.add("title", title)
    members.add("prompt", prompt)
    members.add("hidesBackButton", hidesBackButton)
    members.add("leftItemsSupplementBackButton", leftItemsSupplementBackButton)
    members.add("leftItems", leftItems.map { .array($0.map(\.wireValue)) })
    members.add("rightItems", rightItems.map { .array($0.map(\.wireValue)) })
    members.add("backBarButtonItem", backBarButtonItem?.wireValue)
    members.add("backButtonTitle", backButtonTitle)
    members.add("backButtonDisplayMode", backButtonDisplayMode?.rawValue)
    members.add("titleView", titleView?.value.octets)
    members.add("largeTitleDisplayMode", largeTitleDisplayMode?.rawValue)
    members.add(
      "appearance",
      appearance.map { NavigationValue.object(BarSetting.named($0, \.rawValue)).octets })
    members.add("accessibilityLabel", accessibilityLabel)
    members.add("language", language)
    members.add("backAction", backAction?.wireValue)
    members.add("style", style?.rawValue)
    members.add("subtitle", subtitle)
    members.add("subtitleView", subtitleView?.octets)
    members.add("largeTitle", largeTitle)
    members.add("largeSubtitle", largeSubtitle)
    members.add("largeSubtitleView", largeSubtitleView?.octets)
    members.add("titleAlignment", titleAlignment?.rawValue)
    members.add("titleMenu", titleMenu.map { .array($0.map(\.wireValue)) })
    members.add("preferredSearchBarPlacement", preferredSearchBarPlacement?.rawValue)
    members.add("isSearchActive", isSearchActive)
    self.init(members, resetting)
  }
}
