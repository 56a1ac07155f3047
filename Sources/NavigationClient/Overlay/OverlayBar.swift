import NavigationCore
import NavigationReplica

/// Estimates the bar for a stack for which the daemon has not computed it yet.
///
/// It sets the title, the back button and the buttons of the top screen by the usual rules. Values
/// that depend on text widths, and `swipeBack`, stay. The daemon's next revision replaces the estimate.
enum OverlayBar {
  /// The content of the bar for a stack that differs from the mirror's.
  static func content(of screens: [MirrorRecord], instead mirror: Mirror) -> OpaqueJSON? {
    let isSame = mirror.screens.suffix(2) == screens.suffix(2)
    guard !isSame, let resolved = mirror.resolved,
      var members = NavigationValue.read(resolved.bytes)?.object
    else { return mirror.resolved }
    let top = screens.last.flatMap { NavigationValue.read($0.json.bytes) }
    let below = screens.dropLast().last
    if members["visible"] == members["top"] { members["visible"] = id(screens.last) }
    members["top"] = id(screens.last)
    members["back"] = id(below)
    members["middle"] = .object(["title": .string(title(top) ?? "")])
    members["left"] = .array(left(top, below))
    members["right"] = .array(buttons(top?["item"]?["rightItems"]))
    return NavigationValue.object(members).octets
  }

  private static func id(_ record: MirrorRecord?) -> NavigationValue? {
    record.map { .string($0.id) }
  }

  private static func title(_ screen: NavigationValue?) -> String? {
    screen?["item"]?["title"]?.text ?? screen?["title"]?.text
  }

  private static func left(
    _ top: NavigationValue?, _ below: MirrorRecord?
  ) -> [NavigationValue] {
    let item = top?["item"]
    let own = buttons(item?["leftItems"])
    let isReplaced = !own.isEmpty && item?["leftItemsSupplementBackButton"] != true
    guard let below, !isReplaced, item?["hidesBackButton"] != true else { return own }
    let screen = NavigationValue.read(below.json.bytes)
    let text = screen?["item"]?["backBarButtonItem"]?["title"]?.text ?? title(screen) ?? "Back"
    let back: NavigationValue = [
      "text": .string(text), "source": "title", "indicator": "default",
      "candidates": [.string(text), "Back", nil],
    ]
    return [.object(["back": back])] + own
  }

  private static func buttons(_ list: NavigationValue?) -> [NavigationValue] {
    (list?.array ?? []).map { button in
      guard var members = button.object else { return .object(["button": button]) }
      members["button"] = members.removeValue(forKey: "id") ?? ""
      return .object(members)
    }
  }
}
