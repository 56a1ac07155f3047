import NavigationCore

/// One session's watch of one nav: a cursor into its revisions, not a queue of messages.
struct Watch: Sendable {
  var session: SessionSlot
  var nav: NavSlot
  var view: View
  /// Whether the diffs and snapshots of a full view include the resolved bar.
  var includesResolvedBar = true
  /// The revision that the client has after all messages sent so far.
  var cursor: Revision
  /// The snapshot that is being sent in parts; nil if there is none.
  var snapshot: SnapshotBox?
  /// The index of the next screen of the snapshot to send.
  var nextScreen = 0
  /// Whether the answer to the `watch` was sent; before it the watch gets nothing.
  var isStarted = false
  /// The key of the value that was sent last to a conflated view.
  var sentKey: String?

  static let vacant = Watch(
    session: SessionSlot(-1), nav: NavSlot(-1), view: .full, cursor: Revision(0))

  /// Whether its client was sent the whole nav up to `revision`.
  func isCaughtUp(with revision: Revision) -> Bool {
    view == .full && isStarted && snapshot == nil && cursor == revision
  }
}

/// A snapshot that is being sent, stored outside of its watch.
///
/// The hub visits thousands of watches for one revision, and hardly any of them has a snapshot.
final class SnapshotBox: Sendable {
  let snapshot: Snapshot

  init(_ snapshot: Snapshot) { self.snapshot = snapshot }
}

/// The watches, by session and by nav, and the next message of each.
///
/// Laws:
/// - A watch is once in the list of its session and once in that of its nav, in the order of `insert`.
/// - The messages of a full watch bring each revision after its cursor once and in order, or a
///   snapshot and then the revisions after it. No message has a revision newer than `durable`.
/// - Snapshots and `latest` show the newest revision, once it is durable.
/// - Watches at the same position share one body.
struct Watches: Sendable {
  private var slots = Slots<Watch>()
  private var bySession: [[WatchSlot]] = []
  private var byNav: [[WatchSlot]] = []
  /// The messages of diffs in the output at hand, by position.
  private var sharedMessages: [Position: Message] = [:]
  private var last: (position: Position, message: Message)?

  /// The next step for one watch.
  enum Next {
    /// A message to send; the watch has moved its cursor past it.
    case message(Message)
    /// A snapshot or `latest` must wait until the nav's newest revision is durable.
    case waitsForDurability
    /// Nothing: the watch has everything that is durable, or its session has no credit.
    case nothing
  }

  struct Message: Sendable {
    var verb: ServerVerb
    /// The index of the message's body in the output.
    var bodyIndex: Int
    var byteCount: Int
    /// The number of revisions that the message brings as diffs.
    var revisionCount = 0
    /// Whether the message completes a snapshot.
    var endsSnapshot = false
  }

  /// The position of the watches that can share a message of diffs.
  private struct Position: Hashable {
    var nav: NavSlot
    var cursor: UInt64
    /// The most octets of a message of several diffs.
    var maximumOctets: Int
    /// Whether the message includes the resolved bar.
    var includesResolvedBar: Bool
  }

  var count: Int { slots.count }

  subscript(_ index: WatchSlot) -> Watch {
    @inline(__always) unsafeAddress { unsafe slots.address(of: index) }
  }

  func of(session: SessionSlot) -> [WatchSlot] {
    session.number < bySession.count ? bySession[session.number] : []
  }

  func of(nav: NavSlot) -> [WatchSlot] { nav.number < byNav.count ? byNav[nav.number] : [] }

  /// Whether a watch of a nav gets the resolved bar with its diffs.
  func includeResolvedBar(of nav: NavSlot) -> Bool {
    of(nav: nav).contains { slots[$0].view == .full && slots[$0].includesResolvedBar }
  }

  func find(session: SessionSlot, nav: NavSlot, _ view: View) -> WatchSlot? {
    of(session: session).first { slots[$0].nav == nav && slots[$0].view == view }
  }

  /// How many durable revisions a full watch has not been sent; 0 for other views.
  func revisionsBehind(_ index: WatchSlot, of navs: borrowing Navs) -> UInt64 {
    let watch = slots[index]
    guard watch.view == .full else { return 0 }
    let durable = navs[watch.nav].durable
    return durable > watch.cursor ? durable.number - watch.cursor.number : 0
  }

  /// How far all watches are behind; O(watches).
  func lag(of navs: borrowing Navs) -> Hub.Lag {
    var lag = Hub.Lag()
    for index in slots.indices {
      let behind = revisionsBehind(index, of: navs)
      guard behind > 0 else { continue }
      lag.watchCount += 1
      lag.largest = max(lag.largest, behind)
      lag.sum += behind
      assert(lag.largest <= lag.sum)
    }
    return lag
  }

  mutating func insert(_ watch: Watch) -> WatchSlot {
    assert(find(session: watch.session, nav: watch.nav, watch.view) == nil, "a second watch")
    let index = slots.insert(watch)
    let (session, nav) = (watch.session.number, watch.nav.number)
    while bySession.count <= session { bySession.append([]) }
    while byNav.count <= nav { byNav.append([]) }
    bySession[session].append(index)
    byNav[nav].append(index)
    return index
  }

  mutating func remove(_ index: WatchSlot) {
    let (session, nav) = (slots[index].session.number, slots[index].nav.number)
    assert(byNav[nav].contains(index), "a watch that its nav does not know")
    assert(bySession[session].contains(index), "a watch that its session does not know")
    bySession[session].removeAll { $0 == index }
    byNav[nav].removeAll { $0 == index }
    slots.remove(index, leaving: .vacant)
  }

