import Glibc
import NavigationCore

/// What a start would do to a journal of another format, found without changing anything.
///
/// The format is read from the header of the file, without SQLite, which would make files beside it.
/// So a daemon can go on serving the journal meanwhile.
package struct MigrationPlan: Hashable, Sendable {
  /// The change from one format to a later one.
  package struct Step: Hashable, Sendable {
    package var from: Int64
    package var to: Int64
    package var summary: String
    /// The free space that the step needs, in percent of the size of the file.
    package var spacePercent: Int
    /// The bytes of the file that the step handles in a second, about.
    package var bytesPerSecond: Int
  }

  /// The steps that a start knows; none before the first release.
  package static let knownSteps: [Step] = []
  package static let writtenFormat = Schema.version

  package let path: String
  /// The format of the file; nil if there is no journal yet.
  package let foundFormat: Int64?
  package let bytes: Int
  /// The steps from that format to the one that this version writes, in order.
  package let steps: [Step]
  /// The process that serves the journal, from its lock file; nil if none does, or if that is unknown.
  package var holder: String?

  /// Plans for a file; `found` is its format, nil if there is no file.
  ///
  /// `known` has at most one step from each format. Throws `.newer` for a later format, `.older` for
  /// one that no step leaves, `.damaged` for one that no version has.
  package init(
    path: String, found: Int64?, bytes: Int, known: [Step] = Self.knownSteps,
    wanted: Int64 = Self.writtenFormat
  ) throws(JournalError) {
    (self.path, self.foundFormat, self.bytes) = (path, found, bytes)
    var steps: [Step] = []
    var format = found ?? wanted
    guard format > 0 else { throw .damaged(path: path, what: "its format is \(format)") }
    guard format <= wanted else {
      throw .newer(path: path, found: Int(format), supported: Int(wanted))
    }
    while format < wanted {
      guard
        let step = known.first(where: { $0.from == format && $0.to > format && $0.to <= wanted })
      else {
        let oldest = known.map(\.from).min() ?? wanted
        throw .older(path: path, found: Int(format), supported: Int(oldest))
      }
      steps.append(step)
      format = step.to
    }
    self.steps = steps
  }

  /// Reads the header of a directory's journal, and plans; changes nothing, and takes no lock.
  ///
  /// The directory need not exist. Throws `.damaged`, too, if the file is no journal.
  package static func read(directory: String) throws(JournalError) -> MigrationPlan {
    var plan = try plan(directory)
    if plan.foundFormat != nil { plan.holder = DirectoryLock.holder(of: directory) }
    return plan
  }

  /// Throws `.newer` or `.older` for a journal that a start must not touch, and `.readFailed` if
  /// the disk cannot read its format.
  ///
  /// The start, which then has the lock, reports all other errors.
  static func checkFormat(directory: String) throws(JournalError) {
    do throws(JournalError) {
      _ = try plan(directory)
    } catch {
      switch error {
      case .newer, .older, .readFailed: throw error
      default: break
      }
    }
  }

  private static func plan(_ directory: String) throws(JournalError) -> MigrationPlan {
    // A restoration that was not completed is what the next start reads.
    let restored = directory + "/" + Journal.fileName + ".restored"
    let path = try exists(restored) ? restored : directory + "/" + Journal.fileName
    guard let bytes = try fileSize(path) else {
      return try MigrationPlan(path: path, found: nil, bytes: 0)
    }
    return try MigrationPlan(path: path, found: try format(path), bytes: bytes)
  }

  /// The free space that the largest step needs, in bytes.
  package var neededBytes: Int {
    steps.map { bytes / 100 * $0.spacePercent + bytes % 100 * $0.spacePercent / 100 }.max() ?? 0
  }

  /// The time that all steps need, in milliseconds, about.
  package var neededMilliseconds: UInt64 {
    steps.reduce(0) { $0 + UInt64(bytes) * 1000 / UInt64(max($1.bytesPerSecond, 1)) }
  }

  /// The format in the header of an SQLite file.
  private static func format(_ path: String) throws(JournalError) -> Int64 {
    let opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else { throw .unreadable(path) }
    defer { close(opened) }
    let header = try readBytes(100, at: 0, from: opened, path)
    func number(_ offset: Int) -> Int64 {
      header[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
    }
    // https://www.sqlite.org/fileformat.html#the_database_header
    guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)),
      number(68) == Schema.applicationID
    else { throw .damaged(path: path, what: "the file does not carry the mark of a journal") }
    return number(60)
  }
}
