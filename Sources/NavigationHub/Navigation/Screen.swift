package import NavigationCore

/// A UIViewController as the navigation stack sees it: a record with an identity.
///
/// Law: within one epoch `(id, version)` names one content. Copies share their storage until one
/// of them is changed, so a stack of screens is copied and compared cheaply.
package struct Screen: @unchecked Sendable {
  private var storage: Storage

  private struct Header: Sendable {
    let id: ScreenID
    var version: Revision
    /// The number of bytes of the title; -1 for no title.
    var titleByteCount: Int32
    /// The number of bytes of the route, which follow the title; -1 for no route.
    var routeByteCount: Int32
    var args: OpaqueJSON?
    var details: DetailsBox?
  }

  // The texts lie in the tail of the storage: a String of its own takes 64 bytes more. Guarded by
  // copy-on-write: every mutation goes through `makeUnique()` or makes a new storage, so a storage that
  // two values can see is never written.
  private final class Storage: ManagedBuffer<Header, UInt8> {
    static func make(
      _ id: ScreenID, _ version: Revision, _ title: String?, _ route: String?
    ) -> Storage {
      let (titleByteCount, routeByteCount) = (title?.utf8.count ?? 0, route?.utf8.count ?? 0)
      let made = create(minimumCapacity: titleByteCount + routeByteCount) { _ in
        Header(
          id: id, version: version, titleByteCount: title == nil ? -1 : Int32(titleByteCount),
          routeByteCount: route == nil ? -1 : Int32(routeByteCount))
      }
      unsafe made.withUnsafeMutablePointerToElements { bytes in
        // The capacity is the sum of both counts.
        if let title { unsafe Storage.copy(title, to: bytes) }
        if let route { unsafe Storage.copy(route, to: bytes + titleByteCount) }
      }
      return unsafe unsafeDowncast(made, to: Storage.self)
    }

    // The members are read by pointer. Each use of `header` begins an access that the runtime
    // records: 1,300 instructions an op.
    var id: ScreenID { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.id } }
    var titleByteCount: Int {
      unsafe withUnsafeMutablePointerToHeader { unsafe Int($0.pointee.titleByteCount) }
    }
    var routeByteCount: Int {
      unsafe withUnsafeMutablePointerToHeader { unsafe Int($0.pointee.routeByteCount) }
    }
    var version: Revision {
      get { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.version } }
      set { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.version = newValue } }
    }
    var args: OpaqueJSON? {
      get { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.args } }
      set { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.args = newValue } }
    }
    var details: DetailsBox? {
      get { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.details } }
      set { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.details = newValue } }
    }

    private static func copy(_ text: String, to bytes: UnsafeMutablePointer<UInt8>) {
      let span = text.utf8.span
      unsafe span.withUnsafeBufferPointer { source in
        guard let start = source.baseAddress else { return }
        unsafe bytes.initialize(from: start, count: source.count)
      }
    }
  }

  /// Makes a screen with a title and a route, and all other content at its defaults.
  package init(id: ScreenID, version: Revision, title: String? = nil, route: String? = nil) {
    storage = Storage.make(id, version, title, route)
    assert(self.title == title && self.route == route)
  }

  package var id: ScreenID { storage.id }

  /// The revision at which the content last changed.
  package var version: Revision {
    get { storage.version }
    set { makeUnique().version = newValue }
  }

  /// UIKit's `title` of the view controller.
  ///
  /// Each call makes a string; `withTitle` lends the bytes.
  package var title: String? {
    get { withTitle { Self.text($0) } }
    set { if !hasTitle(newValue) { replaceStorage(title: newValue, route: route) } }
  }

  /// The route from which the client builds the screen; navd only compares it.
  ///
  /// Each call makes a string; `withRoute` lends the bytes.
  package var route: String? {
    get { withRoute { Self.text($0) } }
    set { if !hasRoute(newValue) { replaceStorage(title: title, route: newValue) } }
  }

  /// The number of bytes of the title; 0 if there is none.
  package var titleByteCount: Int { max(storage.titleByteCount, 0) }

  /// The number of bytes of the route; 0 if there is none.
  package var routeByteCount: Int { max(storage.routeByteCount, 0) }

  /// Calls `body` with the UTF-8 bytes of the title; returns nil if there is no title.
  @inline(__always)
  package func withTitle<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
    storage.titleByteCount < 0 ? nil : withBytes(0..<titleByteCount, body)
  }

  /// Calls `body` with the UTF-8 bytes of the route; returns nil if there is no route.
  @inline(__always)
  package func withRoute<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
    let start = titleByteCount
    return storage.routeByteCount < 0 ? nil : withBytes(start..<start + routeByteCount, body)
  }

  @inline(__always)
  private func withBytes<Result>(
    _ range: Range<Int>, _ body: (Span<UInt8>) -> Result
  ) -> Result {
    // `make` wrote the bytes of both texts, to which the counts in the header belong.
    unsafe storage.withUnsafeMutablePointerToElements { bytes in
      body(
        unsafe UnsafeBufferPointer(start: bytes + range.lowerBound, count: range.count).span)
    }
  }

  private static func text(_ bytes: Span<UInt8>) -> String {
    // The bytes were copied from a String.
    String(copying: unsafe UTF8Span(unchecked: bytes))
  }

  private func hasTitle(_ text: String?) -> Bool {
    guard let text else { return storage.titleByteCount < 0 }
    return withTitle { $0.hasSameBytes(as: text.utf8.span) } ?? false
  }

  private func hasRoute(_ text: String?) -> Bool {
    guard let text else { return storage.routeByteCount < 0 }
    return withRoute { $0.hasSameBytes(as: text.utf8.span) } ?? false
  }

  /// Replaces the storage by one of this screen alone, with these texts.
  private mutating func replaceStorage(title: String?, route: String?) {
    let made = Storage.make(id, version, title, route)
    made.args = storage.args
    made.details = storage.details
    storage = made
  }

  /// The client's own data, opaque JSON of at most 64 KiB.
  package var args: OpaqueJSON? {
    get { storage.args }
    set { makeUnique().args = newValue }
  }

  /// The members that most screens leave at their defaults.
  package var details: ScreenDetails {
    get { storage.details?.value ?? ScreenDetails() }
    set { makeUnique().details = newValue == .initial ? nil : DetailsBox(newValue) }
  }

  /// The estimated encoded size of `details` with its buttons, in bytes; 0 for the default.
  var detailsByteCount: Int { storage.details?.byteCount ?? 0 }

  package var hasDefaultDetails: Bool { storage.details == nil }

  /// The navigation item; every screen has exactly one.
  package var item: NavigationItem {
    get { storage.details?.value.item ?? NavigationItem() }
    set { details.item = newValue }
  }

  /// The kind; a stack takes only `content`.
  package var kind: ScreenKind { storage.details?.value.kind ?? .content }

  var blocksPop: Bool { storage.details.map { !$0.value.canPop } ?? false }

  /// The buttons of the screen: left, right and toolbar items and the back button, in this order.
  package var buttons: [Button] {
    guard let box = storage.details, box.hasButtons else { return [] }
    let details = box.value
    var buttons = details.item.leftItems + details.item.rightItems + details.toolbarItems
    if let back = details.item.backBarButtonItem { buttons.append(back) }
    return buttons
  }

  /// Whether id and content are equal; the versions may differ.
  package func hasSameContent(as other: Screen) -> Bool {
    if storage === other.storage { return true }
    return id == other.id && hasTitle(other.title) && hasRoute(other.route) && args == other.args
      && storage.details == other.storage.details
  }

  private mutating func makeUnique() -> Storage {
    if !isKnownUniquelyReferenced(&storage) { replaceStorage(title: title, route: route) }
    assert(isKnownUniquelyReferenced(&storage), "another screen would change with this one")
    return storage
  }
}

