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
package protocol PartContent: Hashable, Sendable {
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

/// UINavigationBar's own state; what it shows comes from the items.
package struct Bar: PartContent {
  /// The bar's class, fixed at creation.
  package var className = "NavigationBar"
  /// UIKit's `isNavigationBarHidden`.
  package var isHidden = false

  /// Makes the default bar.
  package init() {}
}

/// UIToolbar's own state; its items come from the top screen.
package struct Toolbar: PartContent {
  /// The toolbar's class, fixed at creation.
  package var className = "Toolbar"
  /// UIKit's `isToolbarHidden`; hidden by default.
  package var isHidden = true

  /// Makes the default toolbar.
  package init() {}
}

/// The chain of presented screens; presenting is not yet supported, so it is always empty.
package struct Presentation: PartContent {
  /// Makes the empty chain.
  package init() {}
}

/// The transition in flight; none is opened yet, so it is always idle.
package struct Transition: PartContent {
  /// Makes the idle transition.
  package init() {}
}

/// What the display reports; changing it is not yet supported, so it is always the default.
package struct Environment: PartContent {
  /// Columns that a back title may take; nil for no limit.
  package var backTitleBudget: Int?
  /// The language of the generic back title.
  package var locale = "en"
  /// Whether the device is a phone, for landscape images.
  package var isPhone = true
  /// Whether the height is compact, as on a phone in landscape.
  package var isVerticallyCompact = false

  /// Makes the default environment.
  package init() {}
}
