import Navigation
import NavigationProtocol

extension Hub {
  /// Goes on with another configuration.
  ///
  /// To be called between two batches. Nothing that exists is given up for a limit that is lower
  /// than before: no session, no watch, no nav; it counts for what comes. Only what is kept in
  /// memory for clients that come back is trimmed. The same configuration changes nothing.
  package mutating func reconfigure(_ new: HubConfiguration) {
    precondition(
      batches.isIdle,
      "a hub is reconfigured between two batches, not with \(sealedCount) of them under way")
    let old = configuration
    configuration = new
    remembered.reconfigure(new)
    if new.resumeRevisions < old.resumeRevisions || new.resumeBytes < old.resumeBytes {
      for slot in navs.slots.indices { trim(slot) }
    }
    trimRings()
    // What is due by the new times may be due before the next wake by the old ones.
    if new.stall < old.stall || new.rememberedIdle < old.rememberedIdle {
      timer.plan(timer.now.boot)
    }
  }
}
