package import NavigationSync

/// What was refused: the command, and which of its operations.
package struct Attempt: Hashable, Sendable {
  /// The name of the command; nil if it is not known.
  package var command: String?
  /// The operation, where the daemon refused one.
  package var operation: OperationKind?
  /// The nav of the lease, where `lease NAV take -- …` started this command.
  package var leasedNav: String?

  /// Makes a description of what was refused.
  package init(
    command: String? = nil, operation: OperationKind? = nil, leasedNav: String? = nil
  ) {
    self.command = command
    self.operation = operation
    self.leasedNav = leasedNav
  }
}

/// What to do about each error code.
package enum Remedies {
  /// One line: what to type or where to look.
  ///
  /// - Parameters:
  ///   - code: the code.
  ///   - nav: the nav, where the error is about one.
  ///   - attempt: what was refused, if it is known.
  /// - Returns: a line without a full stop.
  package static func remedy(
    for code: ErrorCode, nav: String = "NAV", of attempt: Attempt = Attempt()
  ) -> String {
    let command = attempt.command ?? "COMMAND"
    return switch code {
    case .unknownScreen: unknownScreen(nav, attempt)
    case .duplicateScreen: duplicateScreen(nav, attempt)
    case .forbidden: forbidden(nav, attempt)
    case .desync, .notInStack, .opTooOld, .noBackButton, .alreadyActive, .alreadyPresenting,
      .ownedElsewhere:
      "look at what is there: navctl show \(nav)"
    case .guardRequired: "say what you believe is there: --top ID, --rev N, or --any"
    case .noNav: "see which there are: navctl list; make it: navctl create \(nav)"
    case .navExists: "use it as it is: navctl create --if-absent \(nav)"
    case .unknownItem, .unknownButton: "see what is there: navctl get \(nav) --what state"
    case .fenced: "start again; another process took this identity"
    case .leaseLost
    where attempt.leasedNav == nav && ["env", "gesture", "transition"].contains(command):
      "without the lease around it, which is its session's alone: navctl \(command) \(nav) ... --lease"
    case .leaseLost:
      "only the session that holds the display may do this: navctl show \(nav) says who"
    case .gestureOwner: "only the session that began the gesture may do this"
    case .unsupported:
      "navctl \(command) --help says what there is; compare navctl --version and navctl status"
    case .badFrame, .badJSON, .badVerb, .version, .noSession, .moved:
      "use the navctl of the daemon's version: navctl --version, navctl status"
    case .busy, .shuttingDown, .delegateTimeout: "try again in a moment"
    case .expired: "try again, or give it more time: --timeout 30s"
    case .transitionInProgress:
      "try again when the transition has ended, or wait for it: --on-busy queue"
    case .queueFull: "try again when the waiting operations have run"
    case .limit: "make it smaller, or raise the limit in navd.conf(5)"
    case .opReused: "start again; this operation was sent with other contents before"
    case .frozen: "restart the daemon, which verifies the nav, or close it: navctl close \(nav)"
    case .storage: "make room where the journal is: journalctl -u navd says what failed"
    case .internal: "look at what is there: navctl show \(nav); report what journalctl -u navd says"
    case .vetoed: "a delegate of the nav refused; ask its application"
    case .compacted: "choose a revision that can still be read: navctl history \(nav)"
    case .noRoute: "see the routes: navctl configure \(nav)"
    case .noRoot, .nilScreen: "name or describe a screen"
    case .duplicateInSet: "name every screen once"
    case .duplicateItem, .itemBothSides: "name every button once, on one side"
    case .barManaged: "change the stack instead: push, pop, set; or make a bar: create --kind bar"
    case .barDelegateManaged, .readonly: "it follows from other state and cannot be set"
    case .forbiddenKind: "push a screen of kind content"
    case .classUnknown, .classInvalid: "declare the class in the section [classes] of navd.conf(5)"
    case .gestureRefused: "see what is on top, and its setting: navctl get \(nav)"
    case .restoreFailed:
      "use a file that navctl save wrote, or describe the screens: navctl set \(nav)"
    case .invalidArgument: "navctl \(command) --help says what is expected"
    }
  }

  /// Only operations that show a screen can make it.
  private static func unknownScreen(_ nav: String, _ attempt: Attempt) -> String {
    switch (attempt.operation, attempt.command) {
    case (.push, "push"), (.show, "push"), (.segue, "segue"), (.present, "present"):
      "make it: navctl \(attempt.command ?? "push") \(nav) ID --new, or --title TEXT"
    case (.setStack, _), (.push, _), (.show, _), (.segue, _), (.present, _):
      #"a record in place of the id makes it: {"id":"ID","title":"TEXT"}"#
    default:
      "see which there are: navctl show \(nav), navctl get \(nav) --what detached"
    }
  }

  private static func duplicateScreen(_ nav: String, _ attempt: Attempt) -> String {
    switch (attempt.operation, attempt.command) {
    case (.push, "push"), (.show, "push"):
      "leave it as it is: --if-absent; or go back to it: navctl pop-to \(nav) ID"
    case (.setStack, _): "name the screen by its id alone; a record makes a new one"
    case (.screenCreate, _): "change it: navctl screen \(nav) set ID KEY=VALUE"
    default: "go back to it: navctl pop-to \(nav) ID"
    }
  }

  private static func forbidden(_ nav: String, _ attempt: Attempt) -> String {
    let file = "in [access] of navd.conf(5)"
    if attempt.command == "backup" || nav == "$clients" {
      return "as root: sudo navctl \(attempt.command ?? "COMMAND"); or role = admin WHO \(file)"
    }
    guard attempt.command != nil else {
      return "add to the configuration: grant = WHO NAV RIGHT \(file)"
    }
    return "add to the configuration: grant = WHO \(nav) \(rights(attempt)) \(file)"
  }

  /// The rights that a command needs, as the configuration has them.
  private static func rights(_ attempt: Attempt) -> String {
    if let operation = attempt.operation {
      let names: [(Rights, String)] = [
        (.read, "read"), (.push, "push"), (.pop, "pop"), (.admin, "admin"),
      ]
      return names.filter { operation.rights.contains($0.0) }.map(\.1).joined(separator: " ")
    }
    return ["lease", "delegate"].contains(attempt.command) ? "push admin" : "read"
  }

  /// What to do about an error whose code this version does not know.
  package static func remedy(for retry: Retry, nav: String) -> String {
    switch retry {
    case .no: "do not repeat it as it is; a newer navctl may explain it"
    case .same, .later: "try again in a moment"
    case .resync: "look at what is there: navctl show \(nav)"
    }
  }
}
