import NavigationCore
import NavigationReplica

/// Estimates the bar for a stack for which the daemon has not computed it yet.
///
/// It sets the title, the back button and the buttons of the top screen by the usual rules. Values
/// that depend on text widths, and `swipeBack`, stay. The daemon's next revision replaces the estimate.
enum OverlayBar {
  /// The content of the bar for a stack that differs from the mirror's.
  static func content(
    of screens: [MirrorRecord], instead mirror: Mirror, hasMenu: Bool
  ) -> OpaqueJSON? {
    let shown = BackMenu.entryLimit + 1
    let isSame = mirror.screens.suffix(shown) == screens.suffix(shown)
    guard !isSame, let resolved = mirror.resolved,
      var members = NavigationValue.read(resolved.bytes)?.object
    else { return mirror.resolved }
    if mirror.screens.suffix(2) == screens.suffix(2) {
      members["left"] = members["left"].map {
        renewMenu($0, screens.dropLast(), unchanged: mirror.screens)
      }
      return NavigationValue.object(members).octets
    }
    let top = screens.last.flatMap { NavigationValue.read($0.json.bytes) }
    let below = screens.dropLast().last
    if members["visible"] == members["top"] { members["visible"] = id(screens.last) }
    members["top"] = id(screens.last)
    members["back"] = id(below)
    members["middle"] = .object(["title": .string(title(top) ?? "")])
    members["left"] = .array(left(top, screens.dropLast(), hasMenu: hasMenu))
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
    _ top: NavigationValue?, _ below: ArraySlice<MirrorRecord>, hasMenu: Bool
  ) -> [NavigationValue] {
    let item = top?["item"]
    let own = buttons(item?["leftItems"])
    let isReplaced = !own.isEmpty && item?["leftItemsSupplementBackButton"] != true
    guard let nearest = below.last, !isReplaced, item?["hidesBackButton"] != true else {
      return own
    }
    let text = backText(nearest).map { NavigationValue.string($0) }
    var back: [String: NavigationValue] = ["source": "title", "indicator": "default"]
    back["text"] = text
    if let text { back["candidates"] = [text, "Back", nil] }
    if hasMenu { back["menu"] = menu(below) }
    return [.object(["back": .object(back)])] + own
  }

  /// The slots of the left side with the menu for the screens `below` the top, if they have one.
  ///
  /// The entries of `unchanged` screens stay.
  private static func renewMenu(
    _ slots: NavigationValue, _ below: ArraySlice<MirrorRecord>, unchanged: [MirrorRecord]
  ) -> NavigationValue {
    guard var list = slots.array, var back = list.first?["back"]?.object,
      let former = back["menu"]?.array
    else { return slots }
    let entries = (menu(below).array ?? []).map { entry in
      let id = entry["screen"]?.text
      guard let record = below.last(where: { $0.id == id }), unchanged.contains(record) else {
        return entry
      }
      return former.first { $0["screen"]?.text == id } ?? entry
    }
    back["menu"] = .array(entries)
    list[0] = .object(["back": .object(back)])
    return .array(list)
  }

  private static func menu(_ below: ArraySlice<MirrorRecord>) -> NavigationValue {
    .array(
      below.suffix(BackMenu.entryLimit).reversed().map { record in
        var entry: [String: NavigationValue] = ["screen": .string(record.id)]
        entry["text"] = backText(record).map {
          .string($0.utf8.count > BackMenu.textLimit ? "Back" : $0)
        }
        return .object(entry)
      })
  }

  /// The text of the back button directly above a screen; nil for none.
  private static func backText(_ record: MirrorRecord) -> String? {
    let screen = NavigationValue.read(record.json.bytes)
    guard let button = screen?["item"]?["backBarButtonItem"] else {
      // An empty title counts as unset for the back button.
      let titles = [screen?["item"]?["title"]?.text, screen?["title"]?.text]
      return titles.compactMap(\.self).first { !$0.isEmpty } ?? "Back"
    }
    return button["image"] == nil ? button["title"]?.text.flatMap { $0.isEmpty ? nil : $0 } : nil
  }

  private static func buttons(_ list: NavigationValue?) -> [NavigationValue] {
    (list?.array ?? []).map { button in
      guard var members = button.object else { return .object(["button": button]) }
      members["button"] = members.removeValue(forKey: "id") ?? ""
      return .object(members)
    }
  }
}
