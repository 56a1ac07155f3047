// Setting members of screens, items and buttons; nothing here touches the stack.

extension NavigationController {
  func apply(
    _ edits: [ScreenEdit], to screen: inout Screen, _ draft: inout Draft
  ) throws(NavigationError) {
    for edit in edits {
      switch edit {
      case .title(let value): screen.title = value
      case .route(let value): screen.route = value
      case .args(let value): screen.args = value
      case .restorationID(let value): screen.details.restorationID = value
      case .prefersBarHidden(let value): screen.details.prefersBarHidden = value
      case .wantsFullScreenLayout(let value): screen.details.wantsFullScreenLayout = value
      case .extendsUnderOpaqueBars(let value): screen.details.extendsUnderOpaqueBars = value
      case .edges(let value): screen.details.edges = value
      case .toolbarItems(let value): screen.details.toolbarItems = try buttons(value, &draft)
      }
    }
  }

  func apply(
    _ edits: [ItemEdit], to screen: inout Screen, _ draft: inout Draft
  ) throws(NavigationError) {
    guard !edits.isEmpty else { return }
    var item = screen.item
    for edit in edits {
      switch edit {
      case .title(let value): item.title = value
      case .prompt(let value): item.prompt = value
      case .titleView(let value): item.titleView = value
      case .backBarButtonItem(let value):
        item.backBarButtonItem = try value.map { argument throws(NavigationError) in
          try button(argument, &draft)
        }
      case .hidesBackButton(let value): item.hidesBackButton = value
      case .leftItemsSupplementBackButton(let value): item.leftItemsSupplementBackButton = value
      case .leftItems(let value): item.leftItems = try buttons(value, &draft)
      case .rightItems(let value): item.rightItems = try buttons(value, &draft)
      case .largeTitleDisplayMode(let value): item.largeTitleDisplayMode = value
      case .appearance(let value): item.appearance = value
      }
    }
    // UIKit silently drops a button that is on the item's other side; this refuses it instead.
    let left = Set(item.leftItems.map(\.id))
    if let both = item.rightItems.first(where: { left.contains($0.id) }) {
      throw .itemBothSides(both.id)
    }
    assert(item.sidesAreDistinct)
    screen.item = item
  }

  private func buttons(
    _ arguments: [ButtonArgument], _ draft: inout Draft
  ) throws(NavigationError) -> [Button] {
    var buttons: [Button] = []
    for argument in arguments {
      let button = try button(argument, &draft)
      if !button.isSpace, buttons.contains(where: { $0.id == button.id }) {
        throw .duplicateItem(button.id)
      }
      buttons.append(button)
    }
    assert(buttons.count == arguments.count)
    return buttons
  }

  private func button(
    _ argument: ButtonArgument, _ draft: inout Draft
  ) throws(NavigationError) -> Button {
    switch argument {
    case .id(let id):
      guard let button = shown[id]?.button ?? draft.rare?.named[id] ?? detached.button(id) else {
        throw .unknownButton(id)
      }
      assert(button.id == id, "\(id.text) leads to \(button.id.text)")
      draft.noteRarely().named[id] = button
      return button
    case .record(let record):
      let button = try make(record, &draft)
      // A client that sends a whole item back repeats the records of buttons in use. Such a record
      // must equal the button in use: only `setButton` changes the content of a button.
      if let old = shown[button.id]?.button ?? draft.rare?.named[button.id] {
        guard old == button else { throw .duplicateItem(button.id) }
        return old
      }
      assert(!isKnown(.button(button.id)) || detached.contains(.button(button.id)))
      draft.noteRarely().named[button.id] = button
      draft.noteRarely().touchedButtons.insert(button.id)
      return button
    }
  }

  func make(
    _ record: ButtonRecord, _ draft: inout Draft
  ) throws(NavigationError) -> Button {
    if let id = record.id, id.isAssignedForm {
      throw .invalidArgument("id \(id.text) has the form of ids the daemon assigns; choose another")
    }
    let content = try ButtonContent().applying(record.edits, isCreation: true)
    try checkSystemItem(of: content)
    return Button(id: record.id ?? draft.nextButtonID(), content: content)
  }

  func checkSystemItem(of content: ButtonContent) throws(NavigationError) {
    guard let item = content.systemItem, item.isExtra else { return }
    guard !settings.content.profile.extraSystemItems else { return }
    throw .invalidArgument("systemItem \(item.name) needs profile.extraSystemItems")
  }
}

extension ButtonContent {
  /// Returns this content with some members changed.
  ///
  /// - Throws: `invalidArgument` if a new button has not exactly one of title, image, system item
  ///   and custom view, or has a landscape image without an image.
  func applying(
    _ edits: [ButtonEdit], isCreation: Bool
  ) throws(NavigationError) -> ButtonContent {
    var title = title
    var image = image
    var landscapeImage = landscapeImage
    var systemItem = systemItem
    var customView = customView
    var style = style
    var action = action
    for edit in edits {
      switch edit {
      case .title(let value): title = value
      case .image(let value): image = value
      case .landscapeImage(let value): landscapeImage = value
      case .systemItem(let value): systemItem = value
      case .customView(let value): customView = value
      case .style(let value): style = value
      case .action(let value): action = value
      }
    }
    if isCreation {
      let faces = [title != nil, image != nil, systemItem != nil, customView != nil]
      guard faces.count(where: \.self) == 1, landscapeImage == nil || image != nil else {
        throw .invalidArgument(
          "a new button has exactly one of title, image, systemItem and customView; landscapeImage "
            + "goes with image")
      }
    }
    return ButtonContent(
      title: title, image: image, landscapeImage: landscapeImage, systemItem: systemItem,
      customView: customView, style: style, action: action)
  }
}

extension NavigationController {
  /// Whether activating the button pops, because its action is `nav.pop`.
  package func isPopButton(_ id: ButtonID) -> Bool {
    (shown[id]?.button ?? detached.button(id))?.content.action == "nav.pop"
  }
}
