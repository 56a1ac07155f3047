import Foundation
import Testing

@testable import NavigationCore
@testable import NavigationHub

@Suite struct MeasurementsTests {
  static let push = #"{"push":{"screen":{"id":"wifi"}}}"#

  private func stats(_ client: Client) throws -> [String: Any] {
    let answer = try client.get("stats", nav: nil)
    return try #require(answer.json["value"] as? [String: Any], "\(answer.text)")
  }

  private func operations(_ client: Client) throws -> [String: Int] {
    try #require(try stats(client)["operations"] as? [String: Int])
  }

  @Test func `each op is counted once, by what became of it`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.must(Self.push)
    let body = client.opBody(#"{"title":{"text":"T","screen":"wifi"}}"#)
    _ = try client.ask("op", body)
    let again = try client.ask("op", body)
    let refusal = try client.op(#"{"popTo":{"screen":"absent"}}"#, Stage.any)
    let code = try #require(refusal.code)
    #expect(try client.op(Self.push, nav: "none").code == "no-nav")
    let counted = try operations(client)
    #expect(counted["repeated"] == 1, "\(again.text)")
    #expect(counted[code] == 1)
    #expect(counted["no-nav"] == 1)
    #expect(counted.values.reduce(0, +) == 6, "\(counted)")
  }

  @Test func `an op that changes nothing is unchanged, and one that cannot be read is an op`()
    throws
  {
    let world = World()
    let client = try world.kiosk()
    try client.must(#"{"screen.set":{"screen":"home","title":"T"}}"#)
    try client.must(#"{"screen.set":{"screen":"home","title":"T"}}"#)
    #expect(try client.ask("op", #"{"id":7"#).code == "bad-json")
    let counted = try operations(client)
    #expect(counted["ok"] == 2)
    #expect(counted["unchanged"] == 1)
    #expect(counted["bad-json"] == 1)
    #expect(try stats(client)["refusals"] as? [String: Int] == [:])
  }

  @Test func `a refusal of another message is no op`() throws {
    let world = World()
    let client = try world.kiosk()
    #expect(try client.get("state", nav: "none").code == "no-nav")
    #expect(try stats(client)["refusals"] as? [String: Int] == ["no-nav": 1])
    #expect(try operations(client) == ["ok": 1])
  }

  @Test func `what a failed commit takes back is counted as it was answered`() throws {
    let world = World()
    let client = try world.kiosk()
    let received = world.hub.measurements[.received]
    world.journal.isFailing = true
    _ = try world.overlap(
      [client.message("op", client.opBody(Self.push))],
      [client.message("op", client.opBody(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "other"))])
    #expect(try operations(client) == ["ok": 1, "storage": 2])
    #expect(world.hub.measurements[.received] - received == 3)
  }

  @Test func `sessions are those opened less those that ended`() throws {
    let world = World()
    let first = try world.kiosk()
    let second = try world.client(2)
    _ = try second.hello()
    _ = try second.ask("bye", #"{"id":1}"#)
    let third = try world.client(3)
    _ = try world.turn([.closed(third.connection)])
    world.journal.isFailing = true
    _ = try world.turn([
      first.message("op", first.opBody(Self.push)),
      second.message("hello", #"{"ver":[1],"client":"000000000000000000000000000000ff"}"#),
    ])
    let stats = try stats(first)
    let ended = try #require(stats["ended"] as? [String: Int])
    let opened = try #require(stats["opened"] as? Int)
    #expect(ended["bye"] == 1)
    #expect(ended["lost"] == 1)
    #expect(opened - ended.values.reduce(0, +) == stats["sessions"] as? Int)
  }

  @Test func `diffs are counted by watch and revision, snapshots by watch`() throws {
    let world = World()
    let client = try world.kiosk()
    let viewer = try world.client(9)
    try client.watch()
    try viewer.watch()
    try client.must(Self.push)
    try client.must(#"{"pop":{}}"#, Stage.any)
    let messages = try #require(try stats(client)["messages"] as? [String: Int])
    #expect(messages["diffs"] == 4)
    #expect(messages["snapshots"] == 2)
  }

  @Test func `the lag is that of the watches that get nothing`() throws {
    let world = World()
    let client = try world.kiosk()
    let viewer = try world.client(9)
    try viewer.watch()
    #expect(world.hub.lag == Hub.Lag())
    _ = try world.turn([.blocked(viewer.connection)])
    for id in ["a", "b", "c"] { try client.must(#"{"push":{"screen":{"id":"\#(id)"}}}"#) }
    #expect(world.hub.lag == Hub.Lag(watchCount: 1, largest: 3, sum: 3, stalledSessions: 1))
    _ = try world.turn([.unblocked(viewer.connection)])
    #expect(world.hub.lag == Hub.Lag())
  }

  @Test func `what the shell hands in is told`() throws {
    let world = World()
    let client = try world.kiosk()
    world.hub.measurements[.libzmqVersion] = 40_304
    world.hub.measurements[.diskFree] = 7
    world.hub.measurements.storageProblem = "cannot"
    world.hub.measurements.socketProblem = "gone"
    world.hub.measurements[.startedAt] = world.now.boot - 5
    world.hub.measurements.note(20_000, .commitNanoseconds)
    world.hub.measurements.principals = [PrincipalConnections(principal: "uid:5", count: 3)]
    world.hub.measurements[.connectionsPerPrincipalLimit] = 256
    let stats = try stats(client)
    #expect((stats["process"] as? [String: Any])?["libzmq"] as? String == "4.3.4")
    #expect((stats["disk"] as? [String: Int])?["free"] == 7)
    #expect(stats["storageProblem"] as? String == "cannot")
    #expect(stats["socketProblem"] as? String == "gone")
    #expect(stats["uptime"] as? Int == 5)
    #expect((stats["process"] as? [String: Any])?["principalLimit"] as? Int == 256)
    let principals = stats["principals"] as? [[String: Any]]
    #expect(principals?.map { $0["principal"] as? String } == ["uid:5"])
    #expect(principals?.map { $0["connections"] as? Int } == [3])
    #expect((stats["commit"] as? [String: Any])?["sum"] as? Int == 20_000)
  }

  @Test(arguments: [
    (0, 0), (1, 0), (16_000, 0), (16_001, 1), (32_000, 1), (32_001, 2), (4_194_304_000, 18),
    (4_194_304_001, 19), (UInt64.max / 2, 19),
  ])
  func `a value belongs to the first bound that is not below it`(value: UInt64, place: Int) {
    var measurements = Measurements()
    measurements.note(value, .commitNanoseconds)
    let histogram = measurements[.commitNanoseconds]
    #expect(histogram.counts[place] == 1)
    #expect(histogram.count == 1)
    #expect(histogram.sum == value)
    if place < histogram.bounds.count { #expect(histogram.bounds[place] >= value) }
    if place > 0 { #expect(histogram.bounds[place - 1] < value) }
  }

  @Test func `every outcome and reason has a place of its own`() {
    var measurements = Measurements()
    for code in ErrorCode.allCases {
      measurements.count(.refused(code))
      measurements.count(.refusedMessage(code))
    }
    for (_, outcome) in Outcome.ofOperations { measurements.count(outcome) }
    for endReason in SessionEndReason.allCases { measurements.count(endReason) }
    #expect(Outcome.ofOperations.map(\.word).count == ErrorCode.allCases.count + 3)
    for code in ErrorCode.allCases {
      #expect(measurements[.refused(code)] == 2)
      #expect(measurements[.refusedMessage(code)] == 1)
    }
    for endReason in SessionEndReason.allCases { #expect(measurements[endReason] == 1) }
    #expect(measurements[Outcome.ok] == 1)
  }

  @Test func `quantiles lie between the bounds of the value asked for`() {
    let histogram = Histogram(bounds: [10, 20, 40], counts: [0, 8, 1, 1], sum: 0)
    #expect(histogram.quantile(0.5).map { 10 < $0 && $0 <= 20 } == true)
    #expect(histogram.quantile(0.85).map { 20 < $0 && $0 <= 40 } == true)
    #expect(histogram.quantile(0.99) == 40)
    #expect(Histogram(bounds: [1], counts: [0, 0], sum: 0).quantile(0.5) == nil)
    #expect(histogram.increase(since: histogram)?.count == 0)
    let later = Histogram(bounds: [10, 20, 40], counts: [1, 8, 1, 1], sum: 3)
    #expect(later.increase(since: histogram)?.counts == [1, 0, 0, 0])
    #expect(histogram.increase(since: later) == nil)
  }
}
