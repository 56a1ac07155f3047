import Foundation
import Testing

/// Two daemons, and a navd-publish that carries the navs of one to the other.
private final class PublishingPair {
  let device: TestDaemon
  let receiver: TestDaemon
  private(set) var publisher: Child?

  init(device configuration: String = "[publish]\nnavs = *\n") throws {
    device = try TestDaemon(configuration: configuration)
    receiver = try TestDaemon()
  }

  func publish() throws {
    publisher = try Child(
      Binaries.path("navd-publish"),
      [
        "--device", "truck-7", "--endpoint", device.endpoint, "--to", receiver.endpoint,
        "--state", device.directory.path,
      ])
    try publisher?.complains("publishing ")
  }

  /// Ends the publisher, as a machine does that loses its power.
  func silence() throws {
    publisher?.kill(SIGKILL)
    try publisher?.ended()
    publisher = nil
  }

  /// What must be the same at both.
  private func position(_ daemon: TestDaemon, _ nav: String) throws -> [JSON?] {
    let peer = try Peer(daemon.endpoint)
    let answer = try peer.ask("get", #""nav":"\#(nav)""#)
    guard answer.verb == "ok" else { return [answer.body["code"]] }
    return ["epoch", "rev", "dig", "screens", "resolved"].map { answer.body["value"]?[$0] }
  }

  /// Waits until the receiver has all of a nav; returns how long that took.
  @discardableResult
  func catchUp(_ nav: String, within seconds: Double = Child.patience) throws -> Double {
    let start = Date()
    let wanted = try position(device, nav)
    var found: [JSON?] = []
    while Date().timeIntervalSince(start) < seconds {
      found = try position(receiver, "truck-7/\(nav)")
      if found == wanted { return Date().timeIntervalSince(start) }
      guard publisher?.survives(0.02) == true else { break }
    }
    throw Failure(
      "\(nav): \(String(describing: found)) is not \(String(describing: wanted)): "
        + "\(publisher?.transcript ?? "no publisher")")
  }

  /// Waits until the receiver does not have a nav.
  func awaitEnd(_ nav: String) throws {
    let start = Date()
    while try position(receiver, "truck-7/\(nav)") != [.string("no-nav")] {
      guard publisher?.survives(0.02) == true, Date().timeIntervalSince(start) < Child.patience
      else { throw Failure("\(nav) is not closed: \(publisher?.transcript ?? "no publisher")") }
    }
  }

  /// The log of a nav; pages can be empty in a gap.
  func log(_ daemon: TestDaemon, _ nav: String) throws -> [JSON] {
    let peer = try Peer(daemon.endpoint)
    let newest = try peer.state(nav)["rev"]?.integer ?? 0
    var from = try peer.get(#""nav":"\#(nav)","what":"stats""#)["value"]?["floor"]?.integer ?? 1
    var entries: [JSON] = []
    while from <= newest {
      let page = try peer.get(#""nav":"\#(nav)","what":"log","from":\#(from),"limit":400"#)
      entries += page["value"]?.array ?? []
      from += 400
    }
    return entries
  }

  /// The digests of all revisions, by the log of a daemon.
  func digests(_ daemon: TestDaemon, _ nav: String) throws -> [UInt64: String] {
    var digests: [UInt64: String] = [:]
    for entry in try log(daemon, nav) {
      if let revision = entry["rev"]?.integer { digests[revision] = entry["dig"]?.string }
    }
    return digests
  }
}

extension LongProcessTests {
  /// A device publishes its navs: docs/publish.md.
  @Suite struct PublishTests {
    /// Pushes and pops by turns, one revision each.
    private func push(_ peer: Peer, _ nav: String, _ ids: some Sequence<Int>) throws {
      for id in ids {
        let operation =
          id.isMultiple(of: 2)
          ? #"[{"push":{"screen":{"id":"s\#(id)","title":"Screen \#(id)"}}}]"# : #"[{"pop":{}}]"#
        try peer.perform(nav, operation, guards: #"{"any":true}"#)
      }
    }

    @Test func `a device that was away catches up, and its navs are readonly`() throws {
      let pair = try PublishingPair()
      let peer = try Peer(pair.device.endpoint)
      try peer.create("kiosk")
      try pair.publish()
      try pair.catchUp("kiosk")
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"a"}}}]"#)
      try pair.catchUp("kiosk")

      // The receiver goes away, the device works on, and the program is killed meanwhile.
      try pair.receiver.kill()
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"b"}}}]"#)
      try peer.create("menu")
      try pair.silence()
      try push(peer, "menu", 0..<300)
      try pair.publish()
      try pair.receiver.start()
      try pair.catchUp("kiosk")
      try pair.catchUp("menu")
      #expect(
        try pair.digests(pair.receiver, "truck-7/menu") == pair.digests(pair.device, "menu"))

      let other = try Peer(pair.receiver.endpoint)
      let refused = try other.ask(
        "op", #""nav":"truck-7/kiosk","client":"\#(other.client)","do":[{"attach":{}}]"#)
      #expect(refused.body["code"]?.string == "readonly")

      // What is closed while nothing runs is closed afterwards.
      try pair.silence()
      try peer.perform("menu", #"[{"nav.close":{}}]"#, guards: #"{"any":true}"#)
      try pair.publish()
      try pair.awaitEnd("menu")
      #expect(try pair.device.stop() == 0)
      #expect(try pair.receiver.stop() == 0)
    }

    @Test func `a device that was restored is a new epoch at the receiver`() throws {
      let pair = try PublishingPair()
      var peer = try Peer(pair.device.endpoint)
      try peer.create("kiosk")
      try push(peer, "kiosk", 0..<20)
      let backup = try pair.device.navctl(["backup"])
      let file = backup.output.trimmingCharacters(in: .newlines)
      try push(peer, "kiosk", 20..<60)
      try pair.publish()
      try pair.catchUp("kiosk")
      #expect(try pair.device.stop() == 0)
      let restoration = try Child(
        Binaries.path("navd"), ["--state", pair.device.state, "--restore", file])
      #expect(try restoration.ended() == 0, "\(restoration.transcript)")
      try pair.device.start()
      peer = try Peer(pair.device.endpoint)
      try pair.catchUp("kiosk")
      try push(peer, "kiosk", 100..<110)
      try pair.catchUp("kiosk")
    }

    @Test func `beyond publish-bytes the gap is recorded, and the state is equal`() throws {
      let limits = "[publish]\nnavs = *\nbytes = 1M\n[history]\nrevisions = "
      let pair = try PublishingPair(device: limits + "10000\n")
      let peer = try Peer(pair.device.endpoint)
      try peer.create("kiosk")
      try push(peer, "kiosk", 0..<10)
      try pair.publish()
      try pair.catchUp("kiosk")
      let had = try #require(try peer.state("kiosk")["value"]?["rev"]?.integer)
      try pair.silence()
      // More than a megabyte, of which the other rules keep the newest 100 revisions.
      try push(peer, "kiosk", 10..<6000)
      _ = try pair.device.directory.write("navd.conf", limits + "100\n")
      pair.device.child.kill(SIGHUP)
      func floor() throws -> UInt64 {
        try peer.get(#""nav":"kiosk","what":"stats""#)["value"]?["floor"]?.integer ?? 0
      }
      let end = Date(timeIntervalSinceNow: Child.patience)
      while try floor() <= had, end > Date() {
        #expect(pair.device.child.survives(0.05), "\(pair.device.child.transcript)")
      }
      let kept = try floor()
      #expect(kept > had && kept < 5900, "floor \(kept)")
      try pair.publish()
      try pair.catchUp("kiosk")
      let gaps = try pair.log(pair.receiver, "truck-7/kiosk").filter { $0["gap"] != nil }
      #expect(gaps.count == 1, "\(gaps)")
      #expect(gaps.first?["gap"]?["rev"]?.integer == had)
      #expect(gaps.first?["rev"]?.integer == kept)
      let own = try pair.digests(pair.device, "kiosk")
      let its = try pair.digests(pair.receiver, "truck-7/kiosk")
      #expect(own.filter { $0.key > kept } == its.filter { $0.key > kept })
    }

    /// Publishes 100,000 revisions with NAVD_TEST_LONG=1, else 3,000.
    @Test func `a long time offline is caught up, every digest equal`() throws {
      // Half of them are older than the history that the device keeps of other navs.
      let isLong = ProcessInfo.processInfo.environment["NAVD_TEST_LONG"] != nil
      let count = isLong ? 100_000 : 3000
      let pair = try PublishingPair(
        device: "[daemon]\ndurability = relaxed\n[publish]\nnavs = *\n[history]\nrevisions = 1000\n"
      )
      let peer = try Peer(pair.device.endpoint)
      try peer.create("kiosk")
      try push(peer, "kiosk", 0..<(count / 2))
      try push(peer, "kiosk", count / 2..<count)
      let last = try #require(try peer.state("kiosk")["value"]?["rev"]?.integer)
      #expect(last > UInt64(count))
      let own = try pair.digests(pair.device, "kiosk")
      #expect(UInt64(own.count) == last)
      try pair.publish()
      let seconds = try pair.catchUp("kiosk", within: 300)
      let times = [pair.device.child, pair.publisher, pair.receiver.child].compactMap {
        $0.map { ticks(of: $0) }
      }
      let status = "/proc/\(pair.publisher?.pid ?? 0)/status"
      let memory = (try? String(contentsOfFile: status, encoding: .utf8))?
        .firstMatch(of: /VmHWM:\s+(\d+)/)?.1
      print("\(last) revisions in \(seconds) s; ticks \(times), \(memory ?? "?") KiB")
      // The goal is that of a release build.
      let isRelease = ProcessInfo.processInfo.environment["NAVD_TEST_BINARIES"] != nil
      if isLong, isRelease { #expect(seconds <= 10) }
      let digests = try pair.digests(pair.receiver, "truck-7/kiosk")
      #expect(UInt64(digests.count) == last)
      #expect(digests == own)
    }

    @Test func `a device publishes to a cluster, whichever member serves its navs`() throws {
      let device = try TestDaemon(configuration: "[publish]\nnavs = *\n")
      let cluster = try Cluster()
      let members = [try cluster.start("a"), try cluster.start("b")]
      try cluster.awaitBalance("a", "b")
      let peer = try Peer(device.endpoint)
      var navs: [String] = []
      for member in ["a", "b"] {
        let own = try (0..<100).map { "nav\($0)" }.filter {
          let shard = Cluster.shard(of: "truck-7/\($0)")
          return try cluster.sql("SELECT owner FROM navd.shard WHERE id = \(shard)") == member
        }
        #expect(own.count >= 6)
        navs += own.prefix(6)
      }
      for nav in navs {
        try peer.create(nav)
        try push(peer, nav, 0..<20)
      }
      let publisher = try Child(
        Binaries.path("navd-publish"),
        [
          "--device", "truck-7", "--endpoint", device.endpoint, "--to",
          members.map(\.endpoint).joined(separator: ","),
        ])
      try awaitEqual(navs, device, cluster, publisher)
      // The other member takes all navs over, and the device works on meanwhile.
      try cluster.lose(members[0])
      for nav in navs { try push(peer, nav, 20..<40) }
      try awaitEqual(navs, device, cluster, publisher)
      #expect(try members[1].stop() == 0)
    }

    private func awaitEqual(
      _ navs: [String], _ device: TestDaemon, _ cluster: Cluster, _ publisher: Child
    ) throws {
      for nav in navs {
        let wanted = try Peer(device.endpoint).state(nav)["value"]
        let end = Date(timeIntervalSinceNow: Child.patience)
        var found: JSON?
        while end > Date() {
          let owner = try cluster.owner(of: "truck-7/\(nav)")
          found = try Peer(owner.endpoint).ask("get", #""nav":"truck-7/\#(nav)""#).body["value"]
          if found?["dig"] == wanted?["dig"], found?["rev"] == wanted?["rev"] { break }
          guard publisher.survives(0.05) else { break }
        }
        for member in ["epoch", "rev", "dig", "screens", "resolved"] {
          #expect(found?[member] == wanted?[member], "\(nav): \(publisher.transcript)")
        }
      }
    }

    /// The hundredths of a second that a process has used of the processors.
    private func ticks(of child: Child) -> Int {
      let text = (try? String(contentsOfFile: "/proc/\(child.pid)/stat", encoding: .utf8)) ?? ""
      let fields = text.split(separator: " ")
      return fields.count > 14 ? (Int(fields[13]) ?? 0) + (Int(fields[14]) ?? 0) : 0
    }
  }
}
