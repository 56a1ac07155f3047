import CLinux
import NavigationClient
import NavigationCore
import Testing

/// What ends or interrupts the waits of a connection.
@Suite(.timeLimit(.minutes(5))) struct ConnectionWaitTests {
  @Test func `a descriptor that can be read ends a wait without a time limit`() throws {
    let daemon = try FakeDaemon()
    defer { daemon.stop() }
    let descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    defer { close(descriptor) }
    var connection = try NavigationConnection.connect(
      to: daemon.endpoint, timeout: patience, wake: descriptor)
    try connection.openSession(timeout: patience)
    guard case .opened = try connection.next(timeout: patience) else {
      Issue.record("not opened")
      return
    }
    _ = eventfd_write(descriptor, 1)
    // As long as it is not read, every wait ends.
    for _ in 0..<2 {
      let event = try connection.next()
      #expect(event == nil)
    }
  }

  @Test func `a change that waits tells its place before its answer`() throws {
    let daemon = try FakeDaemon { received in
      guard received.verb == "op" else { return nil }
      return [
        (.queued, #"{"id":\#(received.id),"nav":"kiosk","pos":2}"#),
        (.ok, FakeNav().ok(received.id)),
      ]
    }
    defer { daemon.stop() }
    var connection = try NavigationConnection.connect(to: daemon.endpoint, timeout: patience)
    try connection.openSession(timeout: patience)
    var places: [UInt64] = []
    let reply = try connection.perform(
      OpRequest(id: 0, nav: "kiosk", onBusy: .queue),
      operations: [Array(#"{"pop":{}}"#.utf8)], timeout: patience
    ) { places.append($0) }
    #expect(places == [2])
    #expect(try reply.result.get().top == "home")
  }
}
