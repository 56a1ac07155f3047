import Navigation

// Presentations, standalone bars and replacements of the stack, from clients and from the journal.

extension OperationReader {
  func presentationOperation(
    _ kind: OperationKind, _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> RequestedOperation.Arguments {
    throw ReadFailure(.unsupported, "this daemon does not know the op \(name)")
  }
}

extension RecordReader {
  /// Reads the presentation chain as the journal keeps it.
  func storedPresentation(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Presentation {
    Presentation()
  }
}
