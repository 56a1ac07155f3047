import FuzzSupport
import NavigationCore
import NavigationHub
@testable import Web

/// Passes a request to the rules of the gateway.
///
/// The lines are a method and a path, the headers, an empty line, and the body. The body is also read
/// as a file of tokens, as a launch code and as a post, and each header's value as an address.
///
/// Laws:
/// - Only names of loopback and allowed ones pass as hosts, and foreign pages only of allowed origins.
/// - A route that needs a token gets the actor of one of the file.
/// - A post is taken whole or not at all, and what waits is bounded.
struct HTTPTarget: FuzzTarget {
  private static let token = "0123456789abcdefghijkl"
  private static let gate = RequestGate(
    allowedHosts: ["Kiosk.example"], allowedOrigins: ["http://127.0.0.1:9721", "https://b.example"])
  private let actor: SessionActor
  private var reader = ClientMessageReader()

  init() {
    guard let actor = try? TokenFile.read("till \(Self.token) ui till/*")[Self.token] else {
      fail("the file of tokens is not read")
    }
    self.actor = actor
  }

  mutating func run(_ input: Span<UInt8>) {
    let lines = input.octets.lines
    let end = lines.firstIndex { $0.isEmpty } ?? lines.endIndex
    let body = Array(lines[end...].dropFirst().joined(separator: [0x0A]))
    let headers = lines[..<end].dropFirst().map { line in
      let name = line.prefix { $0 != 0x3A }
      let value = line.dropFirst(name.count + 1).drop { $0 == 0x20 }
      return (name: Array(name).text, value: Array(value).text)
    }
    observe(Framing.fault(of: headers) == nil ? 1 : 0)
    check(request(lines.first ?? [], headers, body))
    for (_, value) in headers { checkAddresses(value) }
    checkTokens(body)
    checkPosts(body)
    observe(GatewayReply.launchCode(in: body)?.utf8.count ?? 0)
  }

