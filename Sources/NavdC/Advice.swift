import NavigationCore

/// What a program should do after an error of the daemon, in one sentence for its developer.
enum Advice {
  static func text(for code: ErrorCode) -> String {
    switch code {
    case .desync, .notInStack, .covered:
      "show the newest state and let the user decide again; never repeat a removal on your own"
    case .guardRequired: "pass a guard that navd_guard makes of the state that the user saw"
    case .noNav: "create the nav with nav.create, or watch it with wait until another program has"
    case .navExists: "use the nav that exists, and watch it"
    case .forbidden: "grant the right to this user or key in section [access] of navd.conf(5)"
    case .leaseLost: "ask the program that holds the display to release it, or use NAVD_LEASE_FORCE"
    case .transitionInProgress: "repeat it when the transition has ended, or pass NAVD_QUEUE"
    case .queueFull: "repeat it when the waiting changes have run"
    case .vetoed: "show that a delegate refused; the json of the error names it"
    case .delegateTimeout: "repeat it; if that fails again, look for a delegate that hangs"
    case .expired: "let the user decide again, or pass a longer timeout"
    case .busy, .shuttingDown: "repeat it later"
    case .moved: "repeat it; the nav is moving between the daemons of a cluster"
    case .frozen: "restart navd, which verifies the nav, or close the nav"
    case .storage: "free disk space where the journal of navd is; journalctl -u navd has the error"
    case .internal: "show the newest state; report the log of navd"
    case .limit: "make the message smaller, or raise the limit in navd.conf(5)"
    case .opTooOld, .opReused:
      "show the newest state before you decide again, because the change may have happened"
    case .unknownScreen, .unknownItem, .unknownButton:
      "pass a whole record instead of the id, which makes a new one; a tap needs an enabled button"
    case .nilScreen: "pass the id of a screen, or a record"
    case .duplicateScreen, .duplicateInSet, .duplicateItem, .itemBothSides:
      "name each screen and button once; onDuplicate of push has other ways"
    case .popBlocked, .dismissBlocked: "let the screen finish first; only a program may remove it"
    case .alreadyPresenting, .alreadyActive, .ownedElsewhere:
      "dismiss or pop the screen first, or choose another one"
    case .noRoot, .noBackButton: "leave the stack as it is: nothing is below the root"
    case .noRoute: "declare the route in the settings of the nav"
    case .compacted: "choose a newer revision; the floor of the error is the oldest one"
    case .readonly: "change what it is computed from; navd computes it"
    case .barManaged, .barDelegateManaged: "change the stack of the nav, which has the bar"
    case .forbiddenKind: "push a screen of kind content"
    case .classUnknown, .classInvalid: "declare the class in section [classes] of navd.conf(5)"
    case .gestureRefused: "leave the gesture out; the reason of the error says what prevents it"
    case .gestureOwner: "wait until the other client has ended its gesture"
    case .restoreFailed: "pass a payload of navd_get \"restoration\", unchanged"
    case .invalidArgument: "correct the arguments; protocol.md, section 9, has them"
    case .unsupported: "correct the name of the operation; protocol.md, section 10, has them"
    case .badFrame, .badJSON, .badVerb, .version, .noSession, .fenced:
      "report this error of the library together with the log of navd"
    }
  }

  /// For a code that this library does not know.
  static func text(for retry: Retry) -> String {
    switch retry {
    case .no: "do not repeat it as it is"
    case .same, .later: "repeat it later"
    case .resync: "show the newest state and let the user decide again"
    }
  }
}
