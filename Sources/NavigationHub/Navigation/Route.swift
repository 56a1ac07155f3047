package import NavigationCore

/// A pattern for routes, and the stack that a matching route opens.
package struct RouteTemplate: Hashable, Sendable {
  /// A screen of the stack.
  package enum Element: Hashable, Sendable {
    /// The screen with this id, wherever the nav has it, or else a new one with this id.
    case id(ScreenID)
    /// A screen by its record; `{page}` in its title, route and args stands for a piece of the route.
    case record(ScreenRecord)
  }

  /// A piece of the pattern.
  package enum Piece: Hashable, Sendable {
    /// A fixed text, which matches only itself.
    case text(String)
    /// A name such as `:page`: in the path it matches any text but an empty one up to the next slash,
    /// in query and fragment any text or none.
    case parameter(String)
  }

  /// The pieces that must match the parts of a route between its slashes.
  package var segments: [Piece]
  /// The pieces of the query by name; a fixed one must be there.
  package var query: [Text: Piece] = [:]
  package var fragment: Piece?
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

  /// Returns the pieces of a route by name, undecoded; nil if the route does not match.
  ///
  /// Query and fragment of the route that the template does not name match anything.
  package func match(_ route: String) -> [Text: String]? {
    let address = RouteAddress(route)
    guard address.path.count == segments.count else { return nil }
    var values: [Text: String] = [:]
    for (segment, piece) in zip(segments, address.path) {
      switch segment {
      case .text(let text): guard text == piece else { return nil }
      case .parameter(let name):
        guard !piece.isEmpty else { return nil }
        values[Text(name)] = piece
      }
    }
    for (name, piece) in query {
      guard piece.takes(address.value(name.string), into: &values) else { return nil }
    }
    guard fragment?.takes(address.fragment, into: &values) ?? true else { return nil }
    return values
  }
}

extension RouteTemplate.Piece {
  /// Whether a part of query or fragment matches; nil stands for a part that is not there.
  fileprivate func takes(_ part: String?, into values: inout [Text: String]) -> Bool {
    switch self {
    case .text(let text): return part.map { $0 == text } ?? false
    case .parameter(let name):
      values[Text(name)] = part ?? ""
      return true
    }
  }
}

extension NavigationController {
  /// Opens a route for a client with this role; nil if the role is not known, so that no condition on
  /// roles holds.
  ///
  /// `dismissesFirst` takes what is presented away, by default as the settings say.
  mutating func open(
    _ route: String, _ role: String?, _ dismissesFirst: Bool?, _ draft: inout Draft,
    _ context: NavigationContext
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
        arguments.append(argument(for: try element.filled(with: values), after: arguments))
      }
      assert(arguments.count == template.screens.count)
      if dismissesFirst ?? settings.content.dismissesOnOpen { _ = try dismiss(from: nil, &draft) }
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
    case .record(let record):
      if let old, record.agrees(with: old) { return .id(old.id) }
      if let id = record.id, index(of: id) != nil { return .id(id) }
      return .record(record)
    }
  }
}

// Filling a record with pieces of a route.

extension RouteTemplate.Element {
  /// The element with values in place of their names: undecoded in the route, decoded in title and
  /// args.
  fileprivate func filled(
    with values: [Text: String]
  ) throws(NavigationError) -> RouteTemplate.Element {
    guard case .record(var record) = self, !values.isEmpty else { return self }
    let decoded = values.mapValues(\.percentDecoded)
    record.edits = try record.edits.map { edit throws(NavigationError) in
      switch edit {
      case .route(let text?): return .route(text.filled(with: values))
      case .title(let text?): return .title(text.filled(with: decoded))
      case .args(let args?):
        let filled = args.filled(with: decoded)
        guard filled.bytes.count <= 65536 else {
          throw .invalidArgument("the route makes args that are larger than 65536 bytes")
        }
        return .args(filled)
      default: return edit
      }
    }
    return .record(record)
  }
}

extension String {
  /// The text with `%2F` and the like decoded; the text itself if that is not UTF-8.
  fileprivate var percentDecoded: String {
    var octets: [UInt8] = []
    var rest = utf8[...]
    while let octet = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if octet == UInt8(ascii: "%"), digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
        let value = UInt8(digits, radix: 16)
      {
        octets.append(value)
        rest.removeFirst(2)
      } else {
        octets.append(octet)
      }
    }
    return String(validating: octets, as: UTF8.self) ?? self
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
