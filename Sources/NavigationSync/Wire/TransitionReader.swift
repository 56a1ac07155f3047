import Navigation

// Transitions and gestures, from clients and from the journal.

extension OperationReader {
  func transitionOperation(
    _ kind: OperationKind, _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> RequestedOperation.Arguments {
    throw ReadFailure(.unsupported, "this daemon does not know the op \(name)")
  }
}

extension RecordReader {
  /// Reads the transition as the journal keeps it.
  func storedTransition(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Transition {
    Transition()
  }
}
