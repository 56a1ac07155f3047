import CommandLineOptions
import NavigationCore

/// The names that a running navd knows, by the placeholders of the help.
enum Names: Hashable, Sendable {
  case navs, screens, buttons, routes, members

  /// The names that stand for a placeholder; nil if navd has none of that kind.
  init?(_ placeholder: String) {
    switch placeholder {
    case "NAV": self = .navs
    case "SCREEN", "ID": self = .screens
    case "BUTTON": self = .buttons
    case "ROUTE": self = .routes
    case "MEMBER": self = .members
    default: return nil
    }
  }

  /// The names in the state of a nav, each with its title.
  func names(in state: JSONValue) -> [Completion.Word] {
    let screens =
      (state["screens"]?.elements ?? [])
      + (state["presented"]?["chain"]?.elements.compactMap { $0["screen"] } ?? [])
    switch self {
    case .navs, .members: return []
    case .screens: return screens.compactMap(Self.word)
    case .buttons:
      return screens.flatMap { screen in
        ["leftItems", "rightItems"].flatMap { screen["item"]?[$0]?.elements ?? [] }
          + (screen["toolbarItems"]?.elements ?? [])
      }.compactMap(Self.word)
    case .routes:
      return (state["settings"]?["routes"]?.elements ?? []).compactMap {
        $0["match"]?.string.map { .init(text: $0, summary: "") }
      }
    }
  }

  private static func word(_ record: JSONValue) -> Completion.Word? {
    record["id"]?.string.map {
      .init(text: $0, summary: record["title"]?.string ?? record["item"]?["title"]?.string ?? "")
    }
  }
}
