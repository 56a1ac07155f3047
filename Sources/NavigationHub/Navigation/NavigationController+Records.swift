import NavigationCore

// Making, editing and forgetting screens and buttons.

extension NavigationController {
  /// Makes a screen from a record without adding it to the nav.
  func make(
    _ record: ScreenRecord, _ draft: inout Draft
  ) throws(NavigationError) -> Screen {
    let id = record.id ?? draft.nextScreenID()
    if isStandalone { return try makeItem(record, id, &draft) }
    // The texts are known to the initialiser, because a screen that gets them later is made again.
    var (title, route): (String?, String?)
    for edit in record.edits {
      if case .title(let value) = edit { title = value }
      if case .route(let value) = edit { route = value }
    }
    var screen = Screen(id: id, version: draft.revision, title: title, route: route)
    if let kind = record.kind, kind != .content { screen.details.kind = kind }
    try apply(record.edits, to: &screen, &draft)
    try apply(record.item, to: &screen, &draft)
    assert(screen.id == id && screen.version == draft.revision)
    return screen
  }

  /// Adds a new screen to the nav's records and returns it; the caller puts it into a list.
  ///
  /// A detached screen with the same id is replaced. If its content is the same, the method returns
  /// the detached screen instead, with its version.
  mutating func addRecord(of screen: Screen, _ draft: inout Draft) -> Screen {
    assert(index(of: screen.id) == nil, "\(screen.id.text) is on the stack")
    let former = detached.removeScreen(screen.id)
    if let former, former.hasSameContent(as: screen) { return former }
    accountForReplacement(of: former, by: screen)
    draft.noteChange(of: screen.id, original: former)
    return screen
  }

  mutating func createScreen(
    _ record: ScreenRecord, replaces: Bool, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    let place = try locate(.record(record))
    if let id = place.id, place.isPresented { throw .alreadyPresented(id) }
    if let id = place.id, place.isOnStack { throw .duplicateScreen(id) }
    try checkIDNotAssignedForm(.record(record))
    let screen = try make(record, &draft)
    if let old = detached.screen(screen.id) {
      // Creating an equal screen again changes nothing, not even its place in the order.
      if old.hasSameContent(as: screen) { return .screen(screen.id) }
      guard replaces else { throw .differsFromDetached(screen.id) }
    }
    try checkByteLimit(adding: screen.byteCount, besideStack: screen.byteCount, context)
    detached.makeYoungest(.screen(addRecord(of: screen, &draft)))
    assert(screen.id == detached.screen(screen.id)?.id)
    return .screen(screen.id)
  }

  /// Sets members of a screen and of its item; checks everything before it changes anything.
  mutating func editScreen(
    _ id: ScreenID, _ edits: [ScreenEdit], _ itemEdits: [ItemEdit], _ draft: inout Draft,
    _ context: NavigationContext
  ) throws(NavigationError) {
    guard let old = screen(id) else { throw .unknownScreen(id) }
    var new = old
    if !edits.isEmpty { try apply(edits, to: &new, &draft) }
    if !itemEdits.isEmpty { try apply(itemEdits, to: &new, &draft) }
    assert(new.id == id, "an edit changes the id")
    try replace(old, by: new, &draft, context)
  }

  mutating func releaseScreen(_ id: ScreenID, _ draft: inout Draft) throws(NavigationError) {
    guard let screen = detached.screen(id) else {
      guard self.screen(id) != nil else { throw .unknownScreen(id) }
      let place = index(of: id) == nil ? "presented" : "on the stack"
      throw .invalidArgument(
        "screen \(id.text) is \(place); only a detached one can be released")
    }
    draft.rareNotes().released.append(.screen(id))
    draft.rareNotes().released += deleteDetached(.screen(screen)).map { .button($0) }
    noteReleasedScreen(screen, &draft)
  }

  mutating func createButton(
    _ record: ButtonRecord, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    if let id = record.id, shownButtons[id] != nil { throw .duplicateButton(id) }
    let button = try make(record, &draft)
    try checkByteLimit(adding: button.byteCount, besideStack: button.byteCount, context)
    if detached.button(button.id) != button {
      detached.makeYoungest(.button(button))
      draft.rareNotes().touchedButtons.insert(button.id)
    }
    assert(shownButtons[button.id] == nil, "\(button.id.text) is shown and detached")
    return .button(button.id)
  }

