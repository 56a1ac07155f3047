// Written from the enumerations of the core; see GeneratedTests.

extension ItemDescription {
  /// UIKit's `largeTitleDisplayMode`: whether the title is large where the bar prefers large titles.
  ///
  /// A newer daemon can send others than those that have a name here.
  public struct LargeTitleDisplayMode: RawRepresentable, Hashable, Sendable,
    CustomStringConvertible
  {
    /// The word of the protocol.
    public let rawValue: String

    /// Makes a value from its word in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }

    /// Large if the screen below is large; large at the root.
    public static let automatic = Self(rawValue: "automatic")
    /// Large.
    public static let always = Self(rawValue: "always")
    /// Not large.
    public static let never = Self(rawValue: "never")
  }
}

extension ItemDescription {
  /// UIKit's `backButtonDisplayMode`: which texts a back button may show.
  ///
  /// A newer daemon can send others than those that have a name here.
  public struct BackButtonDisplayMode: RawRepresentable, Hashable, Sendable,
    CustomStringConvertible
  {
    /// The word of the protocol.
    public let rawValue: String

    /// Makes a value from its word in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }

    /// The title, else the general word, else none, as they fit.
    public static let `default` = Self(rawValue: "`default`")
    /// The general word if it fits, else none.
    public static let generic = Self(rawValue: "generic")
    /// None.
    public static let minimal = Self(rawValue: "minimal")
  }
}

extension ItemDescription {
  /// UIKit's `UINavigationItem.ItemStyle`: how an item is laid out.
  ///
  /// A newer daemon can send others than those that have a name here.
  public struct ItemStyle: RawRepresentable, Hashable, Sendable,
    CustomStringConvertible
  {
    /// The word of the protocol.
    public let rawValue: String

    /// Makes a value from its word in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }

    /// For a stack of pages.
    public static let navigator = Self(rawValue: "navigator")
    /// For places with a history, such as folders.
    public static let browser = Self(rawValue: "browser")
    /// For a document; `backAction` makes no back button of its own.
    public static let editor = Self(rawValue: "editor")
  }
}

extension ItemDescription {
  /// UIKit's `searchBarPlacement`: where the search field of an item stands.
  ///
  /// A newer daemon can send others than those that have a name here.
  public struct SearchBarPlacement: RawRepresentable, Hashable, Sendable,
    CustomStringConvertible
  {
    /// The word of the protocol.
    public let rawValue: String

    /// Makes a value from its word in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }

    /// Below the title on a phone, else beside the buttons.
    public static let automatic = Self(rawValue: "automatic")
    /// Beside the buttons.
    public static let inline = Self(rawValue: "inline")
    /// Below the title.
    public static let stacked = Self(rawValue: "stacked")
    /// With the buttons of the bar or of the toolbar.
    public static let integrated = Self(rawValue: "integrated")
    /// As `integrated`, in the center of a wide display.
    public static let integratedCentered = Self(rawValue: "integratedCentered")
    /// As `integrated`, as a button.
    public static let integratedButton = Self(rawValue: "integratedButton")
  }
}

extension ItemDescription {
  /// UIKit's `titleAlignment`: where the title stands in the bar.
  ///
  /// A newer daemon can send others than those that have a name here.
  public struct TitleAlignment: RawRepresentable, Hashable, Sendable,
    CustomStringConvertible
  {
    /// The word of the protocol.
    public let rawValue: String

    /// Makes a value from its word in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }

    /// The center for the style `navigator`, else the leading side.
    public static let automatic = Self(rawValue: "automatic")
    /// The side where reading begins.
    public static let leading = Self(rawValue: "leading")
    /// The middle of the bar.
    public static let center = Self(rawValue: "center")
  }
}

extension ButtonDescription {
  /// UIKit's `UIBarButtonItem.Style`: how much a button stands out.
  ///
  /// A newer daemon can send others than those that have a name here.
  public struct Style: RawRepresentable, Hashable, Sendable,
    CustomStringConvertible
  {
    /// The word of the protocol.
    public let rawValue: String

    /// Makes a value from its word in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }

    /// The default.
    public static let plain = Self(rawValue: "plain")
    /// Bold, for the button that completes a task.
    public static let done = Self(rawValue: "done")
    /// Prominent, for the main action of a page: the word for `done` since iOS 26.
    public static let prominent = Self(rawValue: "prominent")
  }
}
