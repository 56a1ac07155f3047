/// The roles, grants and keys in use, with a watch of the directory of keys.
struct WatchedAccess {
  private(set) var control: AccessControl
  private var keys = KeyWatch()

  /// Takes the access rules of the start, and watches a directory of keys.
  init(_ control: AccessControl, keyDirectory: String) {
    self.control = control
    keys.start(keyDirectory)
  }

  /// Readable when the keys may have changed.
  var descriptor: Int32 { keys.watch.descriptor }

  /// Whether changes are not noticed, because the user has no instance of inotify(7) left.
  var isBlind: Bool { keys.watch.isBlind }

  mutating func watch(_ keyDirectory: String) { keys.start(keyDirectory) }

  /// Reads the keys again and returns them; the ones in use stay.
  mutating func reread() -> AccessControl {
    keys.renew()
    var control = control
    control.readKeys()
    return control
  }

  mutating func use(_ control: AccessControl) { self.control = control }
}

/// Watches the directory of keys.
struct KeyWatch {
  /// Its descriptor is readable after a change.
  let watch = DirectoryWatch()
  private var path = ""

  /// Watches a directory, or its nearest existing parent.
  mutating func start(_ path: String) {
    self.path = path
    renew()
  }

  /// Discards pending events, and watches the directory that exists now.
  mutating func renew() {
    watch.drain()
    var watched = path
    // A missing directory will be created in its parent; the root directory always exists.
    while !watch.add(watched), watched.count > 1 {
      guard let slash = watched.lastIndex(of: "/") else { return }
      watched = slash == watched.startIndex ? "/" : String(watched[..<slash])
    }
  }
}
