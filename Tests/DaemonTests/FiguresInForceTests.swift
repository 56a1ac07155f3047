import Journal
import NavigationCore
import NavigationHub
import Testing
import TransportGuard

@testable import NavigationDaemon

/// Each key of the configuration reaches the part of the daemon that it is about, and no other.
@Suite struct FiguresInForceTests {
  /// The figures of the hub, the router, the retention and the backups, by names.
  private static func figures(_ configuration: Configuration) -> [String: UInt64] {
    let hub = Daemon.hubConfiguration(configuration)
    let (router, retention) = (configuration.router, configuration.retention)
    var figures: [String: UInt64] = [:]
    figures["cluster.lease"] = configuration.cluster.leaseMilliseconds
    figures["hub.request"] = UInt64(hub.maximumRequestBytes)
    figures["hub.reply"] = UInt64(hub.maximumReplyBytes)
    figures["hub.depth"] = UInt64(hub.nav.stackDepth)
    figures["hub.detached"] = UInt64(hub.nav.detachedRecords)
    figures["hub.state"] = UInt64(hub.nav.stateBytes)
    figures["hub.navs"] = UInt64(hub.navs)
    figures["hub.watches"] = UInt64(hub.watchesPerConnection)
    figures["hub.inflight"] = UInt64(hub.inflight)
    figures["hub.ops"] = UInt64(hub.opsPerSecond)
    figures["hub.resume"] = UInt64(hub.resumeRevisions)
    figures["hub.resumeBytes"] = UInt64(hub.resumeBytes)
    figures["hub.resumeTotal"] = UInt64(hub.resumeTotalBytes)
    figures["hub.remembered"] = UInt64(hub.rememberedOps)
    figures["hub.clients"] = UInt64(hub.rememberedClients)
    figures["hub.clientsOfOne"] = UInt64(hub.rememberedClientsPerPrincipal)
    figures["hub.idle"] = hub.rememberedIdle
    figures["hub.navIdle"] = hub.navIdle
    figures["hub.window"] = hub.maximumWindow
    figures["hub.heartbeat"] = hub.defaultHeartbeat
    figures["hub.stall"] = hub.stall
    figures["hub.snapshot"] = hub.snapshotEvery
    figures["router.frame"] = UInt64(configuration.maximumFrameBytes)
    figures["router.unread"] = UInt64(router.unreadBytes)
    figures["router.unsent"] = UInt64(router.unsentBytes)
    figures["router.connections"] = UInt64(router.connections)
    figures["router.ofOne"] = UInt64(router.connectionsPerPrincipal)
    figures["journal.revisions"] = retention.revisions
    figures["journal.age"] = retention.milliseconds
    figures["journal.bytes"] = UInt64(retention.bytes)
    figures["backup.every"] = configuration.backup.intervalMilliseconds
    figures["backup.keep"] = UInt64(configuration.backup.keptCount)
    figures["journal.snapshot"] = retention.revisionsPerSnapshot
    return figures
  }

  /// The figures that each key gives, with the factor from its unit to theirs.
  private static let reach: [String: [String: UInt64]] = [
    "message-to-daemon-bytes": ["hub.request": 1, "router.frame": 1],
    "message-from-daemon-bytes": ["hub.reply": 1],
    "depth": ["hub.depth": 1],
    "state-bytes": ["hub.state": 1],
    "detached-records": ["hub.detached": 1],
    "resume-revisions": ["hub.resume": 1],
    "resume-bytes": ["hub.resumeBytes": 1],
    "resume-total-bytes": ["hub.resumeTotal": 1],
    "unsent-total-bytes": ["router.unsent": 1],
    "unread-total-bytes": ["router.unread": 1],
    "ops-per-second": ["hub.ops": 1],
    "watches-per-connection": ["hub.watches": 1],
    "inflight": ["hub.inflight": 1],
    "connections": ["router.connections": 1],
    "connections-per-principal": ["router.ofOne": 1],
    "navs": ["hub.navs": 1],
    "remembered-ops": ["hub.remembered": 1],
    "remembered-clients": ["hub.clients": 1],
    "remembered-clients-per-principal": ["hub.clientsOfOne": 1],
    "nav-idle-seconds": ["hub.navIdle": 1_000],
    "remembered-idle-seconds": ["hub.idle": 1_000],
    "window-max-bytes": ["hub.window": 1],
    "revisions": ["journal.revisions": 1],
    "days": ["journal.age": 86_400_000],
    "bytes": ["journal.bytes": 1],
    "every": ["backup.every": 1000],
    "keep": ["backup.keep": 1],
    "snapshot-every": ["hub.snapshot": 1, "journal.snapshot": 1],
    "lease": ["cluster.lease": 1],
    "heartbeat": ["hub.heartbeat": 1],
    "stall-seconds": ["hub.stall": 1_000],
  ]

  @Test func `each number reaches what it is about, in its unit, and nothing else`() throws {
    let before = Self.figures(Configuration())
    var reached: Set<String> = []
    for key in ConfigurationKey.all {
      guard let (path, _, range) = key.value.number else { continue }
      let wanted = try #require(Self.reach[key.name], "\(key.name)")
      var configuration = Configuration()
      let value =
        configuration[keyPath: path] == range.lowerBound ? range.lowerBound + 1 : range.lowerBound
      configuration[keyPath: path] = value
      var expected = before
      for (name, factor) in wanted {
        // The hub refuses a message that is a little too long, with an error: libzmq takes it.
        expected[name] = UInt64(value) * factor + (name == "router.frame" ? 4096 : 0)
        reached.insert(name)
      }
      #expect(Self.figures(configuration) == expected, "\(key.name)")
    }
    #expect(reached == Set(before.keys))
  }

  @Test func `classes are declared to the hub with their base`() throws {
    let configuration = try Configuration.parse(
      "[classes]\nMyBar = NavigationBar\nMyTools = Toolbar\nMyBar = Toolbar\n", file: "f")
    let classes = Daemon.hubConfiguration(configuration).isBarByClass
    #expect(classes["MyBar"] == false && classes["MyTools"] == false)
    let other = try Configuration.parse("[classes]\nMyBar = NavigationBar\n", file: "f")
    #expect(Daemon.hubConfiguration(other).isBarByClass["MyBar"] == true)
  }

  @Test func `sessions are limited by connections alone`() {
    let hub = Daemon.hubConfiguration(Configuration())
    #expect(hub.sessions == .max && hub.sessionsPerPrincipal == .max)
    #expect(hub.server == "navd/" + Daemon.version)
  }
}
