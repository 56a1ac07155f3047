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

  /// UIKit's `isHidden`.
  var isHidden: Bool { !content.hasDefaultExtras && content.extras.isHidden }

  /// The visible content: a custom view, else an image, else a title, else a system item.
  package var face: ButtonFace {
    if let view = content.customView { return .customView(view) }
    if let image = content.image { return .image(image, landscape: content.landscapeImage) }
    if let title = content.title { return .title(title) }
    if let systemItem = content.systemItem { return .systemItem(systemItem) }
    return .title("")
  }
}

extension [Button] {
  /// The buttons that are not hidden.
  var displayed: [Button] {
    guard contains(where: \.isHidden) else { return self }
    return filter { !$0.isHidden }
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
  private var extrasBox: Box<ButtonExtras>?

  package init() {}

  /// The members that most buttons leave at their defaults; such a button takes no memory for them.
  package var extras: ButtonExtras {
    get { extrasBox?.value ?? ButtonExtras() }
    set { extrasBox = newValue == ButtonExtras() ? nil : .value(newValue) }
  }

  var hasDefaultExtras: Bool { extrasBox == nil }
}

/// The rarer members of a button.
package struct ButtonExtras: Hashable, Sendable {
  /// UIKit's `menu`: what the button opens, on a tap if it has no action of its own.
  package var menu = Menu()
  /// UIKit's member: choosing in the menu selects the element; without a menu, a tap toggles
  /// `isSelected`.
  package var changesSelectionAsPrimaryAction = false
  /// UIKit's `isHidden`: the button takes no room.
  package var isHidden = false
  package var badge: Badge?

  /// The estimated encoded size, in bytes.
  var byteCount: Int {
    guard case .text(let text)? = badge else { return 96 + menu.byteCount }
    return 96 + text.jsonOctets + menu.byteCount
  }
}

/// UIKit's `UIBarButtonItem.Badge`.
package enum Badge: Hashable, Sendable {
  case count(UInt64)
  case text(String)
  /// A badge without content.
  case indicator
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

// UIKit's legacy `bordered` is stored as plain.
/// UIKit's `UIBarButtonItem.Style`: how much a button stands out.
package enum ButtonStyle: UInt8, CaseIterable, Sendable {
  /// The default.
  case plain
  /// Bold, for the button that completes a task.
  case done
  /// Prominent, for the main action of a page: the word for `done` since iOS 26.
  case prominent
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
