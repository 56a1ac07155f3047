/// A route or the pattern of one, in parts: `settings/wifi?tab=keys#top`.
///
/// Texts are octets, as they came: nothing is decoded, and capital letters are others than small ones.
package struct RouteAddress: Sendable {
  /// A pair of the query.
  package struct Pair: Sendable {
    package var name: String
    package var value: String
  }

  /// The parts between slashes, without those at both ends; one empty part for no path.
  package var path: [String]
  /// The pairs of the query in their order; a name without `=` has an empty value.
  package var query: [Pair] = []
  /// What stands behind `#`; nil without one.
  package var fragment: String?

  package init(_ route: String) {
    var rest = route.utf8[...]
    if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
      fragment = Self.text(rest[rest.index(after: hash)...])
      rest = rest[..<hash]
    }
    if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
      query = rest[rest.index(after: mark)...].split(separator: UInt8(ascii: "&")).map { pair in
        let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
        return Pair(name: Self.text(pair[..<end]), value: Self.text(pair[end...].dropFirst()))
      }
      rest = rest[..<mark]
    }
    let slash = UInt8(ascii: "/")
    rest = rest.drop { $0 == slash }
    while rest.last == slash { rest.removeLast() }
    path = Self.text(rest).slashSeparatedParts
  }

  private static func text(_ octets: Substring.UTF8View) -> String {
    String(decoding: octets, as: UTF8.self)
  }

  /// The first value of the query with a name.
  package func value(_ name: String) -> String? { query.first { $0.name == name }?.value }
}
