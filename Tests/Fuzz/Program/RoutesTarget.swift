import FuzzSupport
import NavigationCore
@testable import NavigationHub

/// Reads templates of routes as JSON in the first line, and matches the other lines with them.
///
/// Laws:
/// - A route matches a template as it matches a slow reading of the template's segments.
/// - Filling the segments with the values that a match found gives the route again.
struct RoutesTarget: FuzzTarget {
  mutating func run(_ input: Span<UInt8>) {
    let lines = input.octets.lines
    guard !lines[0].isEmpty else { return }
    let templates: [RouteTemplate]
    do throws(ReadFailure) {
      templates = try RouteReader.templates(OpaqueJSON(validated: Array(lines[0])))
    } catch {
      return observe(error.text.utf8.count)
    }
    let checked = RouteReader.checkedTemplates(OpaqueJSON(validated: Array(lines[0])))
    demand(checked == templates, "the templates are read in two ways")
    for line in lines.dropFirst() {
      guard let route = String(validating: line, as: UTF8.self) else { continue }
      for template in templates { check(template, route) }
    }
  }

  private func check(_ template: RouteTemplate, _ route: String) {
    let pieces = Array(route.utf8).split(separator: 0x2F, omittingEmptySubsequences: false)
    let fits =
      pieces.count == template.segments.count
      && zip(pieces, template.segments).allSatisfy { piece, segment in
        switch segment {
        case .text(let text): piece.elementsEqual(text.utf8)
        case .parameter: !piece.isEmpty
        }
      }
    guard let values = template.match(route) else {
      return demand(!fits, "\(route) does not match")
    }
    demand(fits, "\(route) matches \(template.segments)")
    let filled = template.segments.map { segment in
      switch segment {
      case .text(let text): text
      case .parameter(let name): values[Text(name)] ?? ""
      }
    }
    demand(
      filled.joined(separator: "/").utf8.elementsEqual(route.utf8),
      "\(route) is filled as \(filled)")
  }
}
