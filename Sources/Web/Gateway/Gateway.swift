import CLinux
import ZeroMQ
package import NavigationCore
import NavigationHub
package import RuntimePaths

/// The gateway between pages and navd: it carries messages, and decides nothing about navigation.
///
/// One thread does everything. `TokenTable`, `Admission` and `PageStream` decide; this shell owns
/// sockets, files and clocks.
package final class Gateway {
  /// The configuration of a gateway.
  package struct Configuration {
    package var address: ListenAddress
    /// The listening socket of the service manager; nil to open one.
    package var inheritedDescriptor: Int32?
    /// The address of navd, which need not run yet, or several, separated by commas; nil to find it
    /// by `rules`.
    package var endpoint: String?
    package var rules: PathRules
    package var gate = RequestGate()
    package var tokenFile: String?
    package var pageDirectory: String?
    /// The script files by URL path; they precede the files of the page directory.
    package var scripts: [String: String]
    /// The actor of pages opened by a printed launch code; nil to print none.
    package var launchActor: SessionActor?
    /// Whether the gateway refuses messages of pages that change anything.
    ///
    /// A page with a launch code reads what navd permits the user of this process, other pages what
    /// navd permits the actor of their token.
    package var isReadOnly = false

    package init(address: ListenAddress, rules: PathRules, scripts: [String: String]) {
      self.address = address
      self.rules = rules
      self.scripts = scripts
    }
  }

  static let maximumStreams = 256

  private let configuration: Configuration
  private let log: (String) -> Void
  private let reportLaunchAddress: (String) -> Void
  private let files: StaticFiles?
  private let context: Context
  private var tokens = TokenTable()
  private var poller = Poller()
  private var streams: [String: OpenStream] = [:]
  private var reader = ClientMessageReader(maximumBytes: PageMessage.maximumLineBytes)
  private var boundAddress: ListenAddress
  private var isStopping = false
  /// The launch code that the gateway printed last; nil without `launchActor`.
  private var printedCode: String?
  /// When the printed code expires; nil if it never does, or a page has used it.
  private var printedCodeExpiresAt: UInt64?
  /// Whether the printed address is the only way to open a page.
  private var opensOnlyByLaunchCode: Bool {
    configuration.isReadOnly && configuration.tokenFile == nil
  }
  /// The last logged error of connecting to navd; nil after a connection.
  private var lastConnectError: String?
  private var refusals = RefusalLog()

  /// One stream with its sockets.
  private final class OpenStream {
    var state: PageStream
    let token: String
    let response = ResponseStream()
    var link: DaemonLink?
    /// The number of attempts to connect, each of which uses the next address of navd.
    var connectAttempts = 0

    init(_ state: PageStream, token: String) {
      self.state = state
      self.token = token
    }
  }

  private init(
    _ configuration: Configuration, log: @escaping (String) -> Void,
    launched reportLaunchAddress: @escaping (String) -> Void
  ) throws {
    self.configuration = configuration
    self.log = log
    self.reportLaunchAddress = reportLaunchAddress
    boundAddress = configuration.address
    files = try configuration.pageDirectory.map { try StaticFiles($0) }
    context = try Context()
    reader.readsActors = false
    try loadTokenFile()
  }

  /// Serves on the calling thread until SIGTERM or SIGINT arrives; SIGHUP reads the tokens again.
  ///
  /// An inspection without tokens also stops at SIGHUP, or if nobody opens its address in time.
  /// The gateway calls `launched` with each address that opens a page once, and `ready` with the
  /// address on which it listens.
  package static func run(
    _ configuration: Configuration, log: @escaping (String) -> Void,
    launched reportLaunchAddress: @escaping (String) -> Void, ready: (ListenAddress) -> Void,
    stopping: () -> Void = {}
  ) throws {
    let signals = try stopSignalDescriptor()
    _ = navd_raise_descriptor_limit()
    let gateway = try Gateway(configuration, log: log, launched: reportLaunchAddress)
    var server = try HTTPServer(
      configuration.address, inherited: configuration.inheritedDescriptor, maximumConnections: 640,
      idleSeconds: 15, application: gateway)
    gateway.boundAddress = server.boundAddress
    ready(server.boundAddress)
    gateway.issueLaunchCode()
    try gateway.run(&server, signals, stopping)
  }

  private func run(_ server: inout HTTPServer, _ signals: Int32, _ stopping: () -> Void) throws {
    let signal = poller.add(descriptor: signals)
    _ = poller.add(descriptor: server.pollDescriptor)
    var stopAt: UInt64?
    while true {
      _ = try poller.wait(milliseconds: pollMilliseconds(server.timeoutMilliseconds, stopAt))
      var mustStop = false
      if poller.isReadable(signal) {
        mustStop = navd_next_signal(signals) != SIGHUP || opensOnlyByLaunchCode
        if !mustStop { reloadTokens() }
      }
      if let printedCodeExpiresAt, printedCodeExpiresAt <= now {
        log("the address was not opened within \(TokenTable.launchCodeSeconds) s")
        self.printedCodeExpiresAt = nil
        mustStop = true
      }
      if mustStop, stopAt == nil {
        stopAt = now + Self.maximumStopMilliseconds
        stopping()
        isStopping = true
        for stream in streams.values { end(stream, .navdGone) }
      }
      // Requests first, then messages for both sides, then what the pages are to get.
      server.run()
      for stream in Array(streams.values) {
        do { try exchangeMessages(stream) } catch { end(stream, .navdGone) }
        applyDeadline(stream)
      }
      server.run()
      for stream in Array(streams.values) { removeIfOver(stream) }
      if let stopAt, streams.isEmpty || now >= stopAt { return }
    }
  }

  /// The maximum wait, at a stop, until pages have received the end of their streams.
  private static let maximumStopMilliseconds: UInt64 = 1_000
  /// The wait before the gateway offers a message again that navd's socket did not accept.
  ///
  /// The poller alone is not enough: after a receive, it may not report that the socket accepts
  /// messages again.
  private static let resendMilliseconds: UInt64 = 10

  private var now: UInt64 { SystemClock.monotonicMilliseconds() }

  private func pollMilliseconds(_ serverTimeout: Int32, _ stopAt: UInt64?) -> Int {
    var next = min(stopAt ?? .max, printedCodeExpiresAt ?? .max)
    for stream in streams.values {
      if mayReadFromDaemon(stream), stream.link?.mustReadUnsignalled == true { return 0 }
      if stream.link != nil, !stream.state.dueMessages.isEmpty {
        next = min(next, now + Self.resendMilliseconds)
      }
      next = min(next, stream.state.deadline?.at ?? .max, stream.state.nextConnectAt ?? .max)
    }
    guard next < .max else { return Int(serverTimeout) }
    let left = Int(clamping: next - min(next, now))
    return serverTimeout < 0 ? left : min(left, Int(serverTimeout))
  }

  /// Prints the error that ends the program, and returns the exit status.
  ///
  /// The status is 2 for a wrong address to listen on, 3 for a file of tokens that cannot be used,
  /// else 1.
  package static func exitStatus(after error: any Error, log: (String) -> Void) -> Int32 {
    log(error is ListenError ? "usage: --listen: \(error)" : "\(error)")
    if error is ListenError { return 2 }
    return (error as? TokenFileError)?.isDiskFailure == false ? 3 : 1
  }

  // Streams.

  private func openStream(
    _ actor: SessionActor, token: String, _ corsHeaders: [[String]]
  ) -> HTTPDecision {
    guard !isStopping, streams.count < Self.maximumStreams else {
      let answer = GatewayReply.error(503, "there are too many streams").with("Retry-After", "1")
      return .respond(answer.with(corsHeaders))
    }
    let state = PageStream(id: randomText(16), actor: actor, rights: rights(of: actor), at: now)
    let stream = OpenStream(state, token: token)
    connectToDaemon(stream)
    streams[stream.state.id] = stream
    stream.response.send(stream.state.openingLine)
    return .stream(stream.response, GatewayReply.streamHead.with(corsHeaders))
  }

  private func rights(of actor: SessionActor) -> PageStream.Rights {
    guard configuration.isReadOnly else { return .ofActor }
    var source = SystemRandomNumberGenerator()
    let client = ClientID(high: source.next(), low: source.next())
    return actor == configuration.launchActor ? .readOnlyOfUser(client) : .readOnlyOfActor(client)
  }

  /// Begins to connect to navd, in place of an earlier attempt.
  ///
  /// If navd has no socket, as during its restart, the gateway retries until the stream's deadline.
  private func connectToDaemon(_ stream: OpenStream) {
    closeDaemonLink(stream)
    stream.state.noteConnectAttempt(at: now)
    do {
      let endpoint = try configuration.rules.clientEndpoint(option: configuration.endpoint)
      let places = endpoints(in: endpoint)
      let place = places[stream.connectAttempts % places.count]
      stream.connectAttempts += 1
      let identity = try NetworkIdentity.read(
        for: place, environment: configuration.rules.environment)
      stream.link = try DaemonLink.open(place, as: identity, in: context, &poller)
    } catch {
      guard lastConnectError != "\(error)" else { return }
      lastConnectError = "\(error)"
      log("\(error)")
    }
  }

  private func acceptPost(_ request: HTTPRequest) -> HTTPResponse {
    let number = request.query["n"] ?? request.nspHeaders["nsp-number"]
    guard let number = number.flatMap({ UInt64($0) }), number > 0 else {
      return GatewayReply.error(400, "the query needs stream and n, a number from 1 on")
    }
    let id = request.query["stream"] ?? request.nspHeaders["nsp-stream"]
    guard let stream = id.flatMap({ streams[$0] }), !stream.state.hasEnded,
      stream.token == request.token
    else { return GatewayReply.error(410, "there is no such stream; open another") }
    let verdict = stream.state.post(number, request.body, reader: &reader, at: now)
    do { _ = try sendDueMessages(stream) } catch { end(stream, .navdGone) }
    return GatewayReply.postResult(verdict)
  }

  private func mayReadFromDaemon(_ stream: OpenStream) -> Bool {
    stream.state.mayReadDaemon(backlog: stream.response.pendingBytes)
  }

  /// Passes the messages of a stream between page and navd.
  private func exchangeMessages(_ stream: OpenStream) throws {
    guard stream.link?.mustRead(poller) == true || !stream.state.dueMessages.isEmpty else { return }
    repeat { try receiveFromDaemon(stream) } while try sendDueMessages(stream)
    // An offer that navd's socket did not take may have hidden the sign of a message.
    if stream.link?.mustReadUnsignalled == true { try receiveFromDaemon(stream) }
  }

  /// Sends the stream's due messages to navd; returns whether the socket accepted any.
  ///
  /// Without a connection it would accept them too, and lose them with the attempt.
  private func sendDueMessages(_ stream: OpenStream) throws -> Bool {
    guard stream.state.isConnected, !stream.state.dueMessages.isEmpty else { return false }
    guard let count = try stream.link?.send(stream.state.dueMessages) else { return false }
    stream.state.noteSent(count)
    return count > 0
  }

  /// Passes messages of navd to the page, and handles events of the connection.
  private func receiveFromDaemon(_ stream: OpenStream) throws {
    // Messages before the event that ends their connection.
    while mayReadFromDaemon(stream), let line = try stream.link?.receiveLine() {
      // An open stream counts as use of its token: a page that only shows must be able to come back.
      tokens.noteUse(of: stream.token, at: now)
      stream.response.send(line)
      if let reason = stream.state.noteDaemonLine(line) { return end(stream, reason) }
    }
    while mayReadFromDaemon(stream), let event = try stream.link?.nextEvent() {
      switch event {
      case .connected:
        stream.state.noteConnected()
        lastConnectError = nil
      case .lost: return end(stream, .navdGone)
      }
    }
  }

  /// Notes how much the page has read, connects again, and ends a stream at its deadline.
  private func applyDeadline(_ stream: OpenStream) {
    stream.state.notePageProgress(
      isDrained: stream.response.isDrained, bytesTaken: stream.response.takenBytes, at: now)
    if let again = stream.state.nextConnectAt, again <= now { connectToDaemon(stream) }
    guard let deadline = stream.state.deadline, deadline.at <= now else { return }
    if deadline.end == .pageStalled { stream.response.abort() }
    end(stream, deadline.end)
  }

  /// Removes a stream that is over; pauses reading from navd while too much waits for the page.
  private func removeIfOver(_ stream: OpenStream) {
    guard stream.response.isOver else {
      stream.link?.pause(!mayReadFromDaemon(stream), &poller)
      return
    }
    closeDaemonLink(stream)
    streams[stream.state.id] = nil
  }

  private func end(_ stream: OpenStream, _ reason: PageStream.End) {
    guard !stream.state.hasEnded else { return }
    stream.state.noteEnd(at: now)
    if reason == .navdGone { stream.response.send(PageStream.goneLine) }
    stream.response.end()
    closeDaemonLink(stream)
  }

  private func closeDaemonLink(_ stream: OpenStream) {
    guard let link = stream.link.take() else { return }
    poller.remove(link.socketSlot)
    poller.remove(link.monitorSlot)
  }

  // Tokens.

  private func loadTokenFile() throws(TokenFileError) {
    guard let path = configuration.tokenFile else { return }
    let (bytes, status): ([UInt8], FileStatus)
    do throws(SystemError) {
      (bytes, status) = try readFileAndStat(path)
    } catch {
      throw TokenFileError(description: error.description, isDiskFailure: error.isDiskFailure)
    }
    guard status.isSecret || status.isSecretOfGroup else {
      throw TokenFileError(
        description:
          "other users can read \(path): it needs the mode 0600, or root as its owner, the "
          + "group of navd-web and the mode 0640")
    }
    do throws(TokenFile.Fault) {
      tokens.replaceFileTokens(try TokenFile.read(String(decoding: bytes, as: UTF8.self)))
    } catch {
      throw TokenFileError(description: "\(path), \(error)")
    }
  }

  private func reloadTokens() {
    do {
      try loadTokenFile()
      log("read the tokens again")
      for stream in streams.values
      where tokens.actor(of: stream.token, at: now) != stream.state.actor { end(stream, .navdGone) }
    } catch {
      log("the former tokens stay: \(error)")
    }
  }

  /// Makes the actor of launched pages, which has a role on all navs and may read their list.
  package static func launchActor(role: String) -> SessionActor? {
    let navs = ["*", "$navs"].compactMap { NavGlob($0) }
    guard !role.isEmpty else { return nil }
    return SessionActor(name: TokenFile.launchActorName, role: Role(role), navs: navs)
  }

  private func issueLaunchCode() {
    guard let actor = configuration.launchActor else { return }
    let code = randomText(32)
    printedCode = code
    tokens.add(code: code, for: actor, at: now, expires: opensOnlyByLaunchCode)
    if opensOnlyByLaunchCode { printedCodeExpiresAt = now + TokenTable.launchCodeSeconds * 1000 }
    reportLaunchAddress("http://\(boundAddress)/#c=\(code)")
  }

  private func tradeCode(_ request: HTTPRequest) -> HTTPResponse {
    guard let code = GatewayReply.launchCode(in: request.body) else {
      return GatewayReply.error(400, "the body is {\"code\":CODE}")
    }
    let token = randomText(32)
    guard let actor = tokens.trade(code: code, for: token, at: now) else {
      return GatewayReply.error(401, "this launch code was used, has expired or never was")
    }
    if code == printedCode {
      printedCodeExpiresAt = nil
      // One page of a private inspection is enough: it opens others by launch codes of its own.
      if !opensOnlyByLaunchCode { issueLaunchCode() }
    }
    return GatewayReply.token(token, of: actor)
  }

  private func randomText(_ randomOctets: Int) -> String {
    var source = SystemRandomNumberGenerator()
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    let length = (randomOctets * 8 + 5) / 6
    return String(
      decoding: (0..<length).map { _ in letters[Int(source.next() % 64)] }, as: UTF8.self)
  }
}

