/// The connection and the peer that sent a message.
struct Sender {
  var connection: ConnectionID
  var peer: Peer
}

/// An op on its way through the checks, with its sender and its session.
struct OpContext: Sendable {
  let request: OpMessage
  let key: RememberedOps.Key
  let name: String
  var sender: Sender
  var session: Int?
  var now: Instant
  /// What the history tells of the revisions that the op goes back to.
  var histories: [Revision: HistoryAnswer] = [:]
  /// Whether a veto answer is missing, and the nav's settings allow the op then.
  var isVetoSkipped = false

  var octets: BodyHash { request.octets }
  /// The key by which the op's row lets a start remember the op.
  var author: RowAuthor {
    RowAuthor(principal: key.principal, client: key.client, op: request.id)
  }

  var isCreation: Bool { request.operations.first?.kind == .navCreate }
  var isClosing: Bool { request.operations.first?.kind == .navClose }
}

extension OpContext {
  /// The cause of the revision: that of the first operation that has one.
  ///
  /// A button whose action pops counts as the back button.
  func cause(of outputs: [OperationOutput]) -> Cause {
    assert(outputs.count <= request.operations.count)
    for index in outputs.indices {
      let kind = request.operations[index].kind
      if kind == .buttonActivate, case .activated = outputs[index] { continue }
      if let cause = kind.cause { return cause }
    }
    return .api
  }

  /// Whether the message creates a standalone bar.
  var createsStandaloneBar: Bool {
    if case .create(.standalone)? = request.operations.first?.arguments { true } else { false }
  }
}

extension OpContext {
  /// Checks the form of all operations before any of them runs.
  ///
  /// Errors take precedence in this order: `unsupported`, `bar-managed`, `bar-delegate-managed`,
  /// `readonly`.
  func checkForm(isStandalone: Bool) throws(Hub.OpFailure) {
    guard request.operations.contains(where: { !$0.isWellFormed(isStandalone: isStandalone) })
    else { return }
    let operations = request.operations
    for code: ErrorCode in [.unsupported, .barManaged, .barDelegateManaged, .readonly] {
      for (index, operation) in operations.enumerated() {
        guard let failure = operation.formFailure(isStandalone: isStandalone), failure.code == code
        else { continue }
        throw Hub.OpFailure(OutgoingError(failure, at: index))
      }
    }
  }
}

extension RequestedOperation {
  /// Whether `formFailure` is nil; in the usual case found without making an error.
  func isWellFormed(isStandalone: Bool) -> Bool {
    if case .operation = arguments { return isStandalone || !kind.isForItems }
    return formFailure(isStandalone: isStandalone) == nil
  }

  /// The error of an operation that is refused before any runs, by the kind of nav; nil for none.
  func formFailure(isStandalone: Bool) -> ReadFailure? {
    if kind.isForItems, !isStandalone {
      return ReadFailure(
        .barManaged,
        "cannot call \(kind.name) directly on a bar managed by a controller; use push, pop or "
          + "setStack")
    }
    guard case .unreadable(let failure) = arguments else { return nil }
    return isStandalone && standaloneFailure != nil ? nil : failure
  }

  /// The error of an operation that a standalone bar does not have; nil if it has it.
  var standaloneFailure: ReadFailure? {
    guard kind.suitsStandaloneBars else {
      return ReadFailure(.invalidArgument, "\(kind.name) is not for a nav of kind bar")
    }
    guard case .unreadable(let failure) = arguments, failure.code == .barDelegateManaged else {
      return nil
    }
    return ReadFailure(.invalidArgument, "a bar's delegate registers by the verb delegate")
  }
}
