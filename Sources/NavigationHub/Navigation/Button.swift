package import NavigationCore

/// A UIBarButtonItem: one button of a bar or toolbar.
///
/// A button has an identity within its nav, and several screens can hold it. Copies share the content;
/// an edit makes a new content.
package struct Button: Hashable, Sendable {
  package let id: ButtonID
  private let box: Box<ButtonContent>

  package init(id: ButtonID, content: ButtonContent) {
    self.id = id
    box = .value(content)
  }

  package var content: ButtonContent { box.value }

  /// Whether the button is a fixed or flexible space; only spaces may repeat in a list.
  package var isSpace: Bool {
    content.systemItem == .flexibleSpace || content.systemItem == .fixedSpace
  }

  /// The visible content: a custom view, else an image, else a title, else a system item.
  package var face: ButtonFace {
    if let view = content.customView { return .customView(view) }
    if let image = content.image { return .image(image, landscape: content.landscapeImage) }
    if let title = content.title { return .title(title) }
    if let systemItem = content.systemItem { return .systemItem(systemItem) }
    return .title("")
  }
}

/// The visible content of a button.
package enum ButtonFace: Hashable, Sendable {
  /// The client's own view, by name or opaque description.
  case customView(OpaqueJSON)
  /// An image, and optionally another one for a phone in landscape.
  case image(ImageReference, landscape: ImageReference?)
  case title(String)
  case systemItem(SystemItem)
}

/// The appearance and action of a button.
///
/// The wire format omits members that are nil or at their default.
package struct ButtonContent: EditableRecord {
  package var title: String?
  package var image: ImageReference?
  /// UIKit's `landscapeImagePhone`.
  package var landscapeImage: ImageReference?
  package var systemItem: SystemItem?
  package var customView: OpaqueJSON?
  package var style = ButtonStyle.plain
  /// The name of the action that a tap sends; `nav.pop` pops the top screen.
  package var action: String?
  /// UIKit's `isEnabled`: whether a tap does anything, except for a back button.
  package var isEnabled = true
  /// UIKit's `isSelected`, which affects only how displays draw the button.
  package var isSelected = false
  package var accessibility: Accessibility = [:]

  package init() {}
}

/// An image by the client's name, with two facts on which the bar depends: whether it has
/// transparent pixels, and whether it is empty.
package struct ImageReference: Hashable, Sendable {
  package var ref: String
  /// Whether any pixel is not fully opaque.
  package var hasAlpha = false
  /// Whether the image is empty; as a shadow image it removes the shadow.
  package var isEmpty = false
}

/// UIBarButtonItem.Style; UIKit's legacy `bordered` is stored as plain.
package enum ButtonStyle: UInt8, CaseIterable, Sendable {
  /// The default.
  case plain
  /// Bold, for the button that completes a task.
  case done
}

// The first 23 cases have UIKit's raw values 0 … 22.
/// UIKit's `UIBarButtonItem.SystemItem`: a button that every display knows.
package enum SystemItem: UInt8, CaseIterable, Sendable {
  /// The standard button for the end of a task.
  case done
  /// Leaves without saving.
  case cancel
  /// Begins to edit.
  case edit
  /// Saves.
  case save
  /// Adds something: a plus sign.
  case add
  /// A space that takes the room that is left.
  case flexibleSpace
  /// A space of a fixed width.
  case fixedSpace
  /// Begins a new text.
  case compose
  /// Replies.
  case reply
  /// Shares, or offers other actions.
  case action
  /// Puts something into a folder.
  case organize
  /// Shows bookmarks.
  case bookmarks
  /// Searches.
  case search
  /// Loads again.
  case refresh
  /// Stops: a cross.
  case stop
  /// Opens the camera.
  case camera
  /// Deletes.
  case trash
  /// Plays.
  case play
  /// Pauses.
  case pause
  /// Goes back in a recording.
  case rewind
  /// Goes forward in a recording.
  case fastForward
  /// Undoes the last change.
  case undo
  /// Makes the last change again.
  case redo
  /// A page curl; needs `extraSystemItems` of the setting `profile`.
  case pageCurl
  /// Closes; needs `extraSystemItems` of the setting `profile`.
  case close

  /// Whether the item needs `profile.extraSystemItems`, because UIKit deprecated it or added it
  /// later.
  package var needsExtraSystemItems: Bool { self == .pageCurl || self == .close }
}
