import NavigationClient
import NavigationCore

/// What `navctl ui` shows and does: a list of navs, the open one with its stack, and its changes.
///
/// A browser has no clock and no I/O. Keys, events and sizes come in; effects and frames go out.
/// Without `isWritable` no effect is `send`. The guards of a change come from the state of the last
/// frame, because the user has seen no later one.
struct NavBrowser: Sendable {
  /// An action that the caller must perform; actions are in order.
  enum Effect: Sendable {
    case watch(String)
    case unwatch(String)
    /// Send a change, and pass the id of its request to `noteSent(id:)`.
    case send(Change)
    case redraw
    case quit
  }

  /// A change that the user asked for with a key.
  struct Change: Sendable {
    var nav: String
    var operation: NavigationOperation
    var guards: Guards
    var command: String
    var seen: SeenState
    /// The id of the request; nil until navctl has sent it.
    var id: UInt64?
  }

  enum Pane: CaseIterable, Sendable { case list, stack, changes }

  /// The open nav: the screen shows its stack and its changes.
  struct OpenNav: Sendable {
    var name: String
    /// The copy of the nav's state; nil before the first snapshot.
    var mirror: Mirror?
    var isCurrent = false
    /// Why the mirror is missing or out of date; nil if it is up to date.
    var problem: String?
    /// Whether the nav does not exist, so that its watch begins once the list has it.
    var isAwaited = false
    var skippedScreens = 0
  }

  struct Prompt: Sendable {
    enum Purpose: Sendable {
      case filter(former: String)
      case push(nav: String)
    }

    var purpose: Purpose
    var editor = LineEditor()
  }

  static let maximumStreams = 32

  let isWritable: Bool
  let endpoint: String
  var isASCII = false
  var columns = 80
  var rows = 24

  var pane = Pane.list
  var listedNavs: [MirrorRecord] = []
  var positions: [String: MirrorRecord] = [:]
  var listProblem: String?
  /// The rows of the list of navs; nil if the list or the filter has changed.
  var treeRows: [NavTree.Row]?
  var collapsed: Set<String> = []
  var filter = ""
  /// The path of the chosen row; `chosenIndex` is its index when the list was last drawn.
  var chosenPath: String?
  var chosenIndex = 0
  var listTop = 0

  var opened: OpenNav?
  /// The state of the open nav in the last frame; nil if that frame did not show its top.
  var drawnState: SeenState?
  var streams: [String: ChangeStream] = [:]
  var prompt: Prompt?
  /// The index of the help's first visible line; nil while the help is closed.
  var helpTop: Int?
  var message: (text: String, isAlert: Bool)?
  var pendingChange: Change?
  var isConnected = true

  /// The effects at the start: watch the list of navs, and the nav of the command line.
  mutating func firstEffects(_ nav: String?) -> [Effect] {
    guard let nav else { return [.watch(DirectoryNav.navs.nav)] }
    chosenPath = nav
    pane = .stack
    return [.watch(DirectoryNav.navs.nav)] + open(nav)
  }

  mutating func resize(columns: Int, rows: Int) {
    self.columns = max(1, columns)
    self.rows = max(1, rows)
  }

  var drawnNav: (nav: String, seen: SeenState)? {
    guard let opened, let drawnState else { return nil }
    return (opened.name, drawnState)
  }

  mutating func noteSent(id: UInt64) { pendingChange?.id = id }

  mutating func open(_ nav: String) -> [Effect] {
    guard opened?.name != nav else {
      guard opened?.problem != nil, opened?.isAwaited == true || opened?.mirror == nil else {
        return []
      }
      opened?.problem = nil
      return [.watch(nav)]
    }
    let former = opened?.name
    opened = OpenNav(name: nav)
    drawnState = nil
    if streams[nav] == nil {
      if streams.count >= Self.maximumStreams { streams = [:] }
      streams[nav] = ChangeStream()
    }
    streams[nav]?.follow()
    return (former.map { [.unwatch($0)] } ?? []) + [.watch(nav)]
  }

  /// The rows of the list; when the list has changed, it finds the chosen row again.
  mutating func currentRows() -> [NavTree.Row] {
    if let treeRows { return treeRows }
    let rows = NavTree.rows(listedNavs.map(\.id), filter: filter, collapsed: collapsed)
    treeRows = rows
    if let index = rows.firstIndex(where: { $0.path == chosenPath }) {
      chosenIndex = index
    } else {
      // The row that took the place of a chosen one which is gone.
      chosenIndex = min(chosenIndex, max(0, rows.count - 1))
      if !rows.isEmpty { chosenPath = rows[chosenIndex].path }
    }
    return rows
  }

  mutating func choose(_ index: Int) {
    let rows = currentRows()
    guard !rows.isEmpty else { return }
    chosenIndex = min(max(0, index), rows.count - 1)
    chosenPath = rows[chosenIndex].path
  }

