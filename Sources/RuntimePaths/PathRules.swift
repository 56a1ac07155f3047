/// The rules for the paths of the daemon's socket and state directory.
///
/// Daemon and clients apply the same rules, so clients find the socket without configuration. Every
/// function is pure: the environment, the user and the file system are arguments.
package struct PathRules: Sendable {
  /// The length of the longest path of a Unix socket, in bytes without the terminating zero.
  package static let maximumSocketPathBytes = 107
  package static let socketName = "navd.sock"
  package static let systemRuntimeDirectory = "/run/navd"
  package static let systemStateDirectory = "/var/lib/navd"

  package var environment: ProcessEnvironment
  /// The effective user id of the process.
  package var userID: UInt32

  package init(environment: ProcessEnvironment, userID: UInt32) {
    self.environment = environment
    self.userID = userID
  }

  package static func current() -> PathRules {
    PathRules(environment: .current(), userID: effectiveUserID())
  }

  /// A directory in which the daemon's socket can be.
  package struct RuntimeDirectory: Hashable, Sendable {
    package var path: String
    /// Whether the directory is in /tmp, where every user could create it.
    package var isInSharedDirectory = false

    package var socketPath: String { path + "/" + PathRules.socketName }
  }

  /// The directory in which the daemon creates its socket.
  ///
  /// `$RUNTIME_DIRECTORY`, else `$XDG_RUNTIME_DIR/navd`, else `/run/navd` for root, else
  /// `/tmp/navd-UID`.
  package var runtimeDirectory: RuntimeDirectory {
    if let first = environmentRuntimeDirectories.first { return first }
    return userID == 0
      ? RuntimeDirectory(path: Self.systemRuntimeDirectory)
      : temporaryRuntimeDirectory
  }

  /// The directory of the daemon's journal.
  ///
  /// `$STATE_DIRECTORY`, else `$XDG_STATE_HOME/navd`, else `/var/lib/navd` for root, else
  /// `~/.local/state/navd`.
  package func stateDirectory() throws(PathError) -> String {
    if let path = environment.absolutePath("STATE_DIRECTORY") { return path }
    if let path = environment.absolutePath("XDG_STATE_HOME") { return Self.join(path, "navd") }
    if userID == 0 { return Self.systemStateDirectory }
    guard let home = environment.absolutePath("HOME") else { throw .noStateDirectory }
    return Self.join(home, ".local/state/navd")
  }

  /// The address that the daemon binds if none is configured.
  package func defaultEndpoint() throws(PathError) -> String {
    try Self.endpoint(socketPath: runtimeDirectory.socketPath)
  }

  /// The ipc address of a socket; throws `socketPathTooLong` if the kernel would refuse the path.
  package static func endpoint(socketPath: String) throws(PathError) -> String {
    let byteCount = socketPath.utf8.count
    guard byteCount <= maximumSocketPathBytes else {
      throw .socketPathTooLong(path: socketPath, byteCount: byteCount)
    }
    return "ipc://" + socketPath
  }

  /// The runtime directories in which a client looks for a socket, in order, each once.
  package var clientDirectories: [RuntimeDirectory] {
    var directories = environmentRuntimeDirectories
    if userID != 0 { directories.append(temporaryRuntimeDirectory) }
    directories.append(RuntimeDirectory(path: Self.systemRuntimeDirectory))
    var distinct: [RuntimeDirectory] = []
    for directory in directories where !distinct.contains(where: { $0.path == directory.path }) {
      distinct.append(directory)
    }
    return distinct
  }

  /// The address to which a client connects.
  ///
  /// The address is the option `--endpoint`, else `NAVD_ENDPOINT`, else the first socket found in
  /// `clientDirectories`. The function skips sockets in directories that another user could have
  /// created, because that user could run another program in place of the daemon. If it cannot
  /// search `/run/navd`, it returns the socket there, so that connecting reports the permission.
  /// It throws `noEndpoint` with every path that it tried.
  package func clientEndpoint(
    option: String?, probe: (String) -> FileStatus? = FileStatus.probe
  ) throws(PathError) -> String {
    if let option { return option }
    if let variable = environment["NAVD_ENDPOINT"] { return variable }
    var tried: [PathError.Tried] = []
    for directory in clientDirectories {
      let path = directory.socketPath
      guard let reason = reasonNotUsable(directory, probe: probe) else {
        return try Self.endpoint(socketPath: path)
      }
      tried.append(PathError.Tried(path: path, reason: reason))
    }
    throw .noEndpoint(tried: tried)
  }

  private func reasonNotUsable(
    _ directory: RuntimeDirectory, probe: (String) -> FileStatus?
  ) -> String? {
    guard let status = probe(directory.socketPath) else { return "not there" }
    if status.kind == .hidden, directory.path == Self.systemRuntimeDirectory { return nil }
    guard status.kind == .socket else { return "\(status.kind.rawValue), not a socket" }
    guard directory.isInSharedDirectory else { return nil }
    guard let parent = probe(directory.path) else { return "not there" }
    return parent.reasonNotPrivate(to: userID).map { "\(directory.path) is not trusted: \($0)" }
  }

  private var environmentRuntimeDirectories: [RuntimeDirectory] {
    let own = environment.absolutePath("RUNTIME_DIRECTORY")
    let user = environment.absolutePath("XDG_RUNTIME_DIR").map { Self.join($0, "navd") }
    return [own, user].compactMap { $0.map { RuntimeDirectory(path: $0) } }
  }

  private var temporaryRuntimeDirectory: RuntimeDirectory {
    RuntimeDirectory(path: "/tmp/navd-\(userID)", isInSharedDirectory: true)
  }

  private static func join(_ directory: String, _ name: String) -> String {
    directory.hasSuffix("/") ? directory + name : directory + "/" + name
  }
}
