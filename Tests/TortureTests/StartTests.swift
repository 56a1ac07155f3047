import Glibc
import Journal
import SimulatedDisk
import Simulation
import Testing

/// What a start says of a disk that fails, and whether it serves without space.
@Suite struct StartTests {
  /// Opens and replays the journal that a killed daemon left, while calls fail.
  ///
  /// Returns why nothing can be stored; nil if everything can be.
  private func start(_ fault: SimulatedDisk.Fault?) throws -> (
    shortage: JournalError?, writes: Int64
  ) {
    let files = try #require(StoredJournal.runWithoutFaults(3)?.filesOfEnds.last)
    let disk = StoredJournal.makeDisk()
    disk.replaceFiles(files)
    try disk.attach()
    disk.fault = fault
    defer {
      disk.kill()
      disk.detach()
    }
    let journal = try Journal.open(
      directory: disk.state, durability: .sync, bootID: "boot", retention: Retention.standard,
      holder: "test")
    try journal.replay(snapshots: { _ in }, rows: { (_, _) in })
    return (journal.shortageAtStart, disk.count(.write))
  }

  @Test func `a start serves reads without space, be it the disk's or that of a quota`() throws {
    let writes = try start(nil).writes
    #expect(writes > 3)
    for number in 1...writes {
      for error in [ENOSPC, EDQUOT] {
        let fault = SimulatedDisk.Fault(.write, at: number, error: error, isLasting: true)
        let shortage = try start(fault).shortage
        #expect(shortage?.isFullOrReadOnly != false, "write \(number): \(error)")
      }
    }
  }

  @Test func `a failed write of a start is not told as a failed read`() throws {
    let writes = try start(nil).writes
    var told = 0
    for number in 1...writes {
      let fault = SimulatedDisk.Fault(.write, at: number, error: EIO, isLasting: true)
      do throws(any Error) {
        _ = try start(fault)
      } catch let error as JournalError {
        told += 1
        if case .readFailed = error { Issue.record("write \(number): \(error)") }
        if case .damaged = error { Issue.record("write \(number): \(error)") }
      }
    }
    #expect(told > 0)
  }

  /// Found by `torture faults 1`: without a descriptor to spare, SQLite does not sync the name of a new
  /// log, and the power failed.
  @Test(arguments: [EMFILE, ENFILE, EIO])
  func `the name of a new log survives a power failure`(error: Int32) {
    for number in Int64(1)...24 {
      let fault = SimulatedDisk.Fault(.open, at: number, error: error, isLasting: true)
      #expect(StoredJournal.run(1, .fault(fault)).violations.isEmpty, "open \(number)")
    }
  }

  @Test func `a start does without the text of its lock file`() throws {
    for length in [0, ENOSPC] {
      let fault = SimulatedDisk.Fault(.write, at: 1, error: length, isLasting: false)
      #expect(try start(fault).shortage == nil)
    }
  }
}
