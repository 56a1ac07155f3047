package import NavigationCore

/// The bar, toolbar, environment, settings, presented screens or transition of a nav: the content,
/// and the revision of its last change.
///
/// Content at its default takes no memory of its own.
package struct Part<Content: PartContent>: Sendable, Equatable {
  package var version: Revision
  private var box: Box<Content>?

  package init(version: Revision) { self.version = version }

  package var content: Content {
    get { box?.value ?? Content() }
    set { box = newValue == Content() ? nil : .value(newValue) }
  }

  package var isDefault: Bool { box == nil }

  package static func == (left: Part, right: Part) -> Bool {
    left.version == right.version && left.content == right.content
  }
}

/// A value in memory of its own, so that the type that holds it stays small.
indirect enum Box<Value: Sendable>: Sendable {
  case value(Value)

  var value: Value {
    switch self {
    case .value(let value): value
    }
  }
}

extension Box: Equatable where Value: Equatable {}
extension Box: Hashable where Value: Hashable {}

extension Part {
  /// Changes the content, and notes the part as changed unless the content stays equal.
  mutating func change(
    _ name: PartName, _ draft: inout Draft, _ change: (inout Content) -> Void
  ) {
    let old = content
    var new = old
    change(&new)
    guard new != old else { return }
    assert(version <= draft.revision, "a draft of an earlier state")
    content = new
    version = draft.revision
    draft.parts.insert(name)
  }
}

/// The content of a part; it has a default value.
package protocol PartContent: Equatable, Sendable {
  init()
}

/// A set of part names, one bit each, so that copies allocate nothing.
package struct PartSet: Equatable, Sendable {
  private var bits: UInt8 = 0

  package var isEmpty: Bool { bits == 0 }

  package func contains(_ part: PartName) -> Bool { bits & Self.bit(of: part) != 0 }

  package mutating func insert(_ part: PartName) { bits |= Self.bit(of: part) }

  package mutating func remove(_ part: PartName) { bits &= ~Self.bit(of: part) }

  private static func bit(of part: PartName) -> UInt8 {
    assert(part.rawValue < UInt8.bitWidth, "a part without a bit")
    return 1 << part.rawValue
  }
}

extension PartSet: Sequence {
  /// The parts in the order of the digest.
  package func makeIterator() -> LazyFilterSequence<[PartName]>.Iterator {
    PartName.allCases.lazy.filter(contains).makeIterator()
  }
}

extension PartSet: ExpressibleByArrayLiteral {
  package init(arrayLiteral parts: PartName...) {
    for part in parts { insert(part) }
  }
}

// Estimated encoded sizes of parts, in bytes; members of bounded size are not counted.

extension Bar {
  var byteCount: Int { look.byteCount + appearance.byteCount }
}

extension Settings {
  var byteCount: Int {
    var count = (container?.bytes.count ?? 0) + (simultaneousGestures?.bytes.count ?? 0)
    count += (routes?.bytes.count ?? 0) + (restorationID?.jsonOctets ?? 0)
    return backTitles.reduce(count) {
      $0 + 8 + $1.key.string.jsonOctets + $1.value.string.jsonOctets
    }
  }

  /// The size of the appearance proxies, which have a limit of their own: a nav cannot refuse them.
  var proxyByteCount: Int {
    appearanceProxies.reduce(0) { $0 + 64 + $1.key.string.jsonOctets + $1.value.byteCount }
  }
}

extension BarLook {
  var byteCount: Int {
    var count = titleTextAttributes.byteCount + (barTintColor?.jsonOctets ?? 0)
    for offset in titleOffsets.values { count += 16 + offset.bytes.count }
    for image in backgroundImages.values { count += 64 + image.ref.jsonOctets }
    let images = [shadowImage, backIndicatorImage, backIndicatorMask]
    return images.reduce(count) { $0 + ($1?.ref.jsonOctets ?? 0) }
  }
}

extension TitleTextAttributes {
  var byteCount: Int {
    (font?.bytes.count ?? 0) + (shadowColor?.bytes.count ?? 0) + (shadowOffset?.bytes.count ?? 0)
      + (color?.jsonOctets ?? 0)
  }
}

extension NavigationController {
  /// The newest revision that changed any of the six parts.
  package var newestPartVersion: Revision {
    max(
      max(max(bar.version, toolbar.version), max(environment.version, settings.version)),
      max(presented.version, transition.version))
  }
}
