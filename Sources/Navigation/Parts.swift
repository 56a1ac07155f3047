/// One of the six parts of a nav beside its screens: a content and the revision of its last change.
///
/// A content at its default takes no room of its own.
package struct Part<Content: PartContent>: Sendable, Equatable {
  /// The revision at which the content last changed.
  package var version: Revision
  private var box: Box?

  private indirect enum Box: Sendable {
    case value(Content)
  }

  /// Makes a part with default content.
  package init(version: Revision) { self.version = version }

  /// The content.
  package var content: Content {
    get {
      guard case .value(let content)? = box else { return Content() }
      return content
    }
    set { box = newValue == Content() ? nil : .value(newValue) }
  }

  /// Whether the content is at its default.
  package var isDefault: Bool { box == nil }

  /// Equality of version and content.
  package static func == (left: Part, right: Part) -> Bool {
    left.version == right.version && left.content == right.content
  }
}

/// A content whose default value needs no arguments.
package protocol PartContent: Equatable, Sendable {
  /// Makes the default content.
  init()
}

/// The names of the six parts, in the order of the digest.
package enum PartName: UInt8, CaseIterable, Sendable {
  /// The parts, by their names on the wire.
  case bar, toolbar, presented, transition, environment, settings

  /// The name on the wire.
  package var text: String {
    switch self {
    case .bar: "bar"
    case .toolbar: "toolbar"
    case .presented: "presented"
    case .transition: "transition"
    case .environment: "environment"
    case .settings: "settings"
    }
  }
}
