import NavigationCore

/// A button of a bar: a new one, or one that the nav knows, by its id.
public struct ButtonDescription: Hashable, Sendable, ExpressibleByStringLiteral {
  let content: OpaqueJSON
  let members: JSONObject

  /// The visible content of a button.
  public enum Face: Hashable, Sendable {
    /// A text.
    case title(String)
    /// An image by its name, with a title that screen readers say.
    case image(String, title: String? = nil)
    /// A standard button.
    case systemItem(SystemItem)
    /// A custom view of the display, by its name.
    case customView(String)
  }

  /// Describes a new button.
  ///
  /// - Parameters:
  ///   - id: its id; nil lets the daemon choose one.
  ///   - face: its visible content.
  ///   - isDone: whether it has the style `done`, which displays show bold.
  ///   - action: the name of the application's action for a tap.
  ///   - isEnabled: whether a tap does anything. A back button ignores it.
  ///   - isSelected: whether displays show it as selected.
  ///   - accessibilityLabel: what a screen reader says in place of the face.
  ///   - accessibilityHint: what the button does, said after the label.
  ///   - accessibilityIdentifier: a name for tests, never said.
  public init(
    id: String? = nil, _ face: Face, isDone: Bool = false, action: String? = nil,
    isEnabled: Bool = true, isSelected: Bool = false, accessibilityLabel: String? = nil,
    accessibilityHint: String? = nil, accessibilityIdentifier: String? = nil
  ) {
    var members: JSONObject = [:]
    members.add("id", id)
    switch face {
    case .title(let text): members.add("title", text)
    case .image(let ref, let title):
      members.add("image", ref)
      members.add("title", title)
    case .systemItem(let item): members.add("systemItem", item.rawValue)
    case .customView(let name): members.add("customView", name)
    }
    if isDone { members.add("style", "done") }
    members.add("action", action)
    if !isEnabled { members.add("isEnabled", false) }
    if isSelected { members.add("isSelected", true) }
    members.add("accessibilityLabel", accessibilityLabel)
    members.add("accessibilityHint", accessibilityHint)
    members.add("accessibilityIdentifier", accessibilityIdentifier)
    self.members = members
    content = .object(members)
  }

  /// Names a button that the nav knows.
  public static func existing(_ id: String) -> ButtonDescription {
    ButtonDescription(stringLiteral: id)
  }

  /// Names a button that the nav knows.
  public init(stringLiteral id: String) {
    content = .string(id)
    members = ["id": .string(id)]
  }
}

/// UIKit's `UIBarButtonItem.SystemItem`: a button that every display knows.
///
/// A newer daemon can have others than those that have a name here.
public struct SystemItem: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The word of the protocol, UIKit's without the prefix.
  public let rawValue: String

  /// Makes an item from its word in the protocol.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The text of ``rawValue``.
  public var description: String { rawValue }

  /// The standard button for the end of a task.
  public static let done = Self(rawValue: "done")
  /// Leaves without saving.
  public static let cancel = Self(rawValue: "cancel")
  /// Begins to edit.
  public static let edit = Self(rawValue: "edit")
  /// Saves.
  public static let save = Self(rawValue: "save")
  /// Adds something: a plus sign.
  public static let add = Self(rawValue: "add")
  /// A space that takes the room that is left.
  public static let flexibleSpace = Self(rawValue: "flexibleSpace")
  /// A space of a fixed width.
  public static let fixedSpace = Self(rawValue: "fixedSpace")
  /// Begins a new text.
  public static let compose = Self(rawValue: "compose")
  /// Replies.
  public static let reply = Self(rawValue: "reply")
  /// Shares, or offers other actions.
  public static let action = Self(rawValue: "action")
  /// Puts something into a folder.
  public static let organize = Self(rawValue: "organize")
  /// Shows bookmarks.
  public static let bookmarks = Self(rawValue: "bookmarks")
  /// Searches.
  public static let search = Self(rawValue: "search")
  /// Loads again.
  public static let refresh = Self(rawValue: "refresh")
  /// Stops: a cross.
  public static let stop = Self(rawValue: "stop")
  /// Opens the camera.
  public static let camera = Self(rawValue: "camera")
  /// Deletes.
  public static let trash = Self(rawValue: "trash")
  /// Plays.
  public static let play = Self(rawValue: "play")
  /// Pauses.
  public static let pause = Self(rawValue: "pause")
  /// Goes back in a recording.
  public static let rewind = Self(rawValue: "rewind")
  /// Goes forward in a recording.
  public static let fastForward = Self(rawValue: "fastForward")
  /// Undoes the last change.
  public static let undo = Self(rawValue: "undo")
  /// Makes the last change again.
  public static let redo = Self(rawValue: "redo")
  /// A page curl; needs `extraSystemItems` of the setting `profile`.
  public static let pageCurl = Self(rawValue: "pageCurl")
  /// Closes; needs `extraSystemItems` of the setting `profile`.
  public static let close = Self(rawValue: "close")
}
