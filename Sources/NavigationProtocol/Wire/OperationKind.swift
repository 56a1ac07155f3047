/// The operations by their names on the wire, with what the rules ask of each.
package enum OperationKind: UInt8, CaseIterable, Sendable {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The operations; those of later versions are known by name so that they can be refused rightly.
  case navCreate, navConfigure, navClose, attach, detach, push, show, segue, pop, popTo, popToRoot,
    setStack, open, restore, revert, present, dismiss, screenCreate, screenSet, screenRelease,
    itemSet, buttonCreate, buttonSet, buttonRelease, buttonActivate, barSet, toolbarSet,
    barSetHidden, toolbarSetHidden, appearanceSet, proxySet, pushItem, popItem, setItems, uiBackTap,
    uiTap, uiSwipe, gestureBegin, gestureUpdate, gestureFinish, gestureCancel, transitionComplete,
    envSet, unknown

  /// The name on the wire.
  package var name: String { Self.names[Int(rawValue)] }

  // Every operation writes its name into the journal, so it is not put together each time.
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

  private static let byName: [String: OperationKind] = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0.name, $0) })

  /// Finds an operation by its name; `unknown` if there is none.
  package init(name: String) {
    switch name {
    // The hot ones, before the table is asked.
    case "push": self = .push
    case "pop": self = .pop
    case "item.set": self = .itemSet
    default: self = Self.byName[name] ?? .unknown
    }
  }

  /// Whether it changes the items of a bar, which no controller lets anybody do.
  package var isForItems: Bool {
    switch self {
    case .pushItem, .popItem, .setItems: true
    default: false
    }
  }

  /// Whether it makes sense on a standalone bar.
  package var suitsStandaloneBars: Bool {
    switch self {
    case .navCreate, .navConfigure, .navClose, .pushItem, .popItem, .setItems, .uiBackTap, .revert,
      .itemSet, .buttonCreate, .buttonSet, .buttonRelease, .buttonActivate, .barSet, .barSetHidden,
      .appearanceSet, .proxySet, .envSet, .transitionComplete, .unknown:
      true
    default: false
    }
  }

  /// Whether the operation waits for a transition, a question or a gesture to end; one that
  /// activates a button does so if the button pops.
  package var waitsForTransition: Bool {
    switch self {
    case .push, .show, .segue, .pop, .popTo, .popToRoot, .setStack, .open, .restore, .revert,
      .present, .dismiss, .pushItem, .popItem, .setItems, .uiBackTap:
      true
    default: false
    }
  }

  /// What led to the revision, if the operation alone says so.
  package var cause: Cause? {
    switch self {
    case .segue: .segue
    case .uiBackTap, .buttonActivate: .backButton
    case .open: .open
    case .restore: .restore
    case .revert: .revert
    case .gestureBegin, .gestureFinish: .gesture
    case .gestureCancel: .cancel
    case .transitionComplete: .complete
    default: nil
    }
  }

  /// Whether only the holder of the display lease may do it, while there is one.
  package var needsDisplay: Bool {
    self == .envSet || self == .gestureBegin || self == .transitionComplete
  }

  /// How the operation asks the veto delegates.
  package var vetoQuestion: VetoQuestion {
    switch self {
    case .push, .show, .segue, .pop, .popTo, .popToRoot, .uiBackTap, .buttonActivate,
      .gestureBegin, .pushItem, .popItem:
      .always
    case .revert: .removals
    case .setStack, .setItems, .open, .restore: .removalsInScopeAll
    default: .never
    }
  }

  /// How an operation asks the veto delegates.
  package enum VetoQuestion: Sendable {
    /// Not at all.
    case never
    /// For every screen that comes or goes.
    case always
    /// For every screen that goes.
    case removals
    /// The same, but only if the nav's settings widen the scope.
    case removalsInScopeAll
  }

  /// Which guard the policy `removal` asks for.
  package var neededGuard: NeededGuard {
    switch self {
    case .pop, .popItem, .uiBackTap, .gestureBegin: .position
    case .setStack, .setItems, .open, .restore, .revert, .navClose: .wholeStack
    default: .none
    }
  }

  /// What a guard must name.
  package enum NeededGuard: Sendable {
    /// No guard is asked for.
    case none
    /// `top`, `rev`, `dig` or `stack`.
    case position
    /// `rev`, `dig` or `stack`.
    case wholeStack
  }

  /// The rights that the operation takes.
  package var rights: Rights {
    switch self {
    case .navConfigure, .navClose, .proxySet: .admin
    case .pop, .popTo, .popToRoot, .dismiss, .screenRelease, .popItem, .uiBackTap, .gestureBegin,
      .gestureUpdate, .gestureFinish, .gestureCancel:
      .pop
    case .setStack, .open, .restore, .revert, .setItems: [.push, .pop]
    // Push or pop, as the button does, which only the nav tells.
    case .buttonActivate: []
    default: .push
    }
  }
}

/// What a principal may do with a nav.
package struct Rights: OptionSet, Hashable, Sendable {
  /// The bits.
  package let rawValue: UInt8

  /// Makes a value from its members.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Watch and get.
  package static let read = Rights(rawValue: 1)
  /// Add and edit.
  package static let push = Rights(rawValue: 2)
  /// Remove.
  package static let pop = Rights(rawValue: 4)
  /// Configure and close.
  package static let admin = Rights(rawValue: 8)
  /// All four.
  package static let all: Rights = [.read, .push, .pop, .admin]
}
