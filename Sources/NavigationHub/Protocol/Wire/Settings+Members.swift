package import NavigationCore

extension Settings: TabledRecord {
  package static let table = MemberTable<Settings>(
    "settings",
    [
      Member("container", \.container).documented(
        "The container of the nav, as the application names it; the daemon does not interpret it."),
      Member("restorationID", \.restorationID).documented(
        "The restoration id of the nav; without it, ``NavigationAspect/restoration`` is empty."),
    ],
    Member.group(
      "interactivePop", "Whether a swipe pops the top screen, and where the swipe can begin.",
      Member("enabled", \.interactivePop.isEnabled),
      Member("mode", \.interactivePop.isFullScreen, on: "fullScreen", off: "edge")),
    [
      Member("interactivePopWithoutBackButton", \.interactivePopWithoutBackButton)
        .documented("Whether a swipe can pop the top screen while no back button is visible."),
      Member("simultaneous", \.simultaneousGestures, JSONTape.gesturePairs)
        .documented("Pairs of gestures that displays can recognise at the same time."),
      Member("hidesBarsOnTap", \.hidesBarsOnTap)
        .documented("Whether a tap on the content hides or shows the bars."),
      Member("hidesBarsOnSwipe", \.hidesBarsOnSwipe)
        .documented("Whether a swipe up hides the bars and a swipe down shows them."),
      Member("hidesBarsWhenVerticallyCompact", \.hidesBarsWhenVerticallyCompact)
        .documented("Whether the bars are hidden while the height is compact."),
      Member("hidesBarsWhenKeyboardAppears", \.hidesBarsWhenKeyboardAppears)
        .documented("Whether the bars are hidden while a keyboard is visible."),
      Member("showsBarsOnNextScreen", \.showsBarsOnNextScreen).documented(
        "Whether bars that a tap, a swipe or the keyboard hid show again on the next top screen."),
      Member("dismissesOnOpen", \.dismissesOnOpen).documented(
        "Whether opening a route dismisses what is presented, unless it says otherwise."),
      Member("dismissesPopoversWithPage", \.dismissesPopoversWithPage)
        .documented("Whether a popover over the stack goes when the top screen changes."),
      Member("onBusy", \.onBusy).documented(
        "What happens to operations that meet an open transition and do not say it themselves."),
      Member("guard", \.guardPolicy).documented("The operations that need a guard."),
      Member("vetoScope", \.vetoScope)
        .documented("The operations about which the daemon asks delegates with the role veto."),
    ],
    Member.group(
      "veto",
      """
      The rules for delegates with the role veto. They are the time for all questions of one \
      operation, 1 ms … 60 s, the decision without an answer, and whether operations fail if there \
      is no such delegate.
      """, Member("deadline", \.veto.deadlineMilliseconds, in: 1...60_000),
      Member("policy", \.veto.allowsOnTimeout, on: "allow", off: "deny"),
      Member("required", \.veto.requiresDelegate)),
    [
      Member("questionDeadline", \.questionDeadlineMilliseconds, in: 1...60_000)
        .documented("The time for the answer of an animator or interaction delegate, 1 ms … 60 s."),
      Member("transitionDeadline", \.transitionDeadlineMilliseconds, in: 1...60_000).documented(
        "The time after which an animation counts as complete without a report, 1 ms … 60 s."),
      Member("gestureDeadline", \.gestureDeadlineMilliseconds, in: 1...600_000).documented(
        "The time without an update after which the daemon cancels a gesture, 1 ms … 10 min."),
      Member("queue", \.waitingOpLimit, in: 0...64)
        .documented("The number of operations that can wait for a transition, 0 … 64."),
    ],
    Member.group(
      "profile", "The version of the navigation rules.", Member("os", \.profile.iOS, in: 7...99),
      Member("compactHeight", \.profile.compactBarHeight, in: 1...1000),
      Member("shadowNeedsBackground", \.profile.shadowNeedsBackground),
      Member("extraSystemItems", \.profile.allowsExtraSystemItems)),
    [
      Member(
        "backTitles", \.backTitles, isDefault: \.isEmpty, read: JSONTape.backTitles
      ) { titles, json in
        json.sortedObject(titles) { $1.string($0.string) }
      }.documented(
        "Words for a back button without a title, by language tag; they come before the daemon's own."
      ),
      Member("proxy", \.appearanceProxies, isDefault: \.isEmpty, read: JSONTape.proxies) {
        $1.sortedObject($0) { look, json in
          var bar = Bar()
          bar.look = look
          json.record(bar)
        }
      }.readonly,
      Member("routes", \.routes, JSONTape.routes)
        .documented("The templates from which `open` makes stacks; the first match applies."),
    ])
}

