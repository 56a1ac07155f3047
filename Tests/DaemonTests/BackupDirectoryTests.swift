import Foundation
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Testing

@testable import NavigationDaemon

/// Lets the loop make the backup that is due, and returns what it logs about it.
func makeDueBackup(_ stage: inout LoopStage) throws -> [LogEntry] {
  stage.loop.startDueBackup(at: stage.now)
  #expect(stage.loop.backupSchedule.isRunning)
  while stage.loop.backupSchedule.isRunning {
    awaitReadable(stage.loop.backups.reports.descriptor)
    stage.loop.takeBackup(at: stage.now)
  }
  return stage.sink.take()
}

/// The directory of the backups: files of a wrong clock, and what other users could put there.
@Suite struct BackupDirectoryTests {
  private static let manager = FileManager.default
  /// Six names that the daemon made while its clock was wrong.
  private static let future = (1...6).map { "navd-2037010\($0)T000000Z.db" }

  private static func copies(_ folder: String) throws -> [String] {
    try manager.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("navd-") }.sorted()
  }

  private static func configuration(_ folder: String, keep: Int = 2) -> Configuration {
    var configuration = Configuration()
    configuration.backup.directory = folder
    configuration.backup.intervalMilliseconds = 3_600_000
    configuration.backup.keptCount = keep
    return configuration
  }

  /// Makes a directory of backups with empty files in it.
  private static func make(_ folder: String, _ names: [String] = [], mode: Int = 0o700) throws {
    try manager.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for name in names { try Data().write(to: URL(fileURLWithPath: folder + "/" + name)) }
    try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
  }

  @Test func `files from the future prevent no backup, however often the machine restarts`() throws
  {
    try withTemporaryDirectory { directory in
      let folder = directory + "/copies"
      try Self.make(folder, Self.future)
      var stage = try LoopStage(directory + "/state", Self.configuration(folder))
      try stage.open()
      var made = 0
      // Twelve starts, 20 min apart: four hours, so four backups.
      for _ in 0..<12 {
        stage.now.boot = 1_000_000
        stage.loop.scheduleBackups(at: stage.now)
        if stage.loop.backupSchedule.timeUntilDue(at: stage.now) == 0 {
          let logged = try makeDueBackup(&stage)
          #expect(logged.first?.message.hasPrefix("backed up ") == true, "\(logged)")
          made += 1
        }
        stage.pass(1_200_000)
      }
      #expect(made == 4)
      try stage.close()
    }
  }

  @Test func `files from the future crowd out no copy, and stay`() throws {
    try withTemporaryDirectory { directory in
      let folder = directory + "/copies"
      try Self.make(folder, Self.future)
      var stage = try LoopStage(directory + "/state", Self.configuration(folder, keep: 3))
      try stage.open()
      stage.loop.scheduleBackups(at: stage.now)
      var names: [String] = []
      for _ in 0..<5 {
        names.append(BackupFolder.name(ofSeconds: Int(stage.now.wall / 1000)))
        _ = try makeDueBackup(&stage)
        stage.pass(3_600_000)
      }
      #expect(try Self.copies(folder) == names.suffix(3) + Self.future)
      try stage.close()
    }
  }

  @Test func `a file that cannot be removed stops the removal of no other`() throws {
    try withTemporaryDirectory { directory in
      let folder = directory + "/copies"
      let names = (1...5).map { "navd-2026010\($0)T000000Z.db" }
      try Self.make(folder, names)
      let kept = [names[0], names[2]].map { folder + "/" + $0 }
      let (removed, fault) = BackupFolder.prune(
        folder, keeping: 1, newest: names[4]
      ) { path throws(JournalError) in
        if kept.contains(path) { throw .unwritable(path: path, reason: "busy") }
        guard unsafe unlink(path) == 0 else { throw .unwritable(path: path, reason: "test") }
      }
      #expect(removed == [names[1], names[3]])
      #expect(fault == .unwritable(path: kept[0], reason: "busy"))
      #expect(try Self.copies(folder) == [names[0], names[2], names[4]])
      let none = BackupFolder.prune(folder + "/" + names[0], keeping: 1, newest: names[4])
      #expect(none.removed.isEmpty && none.firstError != nil)
    }
  }

  @Test(arguments: [0o770, 0o702, 0o1777])
  func `a directory that other users may write is refused, with the remedy`(mode: Int) throws {
    try withTemporaryDirectory { directory in
      let folder = directory + "/copies"
      try Self.make(folder, mode: mode)
      var stage = try LoopStage(directory + "/state", Self.configuration(folder))
      try stage.open()
      stage.loop.scheduleBackups(at: stage.now)
      let logged = try makeDueBackup(&stage)
      #expect(logged.first?.level == .error)
      let text = logged.first?.message ?? ""
      #expect(text.hasPrefix("backup failed: cannot use \(folder): other users can "), "\(text)")
      #expect(text.hasSuffix("chmod go-w \(folder)"), "\(text)")
      #expect(try Self.manager.contentsOfDirectory(atPath: folder).isEmpty)
      stage.loop.measureBackups(at: stage.now)
      #expect(stage.loop.hub.measurements[.backupOverdue] == 1)
      try Self.manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
      stage.pass(60_000)
      _ = try makeDueBackup(&stage)
      #expect(try Self.copies(folder).count == 1)
      try stage.close()
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"))
  func `a directory of another user is refused, with the remedy`() throws {
    try withTemporaryDirectory { directory in
      let folder = directory + "/copies"
      try Self.make(folder)
      try Self.manager.setAttributes([.ownerAccountID: 4711], ofItemAtPath: folder)
      var stage = try LoopStage(directory + "/state", Self.configuration(folder))
      try stage.open()
      stage.loop.scheduleBackups(at: stage.now)
      let text = try makeDueBackup(&stage).first?.message ?? ""
      #expect(text.contains("belongs to user 4711, not to root or user 0"), "\(text)")
      #expect(text.hasSuffix("chown 0 \(folder)"), "\(text)")
      #expect(try Self.manager.contentsOfDirectory(atPath: folder).isEmpty)
      try stage.close()
    }
  }

  @Test(arguments: [true, false])
  func `a prepared draft is neither followed nor used`(isLink: Bool) throws {
    try withTemporaryDirectory { directory in
      let (folder, other) = (directory + "/copies", directory + "/other")
      try Self.make(folder)
      try Self.make(other, ["journal.sqlite", "lock"], mode: 0o755)
      if isLink {
        try Self.manager.createSymbolicLink(
          atPath: folder + "/.new", withDestinationPath: other)
      } else {
        try Self.make(folder + "/.new", ["open"], mode: 0o777)
      }
      var stage = try LoopStage(directory + "/state", Self.configuration(folder))
      try stage.open()
      stage.loop.scheduleBackups(at: stage.now)
      let text = try makeDueBackup(&stage).first?.message ?? ""
      #expect(text.hasPrefix("backup failed: cannot use \(folder)/.new: "), "\(text)")
      #expect(text.contains("move it away"), "\(text)")
      #expect(try Self.copies(folder).isEmpty)
      let found = try Self.manager.contentsOfDirectory(atPath: other).sorted()
      #expect(found == ["journal.sqlite", "lock"])
      try Self.manager.removeItem(atPath: folder + "/.new")
      stage.pass(60_000)
      _ = try makeDueBackup(&stage)
      #expect(try Self.copies(folder).count == 1)
      try stage.close()
    }
  }
}
