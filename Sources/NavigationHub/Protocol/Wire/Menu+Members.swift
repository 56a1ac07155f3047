package import NavigationCore

// Menus and badges on the wire: in buttons, at titles, and in the resolved bar.

extension Menu: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<Menu> {
    { at, name throws(ReadFailure) in
      let menu = try tape.menu(at, name, depth: 1)
      try need(menu.count <= countLimit, "\(name) has at most \(countLimit) elements")
      var seen: Set<ButtonID> = []
      for action in menu.actions {
        guard let id = action.id, !seen.insert(id).inserted else { continue }
        throw ReadFailure("\(name) has two elements with the id \(id.text)")
      }
      return menu
    }
  }

  package func write(_ json: inout JSONWriter) {
    json.beginArray()
    for element in elements {
      json.beginObject()
      json.optional("id", element.id?.text)
      json.member("title", element.title)
      json.optional("action", element.action)
      if element.state != .off { json.member("state", word: element.state.word) }
      if !element.isEnabled { json.member("isEnabled", false) }
      if !element.children.isEmpty {
        json.name("children")
        element.children.write(&json)
      }
      json.endObject()
    }
    json.endArray()
  }
}

extension Badge: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<Badge> {
    { at, name throws(ReadFailure) in
      if let count = tape.integer(at) { return .count(count) }
      if let text = tape.string(at) { return .text(text) }
      try need(tape.kind(at) == .yes, "\(name) is a number, a text, or true for no content")
      return .indicator
    }
  }

  package func write(_ json: inout JSONWriter) {
    switch self {
    case .count(let count): json.integer(count)
    case .text(let text): json.string(text)
    case .indicator: json.bool(true)
    }
  }
}

extension JSONTape {
  fileprivate func menu(
    _ at: Int, _ name: String, depth: Int
  ) throws(ReadFailure) -> Menu {
    try need(kind(at) == .array, "\(name) is a list of elements, such as {id, title, action}")
    try need(
      depth <= Menu.depthLimit,
      "\(name) has at most \(Menu.depthLimit) menus in each other")
    return Menu(
      elements: try elements(of: at) { at throws(ReadFailure) in
        try menuElement(at, name, depth: depth)
      })
  }

  private func menuElement(
    _ at: Int, _ name: String, depth: Int
  ) throws(ReadFailure) -> Menu.Element {
    try needObject(at, "an element of \(name) is a record")
    var element = Menu.Element()
    var title: String?
    try forEachMember(of: at) { member, value throws(ReadFailure) in
      switch member {
      case "id": element.id = try buttonID(value)
      case "title": title = try optionalString(value, "\(name).title")
      case "action": element.action = try optionalString(value, "\(name).action")
      case "state": element.state = try word(value, "\(name).state")
      case "isEnabled": element.isEnabled = try bool(value, "\(name).isEnabled")
      case "children": element.children = try menu(value, name, depth: depth + 1)
      default: throw unknownMember(member, of: "an element of a menu")
      }
    }
    element.title = try need(title, "an element of \(name) has a title")
    let isSubmenu = !element.children.isEmpty
    try need(
      isSubmenu == (element.id == nil),
      "an element of \(name) has either an id, by which a choice names it, or children")
    try need(
      !isSubmenu || element.action == nil && element.state == .off,
      "a submenu of \(name) has neither action nor state")
    return element
  }
}
