package import NavigationCore

/// UIKit's `UIMenu`: what a button or a title opens, with submenus.
package struct Menu: Hashable, Sendable {
  /// The elements in display order.
  package var elements: [Element] = []

  package init(elements: [Element] = []) { self.elements = elements }

  /// The most elements of a menu, those of its submenus among them.
  package static let countLimit = 64
  /// How deep menus may lie in each other.
  package static let depthLimit = 4

  /// UIKit's `UIMenuElement`: an action or a submenu.
  package struct Element: Hashable, Sendable {
    /// The name of an action within its menu; nil for a submenu.
    package var id: ButtonID?
    package var title = ""
    /// The name of the application's action; `nav.pop` pops the top screen.
    package var action: String?
    package var state = State.off
    package var isEnabled = true
    /// A submenu; empty for an action.
    package var children = Menu()

    package init() {}
  }

  /// UIKit's `UIMenuElement.State`: the mark beside an element.
  package enum State: UInt8, CaseIterable, Sendable {
    case off, on, mixed
  }

  package var isEmpty: Bool { elements.isEmpty }

  /// The number of elements, those of submenus among them.
  package var count: Int { elements.reduce(0) { $0 + 1 + $1.children.count } }

  /// All actions in display order, those of submenus among them.
  package var actions: [Element] {
    elements.flatMap { $0.children.isEmpty ? [$0] : $0.children.actions }
  }

  /// The estimated encoded size, in bytes.
  var byteCount: Int {
    elements.reduce(0) { count, element in
      count + 80 + (element.id?.text.utf8.count ?? 0) + element.title.jsonOctets
        + (element.action?.jsonOctets ?? 0) + element.children.byteCount
    }
  }

  /// Selects one action: its state becomes `on`, that of all others `off`.
  func selecting(_ id: ButtonID) -> Menu {
    Menu(
      elements: elements.map { element in
        var element = element
        element.state = element.id == id ? .on : .off
        element.children = element.children.selecting(id)
        return element
      })
  }
}