  /// Marks that the answer to a watch request was sent, so that its diffs may follow.
  mutating func markStarted(_ index: WatchSlot) { slots[index].isStarted = true }

  // Serving.

  /// Chooses the next message of a watch, adds its body to the output, and moves the cursor of the
  /// watch.
  ///
  /// `nav` is `inout` only to avoid a copy. `maximumDiffsOctets` limits a message of several diffs,
  /// nil without credit; `limit` limits any message.
  mutating func next(
    of index: WatchSlot, from nav: inout NavEntry, maximumDiffsOctets: Int?, limit: Int,
    into output: inout HubOutput
  ) -> Next {
    guard slots[index].isStarted, let maximumDiffsOctets else { return .nothing }
    guard slots[index].view == .full else { return nextLatest(index, &nav, &output) }
    if slots[index].snapshot != nil { return nextSnapshotPart(index, limit, &output) }
    let cursor = slots[index].cursor
    assert(cursor <= nav.revision, "a watch is ahead of its nav")
    guard cursor < nav.durable else { return .nothing }
    let position = Position(
      nav: slots[index].nav, cursor: cursor.number, maximumOctets: maximumDiffsOctets,
      includesResolvedBar: slots[index].includesResolvedBar)
    if let message = message(at: position) ?? makeDiffs(position, &nav, limit, &output) {
      slots[index].cursor = Revision(cursor.number + UInt64(message.revisionCount))
      assert(slots[index].cursor <= nav.durable, "a watch got what is not durable")
      return .message(message)
    }
    guard nav.durable == nav.revision else { return .waitsForDurability }
    let why = nav.ring.reaches(cursor) ? "size" : "lag"
    slots[index].snapshot = SnapshotBox(nav.snapshot(why: why))
    slots[index].nextScreen = 0
    return nextSnapshotPart(index, limit, &output)
  }

  /// Forgets the shared messages, because the shell has taken the output.
  mutating func forgetSharedMessages() {
    last = nil
    if !sharedMessages.isEmpty { sharedMessages = [:] }
  }

  private func message(at position: Position) -> Message? {
    // The hub serves the watches of a nav in a row, and most of them are at the same position.
    if let last, last.position == position { return last.message }
    return sharedMessages[position]
  }

  /// Encodes the message for all watches at a position, with as many diffs as fit; nil if the ring
  /// does not reach the position, or if not even the first diff fits.
  private mutating func makeDiffs(
    _ position: Position, _ nav: inout NavEntry, _ limit: Int, _ output: inout HubOutput
  ) -> Message? {
    let cursor = Revision(position.cursor)
    guard nav.ring.reaches(cursor) else { return nil }
    let first = nav.ring.diff(of: cursor.next)
    guard first.bytes.count <= limit else { return nil }
    var byteCount = first.byteCount(hasResolved: position.includesResolvedBar)
    var last = cursor.next
    while last < nav.durable {
      let count = nav.ring.diff(of: last.next).byteCount(hasResolved: position.includesResolvedBar)
      guard byteCount + count <= position.maximumOctets else { break }
      byteCount += count + 1
      last = last.next
    }
    assert(last > cursor, "a message without diffs")
    let isOne = last == cursor.next
    let body =
      isOne
      ? first.body(hasResolved: position.includesResolvedBar)
      : ServerMessageWriter.diffs(
        nav: nav.name, nav.ring.diffs(behind: cursor, through: last),
        hasResolved: position.includesResolvedBar, byteCount: byteCount)
    let message = Message(
      verb: isOne ? .diff : .diffs, bodyIndex: output.add(body), byteCount: body.count,
      revisionCount: Int(last.number - cursor.number))
    self.last = (position, message)
    if byNav[position.nav.number].count > 1 { sharedMessages[position] = message }
    return message
  }

  private mutating func nextSnapshotPart(
    _ index: WatchSlot, _ limit: Int, _ output: inout HubOutput
  ) -> Next {
    guard let snapshot = slots[index].snapshot?.snapshot else {
      preconditionFailure("a watch without a snapshot on its way")
    }
    let (body, next) = snapshot.part(
      from: slots[index].nextScreen, limit: min(60 * 1024, limit / 2),
      hasResolved: slots[index].includesResolvedBar)
    assert(next.map { $0 > slots[index].nextScreen } ?? true, "a snapshot without an end")
    slots[index].nextScreen = next ?? 0
    if next == nil {
      slots[index].snapshot = nil
      slots[index].cursor = snapshot.revision
    }
    return .message(
      Message(
        verb: .snap, bodyIndex: output.add(body), byteCount: body.count, endsSnapshot: next == nil))
  }

  private mutating func nextLatest(
    _ index: WatchSlot, _ nav: inout NavEntry, _ output: inout HubOutput
  ) -> Next {
    guard nav.durable == nav.revision else { return .waitsForDurability }
    let view = slots[index].view
    guard let (key, value) = nav.latest(view, unless: slots[index].sentKey) else {
      return .nothing
    }
    slots[index].sentKey = key
    slots[index].cursor = nav.revision
    let body = ServerMessageWriter.latest(
      nav: nav.name, view: view, epoch: nav.epoch, revision: nav.revision, value: value)
    return .message(Message(verb: .latest, bodyIndex: output.add(body), byteCount: body.count))
  }
}
