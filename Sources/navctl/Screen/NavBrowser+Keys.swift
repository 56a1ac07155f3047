import CommandLineOptions
import NavigationClient
import NavigationCore

extension NavBrowser {
  mutating func press(_ key: BrowserKey) -> [Effect] {
    if key == .interrupt { return [.quit] }
    if key == .redraw { return [.redraw] }
    message = nil
    if let prompt { return press(key, prompt) }
    if helpTop != nil { return pressInHelp(key) }
    switch key {
    case .text("q"): return [.quit]
    case .text("?"): helpTop = 0
    case .tab: movePane(1)
    case .backTab: movePane(-1)
    case .text("/"):
      pane = .list
      prompt = Prompt(purpose: .filter(former: filter), editor: LineEditor(filter))
    case .escape: setFilter("")
    case .text("f"): toggleFollowing()
    case .text("p"): beginPush()
    case .text("P"), .text("o"): return change("pop", { .pop() })
    case .text("b"): return change("back", { .backTap() })
    case .text("r"): return change("pop-to-root", { .popToRoot() })
    default: return move(key)
    }
    return []
  }

  private mutating func movePane(_ step: Int) {
    let panes = Pane.allCases
    let index = panes.firstIndex(of: pane) ?? 0
    pane = panes[(index + step + panes.count) % panes.count]
  }

  private mutating func toggleFollowing() {
    guard let name = opened?.name, streams[name] != nil else {
      return report("no nav is open: choose one and press Enter")
    }
    if streams[name]?.isFollowing == true {
      streams[name]?.hold()
    } else {
      streams[name]?.follow()
    }
  }

  mutating func report(_ text: String, isAlert: Bool = false) {
    message = (text, isAlert)
  }

  private func scrollStep(_ key: BrowserKey) -> Int? {
    let page = max(1, layout.height(of: pane) - 2)
    switch key {
    case .up, .text("k"): return -1
    case .down, .text("j"): return 1
    case .pageUp: return -page
    case .pageDown: return page
    case .home, .text("g"): return -Self.farStep
    case .end, .text("G"): return Self.farStep
    default: return nil
    }
  }

  private static let farStep = 1 << 30

  private mutating func move(_ key: BrowserKey) -> [Effect] {
    if let step = scrollStep(key) {
      switch pane {
      case .list: choose(chosenIndex + step)
      case .stack:
        let skipped = opened?.skippedScreens ?? 0
        opened?.skippedScreens = max(0, skipped + step)
      case .changes: if let name = opened?.name { streams[name]?.scroll(step) }
      }
      return []
    }
    switch (key, pane) {
    case (.enter, .list), (.right, .list), (.text("l"), .list): return openOrExpandChosen()
    case (.left, .list), (.text("h"), .list): collapseOrChooseParent()
    case (.left, _), (.text("h"), _): pane = .list
    default: break
    }
    return []
  }

  private mutating func openOrExpandChosen() -> [Effect] {
    let rows = currentRows()
    guard chosenIndex < rows.count else { return [] }
    let row = rows[chosenIndex]
    if row.isBranch, collapsed.remove(row.path) != nil { treeRows = nil }
    guard row.isNav else { return [] }
    if !layout.isWide { pane = .stack }
    return open(row.path)
  }

  /// Collapses the chosen branch; if another row is chosen, chooses the branch around it.
  private mutating func collapseOrChooseParent() {
    let rows = currentRows()
    guard chosenIndex < rows.count else { return }
    let row = rows[chosenIndex]
    if row.isBranch, !collapsed.contains(row.path), filter.isEmpty {
      collapsed.insert(row.path)
      treeRows = nil
    } else if let parent = rows[..<chosenIndex].lastIndex(where: { $0.depth < row.depth }) {
      choose(parent)
    }
  }

  private mutating func setFilter(_ text: String) {
    guard text != filter else { return }
    filter = text
    treeRows = nil
  }

  private mutating func pressInHelp(_ key: BrowserKey) -> [Effect] {
    if let step = scrollStep(key) {
      helpTop = min(max(0, (helpTop ?? 0) + step), max(0, Self.help.count - 1))
    } else if [.text("?"), .text("q"), .escape, .enter, .left].contains(key) {
      helpTop = nil
    }
    return []
  }

