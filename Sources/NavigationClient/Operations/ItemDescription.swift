import NavigationCore

/// The navigation item of a screen, or a change of it; omitted members keep their values.
public struct ItemDescription: Hashable, Sendable {
  let members: JSONObject

  /// The names of the members, for those to reset to their defaults.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member of an item, by its word in the protocol.
    case title, prompt, titleView, backBarButtonItem, hidesBackButton,
      leftItemsSupplementBackButton, leftItems, rightItems, largeTitleDisplayMode, appearance,
      accessibilityLabel, language
  }

  /// A view in place of the title.
  public struct TitleView: Hashable, Sendable {
    let value: NavigationValue

    /// Describes a view.
    ///
    /// - Parameters:
    ///   - view: the description from which the display makes the view.
    ///   - height: its height in points, 0 or more. With it, the daemon knows whether the view
    ///     fits.
    public init(_ view: NavigationValue, height: Double? = nil) {
      var members = ["view": view]
      members["height"] = height.map { .number($0) }
      value = .object(members)
    }
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
  ///   - titleView: a view in the middle, in place of any title.
  ///   - largeTitleDisplayMode: whether its title is large, if the bar prefers large titles.
  ///   - appearance: the appearances of the bar while this screen is on top, by state; they
  ///     replace all that were set before.
  ///   - accessibilityLabel: what a screen reader says in place of the title.
  ///   - language: the language of title and prompt, a tag of BCP 47; without it, the screen's.
  ///   - resetting: members to reset to their defaults.
  public init(
    title: String? = nil, prompt: String? = nil, hidesBackButton: Bool? = nil,
    leftItemsSupplementBackButton: Bool? = nil, leftItems: [ButtonDescription]? = nil,
    rightItems: [ButtonDescription]? = nil, backBarButtonItem: ButtonDescription? = nil,
    titleView: TitleView? = nil, largeTitleDisplayMode: LargeTitleDisplayMode? = nil,
    appearance: [AppearanceSlot: NavigationValue]? = nil, accessibilityLabel: String? = nil,
    language: String? = nil, resetting: [Name] = []
  ) {
    var members: JSONObject = [:]
    members.add("title", title)
    members.add("prompt", prompt)
    members.add("hidesBackButton", hidesBackButton)
    members.add("leftItemsSupplementBackButton", leftItemsSupplementBackButton)
    members.add("leftItems", leftItems.map { .array($0.map(\.content)) })
    members.add("rightItems", rightItems.map { .array($0.map(\.content)) })
    members.add("backBarButtonItem", backBarButtonItem?.content)
    members.add("titleView", titleView?.value.octets)
    members.add("largeTitleDisplayMode", largeTitleDisplayMode?.rawValue)
    if let appearance {
      let slots = appearance.map { ($0.key.rawValue, $0.value) }
      let value = NavigationValue.object(Dictionary(uniqueKeysWithValues: slots))
      members.add("appearance", value.octets)
    }
    members.add("accessibilityLabel", accessibilityLabel)
    members.add("language", language)
    for name in resetting where !members.contains(name.rawValue) {
      members.add(name.rawValue, OpaqueJSON.null)
    }
    self.members = members
  }
}
