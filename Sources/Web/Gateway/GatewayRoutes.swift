import NavigationCore

/// A resource that a request can ask for (docs/protocol.md §16).
enum Route: Hashable, Sendable {
  case tokenForLaunchCode
  case newLaunchCode
  case stream
  case messages
  /// A file of the page, or one of `Gateway.Configuration.scripts`.
  case file

  /// The route of a path.
  ///
  /// A path that begins with `/nsp1` is never a file, so that no file can replace a route.
  init?(_ path: String) {
    switch path {
    case "/nsp1/token": self = .tokenForLaunchCode
    case "/nsp1/code": self = .newLaunchCode
    case "/nsp1/stream": self = .stream
    case "/nsp1/messages": self = .messages
    default:
      guard !path.hasPrefix("/nsp1"), path.hasPrefix("/") else { return nil }
      self = .file
    }
  }

  var method: String { self == .stream || self == .file ? "GET" : "POST" }

  /// Whether the route belongs to the protocol, so that pages of foreign origins may not use it.
  var isProtocol: Bool { self != .file }

  /// The headers that a page of another gateway may send, lower case.
  var allowedHeaders: [String] {
    self == .messages ? ["nsp-token", "nsp-number", "nsp-stream"] : ["nsp-token"]
  }

  var needsToken: Bool { isProtocol && self != .tokenForLaunchCode }

  /// The most octets of a body; nil if the route reads none.
  var maximumBodyBytes: Int? {
    switch self {
    case .tokenForLaunchCode: 4096
    case .messages: PageMessage.maximumPostBytes
    case .newLaunchCode: 0
    case .stream, .file: nil
    }
  }
}

/// A permitted request: its route and actor, or its preflight.
enum Admission: Hashable, Sendable {
  /// The request may proceed, for this actor if its route needs one.
  case admitted(Route, SessionActor?)
  /// The request is a preflight, and a page of its origin may send the request that it announces.
  case preflight(Route)

  /// Checks the host, path, method, origin, site and token of a request, in this order.
  init(
    _ request: HTTPRequest, _ gate: RequestGate, _ tokens: inout TokenTable, at now: UInt64
  ) throws(RequestGate.Refusal) {
    typealias Refusal = RequestGate.Refusal
    if let refusal = gate.refusalOfHost(request) { throw refusal }
    guard let route = Route(request.path) else {
      throw Refusal(404, "there is no \(request.path)")
    }
    if route.isProtocol,
      gate.permitsPreflight(request, method: route.method, headers: route.allowedHeaders)
    {
      self = .preflight(route)
      return
    }
    guard request.method == route.method else {
      let allow = route.method == "GET" ? "GET, HEAD" : route.method
      throw Refusal(405, "use \(route.method)", allowedMethods: allow)
    }
    if route.isProtocol, let refusal = gate.refusalOfOrigin(request) { throw refusal }
    guard route.needsToken else {
      self = .admitted(route, nil)
      return
    }
    guard let token = request.token, let actor = tokens.actor(of: token, at: now) else {
      throw Refusal(401, "a token is needed: NSP-Token: TOKEN, or Authorization: Bearer TOKEN")
    }
    self = .admitted(route, actor)
  }
}

/// The responses that the gateway itself makes.
enum GatewayReply {
  static func jsonObject(_ status: UInt32, _ write: (inout JSONWriter) -> Void) -> HTTPResponse {
    let body = JSONWriter.value { json in
      json.beginObject()
      write(&json)
      json.endObject()
    }
    return HTTPResponse(
      status, type: "application/json",
      headers: SecurityHeaders.all + [["Cache-Control", "no-store"]], body: body + [0x0A])
  }

  static func error(_ status: UInt32, _ reason: String) -> HTTPResponse {
    let answer = jsonObject(status) { $0.member("error", reason) }
    return status == 401 ? answer.with("WWW-Authenticate", "Bearer") : answer
  }

  static func postResult(_ verdict: PageStream.PostVerdict) -> HTTPResponse {
    switch verdict {
    case .accepted(let next): jsonObject(200) { $0.member("next", next) }
    case .ahead(let next): jsonObject(409) { $0.member("next", next) }
    case .refused(let refusal): error(refusal.status, refusal.reason)
    case .outboxFull: error(503, "navd is busy").with("Retry-After", "1")
    }
  }

  static func token(_ token: String, of actor: SessionActor) -> HTTPResponse {
    jsonObject(200) { json in
      json.member("token", token)
      json.member("name", actor.name)
      json.member("role", actor.role.name)
      json.strings("navs", actor.navs.map(\.text))
    }
  }

  /// The member `code` of a body; nil if the body is not an object with it.
  static func launchCode(in body: [UInt8]) -> String? {
    var tape = JSONTape()
    do throws(JSONError) {
      try tape.read(body, maximumDepth: 8)
    } catch {
      return nil
    }
    return tape.member("code", of: tape.root).flatMap { tape.string($0) }
  }

  static func launchCode(_ code: String) -> HTTPResponse {
    jsonObject(200) { json in
      json.member("code", code)
      json.member("seconds", TokenTable.launchCodeSeconds)
    }
  }

  /// The head of a stream.
  ///
  /// It forbids proxies to buffer or compress, because they would hold back the last message.
  static let streamHead = HTTPResponse(
    200, type: "application/x-ndjson",
    headers: SecurityHeaders.all + [
      ["Cache-Control", "no-store, no-transform"], ["X-Accel-Buffering", "no"],
    ], body: [])

  static func preflight(for route: Route) -> HTTPResponse {
    let permitted = [
      ["Access-Control-Allow-Methods", route.method],
      ["Access-Control-Allow-Headers", route.allowedHeaders.joined(separator: ", ")],
      ["Access-Control-Max-Age", "600"],
    ]
    return HTTPResponse(204, type: "text/plain", headers: SecurityHeaders.all + permitted, body: [])
  }

  /// The head of a file; a page in it may also connect to `origins`.
  static func fileHead(type: String, connectingTo origins: Set<String>) -> HTTPResponse {
    HTTPResponse(
      200, type: type,
      headers: SecurityHeaders.headers(connectingTo: origins) + [["Cache-Control", "no-cache"]],
      body: [])
  }
}
