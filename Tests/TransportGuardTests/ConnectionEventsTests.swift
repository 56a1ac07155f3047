import Foundation
import RuntimePaths
import Testing

@testable import TransportGuard

@Suite struct ConnectionEventsTests {
  private func isReadable(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, 0) == 1
  }

  @Test func `the descriptor is readable while there are events, whoever appends them`() throws {
    let events = Mailbox<ConnectionEvent>()
    #expect(!isReadable(events.descriptor))
    let (threads, each) = (4, 20_000)
    var seen = [Int](repeating: 0, count: threads)
    for thread in 0..<threads {
      Thread.detachNewThread {
        for number in 1...each {
          events.append(.closed(descriptor: Int32(thread), cookie: UInt64(number)))
        }
      }
    }
    while seen != Array(repeating: each, count: threads) {
      var entry = pollfd(fd: events.descriptor, events: Int16(POLLIN), revents: 0)
      let ready = unsafe poll(&entry, 1, 60_000)
      try #require(ready == 1, "no event in a minute")
      let taken = events.take()
      // Readable for nothing would keep the loop awake.
      #expect(!taken.isEmpty)
      for case .closed(let thread, let cookie) in taken {
        // Each thread's in its order.
        if Int(cookie) != seen[Int(thread)] + 1 { Issue.record("\(cookie) is out of order") }
        seen[Int(thread)] = Int(cookie)
      }
    }
    #expect(!isReadable(events.descriptor))
    #expect(events.take() == [])
  }
}
