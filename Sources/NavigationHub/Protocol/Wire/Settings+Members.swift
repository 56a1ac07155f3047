package import NavigationCore

extension Settings: TabledRecord {
  package static let table = MemberTable<Settings>(
    "settings",
    [
      Member("container", \.container), Member("restorationID", \.restorationID),
    ],
    Member.group(
      "interactivePop", Member("enabled", \.interactivePop.isEnabled),
      Member("mode", \.interactivePop.isFullScreen, on: "fullScreen", off: "edge")),
    [
      Member("interactivePopWithoutBackButton", \.interactivePopWithoutBackButton),
      Member("simultaneous", \.simultaneous, RecordReader.simultaneous),
      Member("hidesBarsOnTap", \.hidesBarsOnTap), Member("hidesBarsOnSwipe", \.hidesBarsOnSwipe),
      Member("hidesBarsWhenVerticallyCompact", \.hidesBarsWhenVerticallyCompact),
      Member("hidesBarsWhenKeyboardAppears", \.hidesBarsWhenKeyboardAppears),
      Member("guard", \.guardPolicy), Member("vetoScope", \.vetoScope),
    ],
    Member.group(
      "veto", Member("deadline", \.veto.deadline, in: 1...60_000),
      Member("policy", \.veto.allowsOnTimeout, on: "allow", off: "deny"),
      Member("required", \.veto.isRequired)),
    [
      Member("questionDeadline", \.questionDeadline, in: 1...60_000),
      Member("transitionDeadline", \.transitionDeadline, in: 1...60_000),
      Member("gestureDeadline", \.gestureDeadline, in: 1...600_000),
      Member("queue", \.queue, in: 0...64),
    ],
    Member.group(
      "profile", Member("os", \.profile.os, in: 7...99),
      Member("compactHeight", \.profile.compactHeight, in: 1...1000),
      Member("shadowNeedsBackground", \.profile.shadowNeedsBackground),
      Member("extraSystemItems", \.profile.extraSystemItems)),
    [
      Member(
        "backTitles", \.backTitles, isDefault: \.isEmpty, read: RecordReader.backTitles
      ) { titles, json in
        json.sorted(titles) { $1.string($0.string) }
      },
      Member("proxy", \.proxy, isDefault: \.isEmpty, read: RecordReader.proxy) { looks, json in
        json.sorted(looks) { look, json in
          var bar = Bar()
          bar.look = look
          json.record(bar)
        }
      }.readonly,
      Member("routes", \.routes, RecordReader.routes),
    ])
}

extension RecordReader {
  /// Reads the arguments of `nav.configure`.
  func settingsEdits(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> [Edit<Settings>] {
    try refuseReadonly(Settings.table, Self.gettersOfUIKit, tape, at)
    return try edits(tape, at)
  }

  /// Properties of UIKit's controller that have no setter.
  private static let gettersOfUIKit: Set<Text> = [
    "interactivePopGestureRecognizer", "barHideOnTapGestureRecognizer",
    "barHideOnSwipeGestureRecognizer", "topViewController", "visibleViewController",
    "navigationBar", "bar", "toolbar",
  ]

  package func storedSettings(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> RecordedSettings {
    try needObject(tape, at, "settings are no record")
    var isAttached = false
    let content: Settings = try stored(tape, at) { name, value throws(ReadFailure) in
      guard name == "attached" else { return false }
      isAttached = try flag(tape, value, name, default: false)
      return true
    }
    return RecordedSettings(isAttached: isAttached, content: content)
  }

  fileprivate func routes(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> OpaqueJSON? {
    try list(tape, at, name, "a route is {match, screens}") {
      $0.member("match", of: $1) != nil && $0.member("screens", of: $1) != nil
    }
  }

  fileprivate func simultaneous(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> OpaqueJSON? {
    try list(tape, at, name, "simultaneous holds pairs of gesture kinds") {
      $0.kind($1) == .array && $0.count($1) == 2
    }
  }

  private func list(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String, _ form: String,
    _ isRight: (borrowing JSONTape, Int) -> Bool
  ) throws(ReadFailure) -> OpaqueJSON {
    guard tape.kind(at) == .array else { throw ReadFailure(.invalidArgument, "\(name) is a list") }
    try tape.forEachElement(of: at) { element throws(ReadFailure) in
      guard isRight(tape, element) else { throw ReadFailure(.invalidArgument, form) }
    }
    return try opaque(tape, at, name)
  }

  fileprivate func backTitles(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> [Text: Text] {
    let form = "backTitles is an object of texts of 1 to 256 bytes by language tag"
    try needObject(tape, at, form)
    var titles: [Text: Text] = [:]
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      let tag = BackTitles.canonical(name)
      guard let title = tape.string(value), (1...256).contains(title.utf8.count),
        (1...64).contains(tag.utf8.count), titles.updateValue(Text(title), forKey: Text(tag)) == nil
      else { throw ReadFailure(.invalidArgument, form + ", each tag once") }
    }
    return titles
  }

  /// Reads the appearance proxies of all bar classes, by class name.
  fileprivate func proxy(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> [Text: BarLook] {
    try needObject(tape, at, "proxy is an object with the looks of bar classes by name")
    var looks: [Text: BarLook] = [:]
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      try needObject(tape, value, "proxy.\(name) is an object with members of bars")
      let look = Bar(try lookEdits(tape, value, skipping: nil)).look
      looks[Text(name)] = look == BarLook() ? nil : look
    }
    return looks
  }
}
