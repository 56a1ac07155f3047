import RuntimePaths

extension ConfigurationKey {
  /// Every key, in the order of the example file.
  package static let all: [ConfigurationKey] = daemonKeys + accessKeys + limitKeys + otherKeys

  private static func number(
    _ section: String, _ name: String, _ path: any WritableKeyPath<Configuration, Int> & Sendable,
    _ unit: Unit, _ range: ClosedRange<Int>, _ documentation: String, change: Change = .atOnce
  ) -> ConfigurationKey {
    ConfigurationKey(
      section: section, name: name, value: .number(path, unit, range), documentation: documentation,
      change: change)
  }

  private static let limitKeys: [ConfigurationKey] = [
    number(
      "limits", "message-to-daemon-bytes", \.limits.messageToDaemonBytes, .bytes, 1024...16_777_216,
      "The longest message a client may send.", change: .atOnceUpToFirst),
    number(
      "limits", "message-from-daemon-bytes", \.limits.messageFromDaemonBytes, .bytes,
      4096...67_108_864, "The longest message the daemon sends."),
    number(
      "limits", "depth", \.limits.depth, .count, 1...65_536, "The most screens on one stack."),
    number(
      "limits", "state-bytes", \.limits.stateBytes, .bytes, 4096...67_108_864,
      "The largest state of one nav."),
    number(
      "limits", "detached-records", \.limits.detachedRecords, .count, 0...65_536,
      "The most records of one nav that are on no stack; the oldest are released first."),
    number(
      "limits", "resume-revisions", \.limits.resumeRevisions, .count, 1...65_536,
      "Revisions of one nav kept in memory for clients that reconnect."),
    number(
      "limits", "resume-bytes", \.limits.resumeBytes, .bytes, 4096...67_108_864,
      "History of one nav kept in memory for clients that reconnect."),
    number(
      "limits", "resume-total-bytes", \.limits.resumeTotalBytes, .bytes, 65_536...17_179_869_184,
      "History of all navs kept in memory."),
    number(
      "limits", "unsent-total-bytes", \.limits.unsentTotalBytes, .bytes,
      1_048_576...17_179_869_184,
      "What all clients together may leave unread; then who left most is cut off."),
    number(
      "limits", "unread-total-bytes", \.limits.unreadTotalBytes, .bytes,
      1_048_576...17_179_869_184,
      "What all clients together may send ahead of the daemon; then who sent most is cut off."),
    number(
      "limits", "ops-per-second", \.limits.operationsPerSecond, .perSecond, 0...1_000_000,
      "Operations one connection may send in a second."),
    number(
      "limits", "watches-per-connection", \.limits.watchesPerConnection, .count, 1...100_000,
      "The most watches of one connection."),
    number(
      "limits", "inflight", \.limits.inflightOperations, .count, 1...4096,
      "Unanswered operations of one connection; at most remembered-ops."),
    number(
      "limits", "connections", \.limits.connections, .count, 1...50_000,
      "The most connections; each takes a file descriptor."),
    number(
      "limits", "connections-per-principal", \.limits.connectionsPerPrincipal, .count, 1...50_000,
      "The most connections of one user or key."),
    number("limits", "navs", \.limits.navs, .count, 1...10_000_000, "The most navs."),
    number(
      "limits", "remembered-ops", \.limits.rememberedOperations, .count, 1...4096,
      "Answers of one client kept so that an operation sent twice is done once."),
    number(
      "limits", "remembered-clients", \.limits.rememberedClients, .count, 1...1_000_000,
      "Clients whose answers are kept."),
    number(
      "limits", "remembered-clients-per-principal", \.limits.rememberedClientsPerPrincipal, .count,
      1...1_000_000, "How many of them may belong to one user or key."),
    number(
      "limits", "remembered-idle-seconds", \.limits.rememberedIdleSeconds, .seconds, 1...86_400,
      "How long the answers of a client that has gone are kept."),
    number(
      "limits", "window-max-bytes", \.limits.maximumWindowBytes, .bytes, 16_384...67_108_864,
      "The largest credit window a client may ask for."),
  ]

  private static let otherKeys: [ConfigurationKey] = [
    number(
      "history", "revisions", \.history.revisions, .count, 1...10_000_000,
      "Revisions of each nav the journal keeps."),
    number(
      "history", "days", \.history.days, .days, 1...36_500, "How long the journal keeps them."),
    number(
      "history", "bytes", \.history.bytes, .bytes, 1_048_576...1_099_511_627_776,
      "How much history the journal keeps of all navs together."),
    number(
      "history", "snapshot-every", \.history.snapshotEvery, .count, 1...1_000_000,
      "Revisions of a nav between two stored states; fewer make the start faster."),
    number(
      "session", "heartbeat", \.session.heartbeatMilliseconds, .milliseconds, 1000...60_000,
      "The heartbeat of a client that asks for none."),
    number(
      "session", "stall-seconds", \.session.stallSeconds, .seconds, 1...3600,
      "How long a client may leave what it was sent unconfirmed before its session ends."),
    ConfigurationKey(
      section: "log", name: "level",
      value: .text(
        choice(LogLevel.allCases.map(\.rawValue), get: \.logLevel.rawValue) { configuration, text in
          if let level = LogLevel(rawValue: text) { configuration.logLevel = level }
        }), documentation: "The least important messages that are written."),
  ]

  /// A value that is one of a few words.
  static func choice(
    _ words: [String], get: any KeyPath<Configuration, String> & Sendable,
    set: @escaping @Sendable (inout Configuration, String) -> Void
  ) -> TextValue {
    TextValue(
      expected: words.joined(separator: ", "),
      store: { configuration, text in
        guard words.contains(text) else { return "" }
        set(&configuration, text)
        return nil
      }, show: { $0[keyPath: get] })
  }
}