  private mutating func press(_ key: BrowserKey, _ prompt: Prompt) -> [Effect] {
    switch (key, prompt.purpose) {
    case (.up, .filter), (.down, .filter): return move(key)
    case (.enter, .push(let nav)):
      self.prompt = nil
      return push(prompt.editor.text, on: nav)
    case (.escape, .filter(let former)):
      setFilter(former)
      self.prompt = nil
    case (.enter, _), (.escape, _): self.prompt = nil
    case (_, let purpose):
      _ = self.prompt?.editor.edit(by: key)
      if case .filter = purpose { setFilter(self.prompt?.editor.text ?? "") }
    }
    return []
  }

  /// Why a key cannot change the open nav, in words; nil if it can.
  private var reasonAgainstChange: String? {
    guard isWritable else { return "read-only: start with --write" }
    guard let opened else { return "no nav is open: choose one and press Enter" }
    guard isConnected else { return "disconnected: nothing was sent" }
    if let pendingChange { return "\(pendingChange.command) has no answer yet: nothing was sent" }
    guard opened.isCurrent else { return "\(opened.name) is not up to date yet: nothing was sent" }
    guard drawnState != nil else {
      return layout.isWide || pane == .stack
        ? "the top of \(opened.name) is not on the screen: press g in its pane first"
        : "\(opened.name) is not on the screen: press Tab until it is"
    }
    return nil
  }

  private mutating func beginPush() {
    if let reasonAgainstChange { return report(reasonAgainstChange, isAlert: true) }
    guard let opened else { return }
    prompt = Prompt(purpose: .push(nav: opened.name))
  }

  private mutating func push(_ text: String, on nav: String) -> [Effect] {
    let words = text.split(separator: " ", maxSplits: 1).map(String.init)
    guard let id = words.first else {
      report("push: no id, so nothing was sent")
      return []
    }
    // Another nav can have been opened by an event, never by a key.
    guard nav == opened?.name else { return [] }
    let title = words.count > 1 ? words[1] : nil
    let line = ParsedCommandLine(options: title.map { [.init("title", $0)] } ?? [])
    return change("push") { () throws(UsageError) in try OperationParser.push(line, id: id) }
  }

  private mutating func change(
    _ command: String, _ operation: () throws(UsageError) -> NavigationOperation
  ) -> [Effect] {
    if let reasonAgainstChange {
      report(reasonAgainstChange, isAlert: true)
      return []
    }
    guard let opened, let drawnState else { return [] }
    do throws(UsageError) {
      let operation = try operation()
      let change = Change(
        nav: opened.name, operation: operation,
        guards: try Self.guards(operation, drawnState, command: command, nav: opened.name),
        command: command, seen: drawnState)
      pendingChange = change
      report("\(command): waiting for navd")
      return [.send(change)]
    } catch {
      report("\(error.message); nothing was sent", isAlert: true)
      return []
    }
  }

  /// The guards that the command of navctl would have, made from the state of the last frame.
  ///
  /// The key r, pop to root, needs the guard of `pop`. Each guard names the epoch, so that a nav
  /// that was closed and created anew does not change.
  private static func guards(
    _ operation: NavigationOperation, _ drawnState: SeenState, command: String, nav: String
  ) throws(UsageError) -> Guards {
    let need = operation.kind == .popToRoot ? .topScreen : operation.neededGuard
    var guards = try GuardChoice(ParsedCommandLine()).guards(
      need: need, seen: drawnState, obstacle: nil, command: command, nav: nav)
    guards.epoch = drawnState.epoch
    return guards
  }

  mutating func takeAnswer(_ result: Result<OkReply, ErrReply>) -> [Effect] {
    guard let change = pendingChange else { return [] }
    pendingChange = nil
    switch result {
    case .success(let reply):
      report(OperationSummary.line(reply, operations: [change.operation]))
    case .failure(let error):
      report(Self.text(error, change), isAlert: true)
    }
    return []
  }

  private static func text(_ error: ErrReply, _ change: Change) -> String {
    // The remedies of the commands are commands; here a key is nearer.
    switch (error.knownCode, change.command) {
    case (.unknownScreen, "push"):
      return "\(error.code): \(TerminalText.visible(error.message)); "
        + "try: p, then its id and a title, which makes it"
    case (.transitionInProgress, _):
      return "\(error.code): \(TerminalText.visible(error.message)); "
        + "try: press the key again when it has ended"
    case (.desync, _):
      let cause = ErrorText.lines(error, nav: change.nav, seen: change.seen).first ?? error.code
      return "\(cause); try: look, then press the key again"
    default:
      let attempt = RefusedCommand(
        command: change.command, operation: change.operation.kind,
        rights: change.operation.neededRights)
      return oneLine(error, nav: change.nav, attempt, seen: change.seen)
    }
  }
}
