import Navigation
import NavigationSync

/// The operations on one nav that are shown before the daemon has performed them.
///
/// A pure value beside the mirror, which knows nothing of it. Laws: without entries nothing is
/// changed; what is refused leaves nothing behind; every entry goes when its revision has come,
/// in whichever order answers and revisions come. An entry that does not apply any more to what
/// is below it is withdrawn at once and never shown again.
struct Overlay: Hashable, Sendable {
  /// The operations of one message.
  struct Entry: Hashable, Sendable {
    var id: UInt64
    var edits: [OverlayEdit]
    var guards: Guards
    /// Where the daemon performed it, once it has said so.
    var revision: Revision?
  }

  /// What is shown, in the order in which it was asked for.
  private(set) var entries: [Entry] = []
  /// The life of the nav that the entries are about.
  private var epoch: Epoch?

  /// Makes an overlay that shows nothing.
  init() {}

  /// Whether what is shown is the mirror.
  var isEmpty: Bool { entries.isEmpty }

  /// Shows operations at once, on top of those before, if they apply.
  ///
  /// - Returns: whether they are shown.
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

  /// The daemon refused operations, or nobody waits for them any more.
  mutating func withdraw(_ id: UInt64, from mirror: Mirror?) {
    entries.removeAll { $0.id == id }
    if let mirror { rebase(onto: mirror) }
  }

  /// The daemon performed operations; they are shown until the mirror shows them.
  mutating func confirm(_ id: UInt64, at revision: Revision?, changed: Bool, in mirror: Mirror?) {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
    if let revision, changed, mirror != nil {
      entries[index].revision = revision
    } else {
      entries.remove(at: index)
    }
    if let mirror { rebase(onto: mirror) }
  }

  /// The mirror went on.
  ///
  /// - Parameters:
  ///   - mirror: the new one.
  ///   - own: the operations of ours that led to it, if it was they.
  mutating func rebase(onto mirror: Mirror, by own: UInt64? = nil) {
    guard !entries.isEmpty else { return }
    // Of another life of the nav nothing is known.
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

  /// The mirror with what is under way; the mirror itself if nothing is.
  ///
  /// Position and proof are those of the mirror.
  func displayed(over mirror: Mirror) -> Mirror {
    guard !entries.isEmpty, let screens = screens(over: mirror) else { return mirror }
    var result = mirror
    result.screens = screens
    result.resolved = OverlayBar.content(of: screens, instead: mirror)
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
    // What the daemon has performed needs no guard any more.
    guard revision != nil || holds(on: screens, mirror, isFirst: isFirst) else { return nil }
    var shown = screens
    for edit in edits {
      guard let next = edit.applied(to: shown) else { return nil }
      shown = next
    }
    return shown
  }

  /// Whether the daemon would perform it on this stack, as far as its guards tell.
  private func holds(on screens: [MirrorRecord], _ mirror: Mirror, isFirst: Bool) -> Bool {
    if let epoch = guards.epoch, epoch != mirror.epoch { return false }
    // What is performed before it makes a new revision.
    if let revision = guards.revision, !isFirst || revision != mirror.revision { return false }
    if let digest = guards.digest, !isFirst || digest != mirror.digest { return false }
    if let top = guards.top, top != screens.last?.id { return false }
    if let depth = guards.depth, depth != UInt64(screens.count) { return false }
    if let stack = guards.stack, stack != screens.map(\.id) { return false }
    if let has = guards.has, !Set(has).isSubset(of: screens.map(\.id)) { return false }
    return true
  }
}
