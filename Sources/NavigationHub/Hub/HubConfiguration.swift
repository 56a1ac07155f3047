package import NavigationCore

/// The limits of the hub, which include those of the protocol, and the name of the daemon.
package struct HubConfiguration: Hashable, Sendable {
  package var nav = NavigationLimits()
  /// The largest body taken from a client, in octets.
  package var maximumRequestBytes = 65536
  /// The largest body sent to a client, in octets.
  package var maximumReplyBytes = 262_144
  /// The most navs at a time.
  package var navs = 100_000
  /// The most sessions at a time.
  package var sessions = 4096
  package var sessionsPerPrincipal = 256
  package var watchesPerConnection = 1024
  /// The most unanswered ops of one connection.
  package var inflight = 64
  /// Ops a second of one connection; 0 for no limit.
  package var opsPerSecond = 0
  /// The most revisions of one nav kept for resuming.
  package var resumeRevisions = 256
  /// The most bytes of diffs of one nav kept for resuming.
  package var resumeBytes = 262_144
  /// The most bytes of diffs kept for resuming, in all.
  package var resumeTotalBytes = 16 << 20
  /// The most decided ops remembered for one client.
  package var rememberedOps = 64
  /// The most clients whose ops are remembered.
  package var rememberedClients = 4096
  /// The most clients of one principal whose ops are remembered.
  package var rememberedClientsPerPrincipal = 1024
  /// Milliseconds after which the ops of an idle client are forgotten.
  package var rememberedIdle: UInt64 = 600_000
  /// Milliseconds, or up to twice as many, after which a nav that nobody uses leaves memory.
  package var navIdle: UInt64 = 600_000
  /// The largest flow-control window, in octets.
  package var maximumWindow: UInt64 = 1 << 20
  /// The heartbeat of a client that asks for none, in milliseconds.
  package var defaultHeartbeat: UInt64 = 5000
  /// Milliseconds without a message until the session of a client without credit ends.
  package var stall: UInt64 = 30_000
  /// The number of revisions of one nav between two snapshots in the journal.
  package var snapshotEvery: UInt64 = 1000
  /// Whether a declared class is one of navigation bars; false for a class of toolbars.
  package var isBarByClass: [Text: Bool] = [:]
  /// The id of the boot of this machine, with which the `clock` of an op must agree; nil accepts every
  /// `due`.
  package var bootID: String?
  /// The name and version of the daemon, for `welcome` and the statistics.
  package var server = "navd/0.1.0"

  package init() {}

  /// The part of the configuration that the rules of navigation use.
  var context: NavigationContext {
    NavigationContext(
      limits: nav, isBarByClass: isBarByClass, routeTemplates: RouteReader.checkedTemplates,
      areEqual: OpaqueJSON.areEqual)
  }
}

/// How the hub finds broken invariants; a state that breaks one never becomes a revision.
package struct Inspections: Sendable {
  /// Names the invariants that a commit broke; `inout` only to avoid a copy of the state.
  package typealias CommitInspection = @Sendable (inout NavigationController, Commit) -> [String]

  /// Names the broken invariants of a whole state.
  package var stateInspection: @Sendable (NavigationController) -> [String] = {
    $0.violatedInvariants()
  }
  /// Names the invariants that the commit of an op broke; nil, as in debug builds, inspects the
  /// whole state instead.
  package var commitInspection = Self.commitInspectionOfThisBuild

  package init() {}

  private static var commitInspectionOfThisBuild: CommitInspection? {
    #if DEBUG
      nil
    #else
      { $0.violatedInvariants(touchedBy: $1) }
    #endif
  }
}

extension Hub {
  /// Installs another configuration; to be called between two batches.
  ///
  /// A lower limit applies to new sessions, watches and navs only; existing ones stay. Memory for
  /// clients that come back, in rings and remembered ops, is trimmed at once.
  package mutating func reconfigure(_ new: HubConfiguration) {
    precondition(
      batches.isIdle,
      "a hub is reconfigured between two batches, not with \(sealedCount) of them under way")
    let old = configuration
    configuration = new
    context = new.context
    remembered.reconfigure(new)
    if new.resumeRevisions < old.resumeRevisions || new.resumeBytes < old.resumeBytes {
      for slot in navs.indices { trimRing(of: slot) }
    }
    trimRings()
    // By shorter times, something can be due before the wake that was planned by the longer ones.
    if new.navIdle < old.navIdle { sweep.hasten(to: timer.now.boot + new.navIdle) }
    if new.stall < old.stall || new.rememberedIdle < old.rememberedIdle
      || new.navIdle < old.navIdle
    {
      timer.plan(timer.now.boot)
    }
  }
}
