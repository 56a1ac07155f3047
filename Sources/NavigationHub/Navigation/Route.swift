package import NavigationCore

/// A pattern for routes, and the stack that a matching route opens.
package struct RouteTemplate: Hashable, Sendable {
  /// A screen of the stack.
  package enum Element: Hashable, Sendable {
    /// The screen with this id, wherever the nav has it, or else a new one with this id.
    case id(ScreenID)
    /// A screen by its record, with the pattern from which its route is made.
    case record(ScreenRecord, route: [Piece])
  }

  /// A piece of the pattern for a route, or of the pattern from which one is made.
  package enum Piece: Hashable, Sendable {
    /// A fixed text, which matches only itself.
    case text(String)
    /// A named segment such as `:page`, which matches any text but an empty one up to the next
    /// slash.
    case parameter(String)
  }

  /// The pieces that must match the parts of a route between its slashes.
  package var segments: [Piece]
  /// The stack, bottom first.
  package var screens: [Element]
  /// The conditions without which the template does not match.
  package var conditions: [Condition] = []

  /// A condition for opening a route.
  package enum Condition: Hashable, Sendable {
    /// The client has one of these roles.
    case roles([String])
    /// These screens are on the stack.
    case onStack([ScreenID])
  }

  /// Returns the pieces of a route by name; nil if the route does not match.
  ///
  /// The pieces are not percent-decoded.
  package func match(_ route: String) -> [Text: String]? {
    let pieces = route.slashSeparatedParts
    guard pieces.count == segments.count else { return nil }
    var values: [Text: String] = [:]
    for (segment, piece) in zip(segments, pieces) {
      switch segment {
      case .text(let text): guard text == piece else { return nil }
      case .parameter(let name):
        guard !piece.isEmpty else { return nil }
        values[Text(name)] = piece
      }
    }
    assert(values.count <= segments.count)
    return values
  }
}

extension NavigationController {
  /// Opens a route for a client with this role; nil if the role is not known, so that no condition on
  /// roles holds.
  mutating func open(
    _ route: String, by role: String?, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    let templates = settings.content.routes.map(context.routeTemplates) ?? []
    var unmet: RouteTemplate.Condition?
    for template in templates {
      guard let values = template.match(route) else { continue }
      if let condition = template.conditions.first(where: { !isMet($0, by: role) }) {
        unmet = unmet ?? condition
        continue
      }
      var arguments: [ScreenArgument] = []
      for element in template.screens {
        arguments.append(argument(for: element.filled(with: values), after: arguments))
      }
      assert(arguments.count == template.screens.count)
      return try setStack(arguments, &draft, context)
    }
    throw .noMatchingRoute(route, unmet: unmet)
  }

  private func isMet(_ condition: RouteTemplate.Condition, by role: String?) -> Bool {
    switch condition {
    case .roles(let roles): role.map { roles.contains($0) } ?? false
    case .onStack(let ids): ids.allSatisfy { index(of: $0) != nil }
    }
  }

  /// Returns the screen for an element of a template.
  ///
  /// The screen at the same place of the stack is kept if it agrees with the element and everything
  /// below it is kept too.
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
  fileprivate func filled(with values: [Text: String]) -> RouteTemplate.Element {
    guard case .record(var record, let pattern) = self, !pattern.isEmpty else { return self }
    let route = pattern.map { piece in
      switch piece {
      case .text(let text): text
      case .parameter(let name): values[Text(name)] ?? ""
      }
    }.joined()
    record.edits.append(.route(route))
    return .record(record, route: pattern)
  }
}

extension ScreenRecord {
  /// Whether a record describes a screen: by id if the record has one, else by equal route and
  /// args.
  fileprivate func agrees(with screen: Screen) -> Bool {
    if let id { return id == screen.id }
    return agrees(with: screen) { $0 == $1 }
  }

  /// Whether a screen has the record's route and args; `areEqual` compares args.
  ///
  /// A record without a route agrees with no screen.
  func agrees(
    with screen: Screen, _ areEqual: (OpaqueJSON, OpaqueJSON) -> Bool
  ) -> Bool {
    var route: String?
    var args: OpaqueJSON?
    for edit in edits {
      switch edit {
      case .route(let value): route = value
      case .args(let value): args = value
      default: break
      }
    }
    guard route != nil, route == screen.route else { return false }
    guard let args, let other = screen.args else { return args == screen.args }
    return areEqual(args, other)
  }
}
