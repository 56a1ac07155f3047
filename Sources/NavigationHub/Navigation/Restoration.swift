import NavigationCore

/// One screen of a saved stack.
package struct RestorationEntry: Hashable, Sendable {
  /// The name of the entry in the payload, and in the list of skipped entries.
  package var path: String
  /// The screen; nil if its record cannot be read.
  package var record: ScreenRecord?
}

extension NavigationController {
  /// The screens that a client may save to restore them later, bottom first, each with its own
  /// path.
  ///
  /// Screens without a restoration identifier are left out. Nil if the controller itself has none.
  package var restorableScreens: [(path: String, screen: Screen)]? {
    guard let prefix = settings.content.restorationID, !prefix.isEmpty else { return nil }
    var counts: [Text: Int] = [:]
    var screens: [(path: String, screen: Screen)] = []
    for screen in stack {
      guard let id = screen.details.restorationID, !id.isEmpty else { continue }
      screens.append(("\(prefix)/\(id)#\(counts[Text(id), default: 0])", screen))
      counts[Text(id), default: 0] += 1
    }
    assert(screens.count <= stack.count)
    assert(Set(screens.map { Text($0.path) }).count == screens.count, "two screens have one path")
    return screens
  }

  /// Replaces the stack by the restored screens, or by `root` if no entry can be restored.
  ///
  /// The replacement is never animated, as at the launch of an application.
  mutating func restore(
    _ entries: [RestorationEntry], _ root: ScreenArgument?, _ draft: inout Draft,
    _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    var arguments: [ScreenArgument] = []
    var skipped: [String] = []
    // The trial draft lets an entry see what the entries before it made; it is discarded.
    var trial = Draft(of: &self, isAnimated: nil)
    trial.assignedScreenCount = draft.assignedScreenCount
    trial.assignedButtonCount = draft.assignedButtonCount
    for entry in entries {
      if let argument = restored(entry, &trial) {
        arguments.append(argument)
      } else {
        skipped.append(entry.path)
      }
    }
    assert(arguments.count + skipped.count == entries.count)
    if arguments.isEmpty {
      guard let root else { throw .rootRequired }
      arguments = [root]
    }
    let output = try setStack(arguments, &draft, context)
    draft.isAnimated = false
    guard case .replaced(_, let ids) = output else { return output }
    return .restored(ids: ids, skipped: skipped)
  }

  /// Returns the screen that an entry restores; nil if the entry must be skipped.
  ///
  /// A screen that the nav still has is used as it is, because it is newer than the payload.
  private func restored(_ entry: RestorationEntry, _ trial: inout Draft) -> ScreenArgument? {
    guard var record = entry.record, record.kind ?? .content == .content else { return nil }
    if let id = record.id {
      if let known = screen(id) {
        let isFree = presented.content.index(of: id) == nil && known.kind == .content
        return isFree ? .id(id) : nil
      }
      // A new id is assigned, because the daemon may assign this one to another screen later.
      if id.isAssignedForm { record.id = nil }
    }
    record.edits = record.edits.map(withoutUnknownButtonIDs)
    record.item = record.item.map(withoutUnknownButtonIDs)
    let named = trial.rare?.namedButtons ?? [:]
    let (screens, buttons) = (trial.assignedScreenCount, trial.assignedButtonCount)
    do throws(NavigationError) {
      _ = try make(record, &trial)
    } catch {
      trial.rareNotes().namedButtons = named
      (trial.assignedScreenCount, trial.assignedButtonCount) = (screens, buttons)
      return nil
    }
    return .record(record)
  }

  /// Returns the edit without ids of buttons that the daemon assigned and no longer knows.
  ///
  /// The daemon may assign such an id to another button later.
  private func withoutUnknownButtonIDs(_ edit: ScreenEdit) -> ScreenEdit {
    guard case .toolbarItems(let buttons) = edit else { return edit }
    return .toolbarItems(buttons.map(withoutUnknownButtonIDs))
  }

  private func withoutUnknownButtonIDs(_ edit: ItemEdit) -> ItemEdit {
    switch edit {
    case .leftItems(let buttons): .leftItems(buttons.map(withoutUnknownButtonIDs))
    case .rightItems(let buttons): .rightItems(buttons.map(withoutUnknownButtonIDs))
    case .backBarButtonItem(let button): .backBarButtonItem(button.map(withoutUnknownButtonIDs))
    case .backAction(let button): .backAction(button.map(withoutUnknownButtonIDs))
    default: edit
    }
  }

  private func withoutUnknownButtonIDs(_ button: ButtonArgument) -> ButtonArgument {
    guard case .record(var record) = button, let id = record.id, id.isAssignedForm else {
      return button
    }
    if isKnown(.button(id)) { return .id(id) }
    record.id = nil
    return .record(record)
  }
}