  mutating func setButton(
    _ id: ButtonID, _ edits: [Edit<ButtonContent>], _ draft: inout Draft,
    _ context: NavigationContext
  ) throws(NavigationError) {
    guard let old = button(id) else { throw .unknownButton(id) }
    var content = old.content
    content.apply(edits)
    let new = Button(id: id, content: content)
    guard new != old else { return }
    try checkSystemItem(of: new.content)
    assert(old.id == id, "\(id.text) leads to \(old.id.text)")
    let growth = new.byteCount - old.byteCount
    guard let places = shownButtons[id]?.placeCount else {
      try checkByteLimit(adding: growth, besideStack: new.byteCount, context)
      draft.rareNotes().touchedButtons.insert(id)
      return detached.makeYoungest(.button(new))
    }
    if byteCount + growth * places > context.limits.stateBytes {
      let active = (stack + presentedScreens).reduce(0) { $0 + $1.count(of: id) }
      try checkByteLimit(adding: growth * places, besideStack: growth * active, context)
    }
    let inChain = presentedScreens.reduce(0) { $0 + $1.count(of: id) }
    if inChain > 0 { try checkPresentedSize(adding: growth * inChain, context) }
    draft.rareNotes().touchedButtons.insert(id)
    shownButtons[id]?.button = new
    recordBytes += growth * places
    replaceShownButton(new, places: places, &draft)
    assert(recordBytes >= 0)
    assert(shownButtons[id]?.placeCount == places, "an edit moved a button")
  }

  /// Replaces a button in all screens that show it; stops after `places` replacements.
  private mutating func replaceShownButton(_ button: Button, places: Int, _ draft: inout Draft) {
    assert(places > 0, "\(button.id.text) is shown nowhere")
    var left = places
    for index in stack.indices.reversed() where left > 0 {
      let count = stack[index].count(of: button.id)
      guard count > 0 else { continue }
      left -= count
      draft.noteChange(of: stack[index].id, original: stack[index])
      stack[index].replace(button, version: draft.revision)
    }
    for (index, var screen) in presentedScreens.enumerated() where left > 0 {
      let count = screen.count(of: button.id)
      guard count > 0 else { continue }
      left -= count
      draft.noteChange(of: screen.id, original: screen)
      screen.replace(button, version: draft.revision)
      replacePresented(at: index, by: screen, &draft)
    }
    assert(left >= 0, "more places than were counted")
    guard left > 0 else { return }
    for var screen in detachedScreens where screen.count(of: button.id) > 0 {
      draft.noteChange(of: screen.id, original: screen)
      screen.replace(button, version: draft.revision)
      detached.makeYoungest(.screen(screen))
    }
  }

  mutating func releaseButton(_ id: ButtonID, _ draft: inout Draft) throws(NavigationError) {
    guard detached.remove(.button(id)) != nil else {
      guard shownButtons[id] != nil else { throw .unknownButton(id) }
      throw .invalidArgument("button \(id.text) is in use; take it out of its lists first")
    }
    assert(shownButtons[id] == nil, "\(id.text) was shown and detached")
    draft.rareNotes().released.append(.button(id))
  }

  /// Replaces a screen of the stack, the chain or the detached records; equal content changes
  /// nothing.
  private mutating func replace(
    _ old: Screen, by new: Screen, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) {
    assert(new.id == old.id)
    guard !new.hasSameContent(as: old) else { return }
    let index = index(of: old.id)
    let presentedIndex = presented.isDefault ? nil : presented.content.index(of: old.id)
    let isActive = index != nil || presentedIndex != nil
    let growth = new.byteCount - old.byteCount
    try checkByteLimit(adding: growth, besideStack: isActive ? growth : new.byteCount, context)
    if presentedIndex != nil {
      try checkPresentedSize(adding: new.escapedByteCount - old.escapedByteCount, context)
    }
    assert(index == nil || presentedIndex == nil, "\(old.id.text) has two places")
    var new = new
    new.version = draft.revision
    draft.noteChange(of: old.id, original: old)
    accountForReplacement(of: old, by: new)
    if let index {
      stack[index] = new
    } else if let presentedIndex {
      replacePresented(at: presentedIndex, by: new, &draft)
    } else {
      detached.makeYoungest(.screen(new))
    }
  }

