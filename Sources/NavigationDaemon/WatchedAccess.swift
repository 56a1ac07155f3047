/// Who may connect and do what, with a watch of the directory of keys.
struct WatchedAccess {
  /// The roles, grants and keys in use.
  private(set) var control: AccessControl
  private var keys = KeyWatch()

  /// Takes what was read at the start, and watches a directory of keys.
  init(_ control: AccessControl, keyDirectory: String) {
    self.control = control
    keys.start(keyDirectory)
  }

  /// Readable when the keys may have changed.
  var descriptor: Int32 { keys.descriptor }

  /// Watches another directory of keys.
  mutating func watch(_ keyDirectory: String) { keys.start(keyDirectory) }

  /// Reads the keys again, without using them yet.
  mutating func reread() -> AccessControl {
    keys.renew()
    var control = control
    control.readKeys()
    return control
  }

  /// Makes others the roles, grants and keys in use.
  mutating func use(_ control: AccessControl) { self.control = control }
}
