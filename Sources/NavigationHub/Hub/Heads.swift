import NavigationCore

/// The newest position of a nav, as the virtual nav `$heads` shows it.
struct NavHead: Equatable, Sendable {
  /// The newest durable revision.
  var revision: Revision
  var depth: Int
  /// The id of the top screen; nil if the stack is empty.
  var top: ScreenID?
  /// When the revision was made, in milliseconds since 1970.
  var time: UInt64
}

extension NavHead {
  /// Notes the present position of a nav, durable or not.
  init(_ entry: borrowing NavEntry) {
    revision = entry.controller.revision
    depth = entry.controller.stack.count
    top = entry.controller.stack.last?.id
    time = entry.changedAt
  }

  /// Notes the position to which a row brings its nav.
  init(_ row: borrowing RowHeader) {
    revision = Revision(row.revision)
    depth = row.depth
    top = row.top
    time = row.time
  }
}

/// The changes of navs that `$heads` has not shown yet.
///
/// Laws:
/// - A change that was noted is pending until `take`.
/// - Of the changes of one nav, the last one counts.
struct UnpublishedHeads: Sendable {
  var pace = VirtualNavPace()
  private var changes: [String: NavHead?] = [:]

  /// Notes the position of a nav; nil if the nav was closed, or another daemon serves it.
  mutating func note(_ head: NavHead?, of nav: String) { changes[nav] = .some(head) }

  /// Returns the changes in the order of the navs' names, and forgets them.
  mutating func take() -> [(nav: String, head: NavHead?)] {
    defer { changes.removeAll(keepingCapacity: true) }
    return changes.map { (nav: $0.key, head: $0.value) }
      .sorted { $0.nav.utf8.lexicographicallyPrecedes($1.nav.utf8) }
  }
}

/// Limits how often a virtual nav makes a revision.
///
/// Laws: two revisions are `interval` apart at least, and a request is due at most that long after it.
struct VirtualNavPace: Sendable {
  /// Milliseconds between two revisions of a virtual nav with a number of records.
  ///
  /// With more records the pause is longer, because the digest goes over all records.
  static func interval(records: Int) -> UInt64 { 250 + UInt64(records / 400) }

  /// When the next revision is due, in milliseconds of CLOCK_BOOTTIME; nil if none was requested.
  private(set) var dueAt: UInt64?
  private var earliest: UInt64 = 0

  mutating func request(at now: UInt64) {
    dueAt = dueAt ?? max(now, earliest)
  }

  func isDue(at now: UInt64) -> Bool { dueAt.map { $0 <= now } ?? false }

  /// Ends a request: the revision was made, or no record had changed.
  mutating func published(at now: UInt64, records: Int) {
    (dueAt, earliest) = (nil, now + Self.interval(records: records))
  }

  /// Forgets a request, because nobody reads the virtual nav.
  mutating func cancel() { dueAt = nil }
}
