/// A template of a route, and the stack that it stands for.
package struct RouteTemplate: Hashable, Sendable {
  /// A piece of a route between slashes.
  package enum Segment: Hashable, Sendable {
    /// Matches itself.
    case text(String)
    /// Matches any one piece that is not empty, and names it.
    case name(String)
  }

  /// A screen of the stack.
  package enum Element: Hashable, Sendable {
    /// A known screen, or a new one with this identity.
    case id(ScreenID)
    /// A screen by its record, and the pattern of its route.
    case record(ScreenRecord, route: [Piece])
  }

  /// A piece of the pattern of a route.
  package enum Piece: Hashable, Sendable {
    /// Stands for itself.
    case text(String)
    /// Stands for what the name matched.
    case name(String)
  }

  /// What a route must look like.
  package var segments: [Segment]
  /// The stack, bottom first.
  package var screens: [Element]

  /// Makes a template; every name in `screens` is one of `segments`.
  package init(segments: [Segment], screens: [Element]) {
    self.segments = segments
    self.screens = screens
  }

  /// What the names stand for in a route; nil if it does not match.
  ///
  /// Nothing is percent-decoded.
  package func match(_ route: String) -> [String: String]? {
    let pieces = route.split(separator: "/", omittingEmptySubsequences: false)
    guard pieces.count == segments.count else { return nil }
    var values: [String: String] = [:]
    for (segment, piece) in zip(segments, pieces) {
      switch segment {
      case .text(let text): guard text == piece else { return nil }
      case .name(let name):
        guard !piece.isEmpty else { return nil }
        values[name] = String(piece)
      }
    }
    return values
  }
}

extension NavigationController {
  mutating func open(
    _ route: String, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    let templates = settings.content.routes.map(context.routeTemplates) ?? []
    for template in templates {
      guard let values = template.match(route) else { continue }
      var arguments: [ScreenArgument] = []
      for element in template.screens {
        arguments.append(argument(for: element.filled(with: values), after: arguments))
      }
      return try setStack(arguments, &draft, context)
    }
    throw .noRoute(route)
  }

  /// The screen that an element of a route stands for; one that stands in the same place of the
  /// stack already is kept if everything below it is.
  private func argument(
    for element: RouteTemplate.Element, after below: [ScreenArgument]
  ) -> ScreenArgument {
    let place = below.count
    let isBelowKept = zip(below, stack).allSatisfy { argument, screen in
      if case .id(screen.id) = argument { true } else { false }
    }
    let old = isBelowKept && place < stack.count ? stack[place] : nil
    switch element {
    case .id(let id): return screen(id) == nil ? .record(ScreenRecord(id: id)) : .id(id)
    case .record(let record, _):
      if let old, record.agrees(with: old) { return .id(old.id) }
      if let id = record.id, index(of: id) != nil { return .id(id) }
      return .record(record)
    }
  }
}

extension RouteTemplate.Element {
  fileprivate func filled(with values: [String: String]) -> RouteTemplate.Element {
    guard case .record(var record, let pattern) = self, !pattern.isEmpty else { return self }
    let route = pattern.map { piece in
      switch piece {
      case .text(let text): text
      case .name(let name): values[name] ?? ""
      }
    }.joined()
    record.edits.append(.route(route))
    return .record(record, route: pattern)
  }
}

extension ScreenRecord {
  /// Whether a screen is the one that the record describes: by identity, or by what it is built
  /// from.
  fileprivate func agrees(with screen: Screen) -> Bool {
    if let id { return id == screen.id }
    var route: String?
    var args: OpaqueJSON?
    for edit in edits {
      switch edit {
      case .route(let value): route = value
      case .args(let value): args = value
      default: break
      }
    }
    return route != nil && route == screen.route && args == screen.args
  }
}
