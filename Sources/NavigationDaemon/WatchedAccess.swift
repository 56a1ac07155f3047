import RuntimePaths

/// The roles, grants and keys in use, with a watch of the directory of keys.
struct WatchedAccess {
  var control: AccessControl
  /// The watch, whose descriptor is readable when the keys may have changed.
  let watch = DirectoryWatch()
  private var directory: String

  init(_ control: AccessControl, keyDirectory: String) {
    (self.control, directory) = (control, keyDirectory)
    renewWatch()
  }

  mutating func watch(_ keyDirectory: String) {
    directory = keyDirectory
    renewWatch()
  }

  /// Returns a copy with the keys read again; `control` stays as it is.
  func reread() -> AccessControl {
    renewWatch()
    var control = control
    control.readKeys()
    return control
  }

  /// Discards pending events, and watches the directory that exists now, or its nearest parent.
  private func renewWatch() {
    watch.drain()
    var watched = directory
    // A missing directory will be created in its parent; the root directory always exists.
    while !watch.add(watched), watched.count > 1 { watched = parentDirectory(of: watched) }
  }
}
