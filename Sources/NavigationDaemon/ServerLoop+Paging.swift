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

  mutating func reviveReadNavs() throws {
    // A nav that has other rows by now stays dormant, and its events request it again.
    for nav in history.takeReplayedNavs() where hub.dormant(nav.request.nav) == nav.request {
      try hub.revive(nav)
    }
  }

  func startReplays(of requests: [ReloadRequest]) {
    history.startReplays(of: requests, by: hub.makeReplayer())
  }
}
