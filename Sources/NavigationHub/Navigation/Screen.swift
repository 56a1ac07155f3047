package import NavigationCore

/// A UIViewController as the navigation stack sees it: a record with an identity.
///
/// Law: within one epoch `(id, version)` names one content. Copies share their storage until one
/// of them is changed, so a stack of screens is copied and compared cheaply.
package struct Screen: @unchecked Sendable {
  private var storage: Storage

  private struct Header: Sendable {
    let sizes: TextSizes
    var version: Revision
    var args: OpaqueJSON?
    var details: DetailsBox?
  }

  /// The numbers of bytes of the texts in the tail of the storage, which follow one another.
  ///
  /// In one number: with three, a screen of 120 bytes would take 16 bytes more.
  private struct TextSizes: Equatable {
    /// 8 bits for the id, then 28 for the title and 28 for the route: 1 more than the size, 0 for none.
    private let bits: UInt64

    init(_ id: ScreenID, _ title: String?, _ route: String?) {
      let sizes = (title.map { $0.utf8.count + 1 } ?? 0, route.map { $0.utf8.count + 1 } ?? 0)
      precondition(max(sizes.0, sizes.1) < 1 << 28, "a text that no message can hold")
      bits = UInt64(id.byteCount) | UInt64(sizes.0) << 8 | UInt64(sizes.1) << 36
    }

    var hasTitle: Bool { bits >> 8 & 0xFFF_FFFF > 0 }
    var hasRoute: Bool { bits >> 36 > 0 }
    var id: Range<Int> { 0..<Int(bits & 0xFF) }
    /// The number of bytes up to the title: those of the id, and zeros up to whole words.
    var start: Int { (id.upperBound + 7) & ~7 }
    var title: Range<Int> { start..<start + max(Int(bits >> 8 & 0xFFF_FFFF) - 1, 0) }
    var route: Range<Int> { title.upperBound..<title.upperBound + max(Int(bits >> 36) - 1, 0) }
  }

  // The texts lie in the tail of the storage: a String of its own takes 64 bytes more. Guarded by
  // copy-on-write: every mutation goes through `makeUnique()` or makes a new storage, so a storage that
  // two values can see is never written.
  private final class Storage: ManagedBuffer<Header, UInt8> {
    static func make(
      _ id: ScreenID, _ version: Revision, _ title: String?, _ route: String?
    ) -> Storage {
      let sizes = TextSizes(id, title, route)
      let made = create(minimumCapacity: sizes.route.upperBound) { _ in
        Header(sizes: sizes, version: version)
      }
      unsafe made.withUnsafeMutablePointerToElements { bytes in
        // The capacity is where the last of the three ends.
        unsafe bytes.initialize(repeating: 0, count: sizes.start)
        id.withBytes { unsafe Storage.copy($0, to: bytes) }
        if let title { unsafe Storage.copy(title.utf8.span, to: bytes + sizes.title.lowerBound) }
        if let route { unsafe Storage.copy(route.utf8.span, to: bytes + sizes.route.lowerBound) }
      }
      return unsafe unsafeDowncast(made, to: Storage.self)
    }

    // The members are read by pointer. Each use of `header` begins an access that the runtime
    // records: 1,300 instructions an op.
    var sizes: TextSizes { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.sizes } }
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

    private static func copy(_ text: Span<UInt8>, to bytes: UnsafeMutablePointer<UInt8>) {
      unsafe text.withUnsafeBufferPointer { source in
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

  /// The identity; of more than 16 bytes, each call makes it anew.
  package var id: ScreenID {
    idByteCount > 16 ? withID { ScreenID(checked: $0) } : ScreenID(words: firstWords)
  }

  /// The first 16 bytes of the id, padded with zeros.
  @inline(__always)
  private var firstWords: (first: UInt64, second: UInt64) {
    unsafe storage.withUnsafeMutablePointerToElements { bytes in
      // `make` wrote whole words.
      let words = UnsafeRawPointer(bytes)
      let first = unsafe words.loadUnaligned(as: UInt64.self)
      let second =
        unsafe idByteCount > 8 ? words.loadUnaligned(fromByteOffset: 8, as: UInt64.self) : 0
      return (UInt64(littleEndian: first), UInt64(littleEndian: second))
    }
  }

  /// The number of bytes of the id, the title and the route.
  var textByteCount: Int { idByteCount + titleByteCount + storage.sizes.route.count }

  private var idByteCount: Int { storage.sizes.id.count }

  /// Calls `body` with the bytes of the id, which takes half the instructions of `id`.
  @inline(__always)
  func withID<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    withBytes(storage.sizes.id, body)
  }

  /// Whether the screen has this id; takes less than to compare `id` with it.
  func hasID(_ id: ScreenID) -> Bool {
    if let words = id.words { return idByteCount <= 16 && firstWords == words }
    return withID { bytes in id.withBytes { bytes.hasSameBytes(as: $0) } }
  }

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
    set { if !isSame(withTitle, newValue) { replaceStorage(title: newValue, route: route) } }
  }

  /// The route from which the client builds the screen; navd only compares it.
  ///
  /// Each call makes a string; `withRoute` lends the bytes.
  package var route: String? {
    get { withRoute { Self.text($0) } }
    set { if !isSame(withRoute, newValue) { replaceStorage(title: title, route: newValue) } }
  }

  /// The number of bytes of the title; 0 if there is none.
  package var titleByteCount: Int { storage.sizes.title.count }

  /// Calls `body` with the UTF-8 bytes of the title; returns nil if there is no title.
  @inline(__always)
  package func withTitle<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
    storage.sizes.hasTitle ? withBytes(storage.sizes.title, body) : nil
  }

  /// Calls `body` with the UTF-8 bytes of the route; returns nil if there is no route.
  @inline(__always)
  package func withRoute<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
    storage.sizes.hasRoute ? withBytes(storage.sizes.route, body) : nil
  }

  @inline(__always)
  private func withBytes<Result>(
    _ range: Range<Int>, _ body: (Span<UInt8>) -> Result
  ) -> Result {
    // `make` wrote the bytes of the texts, to which the sizes in the header belong.
    unsafe storage.withUnsafeMutablePointerToElements { bytes in
      body(
        unsafe UnsafeBufferPointer(start: bytes + range.lowerBound, count: range.count).span)
    }
  }

  private static func text(_ bytes: Span<UInt8>) -> String {
    // The bytes were copied from a String.
    String(copying: unsafe UTF8Span(unchecked: bytes))
  }

  private func isSame(_ withText: ((Span<UInt8>) -> Bool) -> Bool?, _ text: String?) -> Bool {
    guard let text else { return withText { _ in true } == nil }
    return withText { $0.hasSameBytes(as: text.utf8.span) } ?? false
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

  /// `ItemExtras.backAction`.
  var backAction: Button? { storage.details?.value.item.backAction }

  var blocksPop: Bool { storage.details.map { !$0.value.canPop } ?? false }

  /// Whether the screen wants the bar hidden while it is on top; nil leaves the bar alone.
  var hidesBar: Bool? { storage.details.flatMap { $0.value.prefersBarHidden } }

  /// Whether the screen wants the toolbar hidden while it is on top; nil leaves the toolbar alone.
  var hidesToolbar: Bool? {
    storage.details.flatMap {
      $0.value.prefersToolbarHidden ?? ($0.value.hidesBottomBarWhenPushed ? true : nil)
    }
  }

  /// The buttons of the screen: left, right and toolbar items, the back button and the back action, in
  /// this order.
  package var buttons: [Button] {
    guard let box = storage.details, box.hasButtons else { return [] }
    let details = box.value
    var buttons = details.item.leftItems + details.item.rightItems + details.toolbarItems
    if let back = details.item.backBarButtonItem { buttons.append(back) }
    if let action = details.item.backAction { buttons.append(action) }
    return buttons
  }

  /// Whether id and content are equal; the versions may differ.
  package func hasSameContent(as other: Screen) -> Bool {
    if storage === other.storage { return true }
    let texts = 0..<storage.sizes.route.upperBound
    return storage.sizes == other.storage.sizes
      && withBytes(texts) { own in other.withBytes(texts) { own.hasSameBytes(as: $0) } }
      && args == other.args && storage.details == other.storage.details
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
  /// Whether the screen wants the toolbar hidden while it is on top; nil leaves the toolbar alone.
  package var prefersToolbarHidden: Bool?
  /// UIKit's member of this name: the toolbar is hidden while the screen is on top.
  package var hidesBottomBarWhenPushed = false
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
    let extras = item.hasDefaultExtras ? nil : item.extras
    hasButtons = !buttons.isEmpty || item.backBarButtonItem != nil || extras?.backAction != nil
    var count = value.restorationID?.jsonOctets ?? 0
    count += (item.title?.jsonOctets ?? 0) + (item.prompt?.jsonOctets ?? 0)
    if let extras { count += extras.byteCount + (extras.backAction?.byteCount ?? 0) }
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
