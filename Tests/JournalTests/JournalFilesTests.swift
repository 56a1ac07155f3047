import Foundation
import NavigationCore
import NavigationHub
import Testing

@testable import Journal

/// Files of an open journal that somebody removes, moves or replaces; and logs that are lost between runs.
@Suite struct JournalFilesTests {
  /// What can become of a file or directory with this suffix, and how it looks.
  enum Loss: CaseIterable { case removed, moved, replaced, copied }

  static let losses = ["/lock", "/journal.sqlite", "/journal.sqlite-wal", ""]

  @Test(arguments: losses, Loss.allCases)
  func `a file that is gone or replaced is named, until it is back`(suffix: String, loss: Loss)
    throws
  {
    let parent = try TemporaryDirectory()
    let directory = parent.path + "/state"
    var writer = Writer(seed: 1)
    let journal = try Journal.open(directory)
    _ = try journal.contents()
    try journal.commit(writer.batch(9))
    #expect(journal.problem == nil)
    let (files, path, other) = (FileManager.default, directory + suffix, parent.path + "/other")
    switch loss {
    case .removed: try files.removeItem(atPath: path)
    case .moved: try files.moveItem(atPath: path, toPath: other)
    case .replaced, .copied:
      try files.moveItem(atPath: path, toPath: other)
      if loss == .copied { try files.copyItem(atPath: other, toPath: path) }
      if loss == .replaced {
        try files.createDirectory(atPath: path, withIntermediateDirectories: false)
      }
    }
    let problem = try #require(journal.problem)
    #expect(problem.description.hasPrefix("cannot use \(path): "), "\(problem)")
    let isGone = loss == .removed || loss == .moved
    #expect(problem.description.contains(isGone ? "it is gone" : "not the file that navd opened"))
    #expect(problem.description.hasSuffix("or restart navd, which begins with what is there"))
    guard loss == .moved else {
      // An end in order would touch what is there now.
      #expect(throws: problem) { try journal.close() }
      return
    }
    try files.moveItem(atPath: other, toPath: path)
    #expect(journal.problem == nil)
    try journal.commit(writer.batch(9))
    try journal.close()
    #expect(try Journal.open(directory).contents().rows == writer.rows)
  }

