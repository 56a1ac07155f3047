/// A UIViewController as the navigation stack sees it: a record with an identity.
///
/// Law: within one epoch `(id, version)` names one content. Copies share their storage until one
/// of them is changed, so a stack of screens is copied and compared cheaply.
package struct Screen: Sendable {
  private var storage: Storage

  // Guarded by copy-on-write: every mutation goes through `unique()`, which copies a shared
  // storage first, so a storage that two values can see is never written.
  private final class Storage: @unchecked Sendable {
    let id: ScreenID
    var version: Revision
    var title: String?
    var route: String?
    var args: OpaqueJSON?
    var details: ScreenDetails.Box?

    init(id: ScreenID, version: Revision) {
      self.id = id
      self.version = version
    }

    func copy() -> Storage {
      let copy = Storage(id: id, version: version)
      copy.title = title
      copy.route = route
      copy.args = args
      copy.details = details
      return copy
    }
  }

  /// Makes a screen with default content.
  package init(id: ScreenID, version: Revision) { storage = Storage(id: id, version: version) }

  /// The identity within the nav.
  package var id: ScreenID { storage.id }

  /// The revision at which the content last changed.
  package var version: Revision {
    get { storage.version }
    set { unique().version = newValue }
  }

  /// UIKit's `title` of the view controller.
  package var title: String? {
    get { storage.title }
    set { unique().title = newValue }
  }

  /// The route from which the client builds the screen; navd only compares it.
  package var route: String? {
    get { storage.route }
    set { unique().route = newValue }
  }

  /// The client's own data, opaque JSON of at most 64 KiB.
  package var args: OpaqueJSON? {
    get { storage.args }
    set { unique().args = newValue }
  }

  /// The members that most screens leave at their defaults.
  package var details: ScreenDetails {
    get { storage.details?.value ?? ScreenDetails() }
    set { unique().details = newValue == ScreenDetails() ? nil : .value(newValue) }
  }

  /// Whether every member of `details` is at its default.
  package var hasDefaultDetails: Bool { storage.details == nil }

  /// The navigation item; every screen has exactly one.
  package var item: NavigationItem {
    get { storage.details?.value.item ?? NavigationItem() }
    set { details.item = newValue }
  }

  /// The kind; a stack takes only `content`.
  package var kind: ScreenKind { storage.details?.value.kind ?? .content }

  /// The buttons of the screen: left, right and toolbar items and the back button, in this order.
  package var buttons: [Button] {
    guard let details = storage.details?.value else { return [] }
    var buttons = details.item.leftItems + details.item.rightItems + details.toolbarItems
    if let back = details.item.backBarButtonItem { buttons.append(back) }
    return buttons
  }

  /// Whether id and content are equal; the versions may differ.
  package func hasSameContent(as other: Screen) -> Bool {
    if storage === other.storage { return true }
    return id == other.id && title == other.title && route == other.route && args == other.args
      && storage.details?.value == other.storage.details?.value
  }

  private mutating func unique() -> Storage {
    if !isKnownUniquelyReferenced(&storage) { storage = storage.copy() }
    assert(isKnownUniquelyReferenced(&storage), "another screen would change with this one")
    return storage
  }
}

extension Screen: Equatable {
  /// Equality of identity, version and content.
  package static func == (left: Screen, right: Screen) -> Bool {
    left.version == right.version && left.hasSameContent(as: right)
  }
}

/// The members of a screen record that most screens leave at their defaults.
package struct ScreenDetails: Hashable, Sendable {
  /// The kind, `content` by default; fixed at creation.
  package var kind = ScreenKind.content
  /// UIKit's `restorationIdentifier`.
  package var restorationID: String?
  /// Whether the screen wants the bar hidden while it is on top; nil leaves the bar alone.
  package var prefersBarHidden: Bool?
  /// UIKit's `wantsFullScreenLayout`.
  package var wantsFullScreenLayout = false
  /// UIKit's `extendedLayoutIncludesOpaqueBars`.
  package var extendsUnderOpaqueBars = false
  /// UIKit's `edgesForExtendedLayout`.
  package var edges = Edges.all
  /// UIKit's `toolbarItems`, in display order.
  package var toolbarItems: [Button] = []
  /// UIKit's `navigationItem`.
  package var item = NavigationItem()

  /// Makes details at their defaults.
  package init() {}

  /// A box outside of the screen's storage, because most screens have no details.
  indirect enum Box: Sendable {
    case value(ScreenDetails)

    var value: ScreenDetails {
      switch self {
      case .value(let details): details
      }
    }
  }
}

/// The kind of view controller that a screen represents.
package enum ScreenKind: UInt8, Sendable {
  /// An ordinary content view controller, the only kind a stack takes.
  case content
  /// A UITabBarController.
  case tabBar
  /// A UINavigationController.
  case navigation
}

/// UIRectEdge.
package struct Edges: OptionSet, Hashable, Sendable {
  /// One bit an edge.
  package let rawValue: UInt8

  /// Makes a set from its bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The top edge.
  package static let top = Edges(rawValue: 1)
  /// The left edge.
  package static let left = Edges(rawValue: 2)
  /// The bottom edge.
  package static let bottom = Edges(rawValue: 4)
  /// The right edge.
  package static let right = Edges(rawValue: 8)
  /// All four, the default.
  package static let all: Edges = [.top, .left, .bottom, .right]
}
