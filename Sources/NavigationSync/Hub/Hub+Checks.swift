import Navigation

// Steps 6 to 9: rights, form and guards of the whole message, before any op runs.

extension Hub {
  func checkStop() throws(OpFailure) {
    guard isStopping else { return }
    var error = OutgoingError(.shuttingDown, "the daemon is stopping")
    error.after = 500
    throw OpFailure(error)
  }

  /// Step 6, of all operations before any runs; a slot is given if the nav exists.
  func checkRights(_ op: OpContext, _ slot: Int?) throws(OpFailure) {
    var needed: Rights = []
    for index in op.request.operations.indices {
      let kind = op.request.operations[index].kind
      needed.formUnion(kind.rights)
      if kind == .buttonActivate { needed.formUnion(rightsToActivate(op, index, slot)) }
    }
    let nav = op.request.nav
    let owner = slot.map { navs[$0].owner }
    if nav == NavName.navs.text || nav == NavName.clients.text { needed = .read }
    var rights = access.rights(of: op.sender.peer, on: nav, owner: owner)
    // Who creates a nav owns it, in the same message already.
    if op.isCreation, owner == nil, rights.contains(.push) { rights = .all }
    guard rights.isSuperset(of: needed) else {
      throw OpFailure(.forbidden, "\(op.sender.peer.principal) may not do this on \(nav)")
    }
  }

  /// A button that goes back takes what going back takes; what the operations before it make of it
  /// is not known yet.
  private func rightsToActivate(_ op: OpContext, _ index: Int, _ slot: Int?) -> Rights {
    // Nothing is activated where there is nothing.
    guard let slot else { return .push }
    guard index == 0 else { return [.push, .pop] }
    let operation = op.request.operations[index]
    guard case .activateButton(let id)? = op.request.meaning(of: operation),
      navs[slot].controller.isPopButton(id)
    else { return .push }
    return .pop
  }

  static func outgoing(_ failure: ReadFailure, _ index: Int) -> OutgoingError {
    var error = OutgoingError(failure.code, failure.text)
    error.reason = failure.reason
    error.index = index
    return error
  }

  mutating func checkGuardPolicy(_ op: OpContext, _ slot: Int) throws(OpFailure) {
    if op.request.guards.any { return }
    let hasStackGuard = op.request.guards.fixesStack
    // Enough for every operation under every policy.
    if hasStackGuard { return }
    let policy = navs[slot].controller.guardPolicy
    guard policy != .none else { return }
    let hasTop = op.request.guards.top != nil
    for index in op.request.operations.indices {
      let kind = op.request.operations[index].kind
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
      throw OpFailure(error)
    }
  }

  /// Step 9: the first guard that fails, in the order of the table, and since when the top is what
  /// it is.
  mutating func checkGuards(_ guards: borrowing Guards, _ slot: Int) throws(OpFailure) {
    do throws(OpFailure) {
      try compare(guards, slot)
    } catch {
      guard let change = navs[slot].topChange else { throw error }
      var failure = error
      failure.error.details = [("since", JSONWriter.value { $0.topChange(change) })]
      throw failure
    }
  }

  private mutating func compare(_ guards: borrowing Guards, _ slot: Int) throws(OpFailure) {
    let stack = navs[slot].controller.stack
    let actualEpoch = navs[slot].epoch
    let actualRevision = navs[slot].controller.revision
    if let epoch = guards.epoch, epoch != actualEpoch {
      throw desync("epoch", "epoch is \(actualEpoch.text)", JSONWriter.value { $0.hex(epoch.bits) })
    }
    if let revision = guards.revision, revision != actualRevision {
      var failure = desync(
        "rev", "rev is \(actualRevision.number), not \(revision.number)",
        JSONWriter.value { $0.integer(revision.number) })
      failure.error.isFuture = revision > actualRevision
      throw failure
    }
    if let digest = guards.digest, digest != navs[slot].digest {
      throw desync(
        "digest", "dig is \(navs[slot].digest.text)", JSONWriter.value { $0.hex(digest.bits) })
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

  private func desync(_ reason: String, _ text: String, _ expected: [UInt8]) -> OpFailure {
    var error = OutgoingError(.desync, text)
    error.reason = reason
    error.expected = expected
    return OpFailure(error)
  }
}
