import NavigationClient

/// The words of the library's names for closed lists of the protocol.
///
/// This file does not import NavigationCore, which has types with the same names.
enum ClosedLists {
  static let codes =
    ([
      .badFrame, .badJSON, .badVerb, .version, .noSession, .fenced, .unsupported, .forbidden,
      .leaseLost, .busy, .limit, .expired, .opReused, .opTooOld, .noNav, .navExists, .moved,
      .frozen, .shuttingDown, .storage, .internal, .desync, .guardRequired, .transitionInProgress,
      .queueFull, .vetoed, .delegateTimeout, .barManaged, .barDelegateManaged, .readonly,
      .nilScreen, .unknownScreen, .unknownItem, .unknownButton, .forbiddenKind, .ownedElsewhere,
      .duplicateScreen, .duplicateInSet, .duplicateItem, .itemBothSides, .notInStack, .covered,
      .dismissBlocked, .popBlocked, .noRoot, .noBackButton, .alreadyPresenting, .alreadyActive,
      .classUnknown, .classInvalid, .gestureRefused, .gestureOwner, .invalidArgument, .noRoute,
      .restoreFailed, .compacted,
    ] as [NavigationClientError.Code]).map(\.rawValue)

  static let reasons =
    ([
      .epoch, .revision, .digest, .top, .depth, .stack, .has, .visible, .size, .quota, .noOwner,
      .gestureOrTransitionActive, .covered, .disabled, .root, .backButton, .blocked, .direction,
      .modalInPresentation, .presentationStyle, .notDisplayed,
    ] as [NavigationClientError.Reason]).map(\.rawValue)

  static let items =
    ([
      .done, .cancel, .edit, .save, .add, .flexibleSpace, .fixedSpace, .compose, .reply, .action,
      .organize, .bookmarks, .search, .refresh, .stop, .camera, .trash, .play, .pause, .rewind,
      .fastForward, .undo, .redo, .pageCurl, .close,
    ] as [SystemItem]).map(\.rawValue)

  static let causes =
    ([
      .api, .segue, .backButton, .gesture, .complete, .cancel, .timeout, .restore, .revert, .open,
      .lease, .recovery, .appearance, .interrupt,
    ] as [NavigationCause]).map(\.rawValue)

  static let operations = ([.push, .pop, .present, .dismiss] as [NavigationTransitionOperation])
    .map(\.rawValue)
  static let outcomes =
    ([.completed, .cancelled, .timedOut, .interrupted] as [NavigationEvent.TransitionOutcome])
    .map(\.rawValue)
  static let visibilityCauses =
    ([.api, .screen, .tap, .swipe, .keyboard, .verticallyCompact]
    as [NavigationEvent.BarsVisibilityCause]).map(\.rawValue)
  static let modes = ([.automatic, .always, .never] as [ItemDescription.LargeTitleDisplayMode])
    .map(\.rawValue)
  static let parts = NavigationState.Part.allCases.map(\.rawValue)
  static let positions = BarPosition.allCases.map(\.rawValue)
  static let metrics = BarMetrics.allCases.map(\.rawValue)

  static func operation(of kind: NavigationEvent.Kind) -> String? {
    if case .transitionBegan(let transition) = kind { transition.operation.rawValue } else { nil }
  }
}
