import NavigationCore
import NavigationReplica

/// The optimistic operations on one nav: the client displays them before the daemon's reply.
///
/// It is a pure value beside the mirror. Laws: without entries, the displayed state is the mirror.
/// A refused entry leaves no trace. An entry goes when the mirror reaches its revision, in any
/// order of replies and revisions. An entry that no longer applies to the stack below it is
/// withdrawn at once, and does not return.
struct Overlay: Hashable, Sendable {
  /// The operations of one message.
  struct Entry: Hashable, Sendable {
    var id: UInt64
    var edits: [OverlayEdit]
    var guards: Guards
    /// The revision in which the daemon performed it; nil before the reply.
    var revision: Revision?
  }

  /// The entries, in the order of the calls.
  private(set) var entries: [Entry] = []
  /// The epoch of the nav to which the entries belong.
  private var epoch: Epoch?

  /// Whether there are no entries, so that the displayed state is the mirror.
  var isEmpty: Bool { entries.isEmpty }

  /// Adds operations above the existing entries, if they apply to the displayed stack.
  ///
  /// - Returns: whether they were added.
  mutating func begin(_ id: UInt64, _ edits: [OverlayEdit], _ guards: Guards, on mirror: Mirror)
    -> Bool
  {
    rebase(onto: mirror)
    guard let screens = screens(over: mirror) else { return false }
    var entry = Entry(id: id, edits: [], guards: guards, revision: nil)
    var shown = screens
    for edit in edits {
      let named = edit.naming(shown)
      guard let next = named.applied(to: shown) else { return false }
      shown = next
      entry.edits.append(named)
    }
    guard shown != screens, entry.applied(to: screens, mirror, isFirst: isEmpty) != nil else {
      return false
    }
    epoch = mirror.epoch
    entries.append(entry)
    return true
  }

  /// Removes operations that the daemon refused, or whose call ended.
  mutating func withdraw(_ id: UInt64, from mirror: Mirror?) {
    entries.removeAll { $0.id == id }
    if let mirror { rebase(onto: mirror) }
  }

  /// Records that the daemon performed operations; they stay until the mirror contains them.
  mutating func confirm(_ id: UInt64, at revision: Revision?, changed: Bool, in mirror: Mirror?) {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
    if let revision, changed, mirror != nil {
      entries[index].revision = revision
    } else {
      entries.remove(at: index)
    }
    if let mirror { rebase(onto: mirror) }
  }

  /// Applies the entries to a newer mirror.
  ///
  /// - Parameters:
  ///   - mirror: the newer mirror.
  ///   - own: the id of this client's op that made its revision; nil for another client's.
  mutating func rebase(onto mirror: Mirror, by own: UInt64? = nil) {
    guard !entries.isEmpty else { return }
    // The entries belong to another epoch, so none of them can be confirmed.
    guard mirror.epoch == epoch else {
      entries = []
      return
    }
    entries.removeAll { entry in
      entry.id == own || entry.revision.map { $0 <= mirror.revision } ?? false
    }
    var kept: [Entry] = []
    var shown = mirror.screens
    for entry in entries {
      guard let next = entry.applied(to: shown, mirror, isFirst: kept.isEmpty) else { continue }
      shown = next
      kept.append(entry)
    }
    entries = kept
  }

  /// The mirror with the entries applied; the mirror itself without entries.
  ///
  /// Epoch, revision and digest are those of the mirror. `hasMenu` says whether the daemon gives the
  /// back button a menu.
  func displayed(over mirror: Mirror, hasMenu: Bool) -> Mirror {
    guard !entries.isEmpty, let screens = screens(over: mirror) else { return mirror }
    var result = mirror
    result.screens = screens
    result.resolved = OverlayBar.content(of: screens, instead: mirror, hasMenu: hasMenu)
    return result
  }

  private func screens(over mirror: Mirror) -> [MirrorRecord]? {
    var shown = mirror.screens
    for (index, entry) in entries.enumerated() {
      guard let next = entry.applied(to: shown, mirror, isFirst: index == 0) else { return nil }
      shown = next
    }
    return shown
  }
}

extension Overlay.Entry {
  /// Applies all edits, or none.
  fileprivate func applied(
    to screens: [MirrorRecord], _ mirror: Mirror, isFirst: Bool
  ) -> [MirrorRecord]? {
    // The daemon has performed it already, so its guards held.
    guard revision != nil || holds(on: screens, mirror, isFirst: isFirst) else { return nil }
    var shown = screens
    for edit in edits {
      guard let next = edit.applied(to: shown) else { return nil }
      shown = next
    }
    return shown
  }

  /// Whether the guards hold on this stack, as far as the client can check them.
  private func holds(on screens: [MirrorRecord], _ mirror: Mirror, isFirst: Bool) -> Bool {
    if let epoch = guards.epoch, epoch != mirror.epoch { return false }
    // Entries below it will make revisions before it, so a guard by revision cannot hold.
    if let revision = guards.revision, !isFirst || revision != mirror.revision { return false }
    if let digest = guards.digest, !isFirst || digest != mirror.digest { return false }
    if let top = guards.top, top != screens.last?.id { return false }
    if let depth = guards.depth, depth != UInt64(screens.count) { return false }
    if let stack = guards.stack, stack != screens.map(\.id) { return false }
    if let has = guards.has, !Set(has).isSubset(of: screens.map(\.id)) { return false }
    if let visible = guards.visible, visible != mirror.outermostPresented ?? screens.last?.id {
      return false
    }
    return true
  }
}
