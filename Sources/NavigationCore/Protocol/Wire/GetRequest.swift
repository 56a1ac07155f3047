/// The message `get`, which reads a value once.
package struct GetRequest: Hashable, Sendable {
  /// The kinds of values that a client can read.
  package enum What: UInt8, CaseIterable, WireNamed {
    case state, bar, top, screen, detached, restoration, log, verify, stats, cluster, backup,
      config, reload, trace, diffs, refusals

    package static let words = names
  }

  package var id: UInt64
  /// The name of the nav; nil for values of the whole daemon.
  package var nav: String?
  package var what: What
  /// The revision of the state to read; nil for the newest.
  package var at: Revision?
  /// For `screen`: the id of the screen to read.
  package var screen: String?
  /// For `log` and `diffs`: the first revision to read; nil for the oldest one that navd keeps.
  package var from: Revision?
  /// For `log` and `diffs`: the maximum number of entries.
  package var limit: UInt64
  /// For `trace`: the id or name of the client whose messages the daemon reports.
  package var client: String?
  /// For `trace`: true starts the reports of messages, false ends them.
  package var isTraceOn = true

  package init() { self.init(id: 0, nav: nil) }

  package init(
    id: UInt64, nav: String?, what: What = .state, at: Revision? = nil, screen: String? = nil,
    from: Revision? = nil, limit: UInt64 = 100
  ) {
    self.id = id
    self.nav = nav
    self.what = what
    self.at = at
    self.screen = screen
    self.from = from
    self.limit = limit
  }
}

/// The message `traced`: copies of messages that the daemon received or sent, for `trace`.
package struct TracedMessages: Hashable, Sendable {
  /// The copies in their order; section 12 of the protocol lists the members of each.
  package var list: [OpaqueJSON]
  /// The number of messages since the last `traced` that exceeded the limits and are missing here.
  package var dropped: UInt64
  /// Whether the daemon ended the trace, because the client lost the right to see the messages.
  package var isTraceOver: Bool
}
