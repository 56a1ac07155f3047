/// A UIBarButtonItem: what a bar or toolbar shows as one button.
///
/// A button has an identity within its nav and may stand in the lists of several screens; its
/// content is shared and immutable, an edit makes a new content.
package struct Button: Hashable, Sendable {
  /// The identity within the nav.
  package let id: ButtonID
  /// What it shows and does.
  package let content: ButtonContent

  /// Makes a button from identity and content.
  package init(id: ButtonID, content: ButtonContent) {
    self.id = id
    self.content = content
  }

  /// Whether it is one of the two spaces, which alone may repeat in a list.
  package var isSpace: Bool {
    content.systemItem == .flexibleSpace || content.systemItem == .fixedSpace
  }

  /// What the button shows: a custom view beats an image, an image beats a title.
  package var face: ButtonFace {
    if let view = content.customView { return .customView(view) }
    if let image = content.image { return .image(image, landscape: content.landscapeImage) }
    if let title = content.title { return .title(title) }
    if let systemItem = content.systemItem { return .systemItem(systemItem) }
    return .title("")
  }
}

/// What is drawn for a button.
package enum ButtonFace: Hashable, Sendable {
  /// The client's own view, by name or opaque description.
  case customView(OpaqueJSON)
  /// An image, and perhaps another one for a phone in landscape.
  case image(ImageReference, landscape: ImageReference?)
  /// A text.
  case title(String)
  /// One of the system's items.
  case systemItem(SystemItem)
}

/// The content of a button; members that are nil or default are not written.
package final class ButtonContent: Hashable, Sendable {
  /// UIKit's `title`.
  package let title: String?
  /// UIKit's `image`.
  package let image: ImageReference?
  /// UIKit's `landscapeImagePhone`.
  package let landscapeImage: ImageReference?
  /// One of the system items.
  package let systemItem: SystemItem?
  /// An opaque custom view.
  package let customView: OpaqueJSON?
  /// Plain, or done.
  package let style: ButtonStyle
  /// The name of the action; `nav.pop` pops.
  package let action: String?

  /// Makes a content from its members.
  package init(
    title: String? = nil, image: ImageReference? = nil, landscapeImage: ImageReference? = nil,
    systemItem: SystemItem? = nil, customView: OpaqueJSON? = nil, style: ButtonStyle = .plain,
    action: String? = nil
  ) {
    self.title = title
    self.image = image
    self.landscapeImage = landscapeImage
    self.systemItem = systemItem
    self.customView = customView
    self.style = style
    self.action = action
  }

  /// Equality of all members.
  package static func == (left: ButtonContent, right: ButtonContent) -> Bool {
    left === right
      || (left.title == right.title && left.image == right.image
        && left.landscapeImage == right.landscapeImage && left.systemItem == right.systemItem
        && left.customView == right.customView && left.style == right.style
        && left.action == right.action)
  }

  /// Hashes what distinguishes most buttons.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(title)
    hasher.combine(action)
    hasher.combine(systemItem)
  }
}

/// A named image and what the bar must know of it.
package struct ImageReference: Hashable, Sendable {
  /// The client's name of the image.
  package var ref: String
  /// Whether any pixel is not fully opaque.
  package var hasAlpha: Bool
  /// Whether it is an empty image, which removes what it replaces.
  package var isEmpty: Bool

  /// Makes a reference.
  package init(ref: String, hasAlpha: Bool = false, isEmpty: Bool = false) {
    self.ref = ref
    self.hasAlpha = hasAlpha
    self.isEmpty = isEmpty
  }
}

/// UIBarButtonItem.Style; UIKit's legacy `bordered` is stored as plain.
package enum ButtonStyle: UInt8, Sendable {
  /// The default.
  case plain
  /// Bold, for the button that completes a task.
  case done
}

/// UIBarButtonItem.SystemItem, in the order of its raw values 0 … 22.
package enum SystemItem: UInt8, CaseIterable, Sendable {
  /// The 23 system items of UIKit, and two that a profile must ask for.
  case done, cancel, edit, save, add, flexibleSpace, fixedSpace, compose, reply, action, organize,
    bookmarks, search, refresh, stop, camera, trash, play, pause, rewind, fastForward, undo, redo,
    pageCurl, close

  /// The name on the wire, UIKit's without the prefix.
  package var name: String { "\(self)" }

  /// Whether it is deprecated or came later than the 23, so that `profile.extraSystemItems` must be on.
  package var isExtra: Bool { self == .pageCurl || self == .close }

  /// Finds a system item by its name.
  package init?(name: String) {
    guard let item = Self.byName[name] else { return nil }
    self = item
  }

  private static let byName: [String: SystemItem] = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0.name, $0) })
}