/// The reason why a file of tokens is not accepted.
struct TokenFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason in one line, with the path.
  let description: String
  /// Whether the disk failed to read the file.
  var isDiskFailure = false
}

extension Gateway: HTTPApplication {
  func decideAfterHead(_ request: HTTPRequest) -> HTTPDecision {
    let shared = corsHeaders(request)
    do throws(RequestGate.Refusal) {
      switch try Admission(request, configuration.gate, &tokens, at: now) {
      case .preflight(let route): return .respond(GatewayReply.preflight(for: route).with(shared))
      case .admitted(let route, _) where route.maximumBodyBytes != nil:
        return .readBody(limit: route.maximumBodyBytes ?? 0)
      case .admitted(.stream, let actor):
        if request.isForHead { return .respond(GatewayReply.streamHead.with(shared)) }
        guard let actor, let token = request.token else {
          preconditionFailure("a stream without a token")
        }
        return openStream(actor, token: token, shared)
      case .admitted: return serveFile(request.path)
      }
    } catch {
      // The cause is a foreign page, or a proxy that does not pass `Host` on.
      if error.status == 403 || error.status == 421 {
        refusals.lineToLog("\(request.method) \(request.path)", error.reason, at: now).map(log)
      }
      let answer = GatewayReply.error(error.status, error.reason).with(shared)
      return .respond(error.allowedMethods.map { answer.with("Allow", $0) } ?? answer)
    }
  }

