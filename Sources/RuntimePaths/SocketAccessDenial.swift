import CLinux

/// The reason why file permissions prevent this user from connecting to a local socket.
package struct SocketAccessDenial: Hashable, Sendable {
  /// The reason in one line, for logs and users.
  package var reason: String
  package var remedy: String
  /// False if a later attempt can succeed: only the daemon's user has access to the socket until
  /// the daemon has started.
  package var isPermanent: Bool

  /// Finds the reason for an address; nil if this user has permission to connect, if there is no
  /// socket, or if the address is a network address.
  package static func find(_ endpoint: String) -> SocketAccessDenial? {
    guard endpoint.hasPrefix("ipc://") else { return nil }
    let socket = String(endpoint.dropFirst("ipc://".count))
    guard isDenied(socket, W_OK) else { return nil }
    let directories = socket.indices.filter { socket[$0] == "/" }.map { String(socket[...$0]) }
    let closed = directories.first { isDenied($0, X_OK) }
    let path = closed ?? socket
    guard let status = FileStatus.target(of: path) else { return nil }
    let user = unsafe accountName(navd_user_name, geteuid())
    let groupMayPass = status.mode & (closed == nil ? 0o020 : 0o010) != 0
    let group = unsafe accountName(navd_group_name, status.group)
    let owner = unsafe accountName(navd_user_name, status.owner)
    return SocketAccessDenial(
      reason: "user \(user) has no permission to connect: \(path) is open to "
        + (groupMayPass ? "group \(group)" : "user \(owner) only"),
      remedy: groupMayPass
        ? "as root: usermod -aG \(group) \(user); then log in again"
        : "set socket-group in navd.conf(5), or run this program as user \(owner)",
      isPermanent: groupMayPass || closed != nil)
  }

  private static func isDenied(_ path: String, _ mode: Int32) -> Bool {
    unsafe faccessat(AT_FDCWD, path, mode, AT_EACCESS) != 0 && navd_errno() == EACCES
  }
}

/// The name of a user or group, which `copy` looks up; the number as text if it has no name.
func accountName(
  _ copy: (UInt32, UnsafeMutablePointer<UInt8>?, Int) -> Int, _ number: UInt32
) -> String {
  unsafe String(unsafeUninitializedCapacity: 256) {
    unsafe copy(number, $0.baseAddress, $0.count)
  }
}