  /// Updates `recordBytes` and `shownButtons` for a replaced screen; nil stands for no screen.
  ///
  /// Buttons that no list holds any more become detached records.
  mutating func accountForReplacement(of old: Screen?, by new: Screen?) {
    assert(old == nil || new == nil || old?.id == new?.id, "a content for another screen")
    for id in updateCounts(from: old, to: new) {
      guard let button = shownButtons.removeValue(forKey: id)?.button else { continue }
      detached.makeYoungest(.button(button))
    }
  }

  /// Updates `recordBytes` and `shownButtons`; returns the buttons that no list holds any more.
  mutating func updateCounts(from old: Screen?, to new: Screen?) -> [ButtonID] {
    recordBytes += (new?.byteCount ?? 0) - (old?.byteCount ?? 0)
    assert(recordBytes >= 0, "\(recordBytes) bytes of records")
    for button in new?.buttons ?? [] {
      if shownButtons[button.id] == nil {
        detached.remove(.button(button.id))
        shownButtons[button.id] = ShownButton(button: button, placeCount: 1)
      } else {
        shownButtons[button.id]?.button = button
        shownButtons[button.id]?.placeCount += 1
      }
    }
    var unused: [ButtonID] = []
    for button in old?.buttons ?? [] {
      shownButtons[button.id]?.placeCount -= 1
      if shownButtons[button.id]?.placeCount == 0 { unused.append(button.id) }
    }
    return unused
  }

  /// Deletes a detached record, and with a screen the buttons that no other screen shows.
  ///
  /// Returns the deleted buttons.
  @discardableResult
  mutating func deleteDetached(_ record: DetachedRecords.Record) -> [ButtonID] {
    assert(detached.contains(record.key), "what is forgotten is not detached")
    detached.remove(record.key)
    guard case .screen(let screen) = record else { return [] }
    let unused = updateCounts(from: screen, to: nil)
    for id in unused { shownButtons.removeValue(forKey: id) }
    return unused
  }

  /// The estimated encoded size of all records, in bytes.
  package var byteCount: Int { recordBytes + detached.buttonBytes }

  /// Throws `sizeLimit` if the nav cannot grow by `growth` bytes.
  ///
  /// navd releases detached records to make room. So only the stack, the presented screens and the
  /// `wanted` bytes beside them must fit into the limit.
  func checkByteLimit(
    adding growth: Int, besideStack wanted: Int, _ context: NavigationContext
  ) throws(NavigationError) {
    let limit = context.limits.stateBytes
    // A nav larger than the limit, because the limit was lowered, may still become smaller.
    guard growth >= 0, byteCount + growth > limit else { return }
    guard stackAndPresentedBytes + wanted <= limit else { throw .sizeLimit(limit) }
  }
}

extension Screen {
  /// The size in bytes as JSON, with the escapes of title and route.
  ///
  /// `byteCount` leaves the escapes out, because to count them costs a push some 700 instructions.
  var escapedByteCount: Int {
    byteCount + (withTitle { $0.jsonOctets - $0.count } ?? 0)
      + (withRoute { $0.jsonOctets - $0.count } ?? 0)
  }

  /// The estimated encoded size of the screen with its buttons, in bytes.
  var byteCount: Int {
    48 + textByteCount + (args?.bytes.count ?? 0) + detailsByteCount
  }

  /// In how many places the screen shows a button.
  func count(of id: ButtonID) -> Int {
    hasDefaultDetails ? 0 : buttons.count { $0.id == id }
  }

  /// Replaces a button, found by its id, in all lists of this screen.
  ///
  /// Gives the screen the new `version`.
  mutating func replace(_ button: Button, version: Revision) {
    var details = details
    let swap = { (old: Button) in old.id == button.id ? button : old }
    details.toolbarItems = details.toolbarItems.map(swap)
    details.item.leftItems = details.item.leftItems.map(swap)
    details.item.rightItems = details.item.rightItems.map(swap)
    details.item.backBarButtonItem = details.item.backBarButtonItem.map(swap)
    if let action = details.item.backAction { details.item.extras.backAction = swap(action) }
    self.details = details
    self.version = version
    assert(count(of: button.id) > 0, "\(id.text) shows no \(button.id.text)")
  }
}