  private func request(
    _ line: ArraySlice<UInt8>, _ headers: [(name: String, value: String)], _ body: [UInt8]
  ) -> HTTPRequest {
    let words = line.split(separator: 0x20).map { Array($0).text }
    var request = HTTPRequest(method: words.first ?? "", path: words.dropFirst().first ?? "")
    func values(_ name: String) -> [String] {
      headers.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value)
    }
    func joined(_ name: String) -> String? {
      let found = values(name)
      return found.isEmpty ? nil : found.joined(separator: ", ")
    }
    request.hosts = values("host")
    request.origin = joined("origin")
    request.fetchSite = joined("sec-fetch-site")
    request.authorization = joined("authorization")
    request.requestedMethod = joined("access-control-request-method")
    request.requestedHeaders = joined("access-control-request-headers")
    if let token = joined("nsp-token") { request.nspHeaders["nsp-token"] = token }
    request.framingFault = Framing.fault(of: headers)
    request.body = body
    return request
  }

  // Admission.

  private func check(_ request: HTTPRequest) {
    var tokens = TokenTable([Self.token: actor])
    let admission: Admission
    do throws(RequestGate.Refusal) {
      admission = try Admission(request, Self.gate, &tokens, at: 1000)
    } catch {
      demand((400...499).contains(error.status), "\(error.status) \(error.reason)")
      demand(!error.reason.utf8.contains(0x0A) || error.status == 404, "a reason of two lines")
      return observe(error.status)
    }
    demand(request.hosts.count == 1 && Self.isOwn(request.hosts[0]), "\(request.hosts) is answered")
    switch admission {
    case .preflight(let route):
      demand(Self.isShared(request), "a preflight of \(request.origin ?? "nobody")")
      observe(GatewayReply.preflight(for: route).headers.count)
    case .admitted(let route, let actor):
      demand(request.method == route.method, "\(request.method) for \(route)")
      demand((actor != nil) == route.needsToken, "\(route) for \(actor?.name ?? "nobody")")
      if actor != nil { demand(request.token == Self.token, "a token that nobody has") }
      guard route.isProtocol, let origin = request.origin else { return }
      let host = request.hosts[0]
      let own = ["http://\(host)", "https://\(host)"].contains { $0.isSame(as: origin) }
      demand(own || Self.isShared(request), "a page of \(origin) at \(host)")
    }
  }

  /// Whether a host is this machine or an allowed name, read slowly.
  private static func isOwn(_ host: String) -> Bool {
    let name =
      host.utf8.split(separator: 0x3A, omittingEmptySubsequences: false).first ?? ""[...].utf8
    let lower = String(
      decoding: name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    if host.utf8.starts(with: "[::1]".utf8) { return true }
    if ["localhost", "kiosk.example"].contains(lower) { return true }
    let parts = lower.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in UInt8(part).map { String($0) == part } ?? false }
  }

  private static func isShared(_ request: HTTPRequest) -> Bool {
    request.origin.map { origin in gate.allowedOrigins.contains { $0.isSame(as: origin) } } ?? false
  }

  private func checkAddresses(_ text: String) {
    if RequestGate.isOrigin(text) {
      demand(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "the origin \(text)")
      let gate = RequestGate(allowedOrigins: [text])
      let request = HTTPRequest(
        method: "GET", path: "/nsp1/stream", hosts: ["localhost"], origin: text)
      demand(gate.refusalOfOrigin(request) == nil, "the allowed origin \(text) is refused")
    }
    do throws(ListenError) {
      let address = try ListenAddress(text, remoteRefusal: nil)
      let again = try ListenAddress(address.description, remoteRefusal: nil)
      demand(address == again, "\(address) is read as \(again)")
      if case .network(let host, _) = address {
        observe((try? ListenAddress(text, remoteRefusal: "no")) == nil ? 1 : host.utf8.count)
      }
    } catch {
      observe(error.description.utf8.count)
    }
  }

  private func checkTokens(_ body: [UInt8]) {
    do throws(TokenFile.Fault) {
      let actors = try TokenFile.read(body.text)
      for (token, actor) in actors {
        demand((22...128).contains(token.utf8.count), "the token \(token)")
        demand(actor.name != TokenFile.launchActorName, "an actor named launch")
      }
      demand(Set(actors.values.map(\.name)).count == actors.count, "one name twice")
    } catch {
      demand(error.line > 0 && error.line <= body.count + 1, "\(error)")
    }
  }

  // Posts.

  private mutating func checkPosts(_ body: [UInt8]) {
    let client = ClientID(high: 3, low: 4)
    for rights in [PageStream.Rights.ofActor, .readOnlyOfActor(client), .readOnlyOfUser(client)] {
      var stream = PageStream(id: "s", actor: actor, rights: rights, at: 1)
      var number: UInt64 = 1
      for _ in 0..<2 {
        switch stream.post(number, body, reader: &reader, at: 2) {
        case .accepted(let next):
          demand(next == number + 1, "post \(number) leads to \(next)")
          number = next
        case .ahead: fail("the next post is ahead")
        case .refused(let refusal):
          demand((400...499).contains(refusal.status), "\(refusal.status)")
        case .outboxFull: demand(number > 1, "the first post is too much")
        }
      }
      demand(stream.dueMessages.count <= 1, "messages before the welcome")
      for message in stream.dueMessages {
        demand(message.isHello, "the first message is no hello")
        checkHello(message, rights)
      }
      stream.noteSent(stream.dueMessages.count)
      observe(stream.noteDaemonLine(Array(#"["welcome",{}]"#.utf8)) == nil ? 0 : 1)
      for message in stream.dueMessages where message.isHello { checkHello(message, rights) }
      stream.noteSent(stream.dueMessages.count)
    }
  }

  /// A page speaks for its own actor only, whatever it says.
  private mutating func checkHello(_ message: PageMessage, _ rights: PageStream.Rights) {
    guard
      case .hello(let hello)? = try? reader.read(
        frame: message.frame.span, body: message.body.span)
    else { fail("a hello that navd cannot read: \(message.body.text)") }
    switch rights {
    case .ofActor: demand(hello.actor == actor, "another actor: \(message.body.text)")
    case .readOnlyOfActor(let client):
      demand(hello.actor == actor && hello.client == client, "\(message.body.text)")
    case .readOnlyOfUser(let client):
      demand(hello.actor == nil && hello.client == client, "\(message.body.text)")
    }
    demand(!hello.hasNoFlowControl, "a page without flow control")
  }
}
