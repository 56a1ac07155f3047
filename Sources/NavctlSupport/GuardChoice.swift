import Navigation
package import NavigationSync
package import CommandLineOptions

/// Decides what a command's operations are guarded by.
///
/// What is removed by position is guarded by what the user last saw; it is never looked up in
/// order to guard, for that would guard nothing.
package struct GuardChoice: Hashable, Sendable {
  /// The conditions that were typed.
  package var typed: Guards
  /// Whether any were typed.
  package var isTyped: Bool { typed != Guards() }

  /// Reads `--top`, `--rev`, `--epoch`, `--digest`, `--depth`, `--stack`, `--has` and `--any`.
  package init(_ line: ParsedCommandLine) throws(UsageError) {
    typed = Guards()
    typed.any = line.contains("any")
    // An empty text stands for an empty stack.
    if let top = line.value(of: "top") { typed.top = .some(top.isEmpty ? nil : top) }
    if let text = line.value(of: "rev") {
      typed.revision = Revision(try Quantities.integer(text, option: "rev"))
    }
    if let text = line.value(of: "epoch") {
      typed.epoch = try Quantities.epoch(text, option: "epoch")
    }
    if let text = line.value(of: "digest") {
      guard let digest = Digest(text) else {
        throw UsageError("--digest takes 8 hex digits, as show prints them, not '\(text)'")
      }
      typed.digest = digest
    }
    if let text = line.value(of: "depth") {
      typed.depth = try Quantities.integer(text, option: "depth")
    }
    // An empty text stands for an empty stack here too.
    if let text = line.value(of: "stack") {
      typed.stack = text.split(separator: ",", omittingEmptySubsequences: true).map(String.init)
    }
    let has = line.values(of: "has")
    if !has.isEmpty { typed.has = has }
  }

  /// The strictest guard that any of the operations needs; none where the nav is made first.
  package static func need(_ operations: [OperationText]) -> OperationKind.NeededGuard {
    guard operations.first?.kind != .navCreate else { return .none }
    let needs = operations.map(\.neededGuard)
    if needs.contains(.wholeStack) { return .wholeStack }
    return needs.contains(.position) ? .position : .none
  }

  /// The guards to send.
  ///
  /// - Parameters:
  ///   - need: what the operations need.
  ///   - seen: what the user last saw of the nav.
  ///   - command: the command as it was typed, for the remedy.
  ///   - nav: the nav, for the remedy.
  /// - Returns: what was typed, else what the user saw; nothing where nothing is needed.
  /// - Throws: what to type, if nothing says what the user believes to be there.
  package func guards(
    need: OperationKind.NeededGuard, seen: Seen?, command: String, nav: String
  ) throws(UsageError) -> Guards {
    if typed.any { return typed }
    let namesState = typed.revision != nil || typed.digest != nil || typed.stack != nil
    switch need {
    case .none: return typed
    case .position:
      if typed.top != nil || namesState { return typed }
    case .wholeStack:
      if namesState { return typed }
      if typed.top != nil {
        throw UsageError(
          "\(command) concerns the whole stack; its top alone does not guard it",
          remedy: "navctl \(command) \(nav) --rev N, or --any")
      }
    }
    guard let seen else { throw Self.unseen(need, command: command, nav: nav) }
    var guards = typed
    guards.epoch = guards.epoch ?? seen.epoch
    if need == .position {
      guards.top = .some(seen.top)
    } else {
      guards.revision = seen.revision
    }
    return guards
  }

  private static func unseen(
    _ need: OperationKind.NeededGuard, command: String, nav: String
  ) -> UsageError {
    let option = need == .position ? "--top ID" : "--rev N"
    return UsageError(
      "\(command) removes what you have not looked at in this terminal",
      remedy: "navctl show \(nav), then again; or say it: \(option), or --any for whatever is there"
    )
  }
}
