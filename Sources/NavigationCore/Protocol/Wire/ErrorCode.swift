/// The error codes of the protocol; `row` has the rules and texts for a code.
package enum ErrorCode: String, CaseIterable, Sendable {
  // In the order of the protocol's table; the names say what they mean.
  // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
  /// The raw value of each code is its name on the wire.
  case badFrame = "bad-frame"
  case badJSON = "bad-json"
  case badVerb = "bad-verb"
  case version
  case noSession = "no-session"
  case fenced
  case unsupported
  case forbidden
  case leaseLost = "lease-lost"
  case busy
  case limit
  case expired
  case opReused = "op-reused"
  case opTooOld = "op-too-old"
  case noNav = "no-nav"
  case navExists = "nav-exists"
  case moved
  case frozen
  case shuttingDown = "shutting-down"
  case storage
  case `internal`
  case desync
  case guardRequired = "guard-required"
  case transitionInProgress = "transition-in-progress"
  case queueFull = "queue-full"
  case vetoed
  case delegateTimeout = "delegate-timeout"
  case barManaged = "bar-managed"
  case barDelegateManaged = "bar-delegate-managed"
  case readonly
  case nilScreen = "nil-screen"
  case unknownScreen = "unknown-screen"
  case unknownItem = "unknown-item"
  case unknownButton = "unknown-button"
  case forbiddenKind = "forbidden-kind"
  case ownedElsewhere = "owned-elsewhere"
  case duplicateScreen = "duplicate-screen"
  case duplicateInSet = "duplicate-in-set"
  case duplicateItem = "duplicate-item"
  case itemBothSides = "item-both-sides"
  case notInStack = "not-in-stack"
  case noRoot = "no-root"
  case covered
  case noBackButton = "no-back-button"
  case popBlocked = "pop-blocked"
  case dismissBlocked = "dismiss-blocked"
  case alreadyPresenting = "already-presenting"
  case alreadyActive = "already-active"
  case classUnknown = "class-unknown"
  case classInvalid = "class-invalid"
  case gestureRefused = "gesture-refused"
  case gestureOwner = "gesture-owner"
  case invalidArgument = "invalid-argument"
  case noRoute = "no-route"
  case restoreFailed = "restore-failed"
  case compacted

  /// The rules and texts for one error code.
  package struct Row: Sendable {
    package let code: ErrorCode
    /// Whether and when the client may send the request again.
    package let retry: Retry
    /// The status with which navctl exits after this error.
    package let exitStatus: Int32
    package let effect: Effect
    /// The meaning of the code in one sentence, also its documentation in client libraries.
    package let meaning: String
    /// The likely causes, in sentences.
    package let cause: String
    /// The remedy for a user of navctl, in one line; navctl replaces NAV and COMMAND in it by the
    /// nav and the command that navd refused.
    package let remedy: String
    /// An example of a navctl command that shows or corrects the error.
    package let exampleCommand: String
    /// The advice for developers of client programs, in one line.
    package let developerAdvice: String

    /// Makes a row; if `advice` is nil, `remedy` is also the advice.
    fileprivate init(
      _ code: ErrorCode, _ retry: Retry, _ exitStatus: Int32, _ meaning: String, _ cause: String,
      _ remedy: String, _ example: String, effect: Effect = .nothing, advice: String? = nil
    ) {
      (self.code, self.retry, self.exitStatus, self.effect) = (code, retry, exitStatus, effect)
      (self.meaning, self.cause, self.remedy) = (meaning, cause, remedy)
      (self.exampleCommand, self.developerAdvice) = (example, advice ?? remedy)
    }
  }

  package var row: Row { Self.rows[tableIndex] }
  package var retry: Retry { row.retry }
  package var exitStatus: Int32 { row.exitStatus }
  package var effect: Effect { row.effect }

  /// The index of the code in `rows`, found by a linear search.
  package var tableIndex: Int { Self.inOrder.firstIndex(of: self) ?? 0 }

  /// All codes, in the order of the protocol's table.
  package static let inOrder = allCases
}

/// The effect of a refused message on the state of the nav.
package enum Effect: String, Sendable {
  /// The message changed nothing.
  case nothing = "none"
  /// The daemon does not know whether the message changed anything; the client must resynchronise.
  case unknown
}

