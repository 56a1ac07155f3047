import NavigationCore

/// The connection and the peer that sent a message.
struct Sender: Sendable {
  var connection: ConnectionID
  var peer: Peer
}

/// An op on its way through the checks, with its sender and its session.
struct OpContext: Sendable {
  let request: OpMessage
  let client: OpClient
  var sender: Sender
  var session: SessionSlot?
  var now: Instant
  /// The history's answers about the revisions to which the op reverts.
  var histories: [Revision: HistoryAnswer] = [:]
  /// Whether the op runs without a veto delegate's answer, which the nav's settings allow.
  var isVetoSkipped = false

  var octets: BodyHash { request.bodyHash }
  /// The key by which the hub remembers the op.
  var key: RememberedOps.Key { client.key }
  var shard: Shard { client.key.shard }
  /// The name that the client gave itself; empty for none.
  var name: String { client.author.name }
  /// The key in the op's row, by which a restarted daemon remembers the op.
  var author: RowAuthor {
    RowAuthor(client.author, client: key.client, op: request.id)
  }

  var isCreation: Bool { !request.kinds.areOrdinary && request.kinds.first == .navCreate }
  var isAboutAppearance: Bool { request.nav == NavName.appearance.text }
  var isClosing: Bool { !request.kinds.areOrdinary && request.kinds.first == .navClose }
  var createsStandaloneBar: Bool {
    if case .create(.standalone) = request.operation(0).arguments { true } else { false }
  }
}

extension OpContext {
  /// Checks the form of all operations before the first operation runs.
  ///
  /// Errors take precedence in this order: `unsupported`, `bar-managed`, `bar-delegate-managed`,
  /// `readonly`.
  func checkForm(isStandalone: Bool) throws(Hub.OpFailure) {
    // What `isWellFormed` says of each operation of nearly all messages.
    if request.areDecodedWithoutSender, request.kinds.areOrdinary { return }
    guard
      request.kinds.indices.contains(where: {
        !request.operation($0).isWellFormed(isStandalone: isStandalone)
      })
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
