/// An input of the hub.
package enum HubEvent: Sendable {
  /// A client's message, as ``ClientMessageReader`` has read it.
  case message(ConnectionID, Peer, ClientMessage)
  /// A client's message that cannot be read, with the error that answers it.
  indirect case unreadable(ConnectionID, Peer, MessageFailure)
  /// The connection is closed.
  case closed(ConnectionID)
  /// The socket takes no more for this connection; the shell keeps what it could not send.
  case blocked(ConnectionID)
  /// The socket takes messages again, and all that was kept has been sent.
  case unblocked(ConnectionID)
  /// The answer to a request for the journal's history.
  case history(HistoryAnswer)
  /// The progress of the backup.
  case backupProgress(BackupProgress)
  /// The result of the backup.
  case backup(BackupAnswer)
  /// Retention pruned the history of a nav, whose oldest readable revision is now this one.
  case floor(nav: UInt64, revision: UInt64)
  /// The journal asks for a snapshot of a nav, so that it may prune.
  case snapshotWanted(nav: UInt64)
  /// The access rules changed.
  case access(Access)
  /// The key of the connection's peer is not authorised any more.
  case revoked(ConnectionID)
  /// The time `wakeAt` has come.
  case wake
  /// The daemon is stopping.
  case stop
}

extension HubEvent {
  /// Reads a client's message: the only way from the frames of the wire to the hub.
  ///
  /// - Parameters:
  ///   - frame: the first frame behind the envelope, as in `nsp1.op`.
  ///   - body: the frame behind it, JSON.
  ///   - connection: the connection that the message came from.
  ///   - peer: the authenticated peer of the connection.
  ///   - reader: a reader with the hub's limits, see ``Hub/makeReader()``; it keeps its buffers.
  package init(
    frame: Span<UInt8>, body: Span<UInt8>, from connection: ConnectionID, _ peer: Peer,
    reader: inout ClientMessageReader
  ) {
    do {
      self = .message(connection, peer, try reader.read(frame: frame, body: body))
    } catch {
      self = .unreadable(connection, peer, error)
    }
  }

  /// Whether this is a message with an op, which may be decided while a batch is sealed.
  package var isOp: Bool {
    switch self {
    case .message(_, _, .op): true
    case .unreadable(_, _, let failure): failure.verb == .op
    default: false
    }
  }

  /// Whether this is a `get`, before which the shell must update the gauges of `Measurements`.
  package var isGet: Bool {
    if case .message(_, _, .get) = self { true } else { false }
  }
}
