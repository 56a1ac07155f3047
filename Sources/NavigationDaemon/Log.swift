import CLinux
import CSystemd
import Journal
package import RuntimePaths
import Synchronization

/// Writes messages where the service manager or a person reads them.
///
/// Any thread may call it. To the journal with fields when stderr is the journal's own stream,
/// else as plain lines on stderr.
package final class Log: Sendable {
  /// Where messages go.
  package enum Destination: Sendable {
    /// systemd's journal, with fields.
    case journal
    /// Lines on stderr, each with its time.
    case standardError
    /// Lines on stderr without times, for a command that ends by itself.
    case terminal
    /// A function, for tests.
    case function(@Sendable (LogEntry) -> Void)
  }

  private let destination: Destination
  /// The priority of the least important level that is written.
  private let priority: Atomic<Int>
  private let limit = Mutex(LogRateLimit())

  /// Makes a log that writes messages of `level` and more important ones.
  package init(level: LogLevel, destination: Destination) {
    priority = Atomic(level.priority)
    self.destination = destination
  }

  /// Writes messages of another level and more important ones from now on.
  package func setLevel(_ level: LogLevel) {
    priority.store(level.priority, ordering: .relaxed)
  }

  /// Where this process should log to: the journal when `JOURNAL_STREAM` names what stderr is.
  ///
  /// - Parameters:
  ///   - environment: the variables of this process.
  ///   - isService: whether it runs until it is stopped.
  /// - Returns: the destination.
  package static func destination(
    environment: ProcessEnvironment, isService: Bool
  ) -> Destination {
    var status = stat()
    guard let stream = environment["JOURNAL_STREAM"], unsafe fstat(2, &status) == 0,
      isJournal(stream: stream, device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    else { return isService ? .standardError : .terminal }
    return .journal
  }

  /// Whether "DEVICE:INODE" names this file.
  static func isJournal(stream: String, device: UInt64, inode: UInt64) -> Bool {
    let parts = stream.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 2 && UInt64(parts[0]) == device && UInt64(parts[1]) == inode
  }

  /// Writes a message, unless it is below the level or one of a storm.
  package func callAsFunction(
    _ entry: LogEntry, at now: UInt64 = SystemClock.monotonicMilliseconds()
  ) {
    guard entry.level.priority <= priority.load(ordering: .relaxed) else { return }
    for entry in limit.withLock({ $0.admit(entry, at: now) }) { write(entry) }
  }

  /// Writes the summaries that are due; call it now and then, and before the end.
  package func flush(at now: UInt64 = SystemClock.monotonicMilliseconds()) {
    for entry in limit.withLock({ $0.expire(at: now) }) { write(entry) }
  }

  private func write(_ entry: LogEntry) {
    switch destination {
    case .function(let function): function(entry)
    case .standardError: Self.writeLine(Self.timed(entry, at: SystemClock.wallMilliseconds()))
    case .terminal: Self.writeLine(entry.line)
    case .journal:
      // Without the journal's socket stderr is the next best, and the journal adds the time.
      if !Self.sendToJournal(entry) { Self.writeLine(entry.line) }
    }
  }

  /// A line with its time before it, in UTC as RFC 3339 has it.
  static func timed(_ entry: LogEntry, at wall: UInt64) -> String {
    "\(Timestamp.rfc3339(ofMilliseconds: wall)) \(entry.line)"
  }

  private static func writeLine(_ text: String) {
    let line = Array((text + "\n").utf8)
    // One write, so that lines of several threads do not mix; a closed stderr loses the line.
    _ = unsafe line.withUnsafeBytes { unsafe CLinux.write(2, $0.baseAddress, $0.count) }
  }

  private static func sendToJournal(_ entry: LogEntry) -> Bool {
    let fields = entry.journalFields.map { Array($0.utf8) }
    let bytes = fields.flatMap { $0 }
    return unsafe bytes.withUnsafeBytes { buffer in
      var start = 0
      var vectors: [iovec] = unsafe []
      for field in fields {
        let base = unsafe UnsafeMutableRawPointer(mutating: buffer.baseAddress?.advanced(by: start))
        unsafe vectors.append(iovec(iov_base: base, iov_len: field.count))
        start += field.count
      }
      // The vectors point into `bytes`, which outlives the call.
      return unsafe sd_journal_sendv(vectors, Int32(vectors.count)) == 0
    }
  }
}
