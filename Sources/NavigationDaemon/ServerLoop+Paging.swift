import NavigationCore
import NavigationHub
import TransportGuard

// Dormant navs: paging is an asynchronous event, never a read in the loop.
//
// Nothing was decided about a held event, as if its message had not been received yet. So a stop, a
// reload of the configuration and a backup do not wait for it, and a rollback does not concern it.

extension ServerLoop {
  /// Takes an answer and navs from the history thread, and the events that waited for these navs.
  mutating func takeAnswers() throws {
    // One in a turn: to make what the client gets from it can take some milliseconds. None while peers owe
    // too much; the navs are always taken, because behind a full `pageIns` navd receives nothing.
    if !router.peersOweTooMuch, let answer = history.takeAnswer() {
      batches.append(.history(answer))
    }
    let log = log
    let requests = try history.takeFinishedReplays {
      log(.error, "\($0); navd tries again", kind: .journalFailed)
    }
    // Before the loop decides whether it must stand still for the events at hand.
    if !requests.isEmpty { batches.insertFirst(pageIns.release(requests)) }
  }

  /// Revives the navs that have been read, and holds the events that must wait for other dormant
  /// navs.
  ///
  /// The batches in flight meet no dormant nav, even if their events are handled again. Their
  /// events have passed this function already, and no nav becomes dormant while a batch is in
  /// flight.
  mutating func pageIn() throws {
    // In the batch of the events that waited, because a fault of the nav is noted there. A nav that
    // has other rows by now stays dormant, and its events request it again.
    for nav in history.takeReplayedNavs() where hub.dormant(nav.request.nav) == nav.request {
      try hub.revive(nav)
    }
    // Most turns hold nothing, and so copy no event.
    var first = 0
    while first < batches.atHand.count, pageIns.isEmpty || first < batches.retriedCount,
      hub.dormant(for: batches.atHand[first]) == nil
    {
      first += 1
    }
    guard first < batches.atHand.count else { return }
    for received in batches.takeAtHand(from: first)
    where !pageIns.hold(received, for: hub.dormant(for: received.event)) {
      batches.putBack(received)
    }
    let requests = pageIns.takeRequests()
    if !requests.isEmpty { history.startReplays(of: requests, by: hub.makeReplayer()) }
  }
}
