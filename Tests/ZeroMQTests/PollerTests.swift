import Foundation
import Synchronization
import Testing
import ZeroMQ

@Suite(.timeLimit(.minutes(5)))
struct PollerTests {
  @Test func `it wakes for a descriptor and for a socket`() throws {
    let context = try Context()
    let pair = try context.socket(.pair)
    try pair.bind("inproc://poll")
    let other = try context.socket(.pair)
    try other.connect("inproc://poll")
    let (reading, writing) = try pipe()
    defer {
      close(reading)
      close(writing)
    }
    var poller = Poller()
    let socketSlot = poller.add(pair)
    let pipeSlot = poller.add(descriptor: reading)
    try expect(&poller, ready: 0, within: 0)

    unsafe write(writing, "x", 1)
    try expect(&poller, ready: 1)
    expect(poller, pipeSlot, .readable)
    expect(poller, socketSlot, [])

    try deliver(other, [[1]])
    poller.watch(pipeSlot, for: [])
    try expect(&poller, ready: 1)
    expect(poller, socketSlot, .readable)
    expect(poller, pipeSlot, [])

    poller.watch(pipeSlot, for: .readable)
    try expect(&poller, ready: 2)
    poller.remove(socketSlot)
    try expect(&poller, ready: 1)
    expect(poller, socketSlot, [])
    let reused = poller.add(other, for: .writable)
    #expect(reused == socketSlot)
    try expect(&poller, ready: 2)
    expect(poller, reused, .writable)
  }

  @Test func `descriptors alone are as those beside a socket`() throws {
    let (reading, writing) = try pipe()
    defer { close(reading) }
    var poller = Poller()
    let slot = poller.add(descriptor: reading)
    let full = poller.add(descriptor: writing, for: .writable)
    try expect(&poller, ready: 1, within: 0)
    expect(poller, slot, [])
    expect(poller, full, .writable)
    poller.remove(full)
    try expect(&poller, ready: 0, within: 0)
    unsafe write(writing, "x", 1)
    try expect(&poller, ready: 1)
    expect(poller, slot, .readable)
    poller.watch(slot, for: [])
    try expect(&poller, ready: 0, within: 0)
    poller.watch(slot, for: .readable)
    close(writing)
    try expect(&poller, ready: 1)
    expect(poller, slot, [.readable, .failed])
  }

  private func pipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    let result = unsafe Glibc.pipe(&ends)
    try #require(result == 0)
    return (ends[0], ends[1])
  }

  @Test func `a watched socket stays open`() throws {
    let context = try Context()
    let other = try context.socket(.pair)
    var poller = Poller()
    let slot = try addForgotten(context, to: &poller)
    try other.connect("inproc://forgotten")
    try deliver(other, [[1]])
    try expect(&poller, ready: 1)
    expect(poller, slot, .readable)
  }

  private func addForgotten(
    _ context: borrowing Context, to poller: inout Poller
  ) throws -> Poller.Slot {
    let pair = try context.socket(.pair)
    try pair.bind("inproc://forgotten")
    return poller.add(pair)
  }

  @Test func `a signal ends a wait early and empty`() throws {
    signal(SIGUSR2) { _ in }
    // The threads that run tests block every signal.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGUSR2)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    defer { unsafe pthread_sigmask(SIG_BLOCK, &signals, nil) }
    let waiting = pthread_self()
    let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
    let done = Flag()
    let thread = Thread {
      // A signal that arrives before the wait begins is lost, so only a sleeping thread gets one.
      while !done.value.load(ordering: .acquiring) {
        if isSleeping(path) { pthread_kill(waiting, SIGUSR2) }
        sched_yield()
      }
      done.value.store(false, ordering: .releasing)
    }
    thread.start()
    var poller = Poller()
    let (reading, writing) = try pipe()
    defer {
      close(reading)
      close(writing)
    }
    let slot = poller.add(descriptor: reading)
    let ready = try poller.wait(milliseconds: -1)
    done.value.store(true, ordering: .releasing)
    #expect(ready == 0)
    expect(poller, slot, [])
    // The thread must not signal a thread that has ended.
    while done.value.load(ordering: .acquiring) { sched_yield() }
  }
}

// A macro cannot take a noncopyable value.
private func expect(
  _ poller: inout Poller, ready: Int, within milliseconds: Int = patienceMilliseconds,
  at location: SourceLocation = #_sourceLocation
) throws {
  let count = try poller.wait(milliseconds: milliseconds)
  #expect(count == ready, sourceLocation: location)
}

private func expect(
  _ poller: borrowing Poller, _ slot: Poller.Slot, _ readiness: Readiness,
  at location: SourceLocation = #_sourceLocation
) {
  let found = poller.readiness(of: slot)
  #expect(found == readiness, sourceLocation: location)
}

private final class Flag: Sendable {
  let value = Atomic(false)
}

private func isSleeping(_ thread: String) -> Bool {
  let path = "/proc/\(thread)/stat"
  guard let status = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
  return status.contains(") S ")
}
