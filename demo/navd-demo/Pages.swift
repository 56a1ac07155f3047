import NavigationClient

/// The pages of the application.
///
/// What a page *is* stays in the shell. The nav carries a route and arguments, by which the shell
/// finds the content; navd never looks into them.
enum Pages {
  /// The list that everything begins with.
  static let root = ScreenDescription(id: "home", title: "Settings", route: "settings")

  /// Above everything, on no stack.
  static let pin = ScreenDescription(id: "pin", title: "Enter PIN", route: "pin")

  /// How the bar of a page with unsaved changes differs.
  static let unsaved = ItemDescription(
    prompt: "Unsaved changes",
    rightItems: [ButtonDescription(id: "save", .title("Save"), isDone: true, action: "save")])

  /// How it looks when they are saved.
  static let saved = ItemDescription(prompt: promise, rightItems: [])

  private static let promise = "Applies to everyone at home"

  /// What opens a page, in one revision.
  static func operations(toOpen name: String) -> [NavigationOperation] {
    switch name {
    case "network": [.push(network)]
    case "wifi": [.push(wifi), .setToolbarHidden(false)]
    default: []
    }
  }

  /// A group of pages, whose title is long: the back button to it says something shorter.
  private static let network = ScreenDescription(
    id: "network", title: "Network & Internet", route: "settings/network",
    item: ItemDescription(
      backBarButtonItem: ButtonDescription(.title("Network")), largeTitleDisplayMode: .never))

  /// A page with all that surrounds one: a prompt, a button beside the back button, a toolbar.
  private static let wifi = ScreenDescription(
    id: "wifi", title: "Wi-Fi", route: "settings/network/wifi", args: ["channel": 11],
    item: ItemDescription(
      prompt: promise, leftItemsSupplementBackButton: true,
      leftItems: [ButtonDescription(.title("Help"), action: "help")],
      largeTitleDisplayMode: .never),
    toolbarItems: [
      ButtonDescription(.title("Forget"), action: "wifi.forget"),
      ButtonDescription(.systemItem("flexibleSpace")),
      ButtonDescription(.title("Share"), action: "wifi.share"),
    ])
}