  /// Checks the token again, since it may have become invalid while the body arrived.
  func decideAfterBody(_ request: HTTPRequest) -> HTTPDecision {
    let answer: HTTPResponse
    do throws(RequestGate.Refusal) {
      switch try Admission(request, configuration.gate, &tokens, at: now) {
      case .admitted(.tokenForLaunchCode, _): answer = tradeCode(request)
      case .admitted(.newLaunchCode, let actor?):
        let code = randomText(32)
        tokens.add(code: code, for: actor, at: now)
        answer = GatewayReply.launchCode(code)
      case .admitted(.messages, _): answer = acceptPost(request)
      case .admitted, .preflight: answer = GatewayReply.error(404, "there is no \(request.path)")
      }
    } catch {
      answer = GatewayReply.error(error.status, error.reason)
    }
    return .respond(answer.with(corsHeaders(request)))
  }

  /// The headers that let a page of an allowed origin read the answer; none for files.
  ///
  /// The gateway refuses a request for another host before it reads the origin: no such headers.
  private func corsHeaders(_ request: HTTPRequest) -> [[String]] {
    guard Route(request.path)?.isProtocol == true,
      configuration.gate.refusalOfHost(request) == nil
    else { return [] }
    return configuration.gate.corsHeaders(request)
  }

  func refusalResponse(_ status: UInt32, _ reason: String) -> HTTPResponse {
    GatewayReply.error(status, reason)
  }

  private func serveScript(_ path: String) -> HTTPDecision {
    do {
      let bytes = try readSmallFile(path)
      var answer = GatewayReply.fileHead(
        type: "text/javascript; charset=utf-8", connectingTo: configuration.gate.allowedOrigins)
      answer.body = bytes
      return .respond(answer)
    } catch {
      return .respond(GatewayReply.error(404, "a script is not installed: \(error)"))
    }
  }

  private func serveFile(_ path: String) -> HTTPDecision {
    if let script = configuration.scripts[path] { return serveScript(script) }
    guard let (file, type) = files?.find(path) else {
      return .respond(GatewayReply.error(404, "there is no \(path)"))
    }
    let origins = configuration.gate.allowedOrigins
    return .sendFile(file, GatewayReply.fileHead(type: type, connectingTo: origins))
  }
}
