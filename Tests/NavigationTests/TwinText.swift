import NavigationCore
import NavigationHub

// Both worlds as text, to compare and to read when they differ.

extension Twin.Answer {
  /// What the model can say of a message: nothing of transitions.
  init(_ performance: OperationResult) {
    self.init(
      outputs: Array(performance.outputs), isChanged: performance.commit != nil,
      events: (performance.commit?.events ?? []).filter { !$0.isOfTransition },
      relation: performance.commit?.topRelation)
  }
}

func describe(_ result: Result<Twin.Answer, Refusal>) -> String {
  switch result {
  case .success(let answer):
    return "\(answer.isChanged) \(answer.outputs) \(answer.events) "
      + "\(answer.relation.map { "\($0)" } ?? "-")"
  case .failure(let refusal):
    if case .invalidArgument = refusal.error { return "\(refusal.operationIndex) invalid-argument" }
    return "\(refusal.operationIndex) \(refusal.error)"
  }
}

func describe(_ controller: NavigationController) -> String {
  func text(_ buttons: [Button]) -> String {
    buttons.map {
      text($0.id, $0.content.title ?? "", $0.content.action)
    }.joined(separator: ",")
  }
  func text(_ id: ButtonID, _ title: String, _ action: String?) -> String {
    describe(id, title, action)
  }
  func text(_ screen: Screen) -> String {
    describe(
      screen.id, screen.version.number, screen.title, text(screen.item.leftItems),
      text(screen.item.rightItems), text(screen.details.toolbarItems),
      text(screen.item.backBarButtonItem.map { [$0] } ?? []))
  }
  let detached = controller.detached.all.map { record in
    switch record {
    case .screen(let screen): text(screen)
    case .button(let button): text([button])
    }
  }
  return describe(
    controller.revision.number, controller.settings.version.number, controller.isAttached,
    controller.settings.content.waitingOpLimit, controller.stack.map(text),
    controller.presented.version.number,
    controller.presented.content.chain.map {
      "\(text($0.screen))<\($0.from?.text ?? "")"
    }, detached)
}

func describe(_ twin: Twin) -> String {
  func text(_ ids: [ButtonID]) -> String {
    ids.map { describe($0, twin.faces[$0]?.title ?? "?", twin.faces[$0]?.action) }
      .joined(separator: ",")
  }
  func text(_ record: Twin.Record) -> String {
    describe(
      record.id, record.version, record.title, text(record.left), text(record.right),
      text(record.tool), text(record.back.map { [$0] } ?? []))
  }
  let detached = twin.detached.map { entry in
    switch entry {
    case .screen(let record): text(record)
    case .button(let id): text([id])
    }
  }
  return describe(
    twin.revision, twin.settingsVersion, twin.isAttached, twin.queue, twin.stack.map(text),
    twin.presentedVersion, twin.chain.map { "\(text($0.record))<\($0.from?.text ?? "")" }, detached
  )
}

private func describe(_ id: ButtonID, _ title: String, _ action: String?) -> String {
  "\(id.text)=\(title)\(action == nil ? "" : "!")"
}

private func describe(
  _ id: ScreenID, _ version: UInt64, _ title: String?, _ left: String, _ right: String,
  _ tool: String, _ back: String
) -> String {
  "\(id.text)@\(version)\(title.map { "'\($0)'" } ?? "")(\(left)|\(right)|\(tool)|\(back))"
}

private func describe(
  _ revision: UInt64, _ settingsVersion: UInt64, _ isAttached: Bool, _ queue: UInt64,
  _ stack: [String], _ presentedVersion: UInt64, _ chain: [String], _ detached: [String]
) -> String {
  "r\(revision) settings@\(settingsVersion) \(isAttached) \(queue) "
    + "[\(stack.joined(separator: " "))] "
    + "chain@\(presentedVersion) [\(chain.joined(separator: " "))] detached [\(detached.joined(separator: " "))]"
}
