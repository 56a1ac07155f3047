import Navigation
import NavigationProtocol

/// Who sent a message.
struct Sender {
  var connection: ConnectionID
  var peer: Peer
}

/// An op on its way through the checks.
struct OpContext: Sendable {
  let request: OpMessage
  let key: RememberedOps.Key
  let name: String
  var sender: Sender
  var session: Int?
  var now: Instant
  /// What the history tells of the revisions that the op goes back to.
  var histories: [Revision: HistoryAnswer] = [:]
  /// Whether a delegate's silence was taken for an answer.
  var isVetoSkipped = false

  var octets: BodyHash { request.octets }
  /// What its row remembers it by.
  var author: RowAuthor {
    RowAuthor(principal: key.principal, client: key.client, op: request.id)
  }

  var isCreation: Bool { request.operations.first?.kind == .navCreate }
  var isClosing: Bool { request.operations.first?.kind == .navClose }
}

extension OpContext {
  /// What led to the revision, by the first op that says so: a button whose action pops counts as
  /// the back button.
  func cause(of outputs: [OperationOutput]) -> Cause {
    for index in outputs.indices {
      let kind = request.operations[index].kind
      if kind == .buttonActivate, case .activated = outputs[index] { continue }
      if let cause = kind.cause { return cause }
    }
    return .api
  }

  /// Whether the message makes a standalone bar.
  var createsStandaloneBar: Bool {
    if case .create(.standalone)? = request.operations.first?.arguments { true } else { false }
  }
}

extension OpContext {
  /// The form of the whole message, before any op runs: `unsupported` before `bar-managed` before
  /// `bar-delegate-managed` before `readonly`.
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
  /// Whether `formFailure` has nothing to say; the usual case, told without making anything.
  func isWellFormed(isStandalone: Bool) -> Bool {
    if case .operation = arguments { return isStandalone || !kind.isForItems }
    return formFailure(isStandalone: isStandalone) == nil
  }

  /// Why the operation is refused before any runs, on a nav of this kind.
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

  /// Why the operation makes no sense on a standalone bar.
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
