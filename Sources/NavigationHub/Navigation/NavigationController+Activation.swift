package import NavigationCore

// What a person's press of a button does, and a choice in a menu.

extension NavigationController {
  /// Does what a tap on a button does, or the choice of an element in its menu, or without a button
  /// in the menu at the title.
  mutating func activate(
    _ id: ButtonID?, _ element: ButtonID?, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    let button = try id.map { id throws(NavigationError) in try displayedButton(id) }
    guard let chosen = try chosenElement(element, of: button) else {
      guard let button else { throw .invalidArgument("button, element or both are required") }
      return try press(button, action: button.content.action, &draft, context)
    }
    if let button { return try press(button, chosen, action: chosen.action, &draft, context) }
    return try popOrSend(.activated(nil, element: chosen.id, action: chosen.action), &draft)
  }

  private func displayedButton(_ id: ButtonID) throws(NavigationError) -> Button {
    guard let top else { throw .unknownButton(id) }
    let toolbarItems = toolbar.content.isHidden ? [] : top.details.toolbarItems
    let displayed = (top.item.leftItems + top.item.rightItems + toolbarItems).displayed
    guard let button = displayed.first(where: { $0.id == id }) else {
      guard button(id) != nil else { throw .unknownButton(id) }
      throw .buttonRefused(id, .notDisplayed)
    }
    assert(shownButtons[id]?.button == button, "the top shows another \(id.text)")
    guard button.content.isEnabled else { throw .buttonRefused(id, .disabled) }
    return button
  }

  /// The enabled element of the button's menu, or of that at the title; nil for a tap on the button.
  private func chosenElement(
    _ id: ButtonID?, of button: Button?
  ) throws(NavigationError) -> Menu.Element? {
    guard let id else {
      // A tap on a button with a menu and no action opens the menu, which only the display does.
      if let button, !button.content.extras.menu.isEmpty, button.content.action == nil {
        throw .invalidArgument("\(button.id.text) opens a menu; name the element that is chosen")
      }
      return nil
    }
    let menu = button?.content.extras.menu ?? top?.item.extras.titleMenu ?? Menu()
    let place = button.map { "the menu of \($0.id.text)" } ?? "the menu at the title"
    guard let element = menu.actions.first(where: { $0.id == id }) else {
      throw .invalidArgument("\(place) has no element \(id.text)")
    }
    guard element.isEnabled else {
      throw .invalidArgument("the element \(id.text) of \(place) is disabled")
    }
    return element
  }

  private mutating func press(
    _ button: Button, _ element: Menu.Element? = nil, action: String?, _ draft: inout Draft,
    _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    let output = try popOrSend(
      .activated(button.id, element: element?.id, action: action), &draft)
    guard button.content.extras.changesSelectionAsPrimaryAction, case .activated = output else {
      return output
    }
    if let id = element?.id {
      let menu = button.content.extras.menu.selecting(id)
      try setButton(button.id, [Edit(\.extras.menu, menu)], &draft, context)
    } else if button.content.extras.menu.isEmpty {
      let isSelected = !button.content.isSelected
      try setButton(button.id, [Edit(\.isSelected, isSelected)], &draft, context)
    }
    return output
  }

  /// Pops if the action is `nav.pop`, else returns the event.
  private mutating func popOrSend(
    _ event: OperationOutput, _ draft: inout Draft
  ) throws(NavigationError) -> OperationOutput {
    guard case .activated(_, _, "nav.pop") = event else { return event }
    guard !isCovered else { throw .covered }
    try checkPersonMayPop()
    return .popped(pop(&draft))
  }

  /// Whether activating the button, or this element of a menu, pops: its action is `nav.pop`.
  package func isPop(_ id: ButtonID?, element: ButtonID?) -> Bool {
    let content = id.map { button($0)?.content }
    guard let element else { return content??.action == "nav.pop" }
    let menu = id == nil ? top?.item.extras.titleMenu : content??.extras.menu
    return menu?.actions.first { $0.id == element }?.action == "nav.pop"
  }
}
