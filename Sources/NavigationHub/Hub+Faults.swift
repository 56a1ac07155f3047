import Navigation
import NavigationProtocol

// Faults of the daemon itself: what would break an invariant is thrown away, and the nav is only
// read until somebody has looked.

extension Hub {
  /// The state to go back to if what an op makes of it is found wrong; nil if nobody looks.
  mutating func stateToInspect(_ slot: Int) -> NavigationController? {
    configuration.inspection == nil ? nil : navs.slots[slot].controller
  }

  /// Looks at a state that is not a revision yet; a wrong one is discarded and the nav frozen.
  mutating func inspect(_ slot: Int, before: NavigationController?) throws(OpFailure) {
    guard let before, let inspection = configuration.inspection else { return }
    let violated = inspection(navs.slots[slot].controller)
    guard !violated.isEmpty else { return }
    navs.slots[slot].controller = before
    freeze(slot, violated)
    throw OpFailure(.fault(navs.slots[slot].name, violated))
  }

  /// From now on the nav is only read; what waits for it is told so.
  mutating func freeze(_ slot: Int, _ violated: [String]) {
    guard navs.slots[slot].fault == nil else { return }
    let fault = violated.joined(separator: ", ")
    navs.slots[slot].fault = fault
    var notice = Notice(.faulty, .warning, "\(navs.slots[slot].name) is frozen: \(fault)")
    notice.nav = navs.slots[slot].name
    notice.revision = navs.slots[slot].revision.number
    output.notices.append(notice)
    guard let coordination = coordinations[slot] else { return }
    coordinations.update(slot) {
      $0.question = nil
      $0.queue = []
    }
    let failure = OpFailure(.frozen(navs.slots[slot].name, fault))
    if let question = coordination.question {
      endQuestion(question.asked, "denied", by: nil)
      fail(question.op, failure)
    }
    for op in coordination.queue { fail(op, failure) }
  }

  /// Nothing but closing is done to a frozen nav.
  mutating func checkFrozen(_ slot: Int?) throws(OpFailure) {
    guard let slot, let fault = navs.slots[slot].fault else { return }
    throw OpFailure(.frozen(navs.slots[slot].name, fault))
  }
}