extension Screen: Equatable {
  /// Equality of version, id and content; `hasSameContent` ignores the version.
  package static func == (left: Screen, right: Screen) -> Bool {
    left.version == right.version && left.hasSameContent(as: right)
  }
}

/// The members of a screen record that most screens leave at their defaults.
package struct ScreenDetails: EditableRecord {
  /// The kind, `content` by default; fixed at creation.
  package var kind = ScreenKind.content
  /// UIKit's `restorationIdentifier`.
  package var restorationID: String?
  /// Whether the screen wants the bar hidden while it is on top; nil leaves the bar alone.
  package var prefersBarHidden: Bool?
  package var wantsFullScreenLayout = false
  /// UIKit's `extendedLayoutIncludesOpaqueBars`.
  package var extendsUnderOpaqueBars = false
  /// UIKit's `edgesForExtendedLayout`.
  package var edges = Edges.all
  /// Whether a person may pop the screen while it is the top; programs always may.
  package var canPop = true
  /// UIKit's `isModalInPresentation`: whether a person's swipe cannot dismiss the screen.
  package var modalInPresentation = false
  /// UIKit's `toolbarItems`, in display order.
  package var toolbarItems: [Button] = []
  /// The text that a screen reader says when the screen comes on display, and its language.
  package var accessibility: Accessibility = [:]
  package var item = NavigationItem()

  package init() {}

  fileprivate static let initial = ScreenDetails()
}

/// Details in memory of their own, because most screens have none, with what is asked of them most.
///
/// To count the size at each question and to copy both sides of a comparison took a quarter of an
/// `item.set`.
final class DetailsBox: Sendable {
  let value: ScreenDetails
  /// The estimated encoded size with the buttons, in bytes.
  let byteCount: Int
  let hasButtons: Bool

  init(_ value: ScreenDetails) {
    self.value = value
    let item = value.item
    let buttons = [item.leftItems, item.rightItems, value.toolbarItems].joined()
    hasButtons = !buttons.isEmpty || item.backBarButtonItem != nil
    var count = value.restorationID?.jsonOctets ?? 0
    count += (item.title?.jsonOctets ?? 0) + (item.prompt?.jsonOctets ?? 0)
    count += item.titleView?.view.bytes.count ?? 0
    count += item.appearance.byteCount + item.accessibility.byteCount
    count += value.accessibility.byteCount + (item.backBarButtonItem?.byteCount ?? 0)
    byteCount = buttons.reduce(count) { $0 + $1.byteCount }
  }
}

extension DetailsBox: Equatable {
  static func == (left: DetailsBox, right: DetailsBox) -> Bool {
    left === right || left.byteCount == right.byteCount && left.value == right.value
  }
}

/// The kind of view controller that a screen represents.
package enum ScreenKind: UInt8, CaseIterable, Sendable {
  /// An ordinary content view controller, the only kind a stack takes.
  case content
  /// A UITabBarController.
  case tabBar
  /// A UINavigationController.
  case navigation
}

/// UIRectEdge.
package struct Edges: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let top = Edges(rawValue: 1)
  package static let left = Edges(rawValue: 2)
  package static let bottom = Edges(rawValue: 4)
  package static let right = Edges(rawValue: 8)
  package static let all: Edges = [.top, .left, .bottom, .right]
}
