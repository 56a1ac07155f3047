import Navigation
import NavigationSync

/// What an operation does to the stack that is shown, before the daemon has said so.
enum OverlayEdit: Hashable, Sendable {
  /// One screen of a stack: by its id, with its record if it is new.
  struct Placed: Hashable, Sendable {
    var id: String
    var record: MirrorRecord?
  }

  /// Puts a screen on top.
  case push(MirrorRecord, ignoresDuplicate: Bool)
  /// Removes the top screen unless it is the root; nil until it is known which one that is.
  case pop(String?)
  /// Removes what is above this screen.
  case popTo(String)
  /// Removes what is above the root.
  case popToRoot
  /// Replaces the stack.
  case setStack([Placed])
  /// Sets a title of a screen, or of its item; `null` puts it to its default.
  case setTitle(screen: String, NavigationValue, ofItem: Bool)
}

extension OverlayEdit {
  /// Reads the operations of one message.
  ///
  /// - Parameters:
  ///   - operations: the operations.
  ///   - id: the id of the message, from which the names of nameless screens are made.
  /// - Returns: nil if what they do to the stack cannot be known here.
  static func read(_ operations: [NavigationOperation], id: UInt64) -> [OverlayEdit]? {
    var edits: [OverlayEdit] = []
    var reader = Reader(prefix: "~\(id).")
    for operation in operations {
      guard let value = NavigationValue.read(operation.bytes)?.object, value.count == 1,
        let (name, arguments) = value.first, let more = reader.read(name, arguments)
      else { return nil }
      edits.append(contentsOf: more)
    }
    return edits
  }

  private struct Reader {
    let prefix: String
    var count = 0

    mutating func read(_ name: String, _ arguments: NavigationValue) -> [OverlayEdit]? {
      switch OperationKind(name: name) {
      case .push, .show, .segue:
        guard let screen = arguments["screen"], let record = record(screen) else { return nil }
        return [.push(record, ignoresDuplicate: arguments["onDuplicate"] == "ignore")]
      case .pop, .uiBackTap: return [.pop(nil)]
      case .popTo: return arguments["screen"]?.text.map { [.popTo($0)] }
      case .popToRoot: return [.popToRoot]
      case .setStack:
        guard let screens = arguments["screens"]?.array else { return nil }
        var placed: [Placed] = []
        for screen in screens {
          if let id = screen.text {
            placed.append(Placed(id: id, record: nil))
          } else {
            guard let record = record(screen) else { return nil }
            placed.append(Placed(id: record.id, record: record))
          }
        }
        return [.setStack(placed)]
      case .itemSet, .screenSet:
        guard let screen = arguments["screen"]?.text, let title = arguments["title"] else {
          return []
        }
        return [.setTitle(screen: screen, title, ofItem: name == "item.set")]
      case .open, .restore, .revert, .pushItem, .popItem, .setItems, .navCreate, .navClose,
        .buttonActivate, .gestureBegin, .gestureUpdate, .gestureFinish, .gestureCancel, .unknown:
        return nil
      default: return []
      }
    }

    /// The record of a new screen; one that is named here may have any content.
    private mutating func record(_ screen: NavigationValue) -> MirrorRecord? {
      guard var members = screen.object else { return nil }
      if members["id"] == nil {
        count += 1
        members["id"] = .string("\(prefix)\(count)")
      }
      guard let id = members["id"]?.text else { return nil }
      let json = NavigationValue.object(members).json
      return MirrorRecord(
        id: id, version: Revision(0), json: OpaqueJSON(validated: Array(json.utf8)))
    }
  }

  /// Does it; nil if it does not apply.
  func applied(to screens: [MirrorRecord]) -> [MirrorRecord]? {
    switch self {
    case .push(let record, let ignoresDuplicate):
      guard !screens.contains(where: { $0.id == record.id }) else {
        return ignoresDuplicate ? screens : nil
      }
      return screens + [record]
    case .pop(let id):
      guard let top = screens.last, id == nil || top.id == id else { return nil }
      // The last one stays: the daemon says `ok` and changes nothing.
      return screens.count > 1 ? Array(screens.dropLast()) : screens
    case .popTo(let id):
      guard let index = screens.firstIndex(where: { $0.id == id }) else { return nil }
      return Array(screens[...index])
    case .popToRoot: return screens.isEmpty ? nil : Array(screens.prefix(1))
    case .setStack(let placed):
      guard Set(placed.map(\.id)).count == placed.count else { return nil }
      var result: [MirrorRecord] = []
      for entry in placed {
        let known = screens.first { $0.id == entry.id }
        guard let record = known ?? entry.record else { return nil }
        result.append(record)
      }
      return result
    case .setTitle(let id, let title, let ofItem):
      guard let index = screens.firstIndex(where: { $0.id == id }) else { return nil }
      var result = screens
      result[index] = screens[index].with(title: title, ofItem: ofItem)
      return result
    }
  }

  /// The same edit with what it acts on named, now that the stack is known.
  func naming(_ screens: [MirrorRecord]) -> OverlayEdit {
    if case .pop(nil) = self { .pop(screens.last?.id) } else { self }
  }
}

extension MirrorRecord {
  fileprivate func with(title: NavigationValue, ofItem: Bool) -> MirrorRecord {
    var members = NavigationValue.read(json.bytes)?.object ?? [:]
    // A bare nil would be the value `null`.
    let value = title == .null ? NavigationValue?.none : title
    if ofItem {
      var item = members["item"]?.object ?? [:]
      item["title"] = value
      members["item"] = item.isEmpty ? NavigationValue?.none : .object(item)
    } else {
      members["title"] = value
    }
    let text = NavigationValue.object(members).json
    return MirrorRecord(
      id: id, version: version, json: OpaqueJSON(validated: Array(text.utf8)))
  }
}