extension Button {
  var byteCount: Int {
    // The names of all members, and the longest word of each that has words.
    128 + id.text.utf8.count + (content.title?.jsonOctets ?? 0) + content.accessibility.byteCount
      + (content.action?.jsonOctets ?? 0) + (content.customView?.bytes.count ?? 0)
      + (content.image?.ref.jsonOctets ?? 0) + (content.landscapeImage?.ref.jsonOctets ?? 0)
      + (content.hasDefaultExtras ? 0 : content.extras.byteCount)
  }
}

// Setting members of screens, items and buttons.

extension NavigationController {
  func apply(
    _ edits: [ScreenEdit], to screen: inout Screen, _ draft: inout Draft
  ) throws(NavigationError) {
    for edit in edits {
      switch edit {
      case .title(let value): screen.title = value
      case .route(let value): screen.route = value
      case .args(let value): screen.args = value
      case .toolbarItems(let value): screen.details.toolbarItems = try buttons(value, &draft)
      case .other(let edit): screen.details.apply(edit)
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
      case .backBarButtonItem(let value):
        item.backBarButtonItem = try value.map { argument throws(NavigationError) in
          try button(argument, &draft)
        }
      case .backAction(let value):
        item.extras.backAction = try value.map { argument throws(NavigationError) in
          try button(argument, &draft)
        }
      case .leftItems(let value): item.leftItems = try buttons(value, &draft)
      case .rightItems(let value): item.rightItems = try buttons(value, &draft)
      case .other(let edit): item.apply(edit)
      }
    }
    // UIKit silently drops a button that is on the item's other side; this refuses it instead.
    if !item.leftItems.isEmpty {
      let left = Set(item.leftItems.map(\.id))
      if let both = item.rightItems.first(where: { left.contains($0.id) }) {
        throw .buttonOnBothSides(both.id)
      }
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
        throw .duplicateButton(button.id)
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
      guard let button = draft.rare?.namedButtons[id] ?? button(id) else {
        throw .unknownButton(id)
      }
      assert(button.id == id, "\(id.text) leads to \(button.id.text)")
      draft.rareNotes().namedButtons[id] = button
      return button
    case .record(let record):
      let button = try make(record, &draft)
      // A client that sends a whole item back repeats the records of buttons in use. Such a record
      // must equal the button in use: only `setButton` changes the content of a button.
      if let old = shownButtons[button.id]?.button ?? draft.rare?.namedButtons[button.id] {
        guard old == button else { throw .duplicateButton(button.id) }
        return old
      }
      assert(!isKnown(.button(button.id)) || detached.contains(.button(button.id)))
      draft.rareNotes().namedButtons[button.id] = button
      draft.rareNotes().touchedButtons.insert(button.id)
      return button
    }
  }

  func make(
    _ record: ButtonRecord, _ draft: inout Draft
  ) throws(NavigationError) -> Button {
    if let id = record.id, id.isAssignedForm {
      throw .invalidArgument("id \(id.text) has the form of ids the daemon assigns; choose another")
    }
    let content = ButtonContent(record.edits)
    let hasText = content.title != nil || content.image != nil
    let faces = [hasText, content.systemItem != nil, content.customView != nil]
    guard faces.count(where: \.self) == 1, content.landscapeImage == nil || content.image != nil
    else {
      throw .invalidArgument(
        "a new button has exactly one of title, image, systemItem and customView; an image may have "
          + "a title, and landscapeImage")
    }
    try checkSystemItem(of: content)
    return Button(id: record.id ?? draft.nextButtonID(), content: content)
  }

  func checkSystemItem(of content: ButtonContent) throws(NavigationError) {
    guard let item = content.systemItem, item.needsExtraSystemItems else { return }
    guard !settings.content.profile.allowsExtraSystemItems else { return }
    throw .invalidArgument("systemItem \(item) needs profile.extraSystemItems")
  }
}
