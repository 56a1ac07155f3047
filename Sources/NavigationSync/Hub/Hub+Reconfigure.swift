import Navigation

extension Hub {
  /// Goes on with another configuration.
  ///
  /// To be called between two batches. Nothing that exists is given up for a limit that is lower
  /// than before: no session, no watch, no nav; it counts for what comes. Only what is kept in
  /// memory for clients that come back is trimmed. The same configuration changes nothing.
  package mutating func reconfigure(_ new: HubConfiguration) {
    precondition(
      sealed.isEmpty && batch.records.isEmpty && batch.effects.isEmpty,
      "a hub is reconfigured between two batches, not with \(sealed.count) of them under way")
    let old = configuration
    configuration = new
    context = new.context
    remembered.reconfigure(new)
    if new.resumeRevisions < old.resumeRevisions || new.resumeBytes < old.resumeBytes {
      for slot in navs.indices { trim(slot) }
    }
    trimRings()
    // What is due by the new times may be due before the next wake by the old ones.
    if new.stall < old.stall || new.rememberedIdle < old.rememberedIdle { plan(clock.boot) }
  }
}

extension HubConfiguration {
  /// What bounds the navs.
  var context: NavigationContext {
    NavigationContext(limits: nav, classes: classes, routeTemplates: RouteReader.checked)
  }
}
