import Foundation
import Testing

extension LongProcessTests {
  /// Many processes change the same navs while the daemon is killed under them.
  @Suite struct ConsistencyTests {
    /// Answers that each worker gets from each daemon before that is killed.
    static let answersPerLife = 300
    static let navs = (0..<8).map { "nav/\($0)" }
    static let workers = 8
    static let kills = 5

    @Test func `nothing is lost, doubled or told differently while the daemon is killed`() throws {
      let daemon = try TestDaemon()
      let raw = try Peer(daemon.endpoint)
      for nav in Self.navs { try raw.create(nav) }
      let epochs = try Self.navs.map { try raw.state($0)["epoch"] }
      let workers = try (0..<Self.workers).map { try worker($0, daemon) }
      for kill in 1...Self.kills {
        for worker in workers { try worker.says("answered \(kill * Self.answersPerLife)\n") }
        try daemon.kill()
        try daemon.start()
        for worker in workers { try worker.says("opened \(kill + 1)\n") }
      }
      let last = (Self.kills + 1) * Self.answersPerLife
      for worker in workers { try worker.says("answered \(last)\n") }
      #expect(daemon.child.isRunning, "\(daemon.child.transcript)")
      for worker in workers { try worker.tell("stop") }
      for worker in workers { try worker.says("quiet\n") }

      let reader = try Peer(daemon.endpoint)
      let revisions = try Self.navs.map { try reader.state($0)["rev"]?.integer ?? 0 }
      let wanted = zip(Self.navs, revisions).map { "\($0)=\($1)" }
      let reports = try workers.enumerated().map { index, worker in
        let own = Self.watched(by: index).map { wanted[$0] }.joined(separator: ",")
        try worker.tell("report \(own)")
        #expect(try worker.ended(within: 30) == 0, "\(worker.transcript)")
        let line = worker.standardOutput.split(separator: "\n").last ?? ""
        return try JSON(line.utf8)
      }
      #expect(try Self.navs.map { try reader.state($0)["epoch"] } == epochs)
      try checkMirrors(reports, reader)
      let accepted = try checkLog(reports, reader)
      summarize(reports, accepted: accepted)
      for nav in Self.navs {
        #expect(try reader.get(#""nav":"\#(nav)","what":"verify""#)["value"]?["ok"] == .bool(true))
      }
      // The figure that a run must reach to mean anything.
      #expect(accepted >= 10_000)
      #expect(try daemon.stop() == 0)
    }

    static func watched(by worker: Int) -> [Int] { (0..<4).map { (worker + $0 * 2) % navs.count } }

    private func worker(_ index: Int, _ daemon: TestDaemon) throws -> Child {
      let watched = Self.watched(by: index).map { Self.navs[$0] }.joined(separator: ",")
      return try Child(
        Binaries.path("ConsistencyWorker"),
        [daemon.endpoint, "w\(index)", "\(index + 1)", watched, Self.navs.joined(separator: ",")])
    }

    /// Each mirror is the daemon's state at its revision, the newest and older ones.
    ///
    /// Only the bar of an older one can be that of a revision before, in the middle of a resume.
    private func checkMirrors(_ reports: [JSON], _ reader: Peer) throws {
      var states: [String: JSON] = [:]
      let newest = try Self.navs.map { try comparable(reader.state($0)) }
      var current = 0
      for report in reports {
        #expect(report["violations"] == .array([]))
        #expect(
          report["snapshots"]?.members.keys.allSatisfy { ["lag", "size"].contains($0) } == true)
        for sample in report["samples"]?.array ?? [] {
          guard let nav = sample["nav"]?.string, let revision = sample["rev"]?.integer else {
            throw Failure("no position: \(sample)")
          }
          let key = "\(nav) \(revision)"
          let state = try states[key] ?? comparable(reader.state(nav, at: revision))
          states[key] = state
          if newest.contains(state) {
            current += 1
            #expect(comparable(sample) == state)
          } else {
            #expect(comparable(sample, hasBar: false) == comparable(state, hasBar: false))
          }
        }
      }
      #expect(current >= Self.workers * 4)
    }

    /// The members of a state that say what it is, not how it was sent.
    private func comparable(_ state: JSON, hasBar: Bool = true) -> JSON {
      let how: Set<String> = ["id", "i", "last", "why", "floor"]
      let value = state["value"] ?? state
      return .object(
        value.members.filter { !how.contains($0.key) && (hasBar || $0.key != "resolved") })
    }

    /// Each op that was acknowledged as a change is one entry of the log, and no other op is any.
    private func checkLog(_ reports: [JSON], _ reader: Peer) throws -> Int {
      var logged: [String: [UInt64]] = [:]
      for nav in Self.navs {
        let log = try reader.log(nav)
        let revisions = log.compactMap { $0["rev"]?.integer }
        #expect(revisions == (1...UInt64(revisions.count)).map { $0 }, "\(nav)")
        for entry in log {
          guard let name = entry["by"]?["name"]?.string, let op = entry["by"]?["op"]?.integer,
            let revision = entry["rev"]?.integer, name.hasPrefix("w")
          else { continue }
          logged["\(nav) \(name) \(op)", default: []].append(revision)
        }
      }
      #expect(logged.values.allSatisfy { $0.count == 1 })
      var acknowledged = 0
      for (index, report) in reports.enumerated() {
        for answer in report["answers"]?.array ?? [] where answer["changed"] == .bool(true) {
          acknowledged += 1
          let key = "\(answer["nav"]?.string ?? "") w\(index) \(answer["id"]?.integer ?? 0)"
          let revision = answer["rev"]?.integer ?? 0
          if logged[key] != [revision] {
            Issue.record("\(key) was acknowledged as \(revision), logged as \(logged[key] ?? [])")
          }
        }
      }
      #expect(logged.count == acknowledged)
      return acknowledged
    }

    private func summarize(_ reports: [JSON], accepted: Int) {
      var codes: [String: Int] = [:]
      for report in reports {
        for answer in report["answers"]?.array ?? [] {
          codes[answer["code"]?.string ?? "none", default: 0] += 1
        }
      }
      let sum = { (name: String) in reports.compactMap { $0[name]?.integer }.reduce(0, +) }
      #expect(sum("losses") == UInt64(Self.kills * Self.workers))
      #expect(sum("inFlightAtLoss") > 0)
      print(
        "consistency: \(accepted) changes, answers \(codes.sorted { $0.key < $1.key }), "
          + "\(sum("diffs")) diffs, \(sum("resumes")) resumes, \(sum("losses")) losses with "
          + "\(sum("inFlightAtLoss")) ops in flight, snapshots "
          + "\(reports.compactMap { $0["snapshots"]?.members }.flatMap { $0 }.count)")
    }
  }
}
