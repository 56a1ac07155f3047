extension NavigationController {
  /// Whether activating a button pops, as a custom back button does.
  package func isPopButton(_ id: ButtonID) -> Bool {
    (shown[id]?.button ?? detached.button(id))?.content.action == "nav.pop"
  }
}