extension JSONTape {
  /// Reads the arguments of `nav.configure`.
  func settingsEdits(_ at: Int) throws(ReadFailure) -> [Edit<Settings>] {
    try refuseReadonly(Settings.table, Self.gettersOfUIKit, at)
    return try edits(at)
  }

  /// Properties of UIKit's controller that have no setter.
  private static let gettersOfUIKit: Set<Text> = [
    "interactivePopGestureRecognizer", "barHideOnTapGestureRecognizer",
    "barHideOnSwipeGestureRecognizer", "topViewController", "visibleViewController",
    "navigationBar", "bar", "toolbar",
  ]

  package func storedSettings(_ at: Int) throws(ReadFailure) -> RecordedSettings {
    try needObject(at, "settings are no record")
    var isAttached = false
    let content: Settings = try storedRecord(at) { name, value throws(ReadFailure) in
      guard name == "attached" else { return false }
      isAttached = try boolOrNullAsFalse(value, name)
      return true
    }
    return RecordedSettings(isAttached: isAttached, content: content)
  }

  fileprivate func routes(_ at: Int, _ name: String) throws(ReadFailure) -> OpaqueJSON? {
    try checkedList(at, name, "a route is {match, screens}") {
      member("match", of: $0) != nil && member("screens", of: $0) != nil
    }
  }

  fileprivate func gesturePairs(_ at: Int, _ name: String) throws(ReadFailure) -> OpaqueJSON? {
    try checkedList(at, name, "simultaneous holds pairs of gesture kinds") {
      kind($0) == .array && count($0) == 2
    }
  }

  private func checkedList(
    _ at: Int, _ name: String, _ form: String, _ isValid: (Int) -> Bool
  ) throws(ReadFailure) -> OpaqueJSON {
    try need(kind(at) == .array, "\(name) is a list")
    try forEachElement(of: at) { element throws(ReadFailure) in
      try need(isValid(element), form)
    }
    return try opaque(at, name)
  }

  fileprivate func backTitles(_ at: Int, _ name: String) throws(ReadFailure) -> [Text: Text] {
    let form = "backTitles is an object of texts of 1 to 256 bytes by language tag"
    try needObject(at, form)
    var titles: [Text: Text] = [:]
    try forEachMember(of: at) { name, value throws(ReadFailure) in
      let tag = BackTitles.canonical(name)
      guard let title = string(value), (1...256).contains(title.utf8.count),
        (1...64).contains(tag.utf8.count), titles.updateValue(Text(title), forKey: Text(tag)) == nil
      else { throw ReadFailure(form + ", each tag once") }
    }
    return titles
  }

  /// Reads the appearance proxies of all bar classes, by class name.
  fileprivate func proxies(_ at: Int, _ name: String) throws(ReadFailure) -> [Text: BarLook] {
    try needObject(at, "proxy is an object with the looks of bar classes by name")
    var looks: [Text: BarLook] = [:]
    try forEachMember(of: at) { name, value throws(ReadFailure) in
      try needObject(value, "proxy.\(name) is an object with members of bars")
      let look = Bar(try lookEdits(value, skipping: nil)).look
      looks[Text(name)] = look == BarLook() ? nil : look
    }
    return looks
  }
}
