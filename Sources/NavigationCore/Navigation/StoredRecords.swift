// Records from the journal: complete, checked when they were written, with ids of any form.

/// Why something stored cannot be used: it is damaged, or these rules could not have made it.
package struct StoredDataError: Error, Hashable, Sendable {
  package var what: String

  package init(what: String) { self.what = what }
}

extension Screen {
  package init(
    stored record: ScreenRecord, id: ScreenID, version: Revision
  ) throws(StoredDataError) {
    self.init(id: id, version: version)
    if let kind = record.kind, kind != .content { details.kind = kind }
    for edit in record.edits {
      switch edit {
      case .title(let value): title = value
      case .route(let value): route = value
      case .args(let value): args = value
      case .restorationID(let value): details.restorationID = value
      case .prefersBarHidden(let value): details.prefersBarHidden = value
      case .wantsFullScreenLayout(let value): details.wantsFullScreenLayout = value
      case .extendsUnderOpaqueBars(let value): details.extendsUnderOpaqueBars = value
      case .canPop(let value): details.canPop = value
      case .modalInPresentation(let value): details.modalInPresentation = value
      case .edges(let value): details.edges = value
      case .toolbarItems(let value): details.toolbarItems = try Button.stored(value)
      case .accessibility(let member, let value): details.accessibility[member] = value
      }
    }
    guard !record.item.isEmpty else { return }
    item = try NavigationItem(stored: record.item)
  }
}

extension NavigationItem {
  init(stored edits: [ItemEdit]) throws(StoredDataError) {
    self.init()
    for edit in edits {
      switch edit {
      case .title(let value): title = value
      case .prompt(let value): prompt = value
      case .titleView(let value): titleView = value
      case .backBarButtonItem(let value):
        backBarButtonItem = try Button.stored(value.map { [$0] } ?? []).first
      case .hidesBackButton(let value): hidesBackButton = value
      case .leftItemsSupplementBackButton(let value): leftItemsSupplementBackButton = value
      case .leftItems(let value): leftItems = try Button.stored(value)
      case .rightItems(let value): rightItems = try Button.stored(value)
      case .largeTitleDisplayMode(let value): largeTitleDisplayMode = value
      case .accessibility(let member, let value): accessibility[member] = value
      case .appearance(let value): appearance = value
      }
    }
  }
}

extension Button {
  package init(stored record: ButtonRecord) throws(StoredDataError) {
    guard let id = record.id else { throw StoredDataError(what: "a button without id") }
    do {
      let content = try ButtonContent().applying(record.edits, isCreation: false)
      self.init(id: id, content: content)
    } catch {
      throw StoredDataError(what: "button \(id.text): \(error)")
    }
  }

  fileprivate static func stored(_ list: [ButtonArgument]) throws(StoredDataError) -> [Button] {
    try list.map { argument throws(StoredDataError) in
      guard case .record(let record) = argument else {
        throw StoredDataError(what: "a button by id alone")
      }
      return try Button(stored: record)
    }
  }
}
