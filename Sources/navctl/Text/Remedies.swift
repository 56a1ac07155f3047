import NavigationCore

/// The command and the operation that the daemon refused, as far as navctl knows them.
struct Attempt: Sendable {
  var command: String?
  var words: [String] = []
  /// The refused operation; nil if the request was not an operation.
  var operation: OperationKind?
  /// The rights that all operations of the request need together; nil if it had none.
  var rights: Rights?
  /// The nav of the lease, if `lease NAV take -- …` started this command.
  var leasedNav: String?
}

/// The remedy of each error code.
enum Remedies {
  /// The remedy of an error code in one line, without a full stop.
  static func remedy(
    for code: ErrorCode, message: String = "", nav: String = "NAV", of attempt: Attempt = Attempt()
  ) -> String {
    let command = attempt.command ?? "COMMAND"
    let correction = Correction.remedy(
      message, attempt.words, settingOf: command == "set" ? nav : nil)
    let list = message.split(separator: " ").last.flatMap { id in
      attempt.words.first { Members.isListOfOneID($0) && $0.hasSuffix("=\(id)") }
    }
    return switch code {
    case .invalidArgument where correction != nil, .unsupported where correction != nil:
      correction ?? ""
    case .unknownScreen: unknownScreen(nav, message, attempt)
    case .duplicateScreen: duplicateScreen(nav, attempt)
    case .forbidden: forbidden(nav, attempt)
    case .desync, .notInStack, .opTooOld, .covered, .noBackButton, .popBlocked,
      .dismissBlocked, .alreadyActive, .alreadyPresenting, .ownedElsewhere:
      "see the present state: navctl show \(nav)"
    case .guardRequired: "add the expected state: --top ID, --visible ID, --rev N, or --any"
    case .noNav where nav == NavName.appearance.text: "set a look: navctl set proxy KEY=VALUE"
    case .noNav where nav.allSatisfy(\.isNumber) && ["log", "history"].contains(command):
      "list the navs: navctl list; print \(nav) revisions: navctl \(command) NAV --limit \(nav)"
    case .noNav: "list the navs: navctl list; create it: navctl create \(nav)"
    case .navExists: "use the existing nav: navctl create --if-absent \(nav)"
    case .unknownButton where list != nil: "make it: \(list ?? "")=TITLE"
    case .unknownButton where attempt.words.contains(where: { $0.hasPrefix("backBarButtonItem=") }):
      "make it: backBarButtonItem.title=TITLE"
    case .unknownItem, .unknownButton: "see the present state: navctl get \(nav) --what state"
    case .fenced: "start again; another process took over this identity"
    case .leaseLost
    where attempt.leasedNav == nav && ["set", "gesture", "transition"].contains(command):
      "run it outside of navctl lease, with a lease of its own: navctl \(command) \(nav) ... --lease"
    case .leaseLost:
      "only the session that holds the display can do this; find it: navctl show \(nav)"
    case .gestureOwner: "only the session that began the gesture can do this"
    case .unsupported:
      "see navctl \(command) --help; compare the versions: navctl --version, navctl status"
    case .badFrame, .badJSON, .badVerb, .version, .noSession:
      "use the navctl of the daemon's version: navctl --version, navctl status"
    case .delegateTimeout:
      "see whether it runs: navctl show \(nav); or go on without it: "
        + "navctl set \(nav) settings veto.policy=allow"
    case .busy, .shuttingDown, .moved: "try again in a few seconds"
    case .expired: "try again, or wait longer: --timeout 30s"
    case .transitionInProgress:
      "try again when the transition has ended, or wait for it: --on-busy queue"
    case .queueFull: "try again when the queued operations have run"
    case .limit: "make it smaller, or raise the limit in navd.conf(5)"
    case .opReused: "start again; the same operation id was sent with other contents before"
    case .frozen: "restart the daemon, which verifies the nav, or close it: navctl close \(nav)"
    case .storage: "free disk space where the journal is; find the error: journalctl -u navd"
    case .internal: "see the state: navctl show \(nav); report the log: journalctl -u navd"
    case .vetoed: "a delegate of the nav refused; ask its application"
    case .compacted: "choose a revision that can still be read: navctl history \(nav)"
    case .noRoute: "see the routes: navctl set \(nav) settings"
    case .noRoot, .nilScreen: "give the id of a screen, or describe one"
    case .duplicateInSet: "name every screen once"
    case .duplicateItem, .itemBothSides: "name every button once, on one side"
    case .barManaged: "change the stack: push, pop, stack; or create a bar: create --kind bar"
    case .barDelegateManaged, .readonly: "navd computes it from other state; change that instead"
    case .forbiddenKind: "push a screen of kind content"
    case .classUnknown, .classInvalid: "declare the class in the section [classes] of navd.conf(5)"
    case .gestureRefused:
      "see the presentations, the top screen and the settings: navctl get \(nav)"
    case .restoreFailed:
      "use a file that navctl save wrote, or describe the screens: navctl stack \(nav)"
    case .invalidArgument: "see the expected arguments: navctl \(command) --help"
    }
  }

