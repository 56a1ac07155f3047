import CLinux
import Foundation
import Synchronization

/// A program that runs beside this one, for tests and benchmarks.
///
/// Foundation's `Process` is not used: on Linux, with Swift 6.3, it reads behind the entries of
/// `/proc/self/fd` and crashes now and then in a process with many descriptors
/// (swift-corelibs-foundation, pull request 5472).
///
/// The program gets the three standard streams and no other descriptor, no signal blocked and every
/// signal at its default. It is not ended with this object; whoever starts it awaits its end.
public final class ChildProcess: Sendable {
  /// Where a standard stream of the program comes from or goes to.
  public enum Stream: Sendable {
    /// That of this process.
    case inherited
    /// Nothing to read, and what is written is dropped.
    case null
    /// A descriptor of this process, which stays the caller's to close.
    case descriptor(Int32)
  }

  /// The program could not be started.
  public struct StartError: Error, CustomStringConvertible {
    /// The path of the program.
    public let path: String
    /// The `errno` of the attempt.
    public let code: Int32

    /// What went wrong, for people.
    public var description: String {
      unsafe "cannot start \(path): \(String(cString: strerror(code)))"
    }
  }

  /// The number of the process; the kernel may give it to another one once the end was awaited.
  public let pid: Int32
  /// What `awaitEnd` returned, once somebody has collected it.
  private let collected = Mutex<Int32?>(nil)

  /// Starts a program.
  /// - Parameters:
  ///   - path: the file of the program; `PATH` is not searched.
  ///   - arguments: what follows the name of the program.
  ///   - environment: all of its variables; those of this process when nil.
  ///   - input: its standard input.
  ///   - output: its standard output.
  ///   - errors: its standard error.
  /// - Throws: `StartError`, if there is no such program or no room for a process.
  public init(
    _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil,
    input: Stream = .null, output: Stream = .inherited, errors: Stream = .inherited
  ) throws(StartError) {
    let variables = (environment ?? ProcessInfo.processInfo.environment)
      .map { "\($0.key)=\($0.value)" }
    var pid: pid_t = 0
    let code = unsafe Self.withStreams([input, output, errors]) { actions, attributes in
      unsafe Self.withTexts([path] + arguments) { words in
        unsafe Self.withTexts(variables) {
          unsafe posix_spawn(&pid, path, actions, attributes, words, $0)
        }
      }
    }
    guard code == 0 else { throw StartError(path: path, code: code) }
    self.pid = pid
  }

  /// Calls a function with the order to set the streams up, to close all else and to reset signals.
  private static func withStreams(
    _ streams: [Stream],
    _ body: (
      UnsafePointer<posix_spawn_file_actions_t>, UnsafePointer<posix_spawnattr_t>
    ) -> Int32
  ) -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    for (index, stream) in streams.enumerated() {
      let number = Int32(index)
      switch stream {
      case .inherited: break
      case .null: unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
      case .descriptor(let own): unsafe posix_spawn_file_actions_adddup2(&actions, own, number)
      }
    }
    unsafe navd_close_from(&actions, 3)
    var none = sigset_t()
    var every = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&every)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &every)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    return unsafe body(&actions, &attributes)
  }

  /// Calls a function with the texts as C wants them: pointers, and nil behind them.
  private static func withTexts(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32
  ) -> Int32 {
    let copies = unsafe texts.map { unsafe strdup($0) } + [nil]
    defer { unsafe copies.forEach { unsafe free($0) } }
    return unsafe copies.withUnsafeBufferPointer { pointers in
      // Never empty: the nil is there.
      guard let first = pointers.baseAddress else { return EINVAL }
      return unsafe body(first)
    }
  }

  /// Whether the program has not ended.
  public var isRunning: Bool { status(WNOHANG) == nil }

  /// Waits for the end of the program; any number of threads may.
  /// - Returns: its exit status, or 128 and the signal that ended it.
  @discardableResult public func awaitEnd() -> Int32 {
    while true { if let status = status(0) { return status } }
  }

  /// Sends a signal, unless the end was already seen.
  public func signal(_ number: Int32) {
    collected.withLock { if $0 == nil { kill(pid, number) } }
  }

  /// The status, if the program has ended; without WNOHANG, waits for a change first.
  private func status(_ options: Int32) -> Int32? {
    var information = unsafe siginfo_t()
    // Left for the lock below to collect, so that nobody signals a number that is another's by now.
    if options & WNOHANG == 0 {
      unsafe waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT)
    }
    return collected.withLock { collected in
      if let known = collected { return known }
      var status: Int32 = 0
      guard unsafe waitpid(pid, &status, WNOHANG) == pid else { return nil }
      let signal = status & 0x7F
      collected = signal == 0 ? (status >> 8) & 0xFF : 128 + signal
      return collected
    }
  }
}
