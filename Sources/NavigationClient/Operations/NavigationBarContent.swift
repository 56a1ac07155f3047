import NavigationCore

/// The visible content of a navigation bar, which the daemon computes from the stack and its items.
public struct NavigationBarContent: Hashable, Sendable {
  /// An element on the left or right side.
  public enum Slot: Hashable, Sendable {
    /// The back button.
    case back(BackButton)
    /// A button.
    case button(BarButton)
  }

  /// The content of the middle.
  public enum Middle: Hashable, Sendable {
    /// A title; an empty text is an empty title, not a missing one.
    case title(String)
    /// A custom view of the display, by its description: its name, or any other value.
    case view(NavigationValue)
  }

  /// The visible back button.
  public struct BackButton: Hashable, Sendable {
    /// The text beside the back indicator; nil for the indicator alone.
    public var text: String?
    /// The texts to try in this order, for a display that measures texts itself.
    public var candidates: [String]
    /// The screens of the button's menu, nearest first; at most 64.
    ///
    /// ``NavigationOperation/backMenu(_:)`` goes back to one.
    public var menu: [MenuEntry]
    /// What a screen reader says in place of the text.
    public var accessibilityLabel: String?
    /// The language of the text, a tag of BCP 47; nil for that of the display.
    public var language: String?
    /// All its members as JSON.
    public var details: NavigationValue
  }

  /// One entry of the back button's menu.
  public struct MenuEntry: Hashable, Sendable {
    /// The id of the screen.
    public var screen: String
    /// The text of the entry; nil if the back button to the screen shows no text or titled image.
    public var text: String?
    /// What a screen reader says in place of the text.
    public var accessibilityLabel: String?
    /// The language of the text, a tag of BCP 47; nil for that of the display.
    public var language: String?
  }

  /// A visible button.
  public struct BarButton: Hashable, Sendable {
    /// The id of the button.
    public var id: String
    /// The text of the button; nil if it has none.
    public var title: String?
    /// The image of the button, by its name; nil if it has none.
    public var image: String?
    /// The system item of the button; nil if it has another face.
    public var systemItem: SystemItem?
    /// How much it stands out.
    public var style: ButtonDescription.Style
    /// The name of the application's action for a tap.
    public var action: String?
    /// Whether a tap does anything.
    public var isEnabled: Bool
    /// Whether it is drawn as selected.
    public var isSelected: Bool
    /// What a screen reader says in place of the face.
    public var accessibilityLabel: String?
    /// What the button does, said after the label.
    public var accessibilityHint: String?
    /// Its badge: a number, a text, or true for one without content; nil without a badge.
    public var badge: NavigationValue?
    /// The elements of its menu, each with `title`, and `id` or `children`.
    public var menu: [NavigationValue]
    /// All its members as JSON.
    public var details: NavigationValue
  }

  /// The elements on the left, left-most first.
  public let left: [Slot]
  /// The content of the middle; nil if it is empty.
  public let middle: Middle?
  /// The elements on the right, right-most first.
  public let right: [Slot]
  /// All members of the bar, including those without a property here.
  public let details: NavigationValue

  init(_ value: NavigationValue) {
    details = value
    left = (value["left"]?.array ?? []).map { Self.slot($0) }
    right = (value["right"]?.array ?? []).map { Self.slot($0) }
    middle =
      if let view = value["middle"]?["customView"] {
        .view(view)
      } else {
        value["middle"]?["title"]?.text.map { .title($0) }
      }
  }

  /// The text below the title; nil without one, or for a view.
  public var subtitle: String? { details["middle"]?["subtitle"]?.text }

  /// The text of a large title that differs from the title.
  public var largeTitle: String? { details["middle"]?["large"]?["title"]?.text }

  /// What a screen reader says in place of the title.
  public var titleAccessibilityLabel: String? { details["middle"]?["accessibilityLabel"]?.text }

  /// The language of the title, a tag of BCP 47; nil for that of the display.
  public var titleLanguage: String? { details["middle"]?["language"]?.text }

  /// Whether the title is large.
  ///
  /// The daemon decides that by UIKit's rules, from ``NavigationState/prefersLargeTitles`` and from
  /// ``NavigationScreen/largeTitleDisplayMode`` of the screens.
  public var hasLargeTitle: Bool { details["middle"]?["placement"]?.text == "large" }

  /// The height of the bar in points.
  public var height: Int64? { details["height"]?.integer }

  private static func slot(_ value: NavigationValue) -> Slot {
    if let back = value["back"] {
      return .back(
        BackButton(
          text: back["text"]?.text,
          candidates: (back["candidates"]?.array ?? []).compactMap(\.text),
          menu: (back["menu"]?.array ?? []).map { entry in
            MenuEntry(
              screen: entry["screen"]?.text ?? "", text: entry["text"]?.text,
              accessibilityLabel: entry["accessibilityLabel"]?.text,
              language: entry["language"]?.text)
          }, accessibilityLabel: back["accessibilityLabel"]?.text,
          language: back["language"]?.text, details: back))
    }
    return .button(
      BarButton(
        id: value["button"]?.text ?? "", title: value["title"]?.text,
        image: value["image"]?.text,
        systemItem: value["systemItem"]?.text.map { SystemItem(rawValue: $0) },
        style: .init(rawValue: value["style"]?.text ?? "plain"), action: value["action"]?.text,
        isEnabled: value["isEnabled"]?.bool ?? true,
        isSelected: value["isSelected"]?.bool ?? false,
        accessibilityLabel: value["accessibilityLabel"]?.text,
        accessibilityHint: value["accessibilityHint"]?.text, badge: value["badge"],
        menu: value["menu"]?.array ?? [], details: value))
  }
}
