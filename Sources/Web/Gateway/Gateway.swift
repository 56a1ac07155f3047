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
    /// Whether pages only read.
    ///
    /// A launched page reads what navd permits the user of this process, other pages what navd
    /// permits the actor of their token.
    package var isInspection = false

    package init(address: ListenAddress, rules: PathRules, scripts: [String: String]) {
      self.address = address
      self.rules = rules
      self.scripts = scripts
    }
  }

  static let maximumStreams = 256

  private let configuration: Configuration
  private let log: (String) -> Void
  private let launched: (String) -> Void
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
  private var codeExpiry: UInt64?
  /// Whether the printed address is the only way to open a page.
  private var isPrivate: Bool {
    configuration.isInspection && configuration.tokenFile == nil
  }
  /// The last logged error of connecting to navd; nil after a connection.
  private var lastConnectError: String?
  private var refusals = RefusalLog()

  /// One stream with its sockets.
  private final class OpenStream {
    var rules: PageStream
    let token: String
    let response = ResponseStream()
    var link: DaemonLink?
    /// The number of attempts to connect, each of which uses the next address of navd.
    var attempts = 0

    init(_ rules: PageStream, token: String) {
      self.rules = rules
      self.token = token
    }
  }

  private init(
    _ configuration: Configuration, log: @escaping (String) -> Void,
    launched: @escaping (String) -> Void
  ) throws {
    self.configuration = configuration
    self.log = log
    self.launched = launched
    boundAddress = configuration.address
    files = try configuration.pageDirectory.map { try StaticFiles($0) }
    context = try Context()
    reader.takesActors = false
    try readTokens()
  }

  /// Serves on the calling thread until SIGTERM or SIGINT arrives; SIGHUP reads the tokens again.
  ///
  /// An inspection without tokens also stops at SIGHUP, or if nobody opens its address in time.
  /// The gateway calls `launched` with each address that opens a page once, and `ready` with the
  /// address on which it listens.
  package static func run(
    _ configuration: Configuration, log: @escaping (String) -> Void,
    launched: @escaping (String) -> Void, ready: (ListenAddress) -> Void,
    stopping: () -> Void = {}
  ) throws {
    let signals = try stopSignalDescriptor()
    _ = navd_raise_descriptor_limit()
    let gateway = try Gateway(configuration, log: log, launched: launched)
    var server = try HTTPServer(
      configuration.address, inherited: configuration.inheritedDescriptor, maximumConnections: 640,
      idleSeconds: 15, application: gateway)
    gateway.boundAddress = server.boundAddress
    ready(server.boundAddress)
    gateway.launch()
    try gateway.run(&server, signals, stopping)
  }

  private func run(
    _ server: inout HTTPServer, _ signals: Int32, _ stopping: () -> Void
  ) throws {
    let signal = poller.add(descriptor: signals)
    _ = poller.add(descriptor: server.descriptor)
    var stopAt: UInt64?
    while true {
      _ = try poller.wait(milliseconds: timeout(server.timeout, stopAt))
      var mustStop = false
      if poller.isReadable(signal) {
        mustStop = navd_next_signal(signals) != SIGHUP || isPrivate
        if !mustStop { reload() }
      }
      if let codeExpiry, codeExpiry <= now {
        log("the address was not opened within \(TokenTable.codeSeconds) s")
        self.codeExpiry = nil
        mustStop = true
      }
      if mustStop, stopAt == nil {
        stopAt = now + Self.stopMilliseconds
        stopping()
        isStopping = true
        for stream in streams.values { end(stream, .gone) }
      }
      // Requests first, then messages for both sides, then what the pages are to get.
      server.run()
      for stream in Array(streams.values) {
        do { try exchangeMessages(stream) } catch { end(stream, .gone) }
        applyDeadline(stream)
      }
      server.run()
      for stream in Array(streams.values) { removeIfOver(stream) }
      if let stopAt, streams.isEmpty || now >= stopAt { return }
    }
  }

  /// The maximum wait, at a stop, until pages have received the end of their streams.
  private static let stopMilliseconds: UInt64 = 1_000
  /// The wait before the gateway offers a message again that navd's socket did not accept.
  ///
  /// It cannot rely on the poller alone: a receive can hide that the socket accepts messages again.
  private static let resendMilliseconds: UInt64 = 10

  private var now: UInt64 { SystemClock.monotonicMilliseconds() }

  private func timeout(_ server: Int32, _ stopAt: UInt64?) -> Int {
    var next = min(stopAt ?? .max, codeExpiry ?? .max)
    for stream in streams.values {
      if mayRead(stream), stream.link?.mustRead == true { return 0 }
      if stream.link != nil, !stream.rules.dueMessages.isEmpty {
        next = min(next, now + Self.resendMilliseconds)
      }
      next = min(next, stream.rules.deadline?.at ?? .max, stream.rules.nextAttemptAt ?? .max)
    }
    guard next < .max else { return Int(server) }
    let left = Int(clamping: next - min(next, now))
    return server < 0 ? left : min(left, Int(server))
  }

  /// Prints the error that ends the program, and returns the exit status.
  ///
  /// The status is 2 for a wrong address to listen on, 3 for a file of tokens that cannot be used,
  /// else 1.
  package static func exitStatus(after error: any Error, log: (String) -> Void) -> Int32 {
    log(error is ListenError ? "usage: --listen: \(error)" : "\(error)")
    if error is ListenError { return 2 }
    return (error as? TokenFileError)?.isFailedRead == false ? 3 : 1
  }

  // Streams.

  private func openStream(
    _ actor: SessionActor, token: String, _ shared: [[String]]
  ) -> HTTPDecision {
    guard !isStopping, streams.count < Self.maximumStreams else {
      let answer = Answers.error(503, "there are too many streams").with("Retry-After", "1")
      return .respond(answer.with(shared))
    }
    let rules = PageStream(id: randomText(16), actor: actor, scope: scope(of: actor), at: now)
    let stream = OpenStream(rules, token: token)
    connect(stream)
    streams[stream.rules.id] = stream
    stream.response.send(stream.rules.openingLine)
    return .stream(stream.response, Answers.stream.with(shared))
  }

  private func scope(of actor: SessionActor) -> PageStream.Scope {
    guard configuration.isInspection else { return .actor }
    var source = SystemRandomNumberGenerator()
    let client = ClientID(high: source.next(), low: source.next())
    return actor == configuration.launchActor ? .readingUser(client) : .readingActor(client)
  }

  /// Begins to connect to navd, in place of an earlier attempt.
  ///
  /// If navd has no socket, as during its restart, the gateway retries until the stream's deadline.
  private func connect(_ stream: OpenStream) {
    close(stream)
    stream.rules.noteAttempt(at: now)
    do {
      let endpoint = try configuration.rules.clientEndpoint(option: configuration.endpoint)
      let places = endpoints(in: endpoint)
      let place = places[stream.attempts % places.count]
      stream.attempts += 1
      let identity = try NetworkIdentity.read(
        for: place, environment: configuration.rules.environment)
      stream.link = try DaemonLink.open(place, as: identity, in: context, &poller)
    } catch {
      guard lastConnectError != "\(error)" else { return }
      lastConnectError = "\(error)"
      log("\(error)")
    }
  }

  private func post(_ request: HTTPRequest) -> HTTPResponse {
    let number = request.query["n"] ?? request.nspHeaders["nsp-number"]
    guard let number = number.flatMap({ UInt64($0) }), number > 0 else {
      return Answers.error(400, "the query needs stream and n, a number from 1 on")
    }
    let id = request.query["stream"] ?? request.nspHeaders["nsp-stream"]
    guard let stream = id.flatMap({ streams[$0] }), !stream.rules.hasEnded,
      stream.token == request.token
    else { return Answers.error(410, "there is no such stream; open another") }
    let verdict = stream.rules.post(number, request.body, reader: &reader, at: now)
    do { _ = try sendDue(stream) } catch { end(stream, .gone) }
    return Answers.post(verdict)
  }

  private func mayRead(_ stream: OpenStream) -> Bool {
    stream.rules.mayReadDaemon(pending: stream.response.pending)
  }

  /// Passes the messages of a stream between page and navd.
  private func exchangeMessages(_ stream: OpenStream) throws {
    guard stream.link?.isReady(poller) == true || !stream.rules.dueMessages.isEmpty else { return }
    repeat { try receive(stream) } while try sendDue(stream)
    // An offer that navd's socket did not take may have hidden the sign of a message.
    if stream.link?.mustRead == true { try receive(stream) }
  }

  /// Sends the stream's due messages to navd; returns whether the socket accepted any.
  private func sendDue(_ stream: OpenStream) throws -> Bool {
    guard !stream.rules.dueMessages.isEmpty else { return false }
    guard let count = try stream.link?.send(stream.rules.dueMessages) else { return false }
    stream.rules.noteSent(count)
    return count > 0
  }

  /// Passes messages of navd to the page, and handles events of the connection.
  private func receive(_ stream: OpenStream) throws {
    // Messages before the event that ends their connection.
    while mayRead(stream), let line = try stream.link?.receive() {
      // An open stream counts as use of its token: a page that only shows must be able to come back.
      tokens.noteUse(of: stream.token, at: now)
      stream.response.send(line)
      if let reason = stream.rules.receive(line) { return end(stream, reason) }
    }
    while mayRead(stream), let event = try stream.link?.nextEvent() {
      switch event {
      case .connected:
        stream.rules.noteConnected()
        lastConnectError = nil
      case .lost: return end(stream, .gone)
      }
    }
  }

  /// Notes how much the page has read, connects again, and ends a stream at its deadline.
  private func applyDeadline(_ stream: OpenStream) {
    stream.rules.notePage(
      isDrained: stream.response.isDrained, taken: stream.response.taken, at: now)
    if let again = stream.rules.nextAttemptAt, again <= now { connect(stream) }
    guard let deadline = stream.rules.deadline, deadline.at <= now else { return }
    if deadline.end == .stalled { stream.response.abort() }
    end(stream, deadline.end)
  }

  /// Removes a stream that is over; pauses reading from navd while too much waits for the page.
  private func removeIfOver(_ stream: OpenStream) {
    guard stream.response.isOver else {
      stream.link?.pause(!mayRead(stream), &poller)
      return
    }
    close(stream)
    streams[stream.rules.id] = nil
  }

  private func end(_ stream: OpenStream, _ reason: PageStream.End) {
    guard !stream.rules.hasEnded else { return }
    stream.rules.noteEnd(at: now)
    if reason == .gone { stream.response.send(PageStream.goneLine) }
    stream.response.end()
    close(stream)
  }

  private func close(_ stream: OpenStream) {
    guard let link = stream.link.take() else { return }
    poller.remove(link.socketSlot)
    poller.remove(link.monitorSlot)
  }

  // Tokens.

  private func readTokens() throws(TokenFileError) {
    guard let path = configuration.tokenFile else { return }
    let (bytes, status): ([UInt8], FileStatus)
    do throws(SystemError) {
      (bytes, status) = try readFileAndStat(path)
    } catch {
      throw TokenFileError(description: error.description, isFailedRead: error.isDiskFailure)
    }
    guard status.isSecret || status.isSecretOfGroup else {
      throw TokenFileError(
        description:
          "other users can read \(path): it needs the mode 0600, or root as its owner, the "
          + "group of navd-web and the mode 0640")
    }
    do throws(TokenFile.Fault) {
      tokens.replace(try TokenFile.read(String(decoding: bytes, as: UTF8.self)))
    } catch {
      throw TokenFileError(description: "\(path), \(error)")
    }
  }

  private func reload() {
    do {
      try readTokens()
      log("read the tokens again")
      for stream in streams.values
      where tokens.actor(of: stream.token, at: now) != stream.rules.actor { end(stream, .gone) }
    } catch {
      log("the former tokens stay: \(error)")
    }
  }

  /// Makes the actor of launched pages, which has a role on all navs and may read their list.
  package static func launchActor(role: String) -> SessionActor? {
    let navs = ["*", "$navs"].compactMap { NavGlob($0) }
    guard !role.isEmpty else { return nil }
    return SessionActor(name: TokenFile.launchName, role: Role(role), navs: navs)
  }

  private func launch() {
    guard let actor = configuration.launchActor else { return }
    let code = randomText(32)
    printedCode = code
    tokens.add(code: code, for: actor, at: now, expires: isPrivate)
    if isPrivate { codeExpiry = now + TokenTable.codeSeconds * 1000 }
    launched("http://\(boundAddress)/#c=\(code)")
  }

  private func tradeCode(_ request: HTTPRequest) -> HTTPResponse {
    guard let code = Answers.code(in: request.body) else {
      return Answers.error(400, "the body is {\"code\":CODE}")
    }
    let token = randomText(32)
    guard let actor = tokens.trade(code: code, for: token, at: now) else {
      return Answers.error(401, "this launch code was used, has expired or never was")
    }
    if code == printedCode {
      codeExpiry = nil
      // One page of a private inspection is enough: it opens others by launch codes of its own.
      if !isPrivate { launch() }
    }
    return Answers.token(token, of: actor)
  }

  private func randomText(_ count: Int) -> String {
    var source = SystemRandomNumberGenerator()
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    let length = (count * 8 + 5) / 6
    return String(
      decoding: (0..<length).map { _ in letters[Int(source.next() % 64)] }, as: UTF8.self)
  }
}

