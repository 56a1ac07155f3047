import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import TransportGuard

extension ConfigurationKey {
  /// Every key, in the order of the example file.
  static let all: [ConfigurationKey] =
    daemonKeys + clusterKeys + accessKeys + limitKeys + otherKeys

  static func number(
    _ section: String, _ name: String, _ path: NumberPath, _ unit: Unit, _ range: ClosedRange<Int>,
    _ documentation: String, change: Change = .atOnce
  ) -> ConfigurationKey {
    let value = Value(
      expected: unit.expectation(range),
      store: { configuration, text in
        guard let number = unit.parse(text), range.contains(number) else { return "" }
        configuration[keyPath: path] = number
        return nil
      }, show: { unit.text(of: $0[keyPath: path]) }, number: (path, unit, range))
    return text(section, name, value, documentation, change: change)
  }

  static func text(
    _ section: String, _ name: String, _ value: Value, _ documentation: String,
    change: Change = .atOnce
  ) -> ConfigurationKey {
    ConfigurationKey(
      section: section, name: name, value: value, documentation: documentation, change: change)
  }

  private static let limitKeys: [ConfigurationKey] = [
    number(
      "limits", "message-to-daemon-bytes", \.hub.maximumRequestBytes, .bytes, 1024...16_777_216,
      "The longest message that a client can send.", change: .atOnceUpToStartValue),
    number(
      "limits", "message-from-daemon-bytes", \.hub.maximumReplyBytes, .bytes, 4096...67_108_864,
      "The longest message that the daemon sends."),
    number(
      "limits", "depth", \.hub.nav.stackDepth, .count, 1...65_536,
      "The maximum number of screens on one stack."),
    number(
      "limits", "state-bytes", \.hub.nav.stateBytes, .bytes, 4096...67_108_864,
      "The largest state of one nav."),
    number(
      "limits", "detached-records", \.hub.nav.detachedRecords, .count, 0...65_536,
      "The maximum number of records of one nav that are on no stack; navd releases the oldest."),
    number(
      "limits", "resume-revisions", \.hub.resumeRevisions, .count, 1...65_536,
      "The revisions of one nav that navd keeps in memory for clients that reconnect."),
    number(
      "limits", "resume-bytes", \.hub.resumeBytes, .bytes, 4096...67_108_864,
      "The history of one nav that navd keeps in memory for clients that reconnect."),
    number(
      "limits", "resume-total-bytes", \.hub.resumeTotalBytes, .bytes, 65_536...17_179_869_184,
      "The history of all navs that navd keeps in memory."),
    number(
      "limits", "unsent-total-bytes", \.router.unsentBytes, .bytes, 1_048_576...17_179_869_184,
      "The bytes that all clients can leave unread; above it, navd disconnects the worst client."),
    number(
      "limits", "unread-total-bytes", \.router.unreadBytes, .bytes, 1_048_576...17_179_869_184,
      "The bytes that all clients can send ahead; above it, navd disconnects the worst client."),
    number(
      "limits", "ops-per-second", \.hub.opsPerSecond, .perSecond, 0...1_000_000,
      "The operations that one connection can send in a second."),
    number(
      "limits", "watches-per-connection", \.hub.watchesPerConnection, .count, 1...100_000,
      "The maximum number of watches of one connection."),
    number(
      "limits", "inflight", \.hub.inflight, .count, 1...4096,
      "The unanswered operations of one connection; at most remembered-ops."),
    number(
      "limits", "connections", \.router.connections, .count, 1...50_000,
      "The maximum number of connections over ipc, and of those over networks; each takes a file "
        + "descriptor."),
    number(
      "limits", "connections-per-principal", \.router.connectionsPerPrincipal, .count, 1...50_000,
      "The maximum number of connections of one user or key."),
    number("limits", "navs", \.hub.navs, .count, 1...10_000_000, "The maximum number of navs."),
    number(
      "limits", "nav-idle-seconds", \.hub.navIdle[.seconds], .seconds, 1...86_400,
      "How long navd keeps a nav in memory that no client uses or watches, or up to twice as long; "
        + "navd loads it again when a client uses it."),
    number(
      "limits", "remembered-ops", \.hub.rememberedOps, .count, 1...4096,
      "The answers that navd keeps for one client, so that it performs a repeated operation once."),
    number(
      "limits", "remembered-clients", \.hub.rememberedClients, .count, 1...1_000_000,
      "The maximum number of clients whose answers navd keeps."),
    number(
      "limits", "remembered-clients-per-principal", \.hub.rememberedClientsPerPrincipal, .count,
      1...1_000_000, "The maximum number of these clients that belong to one user or key."),
    number(
      "limits", "remembered-idle-seconds", \.hub.rememberedIdle[.seconds], .seconds, 1...86_400,
      "How long navd keeps the answers of a client that has disconnected."),
    number(
      "limits", "window-max-bytes", \.hub.maximumWindow[.bytes], .bytes, 16_384...67_108_864,
      "The largest credit window that a client can ask for."),
  ]

