import CLinux

/// The roles, grants and keys in use, with a watch of the directory of keys.
struct WatchedAccess {
  /// The roles, grants and keys in use.
  private(set) var control: AccessControl
  private var keys = KeyWatch()

  /// Takes the access rules of the start, and watches a directory of keys.
  init(_ control: AccessControl, keyDirectory: String) {
    self.control = control
    keys.start(keyDirectory)
  }

  /// Readable when the keys may have changed.
  var descriptor: Int32 { keys.descriptor }

  /// Watches another directory of keys.
  mutating func watch(_ keyDirectory: String) { keys.start(keyDirectory) }

  /// Reads the keys again and returns them; the ones in use stay.
  mutating func reread() -> AccessControl {
    keys.renew()
    var control = control
    control.readKeys()
    return control
  }

  /// Replaces the roles, grants and keys in use.
  mutating func use(_ control: AccessControl) { self.control = control }
}

/// Watches the directory of keys by inotify(7).
///
/// The events are not evaluated: after any event, the daemon reads the whole directory again.
struct KeyWatch {
  /// Readable after a change.
  let descriptor: Int32
  private var path = ""

  /// Makes a watch without a directory.
  init() {
    descriptor = navd_inotify()
    precondition(descriptor >= 0, "inotify: errno=\(navd_errno())")
  }

  /// Watches a directory, or its nearest existing parent.
  mutating func start(_ path: String) {
    self.path = path
    renew()
  }

  /// Discards pending events, and watches the directory that exists now.
  mutating func renew() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while unsafe bytes.withUnsafeMutableBytes({
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }) > 0 {}
    var watched = path
    // A missing directory will be created in its parent; the root directory always exists.
    while unsafe navd_watch_directory(descriptor, watched) < 0, watched.count > 1 {
      guard let slash = watched.lastIndex(of: "/") else { return }
      watched = slash == watched.startIndex ? "/" : String(watched[..<slash])
    }
  }
}
