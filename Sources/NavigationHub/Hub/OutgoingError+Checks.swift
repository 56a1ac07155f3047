import NavigationCore

// Errors that several checks share, or that have more members than a code and a text.

extension OutgoingError {
  /// The error of an operation that cannot be read.
  init(_ failure: ReadFailure, at index: Int) {
    self.init(failure.code, failure.text, reason: failure.reason, index: index)
  }

  static func noSession(_ id: UInt64?) -> OutgoingError {
    OutgoingError(.noSession, id: id, "say hello first, then send it again")
  }

  static func reused(_ id: UInt64) -> OutgoingError {
    OutgoingError(.opReused, "op \(id) was used with other octets; take a new id")
  }

  static func leaseLost(to owner: String) -> OutgoingError {
    var error = OutgoingError(.leaseLost, "\(owner) holds the display")
    error.details = [("owner", JSONWriter.value { $0.string(owner) })]
    return error
  }

  /// The error of an op that must not run during a transition or question.
  ///
  /// `retryAfter` is the time left, in milliseconds; nil if unknown.
  static func inProgress(_ running: RunningTransition?, retryAfter: UInt64?) -> OutgoingError {
    var error = OutgoingError(
      .transitionInProgress,
      running.map { "transition \($0.id.number) is under way" } ?? "a delegate is being asked",
      after: retryAfter ?? 100)
    if let running {
      error.details = [("tid", JSONWriter.value { $0.integer(running.id.number) })]
    }
    return error
  }

  static var shuttingDown: OutgoingError {
    OutgoingError(.shuttingDown, "the daemon is stopping", after: 500)
  }

  static var storage: OutgoingError {
    OutgoingError(
      .storage, "the journal cannot be written; nothing was changed, reads go on", after: 1000)
  }

  /// The error of an op whose result would break invariants, which is a fault of navd.
  static func fault(_ nav: String, _ violated: [String]) -> OutgoingError {
    OutgoingError(
      .internal,
      "a fault of the daemon: \(nav) would violate \(violated.joined(separator: ", ")); nothing was "
        + "changed")
  }

  static func frozen(_ nav: String, _ fault: String) -> OutgoingError {
    OutgoingError(
      .frozen,
      "\(nav) is only read since a fault of the daemon (\(fault)): close it, or restart "
        + "the daemon, which verifies it", after: 5000)
  }

  /// The error of a read whose answer would exceed the largest message.
  static func tooLarge(_ id: UInt64, _ count: Int, limit: Int) -> OutgoingError {
    OutgoingError(
      .limit, id: id,
      "the reply has \(count) octets, more than \(limit); use a watch, or a smaller limit",
      reason: "size")
  }

  /// The error about a revision that the history does not have any more, or not yet.
  static func compacted(
    _ wanted: Revision, _ id: UInt64, _ entry: borrowing NavEntry
  ) -> OutgoingError {
    let isFuture = wanted > entry.revision
    let text =
      isFuture
      ? "revision \(wanted.number) does not exist yet: the newest is \(entry.revision.number)"
      : "revisions \(entry.floor.number) to \(entry.revision.number) can be read"
    var error = OutgoingError(.compacted, id: id, text)
    error.namesFutureRevision = isFuture
    let floor = entry.floor.number
    error.details = [("floor", JSONWriter.value { $0.integer(floor) })]
    error.standing = entry.standing
    return error
  }
}
