import NavigationCore
import NavigationReplica

/// The effect of an operation on the displayed stack, before the daemon has performed it.
///
/// A pop is fixed to the screen that was displayed on top at the call. If another screen is on
/// top later, the edit does not apply, and the client withdraws it.
enum OverlayEdit: Hashable, Sendable {
  /// A screen of the displayed stack: its id, and its record if it is new.
  struct Placed: Hashable, Sendable {
    var id: String
    var record: MirrorRecord?
  }

  /// Pushes a screen.
  case push(MirrorRecord, ignoresDuplicate: Bool)
  /// Pops the top, unless it is the root; applies only while the top has this id.
  ///
  /// Nil stands for the screen that is on top at the first application.
  case pop(String?)
  /// Removes all screens above this one.
  case popTo(String)
  /// Removes all screens above the root.
  case popToRoot
  /// Replaces the stack.
  case setStack([Placed])
  /// Sets the title of a screen or of its item; `null` resets it to its default.
  case setTitle(screen: String, NavigationValue, ofItem: Bool)
}

extension OverlayEdit {
  /// Reads the operations of one message.
  ///
  /// - Parameters:
  ///   - operations: the operations.
  ///   - id: the id of the message, from which screens without an id get a temporary one.
  ///   - mirror: the nav. If a person cannot pop its top, back button and menu have no effect that
  ///     the client can compute: the daemon refuses both.
  /// - Returns: the edits; nil if the client cannot compute the effect of an operation.
  static func read(
    _ operations: [NavigationOperation], id: UInt64, on mirror: Mirror
  ) -> [OverlayEdit]? {
    var edits: [OverlayEdit] = []
    var reader = Reader(prefix: "~\(id).")
    let isPersons = operations.contains { $0.kind == .uiBackTap || $0.kind == .uiBackMenu }
    if isPersons, mirror.isPopBlocked { return nil }
    for operation in operations {
      guard
        let arguments = NavigationValue.read(operation.octets.bytes)?.object?.values.first,
        let more = reader.read(operation.kind, arguments)
      else { return nil }
      edits.append(contentsOf: more)
    }
    return edits
  }

  private struct Reader {
    let prefix: String
    var count = 0

    mutating func read(_ kind: OperationKind, _ arguments: NavigationValue) -> [OverlayEdit]? {
      switch kind {
      case .push, .show, .segue:
        let policy = arguments["onDuplicate"]?.text ?? "error"
        guard ["error", "ignore"].contains(policy), let screen = arguments["screen"],
          let record = record(screen)
        else { return nil }
        return [.push(record, ignoresDuplicate: policy == "ignore")]
      case .pop, .uiBackTap: return [.pop(nil)]
      case .popTo, .uiBackMenu:
        guard arguments["inclusive"]?.bool != true else { return nil }
        return arguments["screen"]?.text.map { [.popTo($0)] }
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
        return [.setTitle(screen: screen, title, ofItem: kind == .itemSet)]
      case .replace, .insert, .remove, .open, .restore, .revert, .pushItem, .popItem, .setItems,
        .navCreate, .navClose,
        .buttonActivate, .gestureBegin, .gestureUpdate, .gestureFinish, .gestureCancel, .unknown:
        return nil
      default: return []
      }
    }

    /// The record of a new screen; nil for the id of a known screen.
    private mutating func record(_ screen: NavigationValue) -> MirrorRecord? {
      guard var members = screen.object else { return nil }
      if members["id"] == nil {
        count += 1
        members["id"] = .string("\(prefix)\(count)")
      }
      guard let id = members["id"]?.text else { return nil }
      return MirrorRecord(
        id: id, version: Revision(0), json: NavigationValue.object(members).octets)
    }
  }

  /// Applies the edit to a stack; nil if it does not apply.
  func applied(to screens: [MirrorRecord]) -> [MirrorRecord]? {
    switch self {
    case .push(let record, let ignoresDuplicate):
      guard !screens.contains(where: { $0.id == record.id }) else {
        return ignoresDuplicate ? screens : nil
      }
      return screens + [record]
    case .pop(let id):
      guard let top = screens.last, id == nil || top.id == id else { return nil }
      // At the root, the daemon answers `ok` and changes nothing.
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

  /// The edit with the id of the screen that it removes, which is fixed by this stack.
  func naming(_ screens: [MirrorRecord]) -> OverlayEdit {
    if case .pop(nil) = self { .pop(screens.last?.id) } else { self }
  }
}

extension MirrorRecord {
  fileprivate func with(title: NavigationValue, ofItem: Bool) -> MirrorRecord {
    var members = NavigationValue.read(json.bytes)?.object ?? [:]
    // `nil` alone would be read as the JSON value `null`.
    let value = title == .null ? NavigationValue?.none : title
    if ofItem {
      var item = members["item"]?.object ?? [:]
      item["title"] = value
      members["item"] = item.isEmpty ? NavigationValue?.none : .object(item)
    } else {
      members["title"] = value
    }
    return MirrorRecord(id: id, version: version, json: NavigationValue.object(members).octets)
  }
}

extension Mirror {
  /// Whether a person cannot pop the top: a presented screen covers it, or it does not allow it.
  fileprivate var isPopBlocked: Bool {
    let part = parts.first { $0.id == "presented" }
    let chain = part.flatMap { NavigationValue.read($0.json.bytes)?["chain"]?.array } ?? []
    if chain.contains(where: { Presented.coversStack(style: $0["style"]?.text) }) { return true }
    return screens.last.flatMap { NavigationValue.read($0.json.bytes)?["canPop"]?.bool } == false
  }
}