  func position(of nav: String) -> JSONValue? {
    positions[nav].flatMap { try? JSONValue($0.json.bytes) }
  }

  mutating func handle(_ event: SessionEvent) -> [Effect] {
    switch event {
    case .opened:
      isConnected = true
      return [.watch(DirectoryNav.positions.nav)]
    case .lost:
      isConnected = false
      opened?.isCurrent = false
    case .answered(let id, let result) where pendingChange?.id == id: return takeAnswer(result)
    case .changed(DirectoryNav.navs.nav, let change): return setList(change)
    case .changed(DirectoryNav.positions.nav, let change):
      setPositions(change.mirrorToShow?.screens)
    // Without the right to read them all, the list has names alone.
    case .watchEnded(DirectoryNav.positions.nav, _, _): setPositions([])
    case .changed(let nav, let change) where nav == opened?.name: applyChange(change)
    case .watchEnded(DirectoryNav.navs.nav, _, let outcome): listProblem = Self.text(outcome, nil)
    case .watchEnded(let nav, _, let outcome) where nav == opened?.name: endWatch(nav, outcome)
    case .closed, .answered, .queued, .changed, .latest, .ephemeral, .traced, .watchEnded, .duty:
      break
    }
    return []
  }

  private mutating func setPositions(_ records: [MirrorRecord]?) {
    guard let records else { return }
    positions = Dictionary(records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  }

  private mutating func setList(_ change: MirrorChange) -> [Effect] {
    guard let mirror = change.mirrorToShow else { return [] }
    listedNavs = mirror.screens
    listProblem = nil
    treeRows = nil
    guard let opened, opened.isAwaited, listedNavs.contains(where: { $0.id == opened.name }) else {
      return []
    }
    self.opened?.isAwaited = false
    self.opened?.problem = nil
    return [.watch(opened.name)]
  }

  private mutating func applyChange(_ change: MirrorChange) {
    guard let name = opened?.name else { return }
    switch change {
    case .applied(let mirror, let diff):
      appendLine(name) { $0.diff(diff, top: mirror.top) }
      show(mirror)
    case .replaced(let mirror, let why):
      appendLine(name) { watch in
        guard let state = try? JSONValue(mirror.snapshot(of: name).bytes) else {
          return "rev \(mirror.revision.number)"
        }
        return watch.snapshot(state, why: why ?? "join", at: 0).text
      }
      show(mirror)
    case .resumed(let mirror), .proven(let mirror): show(mirror)
    case .suspect: opened?.isCurrent = false
    }
  }

  private mutating func show(_ mirror: Mirror) {
    opened?.mirror = mirror
    opened?.isCurrent = true
    opened?.problem = nil
    opened?.isAwaited = false
  }

  private mutating func appendLine(_ nav: String, _ text: (inout WatchLines) -> String) {
    guard var stream = streams.removeValue(forKey: nav) else { return }
    stream.append(text(&stream.watchLines))
    streams[nav] = stream
  }

  private mutating func endWatch(_ nav: String, _ outcome: WatchOutcome) {
    let text = Self.text(outcome, nav)
    appendLine(nav) { _ in text }
    opened?.mirror = nil
    opened?.isCurrent = false
    opened?.problem = text
    drawnState = nil
    switch outcome {
    case .ended(why: "closed", endpoint: _): opened?.isAwaited = true
    case .refused(let error): opened?.isAwaited = error.knownCode == .noNav
    case .ended: break
    }
  }

  private static func text(_ outcome: WatchOutcome, _ nav: String?) -> String {
    let name = TerminalText.visible(nav ?? "the list")
    switch outcome {
    case .ended(why: "closed", endpoint: _):
      return "\(name) was closed; it is shown when it is back"
    case .ended(let why, _): return "\(name) is not shown any more: \(TerminalText.visible(why))"
    case .refused(let error) where error.knownCode == .noNav:
      return "there is no nav \(name); it is shown when it is there"
    case .refused(let error): return oneLine(error, nav: nav, RefusedCommand())
    }
  }

  static func oneLine(
    _ error: ErrReply, nav: String?, _ attempt: RefusedCommand, seen: SeenState? = nil
  ) -> String {
    let lines = ErrorText.lines(error, nav: nav, seen: seen, of: attempt)
    return [lines.first, lines.last].compactMap { $0 }.joined(separator: "; ")
  }
}

extension MirrorChange {
  /// The mirror that the change leaves to show; nil if the shown mirror stays, as after a proof.
  fileprivate var mirrorToShow: Mirror? {
    switch self {
    case .applied(let mirror, _), .replaced(let mirror, _), .resumed(let mirror): mirror
    case .suspect, .proven: nil
    }
  }
}