  /// The remedy for `unknown-screen`: how the refused operation can create the screen, or if it
  /// cannot, the commands that list the screens.
  private static func unknownScreen(
    _ nav: String, _ message: String, _ attempt: Attempt
  ) -> String {
    let id = message.split(separator: " ").last.map(String.init) ?? "ID"
    return switch (attempt.operation, attempt.command) {
    // With --from, the unknown screen can be the presenting one.
    case (.present, "present") where id != "ID" && !attempt.words.contains(id):
      "list the screens: navctl show \(nav), navctl get \(nav) --what detached"
    case (.push, "push"), (.show, "push"), (.segue, "segue"), (.present, "present"):
      "make it: navctl \(attempt.command ?? "push") \(nav) \(id) --new, or --title TEXT"
    case (.setStack, _), (.push, _), (.show, _), (.segue, _), (.present, _), (.replace, _),
      (.insert, _):
      #"give a record in place of the id, which creates it: {"id":"ID","title":"TEXT"}"#
    default: "list the screens: navctl show \(nav), navctl get \(nav) --what detached"
    }
  }

  private static func duplicateScreen(_ nav: String, _ attempt: Attempt) -> String {
    switch (attempt.operation, attempt.command) {
    case (.push, "push"), (.show, "push"):
      "keep it: --if-absent; or go back to it: navctl pop-to \(nav) ID"
    case (.setStack, _): "name the screen by its id alone; a record makes a new one"
    case (.screenCreate, _):
      "change it: navctl set \(nav) screen ID KEY=VALUE; or replace it: replace=true"
    default: "go back to it: navctl pop-to \(nav) ID"
    }
  }

  private static func forbidden(_ nav: String, _ attempt: Attempt) -> String {
    let file = "in [access] of navd.conf(5)"
    if attempt.command == "backup" || nav == "$clients" {
      return "as root: sudo navctl \(attempt.command ?? "COMMAND"); or role = admin WHO \(file)"
    }
    let right = attempt.command == nil ? "NAV RIGHT" : "\(nav) \(rights(attempt))"
    return "add to the configuration: grant = WHO \(right) \(file)"
  }

  /// The rights that a command needs, as words of the configuration.
  private static func rights(_ attempt: Attempt) -> String {
    if let needed = attempt.rights {
      let names: [(Rights, String)] = [
        (.read, "read"), (.push, "push"), (.pop, "pop"), (.admin, "admin"),
      ]
      return names.filter { needed.contains($0.0) }.map(\.1).joined(separator: " ")
    }
    return ["lease", "delegate"].contains(attempt.command) ? "push admin" : "read"
  }

  /// The remedy for an error code that this version of navctl does not know.
  ///
  /// The `retry` of the error selects it.
  static func remedy(for retry: Retry, nav: String) -> String {
    switch retry {
    case .no: "do not repeat it as it is; a newer navctl may explain it"
    case .same, .later: "try again in a few seconds"
    case .resync: "see the present state: navctl show \(nav)"
    }
  }
}