/// The reason why a file of tokens is not accepted.
struct TokenFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason in one line, with the path.
  let description: String
  /// Whether the disk failed to read the file.
  var isFailedRead = false
}

extension Gateway: HTTPApplication {
  func head(_ request: HTTPRequest) -> HTTPDecision {
    let shared = sharingHeaders(request)
    do throws(RequestGate.Refusal) {
      switch try Admission(request, configuration.gate, &tokens, at: now) {
      case .preflight(let route): return .respond(Answers.preflight(for: route).with(shared))
      case .route(let route, _) where route.bodyLimit != nil:
        return .readBody(limit: route.bodyLimit ?? 0)
      case .route(.stream, let actor):
        if request.isForHead { return .respond(Answers.stream.with(shared)) }
        guard let actor, let token = request.token else {
          preconditionFailure("a stream without a token")
        }
        return openStream(actor, token: token, shared)
      case .route: return file(request.path)
      }
    } catch {
      // The cause is a foreign page, or a proxy that does not pass `Host` on.
      if error.status == 403 || error.status == 421 {
        refusals.line("\(request.method) \(request.path)", error.reason, at: now).map(log)
      }
      let answer = Answers.error(error.status, error.reason).with(shared)
      return .respond(error.allow.map { answer.with("Allow", $0) } ?? answer)
    }
  }

