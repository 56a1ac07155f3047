import Foundation
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Testing

@testable import NavigationDaemon

/// The backups that the daemon makes by itself, on the disk.
@Suite struct OwnBackupTests {
  private static func files(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  /// A loop with a backup each hour into a folder.
  private static func open(_ directory: String, _ folder: String, keep: Int) throws -> LoopStage {
    var configuration = Configuration()
    configuration.backup.directory = folder
    configuration.backup.intervalMilliseconds = 3_600_000
    configuration.backup.keptCount = keep
    var stage = try LoopStage(directory + "/state", configuration)
    try stage.open()
    return stage
  }

  private func backUp(_ stage: inout LoopStage) throws -> [LogEntry] {
    try makeDueBackup(&stage)
  }

  @Test func `a backup that is due is made, and the oldest of the daemon's own goes after it`()
    throws
  {
    try withTemporaryDirectory { directory in
      let folder = directory + "/copies"
      var stage = try Self.open(directory, folder, keep: 2)
      stage.now.wall = 1_795_651_200_000
      stage.loop.scheduleBackups(at: stage.now)
      var logged = try backUp(&stage)
      #expect(
        logged.first?.message.hasPrefix("backed up 1 nav to \(folder)/navd-20261126T") == true)
      let first = try Self.files(folder)
      #expect(first.count == 1 && BackupFolder.seconds(of: first[0]) == 1_795_651_200)
      // Files of other names stay, and so does what is no file.
      for name in ["navd-20200101T000000Z-7.db", "notes"] {
        try Data().write(to: URL(fileURLWithPath: folder + "/" + name))
      }
      let link = folder + "/navd-20200101T000000Z.db"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/etc/passwd")
      #expect(stage.loop.backupSchedule.timeUntilDue(at: stage.now) == 3_600_000)
      for _ in 0..<2 {
        stage.pass(3_600_000)
        logged = try backUp(&stage)
      }
      #expect(logged.first?.message.hasSuffix("; removed \(first[0])") == true, "\(logged)")
      let found = try Self.files(folder)
      #expect(found.count == 5 && !found.contains(first[0]), "\(found)")
      // A restart finds the newest by its name.
      stage.pass(1_000_000)
      stage.loop.scheduleBackups(at: stage.now)
      #expect(stage.loop.backupSchedule.timeUntilDue(at: stage.now) == 2_600_000)
      stage.loop.measureBackups(at: stage.now)
      #expect(stage.loop.hub.measurements[.backupsMade] == 3)
      #expect(stage.loop.hub.measurements[.backupAge] == 1_000_001)
      try stage.close()
    }
  }

  @Test func `a backup that fails removes nothing, is overdue, and is tried again`() throws {
    try withTemporaryDirectory { directory in
      let folder = directory + "/copies"
      var stage = try Self.open(directory, folder, keep: 1)
      stage.loop.scheduleBackups(at: stage.now)
      _ = try backUp(&stage)
      let before = try Self.files(folder)
      // The draft of the next one cannot be made where a file has its name.
      try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/.new"))
      try FileManager.default.createDirectory(
        atPath: folder + "/.new.d", withIntermediateDirectories: false)
      stage.pass(3_600_000)
      let logged = try backUp(&stage)
      #expect(logged.first?.level == .error)
      #expect(logged.first?.message.hasPrefix("backup failed: cannot ") == true, "\(logged)")
      #expect(logged.last?.message.contains("next attempt is in 60 s") == true, "\(logged)")
      #expect(try Self.files(folder).filter { $0.hasPrefix("navd-") } == before)
      stage.loop.measureBackups(at: stage.now)
      #expect(stage.loop.hub.measurements[.backupOverdue] == 1)
      #expect(stage.loop.hub.measurements[.backupsFailed] == 1)
      try FileManager.default.removeItem(atPath: folder + "/.new")
      stage.pass(60_000)
      _ = try backUp(&stage)
      #expect(!stage.loop.backupSchedule.isOverdue(at: stage.now))
      #expect(try Self.files(folder).filter { $0.hasPrefix("navd-") }.count == 1)
      try stage.close()
    }
  }

  @Test func `a reload to another directory during a backup makes one there too`() throws {
    try withTemporaryDirectory { directory in
      var configuration = Configuration()
      configuration.backup.intervalMilliseconds = 3_600_000
      var stage = try LoopStage(directory + "/state", configuration)
      try stage.open()
      stage.loop.scheduleBackups(at: stage.now)
      stage.loop.startDueBackup(at: stage.now)
      configuration.backup.directory = directory + "/other"
      stage.loop.configuration.loaded = LoadedConfiguration(
        configuration: configuration, origins: [:])
      stage.loop.scheduleBackups(at: stage.now)
      #expect(stage.loop.backupSchedule.timeUntilDue(at: stage.now) == nil)
      while stage.loop.backupSchedule.isRunning {
        awaitReadable(stage.loop.backups.reports.descriptor)
        stage.loop.takeBackup(at: stage.now)
      }
      _ = stage.sink.take()
      let logged = try backUp(&stage)
      #expect(logged.first?.message.contains(" to \(directory)/other/navd-") == true, "\(logged)")
      #expect(stage.loop.backupSchedule.timeUntilDue(at: stage.now) == 3_600_000)
      #expect(stage.loop.backupSchedule.madeCount == 2)
      try stage.close()
    }
  }

  @Test func `a backup for a client waits for the daemon's own, and the answer is its own`() throws
  {
    try withTemporaryDirectory { directory in
      var configuration = Configuration()
      configuration.backup.intervalMilliseconds = 3_600_000
      var stage = try LoopStage(directory + "/state", configuration)
      try stage.open()
      stage.loop.scheduleBackups(at: stage.now)
      stage.loop.startDueBackup(at: stage.now)
      try stage.turn([stage.message(1, "get", #"{"id":9,"what":"backup"}"#)])
      var logged: [LogEntry] = []
      while logged.count < 2 {
        awaitReadable(stage.loop.backups.reports.descriptor)
        stage.loop.takeBackup(at: stage.now)
        try stage.turn()
        logged += stage.sink.take()
      }
      let folder = directory + "/state/backups"
      let names = try Self.files(folder)
      #expect(names.count == 2 && names.count { BackupFolder.seconds(of: $0) != nil } == 1)
      #expect(names.contains { $0.hasSuffix("Z-1.db") })
      try stage.close()
    }
  }
}