/// Whether and when a client may send a refused message again.
package enum Retry: String, Sendable {
  /// Never: the message itself is wrong.
  case no
  /// Send the same bytes again after correcting what the error names.
  case sameAfterCorrection = "same"
  /// Send a new message after resynchronising.
  case resync
  /// Send the same bytes again later.
  case later
}

// The texts that several rows have: remedies, then advice.
private let lookAgain = "see the present state: navctl show NAV"
private let sameVersion = "use the navctl of the daemon's version: navctl --version, navctl status"
private let reportFault = "report this error of the library together with the log of navd"
private let letUserDecideAgain =
  "show the newest state and let the user decide again; never repeat a removal on your own"
private let passWholeRecord =
  "pass a whole record instead of the id, which makes a new one; a tap needs an enabled button"
private let letFinish = "let the screen finish first; only a program may remove it"
private let dismissFirst = "dismiss or pop the screen first, or choose another one"

extension ErrorCode {
  /// The row of each code, in the order of the codes.
  package static let rows: [Row] = [
    Row(
      .badFrame, .no, 7, "navd could not read the frames of a message.",
      "The client and navd have different versions, or the program at the endpoint is no client of "
        + "navd.", sameVersion, "navctl --version; navctl status", advice: reportFault),
    Row(
      .badJSON, .no, 7, "navd could not read the JSON of a message.",
      "The JSON of the protocol is strict: no member twice, no lone surrogates. The client broke "
        + "that.", sameVersion, "navctl op kiosk '{\"pop\":{}}' --any", advice: reportFault),
    Row(
      .badVerb, .no, 7, "navd does not know the verb of a message.",
      "The client is newer than navd.", sameVersion, "navctl --version; navctl status",
      advice: reportFault),
    Row(
      .version, .no, 7, "The client and navd have no version of the protocol in common.",
      "One of the two is much older than the other.", sameVersion,
      "navctl --version; navctl status", advice: reportFault),
    Row(
      .noSession, .sameAfterCorrection, 7,
      "The message needs a session, and the connection has none.",
      "The client sent it before hello, or navd was restarted in between.", sameVersion,
      "navctl watch kiosk --count 1", advice: reportFault),
    Row(
      .fenced, .no, 5, "Another process has taken over this client's identity.",
      "Two processes use the same client id; navd serves the newer connection.",
      "start again; another process took over this identity", "navctl list --clients"),
    Row(
      .unsupported, .no, 2, "This navd does not know the operation.",
      "The client is newer than navd, or the name of the operation is misspelt.",
      "see navctl COMMAND --help; compare the versions: navctl --version, navctl status",
      "navctl op --help",
      advice: "correct the name of the operation; protocol.md, section 10, has them"),
    Row(
      .forbidden, .no, 5, "The user or the key may not do this.",
      "navd decides by the user that the kernel reports, or by the key over tcp: its role and the "
        + "grants in [access].",
      "add to the configuration: grant = WHO NAV RIGHT in [access] of navd.conf(5)",
      "navctl doctor",
      advice: "show the user that it is not allowed; an administrator grants it in navd.conf(5)"),
    Row(
      .leaseLost, .resync, 5, "Another session holds the display of the nav.",
      "Only the session that holds the display may send env, gesture begin and transition "
        + "complete.",
      "only the session that holds the display can do this; find it: navctl show NAV",
      "navctl show kiosk",
      advice: "ask the program that holds the display to release it, or use NAVD_LEASE_FORCE"),
    Row(
      .busy, .later, 4, "navd has too many requests of this kind at once.",
      "A backup is running, one connection exceeds ops-per-second or inflight, or another daemon "
        + "of the cluster is about to take over the nav.", "try again in a few seconds",
      "navctl backup --timeout 10m"),
    Row(
      .limit, .no, 1, "The request exceeds a limit of navd.",
      "The message, the state, the stack or the number of navs would exceed [limits] of "
        + "navd.conf(5).", "make it smaller, or raise the limit in navd.conf(5)",
      "navctl get kiosk --what stats"),
    Row(
      .expired, .no, 4, "navd did not begin the change within the time that the client gave it.",
      "navd was busy or waited for its disk. It did not make the change, and never will.",
      "try again, or wait longer: --timeout 30s", "navctl push kiosk wifi --new --timeout 30s",
      advice: "let the user decide again, or pass a longer timeout"),
    Row(
      .opReused, .no, 2, "The client used the id of an earlier operation for a different one.",
      "The client is faulty: each operation needs an id of its own.",
      "start again; the same operation id was sent with other contents before", "navctl log kiosk"),
    Row(
      .opTooOld, .resync, 3,
      "navd may have performed the operation, and no longer has its result.",
      "The client repeated an operation after 64 later ones, or after many other clients.",
      lookAgain, "navctl history kiosk",
      effect: .unknown,
      advice: "show the newest state before you decide again, because the change may have happened"),
    Row(
      .noNav, .no, 6, "There is no nav of this name.",
      "It was never created, or a client closed it.",
      "list the navs: navctl list; create it: navctl create NAV", "navctl create kiosk --root home",
      advice: "create the nav with nav.create, or watch it with wait until another program has"),
    Row(
      .navExists, .no, 1, "There is a nav of this name already.", "Another client created it.",
      "use the existing nav: navctl create --if-absent NAV", "navctl create kiosk --if-absent",
      advice: "use the nav that exists, and watch it"),
    Row(
      .moved, .sameAfterCorrection, 7, "Another daemon of the cluster has the nav.",
      "Clients follow by themselves. navctl prints the code if it could not reach that daemon, or "
        + "if the daemons named each other, for as long as it waited.",
      "try again in a few seconds", "navctl status"),
    Row(
      .frozen, .later, 8, "The nav can be read and closed, but not changed.",
      "navd found a broken invariant in it. Close the nav, or restart navd: a start that finds it "
        + "sound serves it again.",
      "restart the daemon, which verifies the nav, or close it: navctl close NAV",
      "navctl verify kiosk", advice: "restart navd, which verifies the nav, or close the nav"),
    Row(
      .shuttingDown, .later, 4, "navd is stopping.",
      "The administrator or the service manager stops or restarts it. After a restart, clients "
        + "continue without a gap.", "try again in a few seconds", "navctl status"),
    Row(
      .storage, .later, 8, "navd cannot write or read its journal.",
      "The disk is full or faulty. navd refuses changes until it can write again; reads work.",
      "free disk space where the journal is; find the error: journalctl -u navd", "navctl doctor"),
    Row(
      .internal, .resync, 8, "navd found a fault of its own, and did not make the change.",
      "This is a bug of navd; its log has the details.",
      "see the state: navctl show NAV; report the log: journalctl -u navd",
      "journalctl -u navd -p warning", advice: "show the newest state; report the log of navd"),
    Row(
      .desync, .resync, 3, "The nav is not in the state that the command expects.",
      "Another client has changed the nav since this terminal saw it, or the value of an option "
        + "such as --top, --rev or --stack is wrong.", lookAgain,
      "navctl show kiosk; navctl pop kiosk", advice: letUserDecideAgain),
    Row(
      .guardRequired, .no, 2,
      "The command removes something, and has no condition about the state.",
      "A removal takes the top screen. Without a guard, that could be a screen that another client "
        + "has pushed in between.",
      "add the expected state: --top ID, --visible ID, --rev N, or --any",
      "navctl pop kiosk --top wifi",
      advice: "pass a guard that navd_guard makes of the state that the user saw"),
    Row(
      .transitionInProgress, .later, 4,
      "A transition, a gesture or a question to a delegate is open.",
      "navd queues or refuses changes of the stack until it ends. An animation ends after 1 s by "
        + "default.", "try again when the transition has ended, or wait for it: --on-busy queue",
      "navctl pop kiosk --top wifi --on-busy queue",
      advice: "repeat it when the transition has ended, or pass NAVD_QUEUE"),
    Row(
      .queueFull, .later, 4, "Too many operations are queued behind a transition.",
      "The setting queue of the nav limits their number.",
      "try again when the queued operations have run", "navctl transition kiosk"),
    Row(
      .vetoed, .no, 1, "A delegate of the nav refused the change.",
      "An application with the role veto answered no, for example because a form is not saved.",
      "a delegate of the nav refused; ask its application", "navctl get kiosk --what stats",
      advice: "show that a delegate refused; the json of the error names it"),
    Row(
      .delegateTimeout, .sameAfterCorrection, 4,
      "No delegate answered in time, and the settings then refuse the change.",
      "The application with the role veto hangs, or none runs and veto.required is true.",
      "see whether it runs: navctl show NAV; or go on without it: navctl set NAV settings "
        + "veto.policy=allow", "navctl set kiosk settings veto.policy=allow",
      advice: "repeat it; if that fails again, look for a delegate that hangs"),
    Row(
      .barManaged, .no, 1, "The items of this bar follow from the screens of the stack.",
      "The nav is of kind controller; only a standalone bar has items of its own.",
      "change the stack: push, pop, stack; or create a bar: create --kind bar",
      "navctl create hud --kind bar; navctl push hud now --title Owen",
      advice: "change the stack of the nav, which has the bar"),
    Row(
      .barDelegateManaged, .no, 1, "The delegate of this bar cannot be set.",
      "The bar of a controller has the controller as its delegate.",
      "navd computes it from other state; change that instead", "navctl set kiosk bar"),
    Row(
      .readonly, .no, 1, "The value cannot be set.",
      "navd computes it from other state, such as top and visible, or it belongs to a directory "
        + "such as $navs.", "navd computes it from other state; change that instead",
      "navctl get kiosk"),
    Row(
      .nilScreen, .no, 2, "The operation needs a screen and has none.",
      "The screen is missing or null.", "give the id of a screen, or describe one",
      "navctl push kiosk wifi --title Wi-Fi"),
    Row(
      .unknownScreen, .no, 6, "The nav knows no screen with this id.",
      "It was never created, it was released, or it belongs to another nav. Of the commands that "
        + "show a screen, push, segue, present and set can create it.",
      "list the screens: navctl show NAV, navctl get NAV --what detached",
      "navctl push kiosk wifi --title Wi-Fi", advice: passWholeRecord),
    Row(
      .unknownItem, .no, 6, "The standalone bar knows no item with this id.",
      "It was never pushed, or navd has released it.",
      "see the present state: navctl get NAV --what state", "navctl push hud now --title Owen",
      advice: passWholeRecord),
    Row(
      .unknownButton, .no, 6, "The nav knows no button with this id, or does not show it.",
      "Only an enabled button of the top screen can be tapped: notDisplayed, or disabled.",
      "see the present state: navctl get NAV --what state", "navctl show kiosk",
      advice: passWholeRecord),
    Row(
      .forbiddenKind, .no, 1, "A screen of this kind cannot stand on a stack.",
      "Only screens of kind content can be pushed; those of other kinds can be presented.",
      "push a screen of kind content", "navctl present kiosk pin --title PIN"),
    Row(
      .ownedElsewhere, .no, 1, "The screen is presented, so it cannot stand on the stack too.",
      "A screen is in one place at a time.", lookAgain, "navctl dismiss kiosk --any",
      advice: dismissFirst),
    Row(
      .duplicateScreen, .no, 1, "The screen is on the stack already, or known with other contents.",
      "A screen stands on a stack once; screen create replaces no other without replace=true.",
      "go back to it: navctl pop-to NAV ID", "navctl push kiosk wifi --if-absent",
      advice: "name each screen once; onDuplicate of push has other ways"),
    Row(
      .duplicateInSet, .no, 1, "A screen is named twice in a new stack or a removal.",
      "A screen stands on a stack once.", "name every screen once", "navctl stack kiosk home wifi"),
    Row(
      .duplicateItem, .no, 1, "A button or an item is named twice, or is in use already.",
      "A record with the id of a button in use must have the same content.",
      "name every button once, on one side", "navctl set kiosk item wifi rightItems=scan=Scan"),
    Row(
      .itemBothSides, .no, 1, "A button would stand on both sides of the bar.",
      "A button stands on one side of an item.", "name every button once, on one side",
      "navctl set kiosk item wifi leftItems= rightItems=scan"),
    Row(
      .notInStack, .resync, 6, "The screen is not on the stack.",
      "It was popped, it is presented, or it is detached.", lookAgain, "navctl show kiosk",
      advice: letUserDecideAgain),
    Row(
      .noRoot, .no, 1, "No screen would be left on the stack.",
      "A controller on display has at least a root screen; remove and pop-to --inclusive leave one "
        + "in any case.", "give the id of a screen, or describe one", "navctl stack kiosk home"),
    Row(
      .covered, .resync, 1, "A presented screen covers the stack.",
      "A person cannot pop a screen that nobody sees; programs may.", lookAgain,
      "navctl dismiss kiosk", advice: letUserDecideAgain),
    Row(
      .noBackButton, .no, 1, "The bar shows no back button.",
      "The root is on top, or the top screen hides or replaces the button.", lookAgain,
      "navctl show kiosk", advice: "leave the stack as it is: nothing is below the root"),
    Row(
      .popBlocked, .no, 1, "A screen does not let a person pop it.",
      "Its member canPop is false; programs may pop it. Watches get the event popBlocked.",
      lookAgain, "navctl set kiosk screen form canPop=true", advice: letFinish),
    Row(
      .dismissBlocked, .no, 1, "A person cannot swipe the presented screen away.",
      "Its member modalInPresentation is true, or its style is fullScreen or overFullScreen. "
        + "Programs may dismiss it. Watches get the event dismissAttempted.", lookAgain,
      "navctl dismiss kiosk", advice: letFinish),
    Row(
      .alreadyPresenting, .no, 1, "The screen presents another one already.",
      "Only the visible screen can present another; presentations form one chain.", lookAgain,
      "navctl dismiss kiosk --from home", advice: dismissFirst),
    Row(
      .alreadyActive, .no, 1, "The screen is on the stack or presented already.",
      "A screen is in one place at a time.", lookAgain, "navctl show kiosk", advice: dismissFirst),
    Row(
      .classUnknown, .no, 2, "The configuration declares no bar class of this name.",
      "The section [classes] of navd.conf(5) lists the classes beside NavigationBar and Toolbar.",
      "declare the class in the section [classes] of navd.conf(5)",
      "navctl create kiosk --bar-class MyBar"),
    Row(
      .classInvalid, .no, 2, "The class has the wrong base for this use.",
      "A navigation bar needs a class based on NavigationBar, a toolbar one based on Toolbar.",
      "declare the class in the section [classes] of navd.conf(5)",
      "navctl create kiosk --toolbar-class MyToolbar"),
    Row(
      .gestureRefused, .no, 1, "A swipe back cannot begin now.",
      "The root is on top, interactivePop is off, no back button is visible, canPop of the top is "
        + "false, a presented screen covers the stack, or another transition is open; the message "
        + "names the cause.",
      "see the presentations, the top screen and the settings: navctl get NAV",
      "navctl set kiosk settings interactivePop.enabled=true",
      advice: "leave the gesture out; the reason of the error says what prevents it"),
    Row(
      .gestureOwner, .no, 5, "Another session began the gesture.",
      "A gesture belongs to the session that began it; one command performs all its steps.",
      "only the session that began the gesture can do this",
      "navctl gesture kiosk begin update 0.4 finish"),
    Row(
      .invalidArgument, .no, 2, "An argument of the operation is wrong.",
      "It is missing, malformed, or does not fit the state; the message names the fault.",
      "see the expected arguments: navctl COMMAND --help", "navctl help item",
      advice: "correct the arguments; protocol.md, section 9, has them"),
    Row(
      .noRoute, .no, 6, "No template of the nav matches the route.",
      "The setting routes of the nav lists the templates. A template with needs is passed over if "
        + "the client has none of its roles, or if a screen of has is not on the stack.",
      "see the routes: navctl set NAV settings", "navctl set kiosk settings",
      advice: "declare the route in the settings of the nav"),
    Row(
      .restoreFailed, .no, 1, "The saved or earlier stack cannot be restored.",
      "The file is damaged or from a newer navd, or screens of that stack were released.",
      "use a file that navctl save wrote, or describe the screens: navctl stack NAV",
      "navctl save kiosk kiosk.json",
      advice: "pass a payload of navd_get \"restoration\", unchanged"),
    Row(
      .compacted, .no, 6, "The revision cannot be read.",
      "navd has deleted that part of the history, or that revision does not exist yet.",
      "choose a revision that can still be read: navctl history NAV", "navctl history kiosk",
      advice: "choose a newer revision; the floor of the error is the oldest one"),
  ]
}