  /// The files of a killed process, after commits and perhaps a checkpoint while it ran.
  private static func killed(checkpoint: Bool) throws -> (TemporaryDirectory, [JournalRow]) {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 2)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    for _ in 0..<5 { try journal.commit(writer.batch(30)) }
    if checkpoint { try journal.checkpoint() }
    let copy = try directory.copy()
    try journal.close()
    return (copy, writer.rows)
  }

  @Test(arguments: [false, true])
  func `a log that was removed after a kill is damage, at each start`(checkpoint: Bool) throws {
    let (directory, rows) = try Self.killed(checkpoint: checkpoint)
    let whole = try directory.copy()
    #expect(try Journal.open(whole.path).contents().rows == rows)
    try FileManager.default.removeItem(atPath: directory.file + "-wal")
    for _ in 0..<3 {
      #expect(
        throws: JournalError.damaged(
          path: directory.file, what: "its write-ahead log is missing, or cut short")
      ) { try Journal.open(directory.path) }
    }
    // Whoever wants the older state restores it, so that every nav gets a new epoch.
    let target = try TemporaryDirectory()
    let restoration = try JournalRestoration(in: target.path, holder: "test")
    try restoration.copy(directory.file) { _, _ in }
    let found = try Journal.open(restoration.draft).contents().rows
    #expect(found == Array(rows.prefix(found.count)))
    restoration.discard()
  }

  @Test func `a log that is shorter than at the last checkpoint is damage`() throws {
    let (directory, _) = try Self.killed(checkpoint: true)
    for bytes in [0, 31, 32 + 4120] as [UInt64] {
      let copy = try directory.copy()
      let log = try FileHandle(forWritingTo: URL(fileURLWithPath: copy.file + "-wal"))
      try log.truncate(atOffset: bytes)
      try log.close()
      #expect(throws: JournalError.self, "\(bytes) bytes") { try Journal.open(copy.path) }
    }
  }

  @Test func `after an end in order there is no log, and none is missed`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 3)
    for _ in 0..<3 {
      let journal = try Journal.open(directory.path)
      #expect(try journal.contents().rows == writer.rows)
      try journal.commit(writer.batch(40))
      try journal.checkpoint()
      try journal.close()
      #expect(!FileManager.default.fileExists(atPath: directory.file + "-wal"))
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount"))
  func `a file system that becomes read-only, or is mounted over, is named`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/disk"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let (tmpfs, options) = ("tmpfs", "size=8m,mode=0700")
    try #require(unsafe mount("none", path, tmpfs, 0, options) == 0)
    defer { for _ in 0..<2 { unsafe umount2(path, Int32(MNT_DETACH)) } }
    let journal = try Journal.open(path)
    _ = try journal.contents()
    // A bind mount that is read-only, over the directory itself.
    try #require(unsafe mount("none", path, tmpfs, 0, options) == 0)
    #expect(journal.problem?.description.contains("not the file") == true)
    unsafe umount2(path, 0)
    #expect(journal.problem == nil)
    try #require(unsafe mount(path, path, nil, UInt(MS_BIND), nil) == 0)
    try #require(
      unsafe mount("none", path, nil, UInt(MS_REMOUNT | MS_BIND | MS_RDONLY), nil) == 0)
    #expect(journal.problem?.description.contains("its file system is read-only") == true)
    unsafe umount2(path, 0)
    #expect(journal.problem == nil)
    try journal.close()
  }

  /// Found by `torture faults 3`: the start refused what a short write had left.
  @Test func `a witness truncated in its first write counts as new`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/witness"
    try JournalWitness(path: path).acknowledge(7)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    for length in 0..<whole.count {
      try whole.prefix(length).write(to: URL(fileURLWithPath: path))
      #expect(try JournalWitness(path: path).acknowledgedSequence == 0, "\(length) bytes")
    }
    for text in ["x", "7\n", String(repeating: "7", count: 21)] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      #expect(throws: JournalError.self, "\(text)") { try JournalWitness(path: path) }
    }
  }

  /// Found by `torture disk 39246`.
  @Test func `behind an older copy, the next row may have any higher number`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 4)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(writer.batch(3))
    let witness = try JournalWitness(path: directory.path + "/witness")
    witness.acknowledge(journal.lastSequence + 5)
    journal.witness = witness
    #expect(journal.rowLoss == .olderCopy)
    let row = JournalRow(
      RowHeader(
        sequence: 1 << 40, nav: 99, revision: 1, previous: 0, time: 0, kind: .epoch, depth: 0,
        top: nil), body: [])
    try journal.commit([.row(row)])
    #expect(journal.lastSequence == 1 << 40 && journal.rowLoss == nil)
    let copy = try directory.copy()
    #expect(try Journal.open(copy.path).contents().rows == writer.rows + [row])
  }

  @Test(.enabled(if: geteuid() == 0, "only root can mount"), arguments: [true, false])
  func `a journal on a read-only file system is read whole, and takes nothing`(
    isClosed: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 4)
    let former = try Journal.open(directory.path)
    _ = try former.contents()
    for _ in 0..<20 { try former.commit(writer.batch(5)) }
    if isClosed { try former.close() }
    // As a killed process leaves it, with everything in the log.
    let copy = try directory.copy()
    let witness = copy.path + "/witness"
    try JournalWitness(path: witness).acknowledge(7)
    try Data().write(to: URL(fileURLWithPath: copy.path + "/lock"))
    try #require(unsafe mount(copy.path, copy.path, nil, UInt(MS_BIND), nil) == 0)
    defer { unsafe umount2(copy.path, Int32(MNT_DETACH)) }
    let flags = MS_REMOUNT | MS_BIND
    try #require(unsafe mount("none", copy.path, nil, UInt(flags | MS_RDONLY), nil) == 0)

    var journal = try Journal.open(copy.path)
    #expect(try journal.contents().rows == writer.rows)
    #expect(journal.shortageAtStart == .readOnly(path: copy.path))
    let reader = try journal.place.openReader()
    let newest = try reader.row(at: journal.lastSequence)
    #expect(newest == writer.rows.last)
    #expect(throws: JournalError.self) { try journal.commit(writer.batch(1)) }
    // Beside a journal that can be written, these are what ReadWritePaths= of the unit lacks.
    let backups = copy.path + "/backups"
    #expect(throws: JournalError.readOnly(path: witness)) { try JournalWitness(path: witness) }
    #expect(try JournalWitness(path: witness, isFrozen: true).acknowledgedSequence == 7)
    #expect(try JournalWitness(path: copy.path + "/none", isFrozen: true).acknowledgedSequence == 0)
    #expect(throws: JournalError.readOnly(path: backups)) {
      try JournalBackup(of: directory.path, into: backups).copy { _, _ in }
    }
    #expect(throws: JournalError.locked(path: copy.path + "/lock", by: unnamed)) {
      try Journal.open(copy.path)
    }
    // SQLite goes on reading only, so the journal says what helps.
    try #require(unsafe mount("none", copy.path, nil, UInt(flags), nil) == 0)
    #expect(journal.problem?.description.contains("then restart navd") == true)
    #expect(throws: JournalError.readOnly(path: copy.path)) { try journal.close() }
    journal = try Journal.open(copy.path)
    #expect(try journal.contents().rows == writer.rows.dropLast())
    try journal.close()
  }

  @Test func `a program that has the file open at a start is looked for, and no permissions`() {
    let busy: Int32 = 5
    let error = unsafe JournalError(code: busy, connection: nil, path: "/j", action: .reading)
    #expect(
      error.description
        == "cannot use /j: another program has it open; end that program; to find it, type: fuser -v /j"
    )
  }

  private let unnamed = "a process that has not said who it is"

  @Test(.enabled(if: geteuid() == 0, "only root can mount"))
  func `a file system without inodes is full, whatever SQLite calls it`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/disk"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    try #require(unsafe mount("none", path, "tmpfs", 0, "size=8m,mode=0700,nr_inodes=10") == 0)
    defer { unsafe umount2(path, Int32(MNT_DETACH)) }
    var journal = try Journal.open(path)
    _ = try journal.contents()
    try journal.close()
    var names = 0
    while case let made = unsafe creat("\(path)/\(names)", 0o600), made >= 0 {
      close(made)
      names += 1
    }
    #expect(names > 0)
    let file = path + "/" + Journal.fileName
    #expect(throws: JournalError.full(path: file)) { try Journal.open(path) }
    try FileManager.default.removeItem(atPath: path + "/0")
    journal = try Journal.open(path)
    try journal.close()
  }
}
