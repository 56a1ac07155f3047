package import NavigationCore

// Writers of records, for messages and journal rows. Members have a fixed order and defaults are
// omitted, so equal records give equal bytes.

extension JSONWriter {
  /// Writes a screen record, with its version unless `hasVersion` is false.
  package mutating func screen(_ screen: Screen, hasVersion: Bool = true) {
    beginObject()
    member("id", screen.id)
    if hasVersion { member("ver", screen.version.number) }
    let details = screen.hasDefaultDetails ? nil : screen.details
    if let details, details.kind != .content { member("kind", word: details.kind.word) }
    screen.withTitle { member("title", utf8: $0) }
    screen.withRoute { member("route", utf8: $0) }
    optional("args", screen.args)
    if let details { self.details(details) }
    endObject()
  }

  /// Writes the details; if they have only the title of an item, as most do, one comparison finds
  /// that out and saves the test of each member.
  private mutating func details(_ details: ScreenDetails) {
    var common = ScreenDetails()
    common.kind = details.kind
    common.item.title = details.item.title
    guard let title = details.item.title, details == common else {
      ScreenDetails.table.write(details, &self)
      return
    }
    name("item")
    beginObject()
    member("title", title)
    endObject()
  }

  package mutating func button(_ button: Button) {
    beginObject()
    member("id", word: button.id.text)
    ButtonContent.table.write(button.content, &self)
    endObject()
  }

  /// Writes the members after `action`, which a button's record and a slot of the resolved bar share.
  mutating func stateAndAccessibility(_ content: ButtonContent) {
    if !content.isEnabled { member("isEnabled", false) }
    memberIfTrue("isSelected", content.isSelected)
    accessibility(content.accessibility)
  }

  mutating func accessibility(_ values: Accessibility) {
    guard !values.isEmpty else { return }
    for member in AccessibilityMember.allCases {
      guard let text = values[member] else { continue }
      dynamicName(member.word)
      string(text.string)
    }
  }

  /// Writes one part of a controller, with its version.
  package mutating func part(_ part: PartName, of controller: NavigationController) {
    beginObject()
    member("ver", controller.version(of: part).number)
    switch part {
    case .bar: if !controller.bar.isDefault { Bar.table.write(controller.bar.content, &self) }
    case .toolbar:
      if !controller.toolbar.isDefault { Toolbar.table.write(controller.toolbar.content, &self) }
    case .presented:
      if !controller.presented.isDefault { presentation(controller.presented.content) }
    case .transition:
      if let running = controller.transition.content.running { transition(running) }
    case .environment:
      if !controller.environment.isDefault {
        Environment.table.write(controller.environment.content, &self)
      }
    case .settings:
      memberIfTrue("attached", controller.isAttached)
      if !controller.settings.isDefault { Settings.table.write(controller.settings.content, &self) }
    }
    endObject()
  }
}
