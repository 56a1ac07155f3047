// Making, editing and forgetting screens and buttons.

extension NavigationController {
  /// Makes a screen from a record, in place of a detached one with the same identity; it is in no
  /// list yet, the caller puts it somewhere.
  mutating func make(
    _ record: ScreenRecord, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> Screen {
    let id = record.id ?? draft.nextScreenID()
    var screen = Screen(id: id, version: draft.revision)
    if record.kind != .content { screen.details.kind = record.kind }
    try apply(record.edits, to: &screen, &draft)
    try apply(record.item, to: &screen, &draft)
    try checkRoom(for: screen.byteCount, context)
    var original: Screen?
    if case .screen(let old)? = detached.remove(.screen(id)) { original = old }
    exchange(original, for: screen, &draft)
    draft.touch(id, original: original)
    return screen
  }

  mutating func createScreen(
    _ record: ScreenRecord, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    let place = try locate(.record(record))
    if let id = place.id, place.isOnStack { throw .duplicateScreen(id) }
    let former = place.id.flatMap { detached.screen($0) }
    let screen = try make(record, &draft, context)
    // Making the same screen again changes nothing, not even its version.
    if let former, former.hasSameContent(as: screen) {
      detached.touch(.screen(former))
    } else {
      detached.touch(.screen(screen))
    }
    return .screen(screen.id)
  }

  mutating func setScreen(
    _ id: ScreenID, _ edits: [ScreenEdit], _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    guard let old = screen(id) else { throw .unknownScreen(id) }
    var new = old
    try apply(edits, to: &new, &draft)
    try replace(old, by: new, &draft, context)
    return .nothing
  }

  mutating func setItem(
    _ id: ScreenID, _ edits: [ItemEdit], requireOnStack: Bool, _ draft: inout Draft,
    _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    guard let old = screen(id) else { throw .unknownScreen(id) }
    if requireOnStack, index(of: id) == nil { throw .notInStack(id) }
    var new = old
    try apply(edits, to: &new, &draft)
    try replace(old, by: new, &draft, context)
    return .nothing
  }

  mutating func releaseScreen(
    _ id: ScreenID, _ draft: inout Draft
  ) throws(NavigationError) -> OperationOutput {
    guard let screen = detached.screen(id) else {
      guard index(of: id) != nil else { throw .unknownScreen(id) }
      throw .invalidArgument(
        "screen \(id.text) is on the stack; only a detached one can be released")
    }
    forget(.screen(screen))
    draft.released.append(.screen(id))
    return .nothing
  }

  mutating func createButton(
    _ record: ButtonRecord, _ draft: inout Draft
  ) throws(NavigationError) -> OperationOutput {
    if let id = record.id, shown[id] != nil { throw .duplicateItem(id) }
    let button = try make(record, &draft)
    if detached.button(button.id) != button {
      detached.touch(.button(button))
      draft.touchedButtons.insert(button.id)
    }
    return .button(button.id)
  }

  mutating func setButton(
    _ id: ButtonID, _ edits: [ButtonEdit], _ draft: inout Draft
  ) throws(NavigationError) -> OperationOutput {
    guard let old = shown[id]?.button ?? detached.button(id) else { throw .unknownButton(id) }
    let new = Button(id: id, content: try old.content.applying(edits, isCreation: false))
    guard new != old else { return .nothing }
    draft.touchedButtons.insert(id)
    guard shown[id] != nil else {
      detached.touch(.button(new))
      return .nothing
    }
    shown[id]?.button = new
    for index in stack.indices where stack[index].shows(id) {
      draft.touch(stack[index].id, original: stack[index])
      stack[index].replace(new, version: draft.revision)
    }
    for var screen in detachedScreens where screen.shows(id) {
      draft.touch(screen.id, original: screen)
      screen.replace(new, version: draft.revision)
      detached.touch(.screen(screen))
    }
    return .nothing
  }

  mutating func releaseButton(
    _ id: ButtonID, _ draft: inout Draft
  ) throws(NavigationError) -> OperationOutput {
    guard detached.remove(.button(id)) != nil else {
      guard shown[id] != nil else { throw .unknownButton(id) }
      throw .invalidArgument("button \(id.text) is in use; take it out of its lists first")
    }
    draft.released.append(.button(id))
    return .nothing
  }

  mutating func activateButton(
    _ id: ButtonID, _ draft: inout Draft
  ) throws(NavigationError) -> OperationOutput {
    guard let top else { throw .unknownButton(id) }
    let toolbarItems = toolbar.content.isHidden ? [] : top.details.toolbarItems
    let displayed = top.item.leftItems + top.item.rightItems + toolbarItems
    guard let button = displayed.first(where: { $0.id == id }) else {
      guard shown[id] != nil || detached.button(id) != nil else { throw .unknownButton(id) }
      throw .buttonNotDisplayed(id)
    }
    if button.content.action == "nav.pop" { return .popped(pop(&draft)) }
    return .activated(id, action: button.content.action)
  }

  /// Gives a known screen a new content, wherever it is; an equal content changes nothing.
  private mutating func replace(
    _ old: Screen, by new: Screen, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) {
    guard !new.hasSameContent(as: old) else { return }
    try checkRoom(for: new.byteCount - old.byteCount, context)
    var new = new
    new.version = draft.revision
    draft.touch(old.id, original: old)
    exchange(old, for: new, &draft)
    if let index = index(of: old.id) {
      stack[index] = new
    } else {
      detached.touch(.screen(new))
    }
  }

  /// Counts the bytes and buttons of a new content instead of the old one's. Buttons that nothing
  /// shows any more become detached records.
  mutating func exchange(_ old: Screen?, for new: Screen?, _ draft: inout Draft) {
    for id in count(old, out: new) {
      guard let button = shown.removeValue(forKey: id)?.button else { continue }
      detached.touch(.button(button))
    }
  }

  /// The bookkeeping of `exchange`; returns the buttons that are shown nowhere any more.
  mutating func count(_ old: Screen?, out new: Screen?) -> [ButtonID] {
    recordBytes += (new?.byteCount ?? 0) - (old?.byteCount ?? 0)
    for button in new?.buttons ?? [] {
      if shown[button.id] == nil {
        detached.remove(.button(button.id))
        shown[button.id] = ShownButton(button: button, places: 1)
      } else {
        shown[button.id]?.button = button
        shown[button.id]?.places += 1
      }
    }
    var unused: [ButtonID] = []
    for button in old?.buttons ?? [] {
      shown[button.id]?.places -= 1
      if shown[button.id]?.places == 0 { unused.append(button.id) }
    }
    return unused
  }

  /// Forgets a detached record; the buttons that only a forgotten screen shows go with it.
  mutating func forget(_ record: DetachedRecords.Record) {
    detached.remove(record.key)
    guard case .screen(let screen) = record else { return }
    for id in count(screen, out: nil) { shown.removeValue(forKey: id) }
  }

  private func checkRoom(for bytes: Int, _ context: NavigationContext) throws(NavigationError) {
    let limit = context.limits.stateBytes
    // Detached records make room for others, so only those on the stack count in the end.
    guard recordBytes + bytes > limit else { return }
    let onStack = stack.reduce(0) { $0 + $1.byteCount }
    guard onStack + bytes <= limit else { throw .sizeLimit(limit) }
  }
}

extension Screen {
  /// The bytes of the record, roughly as encoded.
  var byteCount: Int {
    var count = 48 + id.text.utf8.count + (title?.utf8.count ?? 0) + (route?.utf8.count ?? 0)
    count += args?.bytes.count ?? 0
    guard !hasDefaultDetails else { return count }
    let details = details
    let item = details.item
    count += details.restorationID?.utf8.count ?? 0
    count += (item.title?.utf8.count ?? 0) + (item.prompt?.utf8.count ?? 0)
    count += item.titleView?.view.bytes.count ?? 0
    let looks = item.appearance
    for look in [looks.standard, looks.compact, looks.scrollEdge, looks.compactScrollEdge] {
      count += look?.bytes.count ?? 0
    }
    return buttons.reduce(count) { $0 + $1.byteCount }
  }

  func shows(_ id: ButtonID) -> Bool { buttons.contains { $0.id == id } }

  /// Replaces every occurrence of a button.
  mutating func replace(_ button: Button, version: Revision) {
    var details = details
    let swap = { (old: Button) in old.id == button.id ? button : old }
    details.toolbarItems = details.toolbarItems.map(swap)
    details.item.leftItems = details.item.leftItems.map(swap)
    details.item.rightItems = details.item.rightItems.map(swap)
    details.item.backBarButtonItem = details.item.backBarButtonItem.map(swap)
    self.details = details
    self.version = version
  }
}

extension Button {
  var byteCount: Int {
    48 + id.text.utf8.count + (content.title?.utf8.count ?? 0)
      + (content.action?.utf8.count ?? 0) + (content.customView?.bytes.count ?? 0)
      + (content.image?.ref.utf8.count ?? 0) + (content.landscapeImage?.ref.utf8.count ?? 0)
  }
}
