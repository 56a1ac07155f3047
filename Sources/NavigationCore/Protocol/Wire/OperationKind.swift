/// The kinds of operations, with their names on the wire and the rules for each kind.
package enum OperationKind: UInt8, CaseIterable, Sendable {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The kinds; `unknown` stands for every other name.
  case navCreate, navConfigure, navClose, attach, detach, push, show, segue, pop, popTo, popToRoot,
    setStack, replace, insert, remove, open, restore, revert, present, dismiss, screenCreate,
    screenSet, screenRelease,
    itemSet, buttonCreate, buttonSet, buttonRelease, buttonActivate, barSet, toolbarSet,
    barSetHidden, toolbarSetHidden, appearanceSet, proxySet, pushItem, popItem, setItems, uiBackTap,
    uiBackMenu, uiDismiss, uiTap, uiSwipe, gestureBegin, gestureUpdate, gestureFinish,
    gestureCancel,
    transitionComplete,
    envSet, unknown

  /// The name of the kind on the wire.
  package var name: String { Self.names[Int(rawValue)] }

  // Every journal row has the name of its operation, so the names are made once.
  private static let names: [String] = allCases.map(\.spelling)

  private var spelling: String {
    switch self {
    case .navCreate: "nav.create"
    case .navConfigure: "nav.configure"
    case .navClose: "nav.close"
    case .screenCreate: "screen.create"
    case .screenSet: "screen.set"
    case .screenRelease: "screen.release"
    case .itemSet: "item.set"
    case .buttonCreate: "button.create"
    case .buttonSet: "button.set"
    case .buttonRelease: "button.release"
    case .buttonActivate: "button.activate"
    case .barSet: "bar.set"
    case .toolbarSet: "toolbar.set"
    case .barSetHidden: "bar.setHidden"
    case .toolbarSetHidden: "toolbar.setHidden"
    case .appearanceSet: "appearance.set"
    case .proxySet: "proxy.set"
    case .uiBackTap: "ui.backTap"
    case .uiBackMenu: "ui.backMenu"
    case .uiDismiss: "ui.dismiss"
    case .uiTap: "ui.tap"
    case .uiSwipe: "ui.swipe"
    case .gestureBegin: "gesture.begin"
    case .gestureUpdate: "gesture.update"
    case .gestureFinish: "gesture.finish"
    case .gestureCancel: "gesture.cancel"
    case .transitionComplete: "transition.complete"
    case .envSet: "env.set"
    default: "\(self)"
    }
  }

  private static let byName: [Text: OperationKind] = Dictionary(
    uniqueKeysWithValues: allCases.map { (Text($0.name), $0) })

  /// Finds a kind by its name; `unknown` if no kind has it.
  package init(name: String) {
    switch name {
    // Frequent names first, without a lookup in the table.
    case "push": self = .push
    case "pop": self = .pop
    case "item.set": self = .itemSet
    default: self = Self.byName[Text(name)] ?? .unknown
    }
  }

  /// The rules for one kind, in the order of the properties below.
  private typealias Rules = (
    rights: Rights, guarded: NeededGuard, veto: VetoQuestion, traits: Traits
  )

  private struct Traits: OptionSet {
    let rawValue: UInt8
    /// See `waitsForTransition`.
    static let waits = Traits(rawValue: 1)
    /// See `needsDisplay`.
    static let display = Traits(rawValue: 2)
    /// See `suitsStandaloneBars`.
    static let bars = Traits(rawValue: 4)
    /// See `isForItems`.
    static let items = Traits(rawValue: 8)
    /// Neither this nor `items`: see `isOrdinary`.
    static let rare = Traits(rawValue: 16)
  }

  // Without a default, so that a new kind does not compile before somebody decides its rules.
  private var rules: Rules {
    switch self {
    case .navCreate: (.push, .none, .never, [.bars, .rare])
    case .navConfigure: (.admin, .none, .never, .bars)
    case .proxySet: (.admin, .none, .never, [.bars, .rare])
    case .navClose: (.admin, .wholeStack, .never, [.bars, .rare])
    case .attach, .detach, .screenCreate, .screenSet, .toolbarSet, .toolbarSetHidden, .uiTap,
      .uiSwipe:
      (.push, .none, .never, [])
    case .itemSet, .buttonCreate, .buttonSet, .buttonRelease, .barSet, .barSetHidden,
      .appearanceSet, .unknown:
      (.push, .none, .never, .bars)
    case .push: (.push, .none, .always, [.waits, .bars])
    case .show, .segue: (.push, .none, .always, .waits)
    case .pop: (.pop, .position, .always, [.waits, .bars])
    case .popTo, .popToRoot, .remove: (.pop, .none, .always, .waits)
    case .setStack: ([.push, .pop], .wholeStack, .removalsInScopeAll, [.waits, .bars])
    case .restore: ([.push, .pop], .wholeStack, .removalsInScopeAll, .waits)
    case .open: ([.push, .pop], .wholeStack, .removalsInScopeAll, [.waits, .rare])
    case .revert: ([.push, .pop], .wholeStack, .removals, [.waits, .bars, .rare])
    case .replace: ([.push, .pop], .byArguments, .always, .waits)
    case .insert: (.push, .byArguments, .always, .waits)
    case .present: (.push, .none, .never, .waits)
    case .dismiss: (.pop, .none, .dismissals, .waits)
    case .screenRelease: (.pop, .none, .never, [])
    // Push or pop, depending on the button, which only the nav's state shows.
    case .buttonActivate: ([], .none, .always, [.bars, .rare])
    case .pushItem: (.push, .none, .always, [.waits, .bars, .items])
    case .popItem: (.pop, .position, .always, [.waits, .bars, .items])
    case .setItems:
      ([.push, .pop], .wholeStack, .removalsInScopeAll, [.waits, .bars, .items])
    case .uiBackTap: (.pop, .position, .always, [.waits, .bars])
    case .uiBackMenu: (.pop, .none, .always, [.waits, .bars])
    case .uiDismiss: (.pop, .presentation, .dismissals, .waits)
    case .gestureBegin: (.pop, .position, .always, [.display, .rare])
    case .gestureUpdate, .gestureFinish, .gestureCancel: (.pop, .none, .never, .rare)
    case .transitionComplete, .envSet: (.push, .none, .never, [.display, .bars])
    }
  }

  /// The rights that the kind needs of a principal.
  package var rights: Rights { rules.rights }

  /// The guard that the policy `removal` requires.
  package var neededGuard: NeededGuard { rules.guarded }

  /// When the hub asks the veto delegates about the operation.
  package var vetoQuestion: VetoQuestion { rules.veto }

  /// Whether the operation waits, or is refused, while a transition, gesture or question is open.
  ///
  /// `button.activate` does so too, if the button pops.
  package var waitsForTransition: Bool { rules.traits.contains(.waits) }

  /// Whether only the session with the display lease may send the operation, while there is one.
  package var needsDisplay: Bool { rules.traits.contains(.display) }

  /// Whether the operation is allowed on a standalone bar.
  package var suitsStandaloneBars: Bool { rules.traits.contains(.bars) }

  /// Whether the operation has UIKit's name for items, which on a controller is `bar-managed`.
  package var isForItems: Bool { rules.traits.contains(.items) }

  /// Whether the operation neither creates, closes or reverts a nav, nor opens a route, activates a
  /// button, or is about a gesture, the looks of all bars or the items of a standalone bar.
  package var isOrdinary: Bool { rules.traits.isDisjoint(with: [.items, .rare]) }

  /// Whether the operation pushes a screen, in the way of `onDuplicate`.
  package var isPush: Bool { self == .push || self == .show || self == .segue }

  /// The cause of the revision, if the kind of the operation determines it.
  package var cause: Cause? {
    switch self {
    case .segue: .segue
    case .uiBackTap, .uiBackMenu, .buttonActivate: .backButton
    case .open: .open
    case .restore: .restore
    case .revert: .revert
    case .gestureBegin, .gestureFinish, .uiDismiss: .gesture
    case .gestureCancel: .cancel
    case .transitionComplete: .complete
    default: nil
    }
  }

  /// When the hub asks the veto delegates.
  package enum VetoQuestion: Sendable {
    /// Never.
    case never
    /// About every screen that comes onto the stack or leaves it, unless the nav's `vetoScope` is
    /// `dismiss`.
    case always
    /// About every screen that leaves the stack, unless `vetoScope` is `dismiss`.
    case removals
    /// About every screen that leaves the stack, if `vetoScope` is `all`.
    case removalsInScopeAll
    /// About every screen that is dismissed, if `vetoScope` is `dismiss` or `all`.
    case dismissals
  }

  /// The guard that an op must have.
  package enum NeededGuard: Sendable {
    /// No guard is required.
    case none
    /// `top`, `rev`, `dig` or `stack`.
    case position
    /// `rev`, `dig` or `stack`.
    case wholeStack
    /// `visible`, `rev` or `dig`.
    case presentation
    /// One of the others, by the arguments: see `Operation.neededGuard`.
    case byArguments

    /// The guards of which one suffices, for messages to people.
    package var names: String {
      switch self {
      case .none, .position, .byArguments: "top, rev, dig or stack"
      case .wholeStack: "rev, dig or stack"
      case .presentation: "visible, rev or dig"
      }
    }
  }
}

