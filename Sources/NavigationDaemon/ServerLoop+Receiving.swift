import NavigationProtocol
import NavigationHub
import RuntimePaths
import TransportGuard

// Messages that have arrived.

extension ServerLoop {
  /// Takes what has arrived, up to a bound; returns whether there was anything.
  ///
  /// `isAwaited` says that there was nothing when the router was last read.
  mutating func receiveMessages(isAwaited: Bool) throws -> Bool {
    var count = 0
    while count < Self.messagesPerTurn, batches.mayReceive {
      guard try router.receive() else { break }
      count += 1
      batches.noteReceived(router.receivedBytes)
      takeMessage()
      // To look in vain costs two calls of the kernel, so where messages come one at a time each is
      // handled without looking for more. What has come meanwhile is found in the next turn.
      if count == 1, isAwaited, polling.comeOneByOne { return true }
    }
    if count > 0 { polling.noteReceived(count, isAwaited: isAwaited) }
    return count > 0
  }

  // A function of its own, so that its instructions can be counted by its name.
  @inline(never)
  private mutating func takeMessage() {
    // Read here, where messages are received: the hub goes over those at hand without a reader's
    // code and buffers in the processor's caches between two of them.
    if let event = router.readEvent(&messageReader, access.control) { batches.append(event) }
  }

  /// Looks for messages for as long as it is cheaper than to sleep; returns whether there are any.
  ///
  /// Not while the writer has batches, whose thread needs the processor, nor while there is
  /// something else to do.
  mutating func lookForMessages() throws -> Bool {
    guard batches.areDurable, batches.atHand.isEmpty, router.events.isEmpty else { return false }
    let start = SystemClock.monotonicNanoseconds()
    polling.beginWait(at: start)
    let limit = polling.limit
    var last = start
    while last - start < limit {
      if try receiveMessages(isAwaited: true) {
        polling.endWait(at: SystemClock.monotonicNanoseconds())
        return true
      }
      let now = SystemClock.monotonicNanoseconds()
      guard polling.goesOn(afterLook: now - last) else { return false }
      last = now
    }
    return false
  }
}
