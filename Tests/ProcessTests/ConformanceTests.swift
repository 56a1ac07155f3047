import Conformance
import ConformanceSupport
import Testing

extension ProcessTests {
  /// The rows of navigation against a built daemon.
  @Suite struct ConformanceTests {
    /// The rows that are not run here, and why not.
    static let omitted: [String: String] = [:]

    /// How far a row may lag behind its own time; deadlines are further away than that.
    private static let tolerance = Duration.milliseconds(90)

    @Test func `a daemon keeps every row`() throws {
      let directory = try TestDirectory()
      let file = try directory.write("navd.conf", "[classes]\nMyBar = NavigationBar\n")
      let daemon = try TestDaemon(["--config", file])
      var kept: Set<String> = []
      var repeated = 0
      for row in try Table.rows.get() where Self.omitted[row.id] == nil && !row.isCode {
        repeated += try run(row, daemon) - 1
        kept.insert(row.id)
      }
      for (id, reason) in Self.omitted.sorted(by: { $0.key < $1.key }) {
        print("\(id) is not run against a daemon: \(reason)")
      }
      print("\(kept.count) rows run against a daemon, \(repeated) times again: too slow")
      let known = kept.union(Self.omitted.keys).union(
        try Table.rows.get().filter(\.isCode).map(\.id))
      #expect(known.sorted() == (try Table.ids()))
      #expect(try daemon.stop() == 0)
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
          guard lag > Self.tolerance, attempt < 5, daemon.child.isRunning else {
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