  private static let otherKeys: [ConfigurationKey] = [
    number(
      "history", "revisions", \.retention.revisions[.count], .count, 1...10_000_000,
      "The revisions of each nav that the journal keeps."),
    number(
      "history", "days", \.retention.milliseconds[.days], .days, 1...36_500,
      "How long the journal keeps these revisions. Only time while navd runs counts, whatever the "
        + "date is: a wrong clock deletes nothing."),
    number(
      "history", "bytes", \.retention.bytes, .bytes, 1_048_576...1_099_511_627_776,
      "The history of all navs together that the journal keeps."),
    number(
      "history", "snapshot-every", \.retention.revisionsPerSnapshot[.count], .count, 1...1_000_000,
      "The revisions of a nav between two stored states; with fewer, navd loads a nav faster when "
        + "a client first uses it after a start."),
    text(
      "backup", "directory",
      .path(\.backup.directory, "an absolute path, or empty for backups in the state directory"),
      "The directory of the copies of the journal that navd makes by itself, for one daemon only. "
        + "The user of the daemon must be able to write it."),
    number(
      "backup", "every", \.backup.intervalMilliseconds[.seconds], .seconds, 0...31_536_000,
      "How often navd copies its journal into this directory by itself; 0 for never."),
    number(
      "backup", "keep", \.backup.keptCount, .count, 1...10_000,
      "The copies that navd keeps in this directory. After each complete copy, it removes the oldest "
        + "of those that it made by itself."),
    number(
      "session", "heartbeat", \.hub.defaultHeartbeat[.milliseconds], .milliseconds, 1000...60_000,
      "The heartbeat interval of a client that asks for none."),
    number(
      "session", "stall-seconds", \.hub.stall[.seconds], .seconds, 1...3600,
      "How long a client can leave a whole window of messages unconfirmed and stay silent before "
        + "navd ends its session."),
    text(
      "log", "level", choice(\.logLevel), "The least important messages that navd logs."),
  ]

  /// A value that must be one of a list of words.
  static func choice<Word: RawRepresentable<String> & CaseIterable & Sendable>(
    _ path: any WritableKeyPath<Configuration, Word> & Sendable
  ) -> Value {
    Value(
      expected: Word.allCases.map(\.rawValue).joined(separator: ", "),
      store: { configuration, text in
        guard let word = Word(rawValue: text) else { return "" }
        configuration[keyPath: path] = word
        return nil
      }, show: { $0[keyPath: path].rawValue })
  }
}

extension ConfigurationKey.Value {
  /// An optional text: `isValid` checks it, and the empty text stands for nil.
  static func optional(
    _ path: any WritableKeyPath<Configuration, String?> & Sendable, _ expected: String,
    valueIfEmpty: (@Sendable (PathRules) -> String?)? = nil,
    isValid: @escaping @Sendable (String) -> Bool
  ) -> Self {
    Self(
      expected: expected,
      store: { configuration, text in
        guard text.isEmpty || isValid(text) else { return "" }
        configuration[keyPath: path] = text.isEmpty ? nil : text
        return nil
      }, show: { $0[keyPath: path] ?? "" }, valueIfEmpty: valueIfEmpty)
  }

  /// An optional absolute path.
  static func path(
    _ path: any WritableKeyPath<Configuration, String?> & Sendable, _ expected: String,
    valueIfEmpty: (@Sendable (PathRules) -> String?)? = nil
  ) -> Self {
    optional(path, expected, valueIfEmpty: valueIfEmpty) { $0.hasPrefix("/") }
  }
}
