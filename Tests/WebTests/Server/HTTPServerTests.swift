import Foundation
import RuntimePaths
import Testing

@testable import Web

/// An application whose answers depend on method and path.
private final class Answering: HTTPApplication {
  private let answer: (String, String) -> HTTPResponse

  init(_ answer: @escaping (String, String) -> HTTPResponse) { self.answer = answer }

  /// The most octets of a body; nil to read none.
  var bodyLimit: Int?

  func decideAfterHead(_ request: HTTPRequest) -> HTTPDecision {
    if let bodyLimit { return .readBody(limit: bodyLimit) }
    return .respond(answer(request.method, request.path))
  }

  func decideAfterBody(_ request: HTTPRequest) -> HTTPDecision {
    .respond(answer(request.method, request.path))
  }

  func refusalResponse(_ status: UInt32, _ reason: String) -> HTTPResponse {
    HTTPResponse(status, "refused: " + reason)
  }
}

/// A connection to a server that runs on the same thread.
private final class Connection {
  private let descriptor: Int32
  private(set) var received: [UInt8] = []
  private(set) var isClosed = false

  init(to address: ListenAddress) throws {
    var result: Int32 = -1
    switch address {
    case .local(let path):
      descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var name = sockaddr_un()
      name.sun_family = sa_family_t(AF_UNIX)
      unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
      let size = socklen_t(MemoryLayout<sockaddr_un>.size)
      result = unsafe withUnsafePointer(to: &name) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe connect(descriptor, $0, size)
        }
      }
    case .network(_, let port):
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_port = port.bigEndian
      name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      result = unsafe withUnsafePointer(to: &name) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe connect(descriptor, $0, size)
        }
      }
    }
    try #require(result == 0, "errno \(errno)")
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  deinit { close(descriptor) }

  func write(_ text: some Collection<UInt8>) {
    let octets = Array(text)
    _ = unsafe octets.withUnsafeBytes {
      unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
  }

  /// Reads what has arrived.
  func read() {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
      }
      if count == 0 { isClosed = true }
      guard count > 0 else { return }
      received += chunk[..<count]
    }
  }

  var text: String { String(decoding: received, as: UTF8.self) }

  /// The status lines of all responses so far.
  var statuses: [String] {
    text.split(separator: "\r\n").filter { $0.hasPrefix("HTTP/1.1 ") }
      .map { String($0.dropFirst("HTTP/1.1 ".count).prefix(3)) }
  }
}

