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
  /// The id of the screen to read, for `screen`.
  package var screen: String?
  /// The revision from which to read on, for `log` and `diffs`; nil for the oldest one kept.
  package var from: Revision?
  /// The maximum number of entries, for `log` and `diffs`.
  package var limit: UInt64
  /// For `trace`: the id of the client to report on, or the name that the client gave itself.
  package var client: String?
  /// Whether the reports begin, for `trace`; false ends them.
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

/// The message `traced`: messages that the daemon received from clients or sent to them.
package struct TracedMessages: Hashable, Sendable {
  /// The messages in their order; each is an object with the members of protocol §12.
  package var list: [OpaqueJSON]
  /// How many messages since the last `traced` are missing, because they exceeded the limits.
  package var dropped: UInt64
  /// Whether the trace is over, because the client may not see the messages any more.
  package var isTraceOver: Bool
}
