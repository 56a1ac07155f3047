import Navigation
import NavigationProtocol

// Guards, compared with the nav that they are about.

extension NavEntry {
  /// Throws `desync` for the first guard that fails, in the order of protocol.md §9.2; its `since`
  /// names the last change of the top.
  ///
  /// It is mutating only to avoid a copy of the entry.
  mutating func check(_ guards: borrowing Guards) throws(Hub.OpFailure) {
    do throws(Hub.OpFailure) {
      try compare(guards)
    } catch {
      guard let topChange else { throw error }
      var failure = error
      failure.error.details = [("since", JSONWriter.value { $0.topChange(topChange) })]
      throw failure
    }
  }

  private mutating func compare(_ guards: borrowing Guards) throws(Hub.OpFailure) {
    let stack = controller.stack
    if let epoch = guards.epoch, epoch != self.epoch {
      throw desync("epoch", "epoch is \(self.epoch.text)", JSONWriter.value { $0.hex(epoch.bits) })
    }
    if let revision = guards.revision, revision != controller.revision {
      var failure = desync(
        "rev", "rev is \(controller.revision.number), not \(revision.number)",
        JSONWriter.value { $0.integer(revision.number) })
      failure.error.isFuture = revision > controller.revision
      throw failure
    }
    if let digest = guards.digest, digest != self.digest {
      throw desync(
        "digest", "dig is \(self.digest.text)", JSONWriter.value { $0.hex(digest.bits) })
    }
    if let top = guards.top, top != stack.last?.id.text {
      let actual = stack.last?.id.text ?? "no screen"
      throw desync(
        "top", "top is \(actual), not \(top ?? "no screen")",
        JSONWriter.value { if let top { $0.string(top) } else { $0.null() } })
    }
    if let depth = guards.depth, depth != UInt64(stack.count) {
      throw desync(
        "depth", "depth is \(stack.count), not \(depth)", JSONWriter.value { $0.integer(depth) })
    }
    if let ids = guards.stack, ids != stack.map(\.id.text) {
      throw desync(
        "stack", "the stack is [\(stack.map(\.id.text).joined(separator: ", "))]",
        JSONWriter.value { json in
          json.beginArray()
          for id in ids { json.string(id) }
          json.endArray()
        })
    }
    for id in guards.has ?? [] where !stack.contains(where: { $0.id.text == id }) {
      throw desync("has", "\(id) is not on the stack", JSONWriter.value { $0.string(id) })
    }
  }

  private func desync(_ reason: String, _ text: String, _ expected: [UInt8]) -> Hub.OpFailure {
    var error = OutgoingError(.desync, text)
    error.reason = reason
    error.expected = expected
    return Hub.OpFailure(error)
  }
}

extension OpContext {
  /// Refuses operations that have not the guard that a nav's settings ask for.
  func checkGuards(under policy: GuardPolicy) throws(Hub.OpFailure) {
    guard policy != .none else { return }
    let hasTop = request.guards.top != nil
    for index in request.operations.indices {
      let kind = request.operations[index].kind
      let isGuarded =
        switch kind.neededGuard {
        case .wholeStack: false
        case .position: hasTop
        case .none: policy != .all || hasTop
        }
      guard !isGuarded else { continue }
      let names = kind.neededGuard == .wholeStack ? "rev, dig or stack" : "top, rev, dig or stack"
      var error = OutgoingError(
        .guardRequired,
        "\(kind.name) removes what is there: say in \"if\" what you saw, by \(names), "
          + "or {\"any\":true}")
      error.index = index
      throw Hub.OpFailure(error)
    }
  }
}