extension Operation {
  /// The guard that the policy `removal` requires for the arguments, if the kind leaves it to them.
  package var neededGuard: OperationKind.NeededGuard {
    switch self {
    case .replace(nil, _, _): .position
    case .replace, .insert(_, .below), .insert(_, .above): .none
    // `insert` with `at`, and the strictest for what is added.
    default: .wholeStack
    }
  }

  /// The rights that the operation needs because of its arguments.
  package var rights: Rights {
    switch self {
    case .push(_, let policy), .show(_, let policy): policy.pops ? .pop : []
    default: []
    }
  }
}

extension RequestedOperation {
  /// Whether `formFailure` is nil; in the usual case found without making an error.
  func isWellFormed(isStandalone: Bool) -> Bool {
    if case .operation = arguments { return isStandalone || !kind.isForItems }
    return formFailure(isStandalone: isStandalone) == nil
  }

  /// The error of an operation that is refused before any runs, by the kind of nav; nil for none.
  func formFailure(isStandalone: Bool) -> ReadFailure? {
    if kind.isForItems, !isStandalone {
      return ReadFailure(
        .barManaged,
        "cannot call \(kind.name) directly on a bar managed by a controller; use push, pop or "
          + "setStack")
    }
    guard case .unreadable(let failure) = arguments else { return nil }
    return isStandalone && standaloneFailure != nil ? nil : failure
  }

  /// The error of an operation that a standalone bar does not have; nil if it has it.
  var standaloneFailure: ReadFailure? {
    guard kind.suitsStandaloneBars else {
      return ReadFailure(.invalidArgument, "\(kind.name) is not for a nav of kind bar")
    }
    guard case .unreadable(let failure) = arguments, failure.code == .barDelegateManaged else {
      return nil
    }
    return ReadFailure(.invalidArgument, "a bar's delegate registers by the verb delegate")
  }
}

/// The rights of a principal on a nav, a set.
package struct Rights: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// To watch and to get.
  package static let read = Rights(rawValue: 1)
  /// To add and to edit.
  package static let push = Rights(rawValue: 2)
  /// To remove.
  package static let pop = Rights(rawValue: 4)
  /// To configure and to close.
  package static let admin = Rights(rawValue: 8)
  package static let all: Rights = [.read, .push, .pop, .admin]
}
