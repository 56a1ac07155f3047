import NavigationClient

/// The pages of the application.
///
/// The contents of a page stay in the shell. The nav has only a route and arguments, by which the
/// shell finds the contents; navd does not interpret them.
enum Pages {
  /// The first page, a list.
  static let root = ScreenDescription(id: "home", title: "Settings", route: "settings")

  /// The page for the PIN, which is presented above the stack.
  static let pin = ScreenDescription(id: "pin", title: "Enter PIN", route: "pin")

  /// The change of a page's item when it has unsaved changes.
  static let unsaved = ItemDescription(
    prompt: "Unsaved changes",
    rightItems: [ButtonDescription(id: "save", .title("Save"), style: .done, action: "save")])

  /// The change of that item after they are saved.
  static let saved = ItemDescription(prompt: promise, rightItems: [])

  private static let promise = "Applies to everyone at home"

  /// Returns the operations that open a page, in one revision.
  static func operations(toOpen name: String) -> [NavigationOperation] {
    switch name {
    case "network": [.push(network)]
    case "wifi": [.push(wifi), .setToolbarHidden(false)]
    default: []
    }
  }

  /// A group of pages with a long title; the back button to it has a shorter text.
  private static let network = ScreenDescription(
    id: "network", title: "Network & Internet", route: "settings/network",
    item: ItemDescription(
      backBarButtonItem: ButtonDescription(.title("Network")), largeTitleDisplayMode: .never))

  /// A page with a prompt, a button beside the back button, and a toolbar.
  private static let wifi = ScreenDescription(
    id: "wifi", title: "Wi-Fi", route: "settings/network/wifi", args: ["channel": 11],
    item: ItemDescription(
      prompt: promise, leftItemsSupplementBackButton: true,
      leftItems: [ButtonDescription(.title("Help"), action: "help")],
      largeTitleDisplayMode: .never),
    toolbarItems: [
      ButtonDescription(.title("Forget"), action: "wifi.forget"),
      ButtonDescription(.systemItem(.flexibleSpace)),
      ButtonDescription(.title("Share"), action: "wifi.share"),
    ])
}
