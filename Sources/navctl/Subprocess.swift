import CLinux
import Glibc
import RuntimePaths

/// A child process; the caller calls `endedStatus` when SIGCHLD arrives.
struct Subprocess {
  enum OutputDestination {
    case inherited
    /// To stderr, because stdout is for data of navctl.
    case standardError
    case captured
  }

  private let process: pid_t
  /// Whether the child leads a process group of its own, which `kill` then signals.
  private let leadsProcessGroup: Bool
  /// The read end of the pipe for captured output; −1 without.
  private let outputDescriptor: Int32

  /// Starts a command that is found in `PATH`; nil as `input` inherits stdin.
  ///
  /// With more than 64 KiB of input, the call blocks until the child has read the input or ended.
  /// As in a shell, the error of a missing command has the status 127, any other 126.
  init(
    _ words: [String], variables: [(String, String)] = [], input: [UInt8]? = nil,
    destination: OutputDestination = .inherited, leadsProcessGroup: Bool? = nil
  ) throws {
    let given = input == nil ? (read: -1, write: -1) : try Self.pipe()
    defer { Self.close(given.write) }
    let taken = destination == .captured ? try Self.pipe() : (read: -1, write: -1)
    defer { Self.close(taken.write) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    if input != nil { unsafe posix_spawn_file_actions_adddup2(&actions, given.read, 0) }
    switch destination {
    case .inherited: break
    case .standardError: unsafe posix_spawn_file_actions_adddup2(&actions, 2, 1)
    case .captured: unsafe posix_spawn_file_actions_adddup2(&actions, taken.write, 1)
    }
    let environment = try Self.environment(adding: variables)
    // A command that answers a question gets its own group, so that `kill` ends its children too.
    // A command that inherits stdin stays in the terminal's group, so that ^C reaches it.
    let leads = leadsProcessGroup ?? (input != nil)
    self.leadsProcessGroup = leads
    let (code, process) = unsafe Self.spawn(words, environment, &actions, leadsProcessGroup: leads)
    // Only the child reads, so that its end ends a write too.
    Self.close(given.read)
    guard code == 0 else {
      Self.close(taken.read)
      throw Self.notStarted(words.first ?? "", code)
    }
    self.process = process
    outputDescriptor = taken.read
    if outputDescriptor >= 0 { _ = fcntl(outputDescriptor, F_SETFL, O_NONBLOCK) }
    // A child that ends reads no more; the caller ignores SIGPIPE.
    if let input { _ = writeAll(input, to: given.write) }
  }

  /// Replaces this process by a program in `PATH`, as execvp(3) does; returns only the error.
  static func exec(_ program: String, _ words: [String], remedy: String) -> PlainFailure {
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    unsafe execvp(program, &arguments)
    return notStarted(words[0], errno, remedy)
  }

  private static func notStarted(
    _ name: String, _ code: Int32, _ remedy: String? = nil
  ) -> PlainFailure {
    PlainFailure(
      lines: ["command: cannot start \(name): \(SystemError.text(of: code))"]
        + (remedy.map { ["try: \($0)"] } ?? []), status: code == ENOENT ? 127 : 126)
  }

  /// The exit status of an ended child, or 128 plus its signal, once; nil before and afterwards.
  func endedStatus() -> Int32? {
    var status: Int32 = 0
    guard unsafe waitpid(process, &status, WNOHANG) == process else { return nil }
    return Self.exitStatus(status)
  }

  /// Waits until the child has ended; returns as `endedStatus`.
  func waitForEnd() -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 { guard errno == EINTR else { return 126 } }
    return Self.exitStatus(status)
  }

  private static func exitStatus(_ status: Int32) -> Int32 {
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }

  /// Sends a signal; call it only before `endedStatus` has returned a status.
  func kill(_ signal: Int32) { _ = Glibc.kill(leadsProcessGroup ? -process : process, signal) }

  /// Reads all captured output; call it after the child has ended.
  func collectOutput() -> [UInt8] {
    guard outputDescriptor >= 0 else { return [] }
    defer { Self.close(outputDescriptor) }
    var bytes: [UInt8] = []
    while let more = readOnce(outputDescriptor), !more.isEmpty { bytes += more }
    return bytes
  }

  private static func close(_ descriptors: Int32...) {
    for descriptor in descriptors where descriptor >= 0 { _ = Glibc.close(descriptor) }
  }

  private static func pipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe Glibc.pipe(&ends) == 0 else { throw SystemError("make", "a pipe", code: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func environment(adding variables: [(String, String)]) throws -> [String] {
    let names = Set(variables.map(\.0))
    let inherited = try readSmallFile("/proc/self/environ", maximumBytes: 1 << 24)
      .split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      .filter { !names.contains(String($0.prefix { $0 != "=" })) }
    return inherited + variables.map { "\($0)=\($1)" }
  }

  private static func spawn(
    _ words: [String], _ environment: [String],
    _ actions: UnsafePointer<posix_spawn_file_actions_t>, leadsProcessGroup: Bool
  ) -> (code: Int32, process: pid_t) {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The child starts with no signal blocked and the default action of SIGPIPE.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    var usual = sigset_t()
    unsafe sigemptyset(&usual)
    unsafe sigaddset(&usual, SIGPIPE)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
    let group = leadsProcessGroup ? POSIX_SPAWN_SETPGROUP : 0
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] =
      unsafe environment.map { unsafe strdup($0) } + [nil]
    defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
    guard let program = unsafe arguments[0] else { return (ENOENT, 0) }
    var process: pid_t = 0
    let code = unsafe posix_spawnp(&process, program, actions, &attributes, &arguments, &variables)
    return (code, process)
  }
}
