package import NavigationCore

/// Reads the route templates of the settings, such as `{"match":"settings/:page","screens":[…]}`.
package enum RouteReader {
  /// Reads templates that were checked when a client set them; returns none if they are invalid.
  package static func checkedTemplates(_ routes: OpaqueJSON) -> [RouteTemplate] {
    do {
      return try templates(routes)
    } catch {
      return []
    }
  }

  static func templates(_ routes: OpaqueJSON) throws(ReadFailure) -> [RouteTemplate] {
    var tape = JSONTape()
    do {
      try tape.read(routes.bytes, maximumDepth: 48)
    } catch {
      throw ReadFailure("routes: \(error.reason.rawValue)")
    }
    try need(tape.kind(0) == .array, "routes is a list")
    return try tape.elements(of: 0) { at throws(ReadFailure) in try template(tape, at) }
  }

  private static func template(_ tape: JSONTape, _ at: Int) throws(ReadFailure) -> RouteTemplate {
    let needs = tape.kind(at) == .object ? tape.member("needs", of: at) : nil
    guard tape.kind(at) == .object, tape.count(at) == (needs == nil ? 2 : 3),
      let match = tape.string("match", of: at),
      let list = tape.member("screens", of: at), tape.kind(list) == .array
    else {
      throw ReadFailure(
        "a route is {match, screens, needs}: a text, a list and, if it has conditions, an object")
    }
    try need(!match.isEmpty, "a route matches something")
    let address = RouteAddress(match)
    let segments = try address.path.map { part throws(ReadFailure) in try piece(part, match) }
    var query: [Text: RouteTemplate.Piece] = [:]
    for pair in address.query {
      try need(
        query[Text(pair.name)] == nil, "the query of the route \(match) has \(pair.name) twice")
      query[Text(pair.name)] = try piece(pair.value, match)
    }
    let fragment = try address.fragment.map { part throws(ReadFailure) in try piece(part, match) }
    var names: Set<Text> = []
    for case .parameter(let name) in segments + query.values + (fragment.map { [$0] } ?? [])
    where !names.insert(Text(name)).inserted {
      throw ReadFailure("the route \(match) has :\(name) twice")
    }
    return RouteTemplate(
      segments: segments, query: query, fragment: fragment,
      screens: try tape.elements(of: list) { at throws(ReadFailure) in
        try screen(tape, at, names, match)
      },
      conditions: needs == nil ? [] : try conditions(tape, needs ?? at, match))
  }

  private static func conditions(
    _ tape: borrowing JSONTape, _ at: Int, _ match: String
  ) throws(ReadFailure) -> [RouteTemplate.Condition] {
    try need(
      tape.kind(at) == .object && tape.count(at) > 0,
      "needs of the route \(match) is {roles, has}: lists")
    var conditions: [RouteTemplate.Condition] = []
    try tape.forEachMember(of: at) { word, value throws(ReadFailure) in
      let texts = tape.strings(value) ?? []
      let ids = texts.compactMap { ScreenID($0) }
      switch word {
      case "roles" where !texts.isEmpty: conditions.append(.roles(texts))
      case "has" where !texts.isEmpty && ids.count == texts.count: conditions.append(.onStack(ids))
      case "roles", "has":
        let what = word == "has" ? "ids of screens" : "names of roles"
        throw ReadFailure(
          "\(word) of the route \(match) is a list of \(what), not an empty one")
      default:
        throw ReadFailure(
          "needs of the route \(match) has \(word); it may have roles and has")
      }
    }
    return conditions
  }

  private static func piece(
    _ part: String, _ match: String
  ) throws(ReadFailure) -> RouteTemplate.Piece {
    guard part.utf8.first == UInt8(ascii: ":") else { return .text(part) }
    let name = String(decoding: part.utf8.dropFirst(), as: UTF8.self)
    try need(
      Grammar.isID(name.utf8.span),
      "the route \(match) has \(part), which is no name of a segment")
    return .parameter(name)
  }

  private static func screen(
    _ tape: borrowing JSONTape, _ at: Int, _ names: Set<Text>, _ match: String
  ) throws(ReadFailure) -> RouteTemplate.Element {
    var record: ScreenRecord
    do throws(ReadFailure) {
      switch try tape.screenArgument(at) {
      case .id(let id): record = ScreenRecord(id: id)
      case .record(let value): record = value
      }
    } catch {
      // A wrong screen makes the template invalid, whatever the code of the screen's own error is.
      throw ReadFailure("a screen of the route \(match): \(error.text)")
    }
    try need(
      record.id?.isAssignedForm != true && record.kind ?? .content == .content,
      "a screen of the route \(match) is of another kind than content, or has an id of the form "
        + "that the daemon assigns")
    if tape.kind(at) == .string, let id = record.id { return .id(id) }
    // Titles and args may hold any text, so braces in them that name nothing stay.
    for case .route(let route?) in record.edits { try checkBraces(of: route, names, match) }
    return .record(record)
  }

  private static func checkBraces(
    of text: String, _ names: Set<Text>, _ match: String
  ) throws(ReadFailure) {
    var rest = text.utf8[...]
    let brace = UInt8(ascii: "}")
    while let open = rest.firstIndex(where: { $0 == UInt8(ascii: "{") || $0 == brace }) {
      let behind = rest.index(after: open)
      guard rest[open] != brace, let close = rest[behind...].firstIndex(of: brace),
        names.contains(Text(String(decoding: rest[behind..<close], as: UTF8.self)))
      else {
        throw ReadFailure(
          "the route \(text) of \(match) has a brace that names no segment of \(match)")
      }
      rest = rest[rest.index(after: close)...]
    }
  }
}
