import NavigationHub
import TransportGuard

// Roles, grants and keys that change.

extension ServerLoop {
  /// Reads the keys again, and ends the sessions of those that are not authorised any more.
  mutating func rereadKeys() { takeOver(access.reread()) }

  /// Judges by other roles, grants and keys from now on.
  mutating func takeOver(_ control: AccessControl) {
    let former = access.control.access
    access.use(control)
    for problem in control.problems {
      log(LogEntry(.warning, "a key is left out: \(problem)", kind: .refused))
    }
    for connection in router.revoke(control) { batches.append(.revoked(connection)) }
    if control.access != former { batches.append(.access(control.access)) }
  }
}
