/// The kinds of operations, with their names on the wire and the rules for each kind.
package enum OperationKind: UInt8, CaseIterable, Sendable {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The kinds; `unknown` stands for every other name.
  case navCreate, navConfigure, navClose, attach, detach, push, show, segue, pop, popTo, popToRoot,
    setStack, replace, insert, remove, open, restore, revert, present, dismiss, screenCreate,
    screenSet, screenRelease,
    itemSet, buttonCreate, buttonSet, buttonRelease, buttonActivate, barSet, toolbarSet,
    barSetHidden, toolbarSetHidden, appearanceSet, proxySet, pushItem, popItem, setItems, uiBackTap,
    uiBackMenu, uiBack, uiDismiss, uiTap, uiSwipe, gestureBegin, gestureUpdate, gestureFinish,
    gestureCancel,
    transitionComplete,
    envSet, unknown

  /// The name of the kind on the wire.
  package var name: String { Self.names[Int(rawValue)] }

  /// The names of the arguments; nil if a `MemberTable` lists them.
  package var arguments: [String]? { Self.arguments[Int(rawValue)] }

  // The log names the operations of each row, so the names are made once.
  private static let names: [String] = allCases.map { $0.row.name.description }
  private static let arguments: [[String]?] = allCases.map {
    // Octets, since characters are compared by canonical equivalence.
    $0.row.arguments?.description.utf8.split(separator: 0x20).map { String(Substring($0)) }
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

  /// The rules and texts for one kind.
  package struct Row {
    let name: StaticString
    let rights: Rights
    let neededGuard: NeededGuard
    let vetoQuestion: VetoQuestion
    fileprivate let traits: Traits
    let cause: Cause?
    let arguments: StaticString?
    /// The name of the function that the generator makes in client libraries; empty for none.
    package let function: StaticString
    /// The documentation of that function; it begins with a verb.
    package let documentation: StaticString

    fileprivate init(
      _ name: StaticString, _ rights: Rights, _ guarded: NeededGuard, _ veto: VetoQuestion,
      _ traits: Traits, _ cause: Cause? = nil, takes arguments: StaticString? = "",
      as function: StaticString = "", _ documentation: StaticString = ""
    ) {
      (self.name, self.rights, self.neededGuard, self.vetoQuestion) = (name, rights, guarded, veto)
      (self.traits, self.cause, self.arguments) = (traits, cause, arguments)
      (self.function, self.documentation) = (function, documentation)
    }
  }

  fileprivate struct Traits: OptionSet {
    let rawValue: UInt8
    /// The operation waits for an open transition: see `waitsForTransition`.
    static let waits = Traits(rawValue: 1)
    /// The operation needs the display lease: see `needsDisplayLease`.
    static let lease = Traits(rawValue: 2)
    /// The operation is allowed on a standalone bar: see `suitsStandaloneBars`.
    static let bars = Traits(rawValue: 4)
    /// The operation concerns items of a standalone bar: see `isForBarItems`.
    static let items = Traits(rawValue: 8)
    /// The operation does not count as ordinary: see `isOrdinary`.
    static let rare = Traits(rawValue: 16)
  }

  // Without a default, so that a new kind does not compile before somebody decides its rules.
  /// The row of the kind; inlined, because the hub looks it up several times for each op.
  @inline(__always) package var row: Row {
    switch self {
    case .navCreate:
      Row("nav.create", .push, .none, .never, [.bars, .rare], takes: "root classes kind settings")
    case .navConfigure: Row("nav.configure", .admin, .none, .never, .bars, takes: nil)
    case .navClose:
      Row(
        "nav.close", .admin, .wholeStack, .never, [.bars, .rare], as: "close",
        "Close the nav. It stands alone in its list.")
    case .attach:
      Row(
        "attach", .push, .none, .never, [], as: "attach",
        "Put the nav on display; it must have a root screen.")
    case .detach:
      Row("detach", .push, .none, .never, [], as: "detach", "Take the nav off the display.")
    case .push:
      Row("push", .push, .none, .always, [.waits, .bars], takes: "screen onDuplicate sender")
    case .show: Row("show", .push, .none, .always, .waits, takes: "screen onDuplicate sender")
    case .segue:
      Row("segue", .push, .none, .always, .waits, .segue, takes: "kind screen onDuplicate")
    case .pop:
      Row(
        "pop", .pop, .topScreen, .always, [.waits, .bars], takes: "result", as: "pop",
        "Remove the top screen; the root stays.")
    case .popTo:
      Row("popTo", .pop, .none, .always, .waits, takes: "screen route match inclusive result")
    case .popToRoot:
      Row(
        "popToRoot", .pop, .none, .always, .waits, as: "popToRoot",
        "Remove all screens above the root.")
    case .setStack:
      Row(
        "setStack", [.push, .pop], .wholeStack, .removalsInScopeAll, [.waits, .bars],
        takes: "screens")
    case .replace:
      Row(
        "replace", [.push, .pop], .byArguments, .always, .waits,
        takes: "with screen direction result")
    case .insert:
      Row("insert", .push, .byArguments, .always, .waits, takes: "screen below above at")
    case .remove: Row("remove", .pop, .none, .always, .waits, takes: "screens")
    case .open:
      Row(
        "open", [.push, .pop], .wholeStack, .removalsInScopeAll, [.waits, .rare], .open,
        takes: "route over")
    case .restore:
      Row(
        "restore", [.push, .pop], .wholeStack, .removalsInScopeAll, .waits, .restore,
        takes: "payload root")
    case .revert:
      Row(
        "revert", [.push, .pop], .wholeStack, .removals, [.waits, .bars, .rare], .revert,
        takes: "rev", as: "revert",
        "Restore ids and order of an earlier stack; the screens keep their present content.")
    case .present: Row("present", .push, .none, .never, .waits, takes: "screen from style")
    case .dismiss: Row("dismiss", .pop, .none, .dismissals, .waits, takes: "from result")
    case .screenCreate: Row("screen.create", .push, .none, .never, [], takes: nil)
    case .screenSet: Row("screen.set", .push, .none, .never, [], takes: nil)
    case .screenRelease:
      Row(
        "screen.release", .pop, .none, .never, [], takes: "screen", as: "releaseScreen",
        "Forget a screen that is not shown.")
    case .itemSet: Row("item.set", .push, .none, .never, .bars, takes: nil)
    case .buttonCreate: Row("button.create", .push, .none, .never, .bars, takes: nil)
    case .buttonSet: Row("button.set", .push, .none, .never, .bars, takes: nil)
    case .buttonRelease:
      Row(
        "button.release", .push, .none, .never, .bars, takes: "button", as: "releaseButton",
        "Forget a button that is not in use.")
    case .buttonActivate:
      // Push or pop, depending on the button, which only the nav's state shows.
      Row(
        "button.activate", [], .none, .always, [.bars, .rare], .backButton,
        takes: "button element")
    case .barSet: Row("bar.set", .push, .none, .never, .bars, takes: nil)
    case .toolbarSet: Row("toolbar.set", .push, .none, .never, [], takes: nil)
    case .barSetHidden:
      Row(
        "bar.setHidden", .push, .none, .never, .bars, takes: "hidden", as: "setBarHidden",
        "Set whether the bar is hidden.")
    case .toolbarSetHidden:
      Row(
        "toolbar.setHidden", .push, .none, .never, [], takes: "hidden", as: "setToolbarHidden",
        "Set whether the toolbar is hidden.")
    case .appearanceSet:
      Row("appearance.set", .push, .none, .never, .bars, takes: "slot object screen")
    case .proxySet: Row("proxy.set", .admin, .none, .never, [.bars, .rare], takes: nil)
    case .pushItem: Row("pushItem", .push, .none, .always, [.waits, .bars, .items], takes: "item")
    case .popItem:
      Row(
        "popItem", .pop, .topScreen, .always, [.waits, .bars, .items], as: "popItem",
        "Remove the top item of a standalone bar.")
    case .setItems:
      Row(
        "setItems", [.push, .pop], .wholeStack, .removalsInScopeAll, [.waits, .bars, .items],
        takes: "items")
    case .uiBackTap:
      Row(
        "ui.backTap", .pop, .topScreen, .always, [.waits, .bars, .rare], .backButton,
        as: "backTap",
        "Tap the back button. Under a presentation, except a popover, navd refuses it as `covered`."
      )
    case .uiBackMenu:
      Row(
        "ui.backMenu", .pop, .none, .always, [.waits, .bars], .backButton, takes: "screen",
        as: "backMenu",
        """
        Choose a screen in the menu of the back button: a person goes back to it. If the screen is \
        the top already, nothing changes.
        """)
    case .uiBack:
      Row(
        "ui.back", .pop, .visibleScreen, .removalsAndDismissals, [.waits, .bars, .rare],
        .backButton, as: "backKey",
        "Press the Back key: end a search, dismiss, or pop; at the root watches get `backAtRoot`.")
    case .uiDismiss:
      Row(
        "ui.dismiss", .pop, .visibleScreen, .dismissals, .waits, .gesture, takes: "result",
        as: "swipeDown",
        """
        Swipe the outermost presented screen down, as a person does. navd refuses it as \
        `dismiss-blocked` with `modalInPresentation`, and in the styles `fullScreen` and \
        `overFullScreen`.
        """)
    case .uiTap:
      Row(
        "ui.tap", .push, .none, .never, [], as: "tap", "Tap the content, which may hide the bars.")
    case .uiSwipe: Row("ui.swipe", .push, .none, .never, [], takes: "dir")
    case .gestureBegin:
      Row(
        "gesture.begin", .pop, .topScreen, .always, [.lease, .rare], .gesture,
        takes: "kind translation")
    case .gestureUpdate:
      Row(
        "gesture.update", .pop, .none, .never, .rare, takes: "value", as: "updateGesture",
        "Report how far the gesture is, from 0 to 1.")
    case .gestureFinish:
      Row(
        "gesture.finish", .pop, .none, .never, .rare, .gesture, as: "finishGesture",
        "End the gesture with a pop.")
    case .gestureCancel:
      Row(
        "gesture.cancel", .pop, .none, .never, .rare, .cancel, as: "cancelGesture",
        "End the gesture without a pop.")
    case .transitionComplete:
      Row(
        "transition.complete", .push, .none, .never, [.lease, .bars], .complete, takes: "tid",
        as: "completeTransition",
        """
        Report that the display has shown a transition to its end. The event `transitionBegan` has \
        its number.
        """)
    case .envSet: Row("env.set", .push, .none, .never, [.lease, .bars], takes: nil)
    case .unknown: Row("unknown", .push, .none, .never, .bars, takes: nil)
    }
  }

  /// The rights that a principal needs for an operation of this kind.
  package var rights: Rights { row.rights }

  /// The guard that an op must have in navs with the setting `guard` = `removal`.
  package var neededGuard: NeededGuard { row.neededGuard }

  /// When the hub asks the veto delegates about the operation.
  package var vetoQuestion: VetoQuestion { row.vetoQuestion }

  /// Whether the hub queues or refuses the operation during a transition, gesture or question.
  ///
  /// The hub also queues or refuses `button.activate` then, if the button pops.
  package var waitsForTransition: Bool { row.traits.contains(.waits) }

  /// Whether only the session with the display lease may send the operation, if a session has it.
  package var needsDisplayLease: Bool { row.traits.contains(.lease) }

  /// Whether the operation is allowed on a standalone bar.
  package var suitsStandaloneBars: Bool { row.traits.contains(.bars) }

  /// Whether the operation changes the items of a standalone bar, as `pushItem` in UIKit does.
  package var isForBarItems: Bool { row.traits.contains(.items) }

  /// Whether the operation has neither the trait `rare` nor `items`.
  ///
  /// The hub skips checks for ops that have only such operations.
  package var isOrdinary: Bool { row.traits.isDisjoint(with: [.items, .rare]) }

  /// Whether the operation pushes a screen: it has the argument `onDuplicate`.
  package var isPush: Bool { self == .push || self == .show || self == .segue }

  /// The cause of the revision that the operation makes, if its kind alone determines the cause.
  package var cause: Cause? { row.cause }

  /// The screens about which the hub asks the veto delegates before an operation.
  package enum VetoQuestion: Sendable {
    /// The hub never asks.
    case never
    /// The hub asks about every screen that enters or leaves the stack, unless the nav's setting
    /// `vetoScope` is `dismiss`.
    case always
    /// The hub asks about every screen that leaves the stack, unless `vetoScope` is `dismiss`.
    case removals
    /// The hub asks about every screen that leaves the stack, if `vetoScope` is `all`, and about each
    /// dismissed one.
    case removalsInScopeAll
    /// The hub asks about every screen that leaves the stack or that the operation dismisses.
    case removalsAndDismissals
    /// The hub asks about each dismissed screen, if `vetoScope` is `dismiss` or `all`.
    case dismissals

    /// Whether the hub asks about dismissed screens.
    package var isAboutDismissals: Bool { self == .dismissals || self == .removalsAndDismissals }
  }

  /// The guards of which an op must have one.
  package enum NeededGuard: Sendable {
    /// No guard is required.
    case none
    /// One of the guards `top`, `rev`, `dig` and `stack`.
    case topScreen
    /// One of the guards `rev`, `dig` and `stack`.
    case wholeStack
    /// One of the guards `visible`, `rev` and `dig`.
    case visibleScreen
    /// The arguments decide which guard is needed: see `Operation.needs`.
    case byArguments

    /// The guards of which one suffices, for error messages.
    package var names: String {
      switch self {
      case .none, .topScreen, .byArguments: "top, rev, dig or stack"
      case .wholeStack: "rev, dig or stack"
      case .visibleScreen: "visible, rev or dig"
      }
    }
  }
}

/// The set of rights of a principal on a nav.
package struct Rights: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The right to watch navs and to read them.
  package static let read = Rights(rawValue: 1)
  /// The right to add screens and to edit them.
  package static let push = Rights(rawValue: 2)
  /// The right to remove screens.
  package static let pop = Rights(rawValue: 4)
  /// The right to configure navs and to close them.
  package static let admin = Rights(rawValue: 8)
  package static let all: Rights = [.read, .push, .pop, .admin]
}
