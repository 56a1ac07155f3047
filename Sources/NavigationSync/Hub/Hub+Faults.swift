import Navigation

// Faults of the daemon itself: what would break an invariant is thrown away, and the nav is only
// read until somebody has looked.

extension Hub {
  /// The state to go back to if what an op makes of it is found wrong; nil if nobody looks.
  mutating func stateToInspect(_ slot: Int) -> NavigationController? {
    configuration.inspection == nil ? nil : navs[slot].controller
  }

  /// Looks at a state that is not a revision yet; a wrong one is discarded and the nav frozen.
  mutating func inspect(_ slot: Int, before: NavigationController?) throws(OpFailure) {
    guard let before, let inspection = configuration.inspection else { return }
    let violated = inspection(navs[slot].controller)
    guard !violated.isEmpty else { return }
    navs[slot].controller = before
    freeze(slot, violated)
    throw internalFault(navs[slot].name, violated)
  }

  func internalFault(_ nav: String, _ violated: [String]) -> OpFailure {
    var error = OutgoingError(
      .internal,
      "a fault of the daemon: \(nav) would violate \(violated.joined(separator: ", ")); nothing was "
        + "changed")
    error.effect = .nothing
    return OpFailure(error)
  }

  /// From now on the nav is only read; what waits for it is told so.
  mutating func freeze(_ slot: Int, _ violated: [String]) {
    guard navs[slot].fault == nil else { return }
    let fault = violated.joined(separator: ", ")
    navs[slot].fault = fault
    var notice = Notice(.faulty, .warning, "\(navs[slot].name) is frozen: \(fault)")
    notice.nav = navs[slot].name
    notice.revision = navs[slot].revision.number
    output.notices.append(notice)
    guard let coordination = coordinations[slot] else { return }
    updateCoordination(slot) {
      $0.question = nil
      $0.queue = []
    }
    if let question = coordination.question {
      endQuestion(question.asked, "denied", by: nil)
      fail(question.op, frozen(slot, fault))
    }
    for op in coordination.queue { fail(op, frozen(slot, fault)) }
  }

  /// Step 7: nothing but closing is done to a frozen nav.
  mutating func checkFrozen(_ slot: Int) throws(OpFailure) {
    guard let fault = navs[slot].fault else { return }
    throw frozen(slot, fault)
  }

  private func frozen(_ slot: Int, _ fault: String) -> OpFailure {
    var error = OutgoingError(
      .frozen,
      "\(navs[slot].name) is only read since a fault of the daemon (\(fault)): close it, or restart "
        + "the daemon, which verifies it")
    error.after = 5000
    return OpFailure(error)
  }
}
