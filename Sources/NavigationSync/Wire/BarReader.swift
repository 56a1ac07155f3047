import Navigation

// Bar, toolbar and environment, from clients and from the journal.

extension OperationReader {
  func barOperation(
    _ kind: OperationKind, _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> RequestedOperation.Arguments {
    throw ReadFailure(.unsupported, "this daemon does not know the op \(name)")
  }
}

extension RecordReader {
  /// Reads the bar as the journal keeps it.
  func storedBar(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Bar {
    var bar = Bar()
    if let name = tape.member("class", of: at), let text = tape.string(name) {
      bar.className = text
    }
    bar.isHidden = tape.member("hidden", of: at).flatMap { tape.bool($0) } ?? false
    return bar
  }

  /// Reads the toolbar as the journal keeps it.
  func storedToolbar(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Toolbar {
    var toolbar = Toolbar()
    if let name = tape.member("class", of: at), let text = tape.string(name) {
      toolbar.className = text
    }
    toolbar.isHidden = tape.member("hidden", of: at).flatMap { tape.bool($0) } ?? true
    return toolbar
  }

  /// Reads the environment as the journal keeps it.
  func storedEnvironment(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Environment {
    Environment()
  }
}