@Suite(.timeLimit(.minutes(2))) struct HTTPServerTests {
  /// Serves until a condition holds; every turn waits for an event.
  private func serve(
    _ server: inout HTTPServer, _ connections: Connection..., until holds: () -> Bool
  ) {
    let deadline = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < deadline {
      server.run()
      for connection in connections { connection.read() }
      guard !holds() else { return }
      var entries = [
        pollfd(fd: server.pollDescriptor, events: Int16(POLLIN), revents: 0)
      ]
      _ = unsafe poll(&entries, nfds_t(entries.count), 20)
    }
    Issue.record("not served: \(connections.map(\.text))")
  }

  private func withServer(
    _ answer: @escaping (String, String) -> HTTPResponse = { HTTPResponse(200, "\($0) \($1)") },
    _ body: (inout HTTPServer) throws -> Void
  ) throws {
    let application = Answering(answer)
    var server = try HTTPServer(
      .network(address: "127.0.0.1", port: 0), application: application)
    try body(&server)
  }

  private func request(_ line: String, _ headers: String = "") -> String.UTF8View {
    "\(line) HTTP/1.1\r\nHost: x\r\n\(headers)\r\n".utf8
  }

  @Test func `an answer has its status, its type and its body, and is not kept`() throws {
    try withServer({ HTTPResponse(200, "\($0) \($1)").with("X-A", "b") }) { server in
      let client = try Connection(to: server.boundAddress)
      client.write(request("GET /livez?a=b"))
      serve(&server, client) { client.text.hasSuffix("\n") && client.text.contains("\r\n\r\n") }
      #expect(client.statuses == ["200"])
      for line in [
        "Content-Type: text/plain; charset=utf-8", "Content-Length: 11", "X-A: b",
      ] { #expect(client.text.contains("\r\n\(line)\r\n"), "\(client.text)") }
      // The query is no part of the path.
      #expect(client.text.hasSuffix("\r\n\r\nGET /livez\n"))
    }
  }

  @Test func `a connection serves one request, says so and ends`() throws {
    try withServer { server in
      let client = try Connection(to: server.boundAddress)
      client.write(Array(request("GET /a")) + Array(request("GET /b")))
      serve(&server, client) { client.isClosed }
      #expect(client.statuses == ["200"] && client.text.hasSuffix("\r\n\r\nGET /a\n"))
      #expect(client.text.contains("\r\nConnection: close\r\n"))
    }
  }

  @Test func `another method is told the one that is answered, and its body is not read`() throws {
    try withServer({ method, _ in HTTPResponse(method == "GET" ? 200 : 405, "m") }) { server in
      for head in ["POST /metrics", "PUT /metrics", "DELETE /", "OPTIONS *"] {
        let client = try Connection(to: server.boundAddress)
        client.write(request(head, "Content-Length: 1000000000\r\n"))
        serve(&server, client) { client.text.contains("\r\n\r\n") }
        #expect(client.statuses == ["405"])
      }
    }
  }

  @Test func `a request that comes octet by octet is answered at its last one`() throws {
    var asked = 0
    try withServer({ _, _ in
      asked += 1
      return HTTPResponse(200, "ok")
    }) { server in
      let client = try Connection(to: server.boundAddress)
      for octet in request("GET /x") {
        #expect(asked == 0)
        client.write([octet])
        server.run()
      }
      serve(&server, client) { client.text.hasSuffix("ok\n") }
      #expect(asked == 1)
    }
  }

  @Test func `a request with any octet changed harms nobody`() throws {
    try withServer { server in
      let head = Array(request("GET /metrics"))
      for place in head.indices {
        for octet in [0x00, 0x0A, 0xFF] as [UInt8] where head[place] != octet {
          var odd = head
          odd[place] = octet
          let client = try Connection(to: server.boundAddress)
          client.write(odd)
          server.run()
          client.read()
          #expect(client.statuses.count <= 1)
        }
      }
      let client = try Connection(to: server.boundAddress)
      client.write(request("GET /metrics"))
      serve(&server, client) { client.text.hasSuffix("GET /metrics\n") }
    }
  }

  @Test(arguments: [
    "Content-Length: 2\r\nContent-Length: 2\r\n", "Content-Length: 2\r\nContent-Length: 3\r\n",
    "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "Content-Length: +2\r\n",
    "Content-Length : 2\r\n", "Content-Length\t: 2\r\n", "Content-Length\u{B}: 2\r\n",
    "Content-Length\u{0}: 2\r\n", "Content\u{7F}-Length: 2\r\n",
    "Transfer-Encoding : chunked\r\n", "\u{FC}: a\r\n",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
    "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: identity\r\n",
    "Transfer-Encoding: \u{B}chunked\r\n", "Transfer-Encoding:\r\n",
    "Transfer-Encoding: chun\u{212A}ed\r\n",
  ])
  func `a request whose end is in doubt is refused, and nothing behind it is read`(
    headers: String
  ) throws {
    try withServer { server in
      let client = try Connection(to: server.boundAddress)
      client.write(Array(request("POST /a", headers)) + Array(request("GET /b")))
      serve(&server, client) { client.isClosed }
      // libmicrohttpd itself answers a length that is no number, with two heads.
      #expect(Set(client.statuses) == ["400"], "\(client.text)")
      #expect(!client.text.contains("GET /b"))
    }
  }

  @Test func `a zero octet in a path is not decoded`() throws {
    try withServer { server in
      let client = try Connection(to: server.boundAddress)
      client.write(request("GET /a%00/b%20c"))
      serve(&server, client) { client.isClosed }
      #expect(client.text.hasSuffix("GET /a%00/b%20c\n"), "\(client.text)")
    }
  }

  @Test func `a body that is too long is refused in the words of the application`() throws {
    let application = Answering { _, _ in HTTPResponse(200, "ok") }
    application.bodyLimit = 4
    var server = try HTTPServer(
      .network(address: "127.0.0.1", port: 0), application: application)
    let client = try Connection(to: server.boundAddress)
    client.write(Array(request("POST /", "Content-Length: 5\r\n")) + Array("12345".utf8))
    serve(&server, client) { client.isClosed }
    #expect(client.statuses == ["413"] && client.text.contains("refused: the body"))
    #expect(client.text.contains("\r\nConnection: close\r\n"))
  }

  @Test func `what a stream has sent is freed while more waits`() {
    let stream = ResponseStream()
    let piece = [UInt8](repeating: 7, count: 16_384)
    stream.send(piece)
    var room = [CChar](repeating: 0, count: piece.count)
    for _ in 0..<64 {
      stream.send(piece)
      let taken = unsafe room.withUnsafeMutableBufferPointer { buffer in
        unsafe buffer.baseAddress.map { unsafe stream.copyPending(to: $0, buffer.count) }
      }
      #expect(taken == piece.count)
    }
    #expect(stream.pendingBytes == piece.count)
    #expect(stream.bufferedBytes <= 8 * piece.count)
  }

  @Test func `a stream is drained when libmicrohttpd asks for more than there is`() {
    let stream = ResponseStream()
    var room = [CChar](repeating: 0, count: 16)
    func take() -> Int? {
      unsafe room.withUnsafeMutableBufferPointer { buffer in
        unsafe buffer.baseAddress.map { unsafe stream.copyPending(to: $0, buffer.count) }
      }
    }
    #expect(!stream.isDrained)
    stream.send([1, 2, 3])
    #expect(take() == 3 && stream.pendingBytes == 0)
    // The socket may not have taken these octets.
    #expect(!stream.isDrained)
    #expect(take() == 0 && stream.isDrained)
    stream.send([4])
    #expect(!stream.isDrained)
  }

  @Test func `a head larger than the memory of a connection is refused`() throws {
    try withServer { server in
      let client = try Connection(to: server.boundAddress)
      client.write(request("GET /\(String(repeating: "x", count: 20_000))"))
      serve(&server, client) { client.isClosed || !client.statuses.isEmpty }
      #expect(client.statuses.allSatisfy { $0.hasPrefix("4") })
    }
  }

  @Test func `the 65th connection waits until another one ends`() throws {
    try withServer { server in
      var clients: [Connection] = []
      for _ in 0..<64 {
        clients.append(try Connection(to: server.boundAddress))
        server.run()
      }
      let isFull = !server.hasRoom
      #expect(isFull)
      let late = try Connection(to: server.boundAddress)
      late.write(request("GET /late"))
      server.run()
      late.read()
      #expect(late.received.isEmpty)
      clients[0].write(request("GET /first"))
      serve(&server, clients[0]) { clients[0].text.hasSuffix("GET /first\n") }
      #expect(late.received.isEmpty)
      clients.removeFirst()
      serve(&server, late) { late.text.hasSuffix("GET /late\n") }
      withExtendedLifetime(clients) {}
    }
  }

  // libmicrohttpd 1.0 counts a connection only when it runs, and resets those beyond its own limit.
  @Test func `of a burst beyond the limit none is closed, and each is answered in its turn`() throws
  {
    var server = try HTTPServer(
      .network(address: "127.0.0.1", port: 0), maximumConnections: 8,
      application: Answering { HTTPResponse(200, "\($0) \($1)") })
    let clients = try (0..<40).map { _ in try Connection(to: server.boundAddress) }
    for client in clients { client.write(request("GET /")) }
    for client in clients {
      serve(&server, client) { client.isClosed }
      #expect(client.statuses == ["200"])
    }
  }

  @Test func `a port that is taken is refused with its address`() throws {
    try withServer { server in
      guard case .network(let address, let port) = server.boundAddress else {
        Issue.record("\(server.boundAddress)")
        return
      }
      #expect(address == "127.0.0.1" && port != 0)
      let error = #expect(throws: SystemError.self) {
        _ = try HTTPServer(
          server.boundAddress, application: Answering { _, _ in HTTPResponse(200, "") })
      }
      #expect(error?.description == "cannot listen on 127.0.0.1:\(port): Address already in use")
    }
  }

  private func withDirectory(_ body: (String) throws -> Void) throws {
    let path = NSTemporaryDirectory() + "exporter-\(UUID().uuidString.prefix(8))"
    try createPrivateDirectory(path)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  @Test func `owner and group can connect to a Unix socket, which goes with the server`() throws {
    try withDirectory { directory in
      let address = ListenAddress.local(path: directory + "/x.sock")
      do {
        let application = Answering { _, _ in HTTPResponse(200, "here") }
        var server = try HTTPServer(address, application: application)
        #expect(FileStatus.probe(directory + "/x.sock")?.kind == .socket)
        #expect(FileStatus.probe(directory + "/x.sock")?.mode == 0o660)
        #expect(server.boundAddress == address)
        let client = try Connection(to: address)
        client.write(request("GET /"))
        serve(&server, client) { client.text.hasSuffix("here\n") }
      }
      #expect(try namesInDirectory(directory) == [])
    }
  }

  @Test func `a socket whose queue is full is in use, and the probe does not wait for it`() throws {
    try withDirectory { directory in
      let address = ListenAddress.local(path: directory + "/x.sock")
      let server = try HTTPServer(address, application: Answering { _, _ in HTTPResponse(200, "") })
      // The queue of 64 is full with one more; nobody accepts them.
      let waiting = try (0..<65).map { _ in try Connection(to: address) }
      let error = #expect(throws: SystemError.self) {
        _ = try HTTPServer(address, application: Answering { _, _ in HTTPResponse(200, "") })
      }
      #expect(error?.description.hasSuffix("Address already in use") == true)
      #expect(FileStatus.probe(directory + "/x.sock")?.kind == .socket)
      withExtendedLifetime((server.boundAddress, waiting)) {}
    }
  }

  @Test func `a socket that is left behind is replaced, one in use and a file are not`() throws {
    try withDirectory { directory in
      let (path, left) = (directory + "/x.sock", directory + "/left.sock")
      do {
        let application = Answering { _, _ in HTTPResponse(200, "first") }
        var server = try HTTPServer(.local(path: path), application: application)
        #expect(FileStatus.probe(path)?.mode == 0o660)
        #expect(throws: SystemError.self) {
          _ = try HTTPServer(
            .local(path: path), application: Answering { _, _ in HTTPResponse(200, "second") })
        }
        let client = try Connection(to: .local(path: path))
        client.write(request("GET /"))
        serve(&server, client) { client.text.hasSuffix("first\n") }
        // A second name stays when the server removes its own, as after a crash.
        #expect(unsafe link(path, left) == 0)
      }
      let application = Answering { _, _ in HTTPResponse(200, "third") }
      var server = try HTTPServer(.local(path: left), application: application)
      let client = try Connection(to: .local(path: left))
      client.write(request("GET /"))
      serve(&server, client) { client.text.hasSuffix("third\n") }
    }
    try withDirectory { directory in
      try writeFileAtomically(directory + "/file", [1])
      let error = #expect(throws: SystemError.self) {
        _ = try HTTPServer(
          .local(path: directory + "/file"),
          application: Answering { _, _ in HTTPResponse(200, "") })
      }
      #expect(error?.operation == "listen on")
      #expect(try readSmallFile(directory + "/file") == [1])
    }
  }
}
