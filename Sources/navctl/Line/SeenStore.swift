import CLinux
import NavigationCore
import RuntimePaths

/// Stores `SeenState` values in files, one for each terminal session and nav.
///
/// Two terminals never share a file: a user of one terminal has not seen what the other showed.
struct SeenStore: Sendable {
  /// The directory of the files, which `save` creates.
  let directory: String
  let session: TerminalSession

  /// `$XDG_STATE_HOME/navctl/seen`, else `~/.local/state/navctl/seen`; nil without either variable.
  static func directory(_ environment: ProcessEnvironment) -> String? {
    if let path = environment.absolutePath("XDG_STATE_HOME") { return path + "/navctl/seen" }
    return environment.absolutePath("HOME").map { $0 + "/.local/state/navctl/seen" }
  }

  /// The path of the file for one nav; its name is a hash in hex digits.
  func path(endpoint: String, nav: String) -> String {
    let key = Array("\(session.text)\n\(endpoint)\n\(nav)".utf8)
    // Two hashes of 64 bits make a collision unlikely, and `SeenState.decode` detects one.
    let name =
      Epoch(bits: Self.fnv1aHash(key, basis: 0xCBF2_9CE4_8422_2325)).text
      + Epoch(bits: Self.fnv1aHash(key.reversed(), basis: 0x9E37_79B9_7F4A_7C15)).text
    return "\(directory)/\(name)"
  }

  /// Loads the last seen state of a nav; nil if there is no file, or none that can be read.
  func load(endpoint: String, nav: String) -> SeenState? {
    (try? readSmallFile(path(endpoint: endpoint, nav: nav), maximumBytes: 65_536))
      .flatMap { SeenState.decode($0, endpoint: endpoint, nav: nav) }
  }

  /// Saves a seen state; the file is replaced as a whole or not at all.
  func save(_ seen: SeenState, endpoint: String, nav: String) throws(SystemError) {
    let path = path(endpoint: endpoint, nav: nav)
    let bytes = SeenState.encode(seen, endpoint: endpoint, nav: nav)
    if FileStatus.probe(path) == nil {
      try createPrivateDirectory(directory)
      removeOldFiles()
    }
    // After a crash of the machine, no session reads the file again.
    try writeFileAtomically(path, bytes, isSynced: false)
  }

  func forget(endpoint: String, nav: String) { unsafe unlink(path(endpoint: endpoint, nav: nav)) }

  private static func fnv1aHash(_ bytes: [UInt8], basis: UInt64) -> UInt64 {
    bytes.reduce(basis) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }

  private static let maximumAgeSeconds = 30 * 86_400

  private func removeOldFiles() {
    let now = Int(SystemClock.wallMilliseconds() / 1000)
    for name in (try? namesInDirectory(directory)) ?? []
    where name.utf8.count >= 32 && name.utf8.prefix(32).allSatisfy(Grammar.isLowerHex) {
      let path = "\(directory)/\(name)"
      var status = stat()
      if unsafe lstat(path, &status) == 0, now - status.st_mtim.tv_sec > Self.maximumAgeSeconds {
        unsafe unlink(path)
      }
    }
  }
}

/// The states that this terminal showed, kept in files between runs.
struct SeenStates {
  private let store: SeenStore?
  private let endpoint: String
  /// Why navctl cannot keep states; nil if it can.
  let obstacle: String?

  init(_ environment: ProcessEnvironment, endpoint: String) {
    self.endpoint = endpoint
    guard let directory = SeenStore.directory(environment) else {
      (store, obstacle) = (nil, "HOME is not set")
      return
    }
    guard let session = TerminalSession.current(environment) else {
      (store, obstacle) = (nil, "the leader of this session has ended")
      return
    }
    (store, obstacle) = (SeenStore(directory: directory, session: session), nil)
  }

  /// The state of a nav that this terminal showed last; nil if it showed none.
  func seen(_ nav: String) -> SeenState? { store?.load(endpoint: endpoint, nav: nav) }

  /// Records a state as shown; after a failure, it only prints a warning.
  func remember(_ seen: SeenState?, of nav: String) {
    guard let store, let seen else { return }
    do {
      try store.save(seen, endpoint: endpoint, nav: nav)
    } catch {
      Output.error("navctl: cannot record what you saw: \(error)")
    }
  }

  func forget(_ nav: String) { store?.forget(endpoint: endpoint, nav: nav) }
}

/// The identity of the terminal session in which a command runs.
///
/// The system reuses the numbers of terminal devices and of sessions. With the start time of the
/// session and the id of the boot they are unique.
struct TerminalSession: Hashable, Sendable {
  var boot: String
  /// The device number of the controlling terminal, 0 without one.
  var device: Int64
  /// The session id, which is the process id of the session's leader.
  var sessionID: Int64
  /// When the leader of the session started, in clock ticks since the boot.
  var leaderStartTicks: UInt64

  /// Nil if the leader of the session has ended, because its start time is then unknown.
  static func current(_ environment: ProcessEnvironment) -> TerminalSession? {
    let number = getsid(0)
    do throws(SystemError) {
      guard number > 0, let own = try ProcessStatus.read("/proc/self/stat"),
        let leader = try ProcessStatus.read("/proc/\(number)/stat"),
        leader.sessionID == Int64(number)
      else { return nil }
      return TerminalSession(
        boot: try bootID(environment: environment), device: own.terminalDevice,
        sessionID: Int64(number), leaderStartTicks: leader.startTicks)
    } catch {
      // A leader that has ended has no entry in /proc.
      return nil
    }
  }

  /// The identity as text; equal texts mean the same session.
  var text: String { "\(boot) \(device) \(sessionID) \(leaderStartTicks)" }
}

/// The fields of `/proc/PID/stat` that identify a terminal session.
struct ProcessStatus: Hashable, Sendable {
  var sessionID: Int64
  var terminalDevice: Int64
  var startTicks: UInt64

  /// Reads the text of `/proc/PID/stat`; nil if it is not one.
  init?(_ text: String) {
    // The name of the process stands in parentheses and can contain some; the last one ends it.
    guard let end = text.utf8.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = text.utf8[end...].split(separator: UInt8(ascii: " ")).dropFirst().map(
      Substring.init)
    // The first field after the name is field 3 of proc_pid_stat(5).
    guard fields.count > 19, let session = Int64(fields[3]), let terminal = Int64(fields[4]),
      let start = UInt64(fields[19])
    else { return nil }
    sessionID = session
    terminalDevice = terminal
    startTicks = start
  }

  static func read(_ path: String) throws(SystemError) -> ProcessStatus? {
    ProcessStatus(String(decoding: try readSmallFile(path), as: UTF8.self))
  }
}
