import Testing
import ZeroMQ

@Suite(.timeLimit(.minutes(5)))
struct MonitorTests {
  @Test func `it sees a peer come and go by the same descriptor`() throws {
    let directory = try TemporaryDirectory()
    let context = try Context()
    let router = try context.socket(.router)
    var monitor = try Monitor.start(on: router)
    try router.bind(directory.endpoint)
    let descriptor = try visit(directory.endpoint, context, router)
    let accepted = try event(&monitor, .accepted)
    #expect(accepted.value == descriptor)
    let disconnected = try event(&monitor, .disconnected)
    #expect(disconnected.value == descriptor)
  }

  /// Connects, sends and leaves; returns the descriptor the message came through.
  private func visit(
    _ endpoint: String, _ context: borrowing Context, _ router: borrowing Socket
  ) throws -> Int32? {
    let dealer = try context.socket(.dealer)
    try dealer.connect(endpoint)
    try deliver(dealer, [[1]])
    var parts = Multipart(capacity: 2)
    try receive(router, into: &parts)
    return parts[1].sourceDescriptor
  }

  @Test func `a client sees its connection made and lost`() throws {
    let directory = try TemporaryDirectory()
    let context = try Context()
    let dealer = try context.socket(.dealer)
    var monitor = try Monitor.start(on: dealer)
    do {
      let router = try context.socket(.router)
      try router.bind(directory.endpoint)
      try dealer.connect(directory.endpoint)
      _ = try event(&monitor, .connected)
    }
    _ = try event(&monitor, .disconnected)
  }

  @Test func `unread events do not stop the socket`() throws {
    let directory = try TemporaryDirectory()
    let context = try Context()
    let router = try context.socket(.router)
    var monitor = try Monitor.start(on: router)
    try router.bind(directory.endpoint)
    // Twice the default queue of 1000.
    for _ in 0..<1000 {
      _ = try visit(directory.endpoint, context, router)
    }
    var accepted = 0
    while accepted < 1000 {
      _ = try event(&monitor, .accepted)
      accepted += 1
    }
  }

  @Test func `a socket can be monitored again after its monitor ended`() throws {
    let directory = try TemporaryDirectory()
    let context = try Context()
    let router = try context.socket(.router)
    try router.bind(directory.endpoint)
    for _ in 0..<3 {
      var monitor = try Monitor.start(on: router)
      let descriptor = try visit(directory.endpoint, context, router)
      #expect(try event(&monitor, .accepted).value == descriptor)
      #expect(try event(&monitor, .disconnected).value == descriptor)
    }
  }
}
