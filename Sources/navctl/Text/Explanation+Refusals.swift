import NavigationCore

// The explanations of the error codes, in the order of their table in docs/protocol.md.

extension Explanation {
  static let refusals: [Explanation] = [
    Explanation(
      .badFrame, "navd could not read the frames of a message.",
      cause: "The client and navd have different versions, or the program at the endpoint is no "
        + "client of navd.",
      example: "navctl --version; navctl status"),
    Explanation(
      .badJSON, "navd could not read the JSON of a message.",
      cause:
        "The JSON of the protocol is strict: no member twice, no lone surrogates. The client "
        + "broke that.",
      example: "navctl op kiosk '{\"pop\":{}}' --any"),
    Explanation(
      .badVerb, "navd does not know the verb of a message.",
      cause: "The client is newer than navd.", example: "navctl --version; navctl status"),
    Explanation(
      .version, "The client and navd have no version of the protocol in common.",
      cause: "One of the two is much older than the other.",
      example: "navctl --version; navctl status"),
    Explanation(
      .noSession, "The message needs a session, and the connection has none.",
      cause: "The client sent it before hello, or navd was restarted in between.",
      example: "navctl watch kiosk --count 1"),
    Explanation(
      .fenced, "Another process has taken over this client's identity.",
      cause: "Two processes use the same client id; navd serves the newer connection.",
      example: "navctl list --clients"),
    Explanation(
      .unsupported, "This navd does not know the operation.",
      cause: "The client is newer than navd, or the name of the operation is misspelt.",
      example: "navctl op --help"),
    Explanation(
      .forbidden, "The user or the key may not do this.",
      cause: "navd decides by the user that the kernel reports, or by the key over tcp: its role "
        + "and the grants in [access].",
      example: "navctl doctor"),
    Explanation(
      .leaseLost, "Another session holds the display of the nav.",
      cause: "Only the session that holds the display may send env, gesture begin and transition "
        + "complete.",
      example: "navctl show kiosk"),
    Explanation(
      .busy, "navd has too many requests of this kind at once.",
      cause: "A backup is running, one connection exceeds ops-per-second or inflight, or another "
        + "daemon of the cluster is about to take over the nav.",
      example: "navctl backup --timeout 10m"),
    Explanation(
      .limit, "The request exceeds a limit of navd.",
      cause: "The message, the state, the stack or the number of navs would exceed [limits] of "
        + "navd.conf(5).",
      example: "navctl get kiosk --what stats"),
    Explanation(
      .expired, "navd did not begin the change within the time that the client gave it.",
      cause: "navd was busy or waited for its disk. It did not make the change, and never will.",
      example: "navctl push kiosk wifi --new --timeout 30s"),
    Explanation(
      .opReused, "The client used the id of an earlier operation for a different one.",
      cause: "The client is faulty: each operation needs an id of its own.",
      example: "navctl log kiosk"),
    Explanation(
      .opTooOld, "navd may have performed the operation, and no longer has its result.",
      cause: "The client repeated an operation after 64 later ones, or after many other clients.",
      example: "navctl history kiosk"),
    Explanation(
      .noNav, "There is no nav of this name.",
      cause: "It was never created, or a client closed it.",
      example: "navctl create kiosk --root home"),
    Explanation(
      .navExists, "There is a nav of this name already.",
      cause: "Another client created it.",
      example: "navctl create kiosk --if-absent"),
    Explanation(
      .moved, "Another daemon of the cluster has the nav.",
      cause: "Clients follow by themselves. navctl prints the code if it could not reach that "
        + "daemon, or if the daemons named each other, for as long as it waited.",
      example: "navctl status"),
    Explanation(
      .frozen, "The nav can be read and closed, but not changed.",
      cause:
        "navd found a broken invariant in it. Close the nav, or restart navd: a start that finds it "
        + "sound serves it again.",
      example: "navctl verify kiosk"),
    Explanation(
      .shuttingDown, "navd is stopping.",
      cause:
        "The administrator or the service manager stops or restarts it. After a restart, clients "
        + "continue without a gap.",
      example: "navctl status"),
    Explanation(
      .storage, "navd cannot write or read its journal.",
      cause:
        "The disk is full or faulty. navd refuses changes until it can write again; reads work.",
      example: "navctl doctor"),
    Explanation(
      .internal, "navd found a fault of its own, and did not make the change.",
      cause: "This is a bug of navd; its log has the details.",
      example: "journalctl -u navd -p warning"),
    Explanation(
      .desync, "The nav is not in the state that the command expects.",
      cause:
        "Another client has changed the nav since this terminal saw it, or the value of an option "
        + "such as --top, --rev or --stack is wrong.",
      example: "navctl show kiosk; navctl pop kiosk"),
    Explanation(
      .guardRequired, "The command removes something, and has no condition about the state.",
      cause: "A removal takes the top screen. Without a guard, that could be a screen that another "
        + "client has pushed in between.",
      example: "navctl pop kiosk --top wifi"),
    Explanation(
      .transitionInProgress, "A transition, a gesture or a question to a delegate is open.",
      cause:
        "navd queues or refuses changes of the stack until it ends. An animation ends after 1 s "
        + "by default.",
      example: "navctl pop kiosk --top wifi --on-busy queue"),
    Explanation(
      .queueFull, "Too many operations are queued behind a transition.",
      cause: "The setting queue of the nav limits their number.",
      example: "navctl transition kiosk"),
    Explanation(
      .vetoed, "A delegate of the nav refused the change.",
      cause:
        "An application with the role veto answered no, for example because a form is not saved.",
      example: "navctl get kiosk --what stats"),
    Explanation(
      .delegateTimeout, "No delegate answered in time, and the settings then refuse the change.",
      cause: "The application with the role veto hangs, or none runs and veto.required is true.",
      example: "navctl set kiosk settings veto.policy=allow"),
    Explanation(
      .barManaged, "The items of this bar follow from the screens of the stack.",
      cause: "The nav is of kind controller; only a standalone bar has items of its own.",
      example: "navctl create hud --kind bar; navctl push hud now --title Owen"),
    Explanation(
      .barDelegateManaged, "The delegate of this bar cannot be set.",
      cause: "The bar of a controller has the controller as its delegate.",
      example: "navctl set kiosk bar"),
    Explanation(
      .readonly, "The value cannot be set.",
      cause:
        "navd computes it from other state, such as top and visible, or it belongs to a directory "
        + "such as $navs.",
      example: "navctl get kiosk"),
    Explanation(
      .nilScreen, "The operation needs a screen and has none.",
      cause: "The screen is missing or null.", example: "navctl push kiosk wifi --title Wi-Fi"),
    Explanation(
      .unknownScreen, "The nav knows no screen with this id.",
      cause: "It was never created, it was released, or it belongs to another nav. Of the commands "
        + "that show a screen, push, segue, present and set can create it.",
      example: "navctl push kiosk wifi --title Wi-Fi"),
    Explanation(
      .unknownItem, "The standalone bar knows no item with this id.",
      cause: "It was never pushed, or navd has released it.",
      example: "navctl push hud now --title Owen"),
    Explanation(
      .unknownButton, "The nav knows no button with this id, or does not show it.",
      cause: "Only an enabled button of the top screen can be tapped: notDisplayed, or disabled.",
      example: "navctl show kiosk"),
    Explanation(
      .forbiddenKind, "A screen of this kind cannot stand on a stack.",
      cause: "Only screens of kind content can be pushed; those of other kinds can be presented.",
      example: "navctl present kiosk pin --title PIN"),
    Explanation(
      .ownedElsewhere, "The screen is presented, so it cannot stand on the stack too.",
      cause: "A screen is in one place at a time.", example: "navctl dismiss kiosk --any"),
    Explanation(
      .duplicateScreen, "The screen is on the stack already, or known with other contents.",
      cause:
        "A screen stands on a stack once; screen create replaces no other without replace=true.",
      example: "navctl push kiosk wifi --if-absent"),
    Explanation(
      .duplicateInSet, "A screen is named twice in a new stack or a removal.",
      cause: "A screen stands on a stack once.", example: "navctl stack kiosk home wifi"),
    Explanation(
      .duplicateItem, "A button or an item is named twice, or is in use already.",
      cause: "A record with the id of a button in use must have the same content.",
      example: "navctl set kiosk item wifi rightItems=scan=Scan"),
    Explanation(
      .itemBothSides, "A button would stand on both sides of the bar.",
      cause: "A button stands on one side of an item.",
      example: "navctl set kiosk item wifi leftItems= rightItems=scan"),
    Explanation(
      .notInStack, "The screen is not on the stack.",
      cause: "It was popped, it is presented, or it is detached.", example: "navctl show kiosk"),
    Explanation(
      .noRoot, "No screen would be left on the stack.",
      cause:
        "A controller on display has at least a root screen; remove and pop-to --inclusive leave one "
        + "in any case.",
      example: "navctl stack kiosk home"),
    Explanation(
      .covered, "A presented screen covers the stack.",
      cause: "A person cannot pop a screen that nobody sees; programs may.",
      example: "navctl dismiss kiosk"),
    Explanation(
      .noBackButton, "The bar shows no back button.",
      cause: "The root is on top, or the top screen hides or replaces the button.",
      example: "navctl show kiosk"),
    Explanation(
      .popBlocked, "The top screen does not let a person pop it.",
      cause: "Its member canPop is false; programs may pop it. Watches get the event popBlocked.",
      example: "navctl set kiosk screen form canPop=true"),
    Explanation(
      .dismissBlocked, "A person cannot swipe the presented screen away.",
      cause:
        "Its member modalInPresentation is true, or its style is fullScreen or overFullScreen. "
        + "Programs may dismiss it. Watches get the event dismissAttempted.",
      example: "navctl dismiss kiosk"),
    Explanation(
      .alreadyPresenting, "The screen presents another one already.",
      cause: "Only the visible screen can present another; presentations form one chain.",
      example: "navctl dismiss kiosk --from home"),
    Explanation(
      .alreadyActive, "The screen is on the stack or presented already.",
      cause: "A screen is in one place at a time.", example: "navctl show kiosk"),
    Explanation(
      .classUnknown, "The configuration declares no bar class of this name.",
      cause:
        "The section [classes] of navd.conf(5) lists the classes beside NavigationBar and Toolbar.",
      example: "navctl create kiosk --bar-class MyBar"),
    Explanation(
      .classInvalid, "The class has the wrong base for this use.",
      cause:
        "A navigation bar needs a class based on NavigationBar, a toolbar one based on Toolbar.",
      example: "navctl create kiosk --toolbar-class MyToolbar"),
    Explanation(
      .gestureRefused, "A swipe back cannot begin now.",
      cause:
        "The root is on top, interactivePop is off, no back button is visible, canPop of the top is "
        + "false, a presented screen covers the stack, or another transition is open; the message "
        + "names the cause.",
      example: "navctl set kiosk settings interactivePop.enabled=true"),
    Explanation(
      .gestureOwner, "Another session began the gesture.",
      cause: "A gesture belongs to the session that began it; one command performs all its steps.",
      example: "navctl gesture kiosk begin update 0.4 finish"),
    Explanation(
      .invalidArgument, "An argument of the operation is wrong.",
      cause: "It is missing, malformed, or does not fit the state; the message names the fault.",
      example: "navctl help item"),
    Explanation(
      .noRoute, "No template of the nav matches the route.",
      cause:
        "The setting routes of the nav lists the templates. A template with needs is passed over "
        + "if the client has none of its roles, or if a screen of has is not on the stack.",
      example: "navctl set kiosk settings"),
    Explanation(
      .restoreFailed, "The saved or earlier stack cannot be restored.",
      cause: "The file is damaged or from a newer navd, or screens of that stack were released.",
      example: "navctl save kiosk kiosk.json"),
    Explanation(
      .compacted, "The revision cannot be read.",
      cause: "navd has deleted that part of the history, or that revision does not exist yet.",
      example: "navctl history kiosk"),
  ]
}
