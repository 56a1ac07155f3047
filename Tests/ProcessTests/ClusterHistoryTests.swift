import Foundation
import NavigationCore
import PostgresServer
import Testing

/// Rounds in which a server, a setting, rows or a whole database go back, under supervised daemons.
///
/// The judge knows only what clients saw: an epoch has one history, and what was confirmed stays in
/// it. JournalTests/PostgresHistoryTests has the same for one shard, in seconds.
@Suite(
  .serialized,
  .enabled(if: HistoryScene.count > 0, "20 rounds each with NAVD_TEST_LONG=1"),
  .timeLimit(.minutes(30)))
struct ClusterHistoryTests {
  /// With one standby, the primary is told to confirm alone; with two, the first one confirms.
  @Test(arguments: [1, 2])
  func `a standby that lags is promoted while a member is silent`(standbys: Int) throws {
    for round in HistoryScene.rounds {
      let scene = try HistoryScene(standbys: standbys)
      let (primary, standby) = (scene.servers[0], scene.servers[standbys])
      let nav = try scene.nav(of: "a")
      for _ in 0..<5 { try scene.write(nav) }
      standby.kill()
      if standbys == 1 {
        try primary.sql("ALTER SYSTEM RESET synchronous_standby_names")
        try primary.sql("SELECT pg_reload_conf()")
      }
      scene.member("a").child.kill(SIGSTOP)
      for _ in 0..<7 { try scene.write(nav) }
      primary.kill()
      try standby.start()
      try standby.promote()
      if round.isMultiple(of: 2) { try scene.member("b").kill() }
      scene.member("a").child.kill(SIGCONT)
      for _ in 0..<9 { try scene.write(nav) }
      #expect(scene.violations == [], "round \(round)")
    }
  }

  @Test func `a server is told to confirm what it does not keep, and crashes`() throws {
    let scene = try HistoryScene()
    let server = scene.servers[0]
    let navs = try scene.navs(6)
    for round in HistoryScene.rounds {
      let setting = ["synchronous_commit = off", "synchronous_commit = local", "fsync = off"][
        round % 3]
      try server.sql("ALTER SYSTEM SET \(setting)")
      try server.sql("SELECT pg_reload_conf()")
      let isRefused = setting.hasPrefix("fsync")
      for nav in navs {
        for _ in 0..<(isRefused ? 1 : 4) { try scene.write(nav, within: isRefused ? 0.3 : 30) }
      }
      server.kill()
      try server.sql(afterStart: "ALTER SYSTEM RESET ALL")
      for nav in navs { try scene.write(nav) }
      #expect(scene.violations == [], "round \(round), \(setting)")
    }
  }

  @Test func `the newest rows of a shard are missing`() throws {
    let scene = try HistoryScene()
    let nav = try scene.nav(of: "a")
    let shard = Cluster.shard(of: nav)
    for round in HistoryScene.rounds {
      for _ in 0..<5 { try scene.write(nav) }
      for name in ["a", "b"] { #expect(try scene.member(name).stop() == 0) }
      let count = round % 3 + 1
      let rows = "navd.log WHERE shard = \(shard) ORDER BY seq DESC LIMIT \(count)"
      try scene.cluster.sql("CREATE TABLE public.away AS SELECT * FROM \(rows)")
      try scene.cluster.sql(
        "DELETE FROM navd.log USING public.away WHERE log.shard = away.shard AND log.seq = away.seq"
      )
      scene.supervise()
      #expect(
        try eventually {
          ["a", "b"].contains {
            scene.member($0).child.standardError.contains("is damaged: the rows ")
          }
        })
      // What is left of it is not served.
      #expect(try scene.read(nav, within: 1) == nil)
      for name in ["a", "b"] { #expect(try scene.member(name).stop() == 0) }
      try scene.cluster.sql("INSERT INTO navd.log SELECT * FROM public.away")
      try scene.cluster.sql("DROP TABLE public.away")
      try scene.write(nav)
      #expect(scene.violations == [], "round \(round)")
    }
  }

  @Test func `a database goes back under its members`() throws {
    let scene = try HistoryScene()
    let server = scene.servers[0]
    let navs = try scene.navs(6)
    for round in HistoryScene.rounds {
      for nav in navs { for _ in 0..<3 { try scene.write(nav) } }
      let dump = try server.save(scene.cluster.database, isData: round % 4 == 2)
      if round % 4 == 3 { try server.saveDirectory() }
      for nav in navs { for _ in 0..<3 { try scene.write(nav) } }
      switch round % 4 {
      case 0: try server.restore(dump, in: scene.cluster.database)
      case 1:
        // A daemon starts in each part of it.
        try scene.restoreSlowly(dump)
      case 2:
        try server.restore(
          "TRUNCATE navd.member, navd.shard, navd.log, navd.snapshot, navd.fact, navd.takeover, "
            + "navd.version;\n" + dump, in: scene.cluster.database)
      default: try server.putDirectoryBack()
      }
      for nav in navs { for _ in 0..<5 { try scene.write(nav) } }
      #expect(scene.violations == [], "round \(round)")
    }
  }

  @Test func `a copy of the server is served beside it`() throws {
    for round in HistoryScene.rounds {
      let scene = try HistoryScene()
      let navs = try scene.navs(4)
      for nav in navs { for _ in 0..<3 { try scene.write(nav) } }
      try scene.servers[0].saveDirectory()
      for nav in navs { for _ in 0..<3 { try scene.write(nav) } }
      let copy = try PostgresServer(beside: scene.servers[0])
      let environment = scene.cluster.environment("a").merging([
        "NAVD_CLUSTER_DATABASE": copy.conninfo(scene.cluster.database)
      ]) { $1 }
      let other = try HistoryScene.started {
        try TestDaemon(environment: environment, program: "navd-cluster")
      }
      for nav in navs { for _ in 0..<5 { try scene.write(nav, at: [other]) } }
      #expect(scene.violations == [], "round \(round)")
      #expect(try other.stop() == 0)
    }
  }
}
