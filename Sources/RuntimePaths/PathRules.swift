/// Where the daemon keeps things and where clients look for it.
///
/// The same rule serves both sides, so they meet without configuration. Every function is pure:
/// the environment, the user and the file system come in as values.
package struct PathRules: Sendable {
  /// The longest path a Unix socket can have, in bytes without the terminating zero.
  package static let maximumSocketPathBytes = 107
  /// The socket's name inside the runtime directory.
  package static let socketName = "navd.sock"
  /// The runtime directory of the system-wide service.
  package static let systemRuntimeDirectory = "/run/navd"
  /// The state directory of the system-wide service.
  package static let systemStateDirectory = "/var/lib/navd"

  /// The variables the rules look at.
  package var environment: ProcessEnvironment
  /// The user the process acts as.
  package var userID: UInt32

  /// Makes rules from an environment and a user.
  package init(environment: ProcessEnvironment, userID: UInt32) {
    self.environment = environment
    self.userID = userID
  }

  /// The rules for this process.
  package static func current() -> PathRules {
    PathRules(environment: .current(), userID: effectiveUserID())
  }

  /// A runtime directory, and who is answerable for it.
  package struct RuntimeDirectory: Hashable, Sendable {
    /// The directory's absolute path.
    package var path: String
    /// Whether it lies in a directory everybody can write to, so that its owner must be checked.
    package var isInSharedDirectory: Bool

    /// Makes a directory from its members.
    package init(path: String, isInSharedDirectory: Bool) {
      self.path = path
      self.isInSharedDirectory = isInSharedDirectory
    }

    /// The path of the daemon's socket in it.
    package var socketPath: String { path + "/" + PathRules.socketName }
  }

  /// The directory the daemon puts its socket in.
  ///
  /// `$RUNTIME_DIRECTORY`, else `$XDG_RUNTIME_DIR/navd`, else `/run/navd` for root, else
  /// `/tmp/navd-UID`.
  package var runtimeDirectory: RuntimeDirectory {
    if let first = namedRuntimeDirectories.first { return first }
    return userID == 0
      ? RuntimeDirectory(path: Self.systemRuntimeDirectory, isInSharedDirectory: false)
      : temporaryRuntimeDirectory
  }

  /// The directory the daemon keeps its journal in.
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

  /// The address the daemon binds when nothing else is configured.
  package func defaultEndpoint() throws(PathError) -> String {
    try Self.endpoint(socketPath: runtimeDirectory.socketPath)
  }

  /// The ipc address of a socket; throws when the kernel would refuse its path.
  package static func endpoint(socketPath: String) throws(PathError) -> String {
    let byteCount = socketPath.utf8.count
    guard byteCount <= maximumSocketPathBytes else {
      throw .socketPathTooLong(path: socketPath, byteCount: byteCount)
    }
    return "ipc://" + socketPath
  }

  /// The runtime directories a client looks into, in order, each once.
  package var clientDirectories: [RuntimeDirectory] {
    var directories = namedRuntimeDirectories
    if userID != 0 { directories.append(temporaryRuntimeDirectory) }
    directories.append(
      RuntimeDirectory(path: Self.systemRuntimeDirectory, isInSharedDirectory: false))
    var distinct: [RuntimeDirectory] = []
    for directory in directories where !distinct.contains(where: { $0.path == directory.path }) {
      distinct.append(directory)
    }
    return distinct
  }

  /// The address a client connects to.
  ///
  /// The `--endpoint` option, else `NAVD_ENDPOINT`, else the first socket that exists in
  /// `clientDirectories`. A socket in a directory that another user could have made is passed
  /// over: whoever owns the directory could listen there in the daemon's place.
  /// - Parameters:
  ///   - option: The value of `--endpoint`, `nil` when it was not given.
  ///   - probe: What the file system says of a path; `nil` where nothing is.
  /// - Returns: An address for libzmq.
  /// - Throws: `noEndpoint`, with every path that was looked at, or `socketPathTooLong`.
  package func clientEndpoint(
    option: String?, probe: (String) -> FileStatus? = FileStatus.probe
  ) throws(PathError) -> String {
    if let option { return option }
    if let variable = environment["NAVD_ENDPOINT"] { return variable }
    var tried: [PathError.Tried] = []
    for directory in clientDirectories {
      let path = directory.socketPath
      guard let finding = reasonNotUsable(directory, probe: probe) else {
        return try Self.endpoint(socketPath: path)
      }
      tried.append(PathError.Tried(path: path, finding: finding))
    }
    throw .noEndpoint(tried: tried)
  }

  private func reasonNotUsable(
    _ directory: RuntimeDirectory, probe: (String) -> FileStatus?
  ) -> String? {
    guard let status = probe(directory.socketPath) else { return "not there" }
    guard status.kind == .socket else { return "\(status.kind.rawValue), not a socket" }
    guard directory.isInSharedDirectory else { return nil }
    guard let parent = probe(directory.path) else { return "not there" }
    return parent.reasonNotPrivate(to: userID).map { "\(directory.path) is not trusted: \($0)" }
  }

  private var namedRuntimeDirectories: [RuntimeDirectory] {
    var directories: [RuntimeDirectory] = []
    if let path = environment.absolutePath("RUNTIME_DIRECTORY") {
      directories.append(RuntimeDirectory(path: path, isInSharedDirectory: false))
    }
    if let path = environment.absolutePath("XDG_RUNTIME_DIR") {
      directories.append(
        RuntimeDirectory(path: Self.join(path, "navd"), isInSharedDirectory: false))
    }
    return directories
  }

  private var temporaryRuntimeDirectory: RuntimeDirectory {
    RuntimeDirectory(path: "/tmp/navd-\(userID)", isInSharedDirectory: true)
  }

  private static func join(_ directory: String, _ name: String) -> String {
    directory.hasSuffix("/") ? directory + name : directory + "/" + name
  }
}