  /// Checks the token again, since it may have become invalid while the body arrived.
  func body(_ request: HTTPRequest) -> HTTPDecision {
    let answer: HTTPResponse
    do throws(RequestGate.Refusal) {
      switch try Admission(request, configuration.gate, &tokens, at: now) {
      case .route(.token, _): answer = tradeCode(request)
      case .route(.code, let actor?):
        let code = randomText(32)
        tokens.add(code: code, for: actor, at: now)
        answer = Answers.code(code)
      case .route(.messages, _): answer = post(request)
      case .route, .preflight: answer = Answers.error(404, "there is no \(request.path)")
      }
    } catch {
      answer = Answers.error(error.status, error.reason)
    }
    return .respond(answer.with(sharingHeaders(request)))
  }

  /// The headers that let a page of an allowed origin read the answer; none for files.
  ///
  /// A request for another host is refused before its origin is read, so its answer has none too.
  private func sharingHeaders(_ request: HTTPRequest) -> [[String]] {
    guard Route(request.path)?.isProtocol == true,
      configuration.gate.refusalOfHost(request) == nil
    else { return [] }
    return configuration.gate.sharingHeaders(request)
  }

  func refusal(_ status: UInt32, _ reason: String) -> HTTPResponse {
    Answers.error(status, reason)
  }

  private func script(_ path: String) -> HTTPDecision {
    do {
      let bytes = try readSmallFile(path)
      var answer = Answers.file(
        type: "text/javascript; charset=utf-8", connectingTo: configuration.gate.allowedOrigins)
      answer.body = bytes
      return .respond(answer)
    } catch {
      return .respond(Answers.error(404, "a script is not installed: \(error)"))
    }
  }

  private func file(_ path: String) -> HTTPDecision {
    if let script = configuration.scripts[path] { return self.script(script) }
    guard let (file, type) = files?.find(path) else {
      return .respond(Answers.error(404, "there is no \(path)"))
    }
    let origins = configuration.gate.allowedOrigins
    return .sendFile(file, Answers.file(type: type, connectingTo: origins))
  }
}
