import Conformance
import ConformanceSupport
import Testing

extension LongProcessTests {
  /// The rows of navigation against a built daemon.
  @Suite struct ConformanceTests {
    /// The rows that are not run against a program, and why not.
    static let omitted = [
      "navd": [:],
      "navd-cluster": Dictionary(
        uniqueKeysWithValues: ["C-257", "C-258", "C-260", "C-479", "C-485"].map {
          ($0, "a cluster has no looks of all bars")
        }),
    ]

    /// How many random ops; the rows speak of more, which are done in process.
    private static let steps = 400

    /// How far a row may lag behind its own time; deadlines are further away than that.
    private static let tolerance = Duration.milliseconds(90)

    /// How time passes for random ops: deadlines run out, and waiting for that takes no time.
    private static let pace = RandomPace(deadline: 60, isReal: true)

    /// The rows of the other test.
    private static let random = CodeRow.random + [.equalDaemons]

    @Test(arguments: ["navd", "navd-cluster"])
    func `a daemon keeps every row`(program: String) throws {
      let daemon = try Self.daemon(program)
      let omitted = try #require(Self.omitted[program])
      var kept: [String] = []
      var repeated = 0
      for row in try Table.rows.get() where !row.isCode && omitted[row.id] == nil {
        repeated += try run(row, daemon) - 1
        kept.append(row.id)
      }
      for row in CodeRow.mirrors {
        report(row.rawValue) { try MirrorRows.check(row, on: DaemonDriver(daemon)) }
        kept.append(row.rawValue)
      }
      for (id, reason) in omitted.sorted(by: { $0.key < $1.key }) {
        print("\(id) is not run against a daemon: \(reason)")
      }
      print("\(kept.count) rows run against \(program), \(repeated) attempts were too slow")
      let known = kept + Self.random.map(\.rawValue) + omitted.keys
      #expect(known.sorted() == (try Table.ids()))
      #expect(try daemon.stop() == 0)
    }

    @Test(arguments: [("navd", UInt64(5)), ("navd-cluster", 2)])
    func `random ops on daemons keep the rows`(program: String, seeds: UInt64) throws {
      let daemon = try Self.daemon(program)
      for seed in 1...seeds {
        let violations = try RandomRows.run(
          seed: seed, steps: Self.steps, pace: Self.pace, on: DaemonDriver(daemon))
        for row in CodeRow.random {
          let found = violations[row] ?? []
          #expect(found.isEmpty, "\(row.rawValue), seed \(seed): \(found.prefix(3))")
        }
      }
      let other = try Self.daemon(program)
      // Two daemons never have the same time, so nothing may fall due.
      try RandomRows.equalDaemons(
        seed: 1000, steps: Self.steps, pace: RandomPace(deadline: 60_000, waits: false),
        DaemonDriver(daemon), DaemonDriver(other))
      #expect(try daemon.stop() == 0)
      #expect(try other.stop() == 0)
    }

    private static func daemon(_ program: String = "navd") throws -> TestDaemon {
      let cluster = program == "navd" ? nil : try Cluster()
      let daemon = try TestDaemon(
        environment: cluster?.environment("a") ?? [:],
        configuration: """
          [access]
          grant = role:pusher * read push
          grant = role:popper * read pop
          [classes]
          MyBar = NavigationBar

          """, program: program)
      daemon.cluster = cluster
      return daemon
    }

    private func report(_ id: String, _ body: () throws -> Void) {
      do { try body() } catch { Issue.record("\(id): \(error)") }
    }

    /// Runs a row; returns how often.
    ///
    /// Clocks go on while a machine does other things. An attempt that failed and took so long that
    /// a deadline may have passed proves nothing: the row is run again from its beginning.
    private func run(_ row: ConformanceCase, _ daemon: TestDaemon) throws -> Int {
      var attempt = 1
      while true {
        var driver = DaemonDriver(daemon)
        let begin = ContinuousClock.now
        do {
          try ConformanceRunner.run(row, on: &driver, attempt: attempt)
          return attempt
        } catch {
          let lag = begin.duration(to: .now) - driver.advanced
          guard lag > Self.tolerance, attempt < 20, daemon.child.isRunning else {
            Issue.record("\(row.id), attempt \(attempt), \(lag) behind: \(error)")
            guard daemon.child.isRunning else { throw Failure(daemon.child.transcript) }
            return attempt
          }
        }
        attempt += 1
      }
    }
  }
}
