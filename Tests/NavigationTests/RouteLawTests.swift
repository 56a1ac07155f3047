@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Routes and templates over few pieces, so that they meet.
private struct RouteSource {
  static let pieces = ["a", "b", "", "é", "%61", ":a"]
  var random: Seeded

  mutating func route() -> String {
    let path = (0..<1 + random.below(4)).map { _ in random.pick(Self.pieces) }
    let ends = random.below(4) == 0 ? "?q=\(random.pick(["a", "", "b"]))&z" : ""
    return path.joined(separator: "/") + ends + random.pick(["", "", "#a", "#"])
  }

  mutating func template() -> RouteTemplate {
    var names: [String] = []
    let segments = (0..<1 + random.below(4)).map { place -> RouteTemplate.Piece in
      guard random.below(3) > 0 else { return .text(random.pick(Self.pieces)) }
      names.append("n\(place)")
      return .parameter("n\(place)")
    }
    var query: [Text: RouteTemplate.Piece] = [:]
    if random.below(3) == 0 { query["q"] = random.pick([.text("a"), .parameter("q")]) }
    let fragment = random.pick([nil, nil, .text("a"), .parameter("f")] as [RouteTemplate.Piece?])
    return RouteTemplate(
      segments: segments, query: query, fragment: fragment,
      screens: (0..<1 + random.below(3)).map { _ in element(names) })
  }

  private mutating func element(_ names: [String]) -> RouteTemplate.Element {
    let ids = Messages.screens.prefix(4)
    switch random.below(4) {
    case 0: return .id(random.pick(Array(ids)))
    case 1: return .record(ScreenRecord(id: random.pick(Array(ids))))
    default:
      let isPlain = names.isEmpty || random.below(3) > 0
      let name = isPlain ? "" : "{\(random.pick(names))}"
      return .record(ScreenRecord(edits: [.route(random.pick(["x/", "y/"]) + name)]))
    }
  }
}

/// `open` and its templates, by protocol.md §9.7.
@Suite struct RouteLawTests {
  /// The pieces between slashes, letter by letter.
  private static func split(_ path: String) -> [String] {
    var pieces = [""]
    for letter in path {
      if letter == "/" { pieces.append("") } else { pieces[pieces.count - 1].append(letter) }
    }
    while pieces.count > 1, pieces.last == "" { pieces.removeLast() }
    while pieces.count > 1, pieces.first == "" { pieces.removeFirst() }
    return pieces
  }

  /// What stands before a sign, and what stands behind it.
  private static func cut(_ text: String, at sign: Character) -> (String, String?) {
    guard let place = text.firstIndex(of: sign) else { return (text, nil) }
    return (String(text[..<place]), String(text[text.index(after: place)...]))
  }

  private static func naiveMatch(_ template: RouteTemplate, _ route: String) -> [Text: String]? {
    let (rest, fragment) = cut(route, at: "#")
    let (path, query) = cut(rest, at: "?")
    let pieces = split(path)
    guard pieces.count == template.segments.count else { return nil }
    var values: [Text: String] = [:]
    for (place, piece) in pieces.enumerated() {
      switch template.segments[place] {
      case .text(let text): if text != piece { return nil }
      case .parameter(let name):
        if piece.isEmpty { return nil }
        values[Text(name)] = piece
      }
    }
    let asked = query.map { cut(cut($0, at: "&").0, at: "=").1 ?? "" }
    for (piece, part) in [(template.query["q"], asked), (template.fragment, fragment)] {
      switch piece {
      case .text(let text)?: if part != text { return nil }
      case .parameter(let name)?: values[Text(name)] = part ?? ""
      case nil: break
      }
    }
    return values
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `a template matches as many pieces, each itself or one that is not empty`(seed: UInt64) {
    var source = RouteSource(random: Seeded(seed: seed))
    var matches = 0
    for _ in 0..<1500 {
      let (template, route) = (source.template(), source.route())
      let expected = Self.naiveMatch(template, route)
      #expect(template.match(route) == expected, "\(template.segments) \(route)")
      matches += expected == nil ? 0 : 1
    }
    #expect(matches > 50)
  }

  /// What stands at each place after `open`: a screen that stays, or a new one.
  private enum Place: Equatable {
    case kept(ScreenID)
    case made(ScreenID?, route: String?)
  }

  private static func expected(
    _ template: RouteTemplate, _ values: [Text: String], _ nav: NavigationController
  ) -> [Place] {
    var places: [Place] = []
    for (at, element) in template.screens.enumerated() {
      let staysBelow = places.indices.allSatisfy {
        $0 < nav.stack.count && places[$0] == .kept(nav.stack[$0].id)
      }
      let here = at < nav.stack.count ? nav.stack[at] : nil
      switch element {
      case .id(let id): places.append(nav.screen(id) == nil ? .made(id, route: nil) : .kept(id))
      case .record(let record):
        var route: String?
        if case .route(let pattern?)? = record.edits.first {
          route = values.reduce(pattern) { $0.replacing("{\($1.key.string)}", with: $1.value) }
        }
        if let id = record.id, nav.stack.contains(where: { $0.id == id }) {
          places.append(.kept(id))
        } else if record.id == nil, let here, staysBelow, here.route == route, here.args == nil {
          places.append(.kept(here.id))
        } else {
          places.append(.made(record.id, route: route))
        }
      }
    }
    return places
  }

  @Test(arguments: 10...17 as ClosedRange<UInt64>)
  func `open keeps and makes screens as the first match says`(seed: UInt64) throws {
    var source = RouteSource(random: Seeded(seed: seed))
    var nav = try Nav("A")
    try nav.run(.configure([.set(\.routes, OpaqueJSON(validated: Array("[]".utf8)))]))
    var opened = 0
    for _ in 0..<250 {
      let templates = (0..<4).map { _ in source.template() }
      nav.context.routeTemplates = { _ in templates }
      let (route, before) = (source.route(), nav.controller)
      let match = templates.lazy.compactMap { template in
        Self.naiveMatch(template, route).map { (template, $0) }
      }.first
      guard let (template, values) = match else {
        nav.refuses(.open(route: route), with: .noMatchingRoute(route))
        continue
      }
      let places = Self.expected(template, values, before)
      let ids = places.compactMap { place -> ScreenID? in
        switch place {
        case .kept(let id): id
        case .made(let id, _): id
        }
      }
      guard Set(ids).count == ids.count else {
        #expect(throws: Refusal.self) { try nav.send([.open(route: route)]) }
        continue
      }
      try nav.run(.open(route: route))
      opened += 1
      #expect(nav.controller.stack.count == places.count)
      for (place, screen) in zip(places, nav.controller.stack) {
        switch place {
        case .kept(let id):
          #expect(screen.id == id && before.screen(id)?.hasSameContent(as: screen) == true)
        case .made(let id, let route):
          #expect(id == nil ? before.screen(screen.id) == nil : id == screen.id)
          // A detached screen that the record replaces may have had the same content.
          let isNew = before.screen(screen.id)?.hasSameContent(as: screen) != true
          #expect(screen.route == route)
          #expect((screen.version == nav.controller.revision) == isNew)
        }
      }
    }
    #expect(opened > 20)
  }
}
