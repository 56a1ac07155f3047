import Testing

@testable import Web

/// The attacks of other pages, as requests.
@Suite struct RequestGateTests {
  private let gate = RequestGate(allowedHosts: ["Kiosk.example"])

  private func request(
    _ host: String..., origin: String? = nil, site: String? = nil
  ) -> HTTPRequest {
    HTTPRequest(method: "GET", path: "/", hosts: host, origin: origin, fetchSite: site)
  }

  @Test(arguments: [
    "localhost", "localhost:80", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:65535", "127.255.0.9:8080",
    "[::1]", "[::1]:9720", "kiosk.example", "KIOSK.example:443",
  ])
  func `a name of loopback is answered, whatever its port`(host: String) {
    #expect(gate.refusalOfHost(request(host)) == nil)
  }

  @Test(arguments: [
    "evil.test", "127.evil.test", "127.0.0.1.evil.test", "localhost6", "localhost.", "localhost:",
    "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:8x", "127.1", "127.0.0.01", "127.0.0.256",
    "0.0.0.0", "2130706433", "0x7f.0.0.1", "[::1", "::1", "[::]", "[::ffff:127.0.0.1]", "",
    "evil@127.0.0.1", "127.0.0.1/", " 127.0.0.1", "127.0.0.1 ", "kiosk.example.evil.test",
    "kiosk.exampl\u{65}\u{301}", "\u{212A}iosk.example", "128.0.0.1", "127..0.1", "127.0.0.+1",
    "127.0.0.1\u{0}", "127.0.0.1\u{0}:9720", "127.1.0.199\u{0}\u{4}", "127.0.0.1\u{7F}",
  ])
  func `another name is misdirected`(host: String) {
    #expect(gate.refusalOfHost(request(host))?.status == 421)
  }

  @Test func `none and two hosts are a bad request`() {
    #expect(gate.refusalOfHost(request())?.status == 400)
    #expect(gate.refusalOfHost(request("localhost", "localhost"))?.status == 400)
  }

  @Test(
    arguments: [
      (nil, nil), ("http://127.0.0.1:9720", nil), (nil, "same-origin"),
      ("http://127.0.0.1:9720", "same-origin"),
    ] as [(String?, String?)])
  func `a request of the page itself, or of no page, goes on`(origin: String?, site: String?) {
    #expect(gate.refusalOfOrigin(request("127.0.0.1:9720", origin: origin, site: site)) == nil)
  }

  @Test(
    arguments: [
      ("http://evil.test", nil), ("null", nil), ("", nil), ("http://127.0.0.1", nil),
      ("http://127.0.0.1:9721", "same-site"), ("http://localhost:9720", nil),
      ("https://127.0.0.1:9720", nil), ("http://127.0.0.1:9720.evil.test", nil),
      (nil, "same-site"), (nil, "cross-site"), (nil, "none"), (nil, ""),
      ("http://127.0.0.1:9720", "cross-site"),
    ] as [(String?, String?)])
  func `a request of another page is refused`(origin: String?, site: String?) {
    let refusal = gate.refusalOfOrigin(request("127.0.0.1:9720", origin: origin, site: site))
    #expect(refusal?.status == 403)
  }

  @Test func `behind a proxy the page has a secure origin`() {
    let host = "kiosk.example"
    #expect(gate.refusalOfOrigin(request(host, origin: "https://kiosk.example")) == nil)
    #expect(gate.refusalOfOrigin(request(host, origin: "https://evil.example"))?.status == 403)
  }

  private let shared = RequestGate(allowedOrigins: ["http://127.0.0.1:9721", "https://b.example"])

  @Test(
    arguments: [
      ("http://127.0.0.1:9721", nil), ("http://127.0.0.1:9721", "same-site"),
      ("https://b.example", "cross-site"), ("http://127.0.0.1:9720", "same-origin"), (nil, nil),
    ] as [(String?, String?)])
  func `a page of an allowed origin goes on, and so does the own page`(
    origin: String?, site: String?
  ) {
    #expect(shared.refusalOfOrigin(request("127.0.0.1:9720", origin: origin, site: site)) == nil)
  }

  @Test(
    arguments: [
      ("http://127.0.0.1:9721", "same-origin"), ("http://127.0.0.1:9721", "none"),
      ("http://127.0.0.1:9720", "same-site"), (nil, "same-site"), (nil, "cross-site"),
      ("http://127.0.0.1:9722", nil), ("http://127.0.0.1:9721/", nil), ("http://b.example", nil),
      ("https://b.example:443", nil), ("https://b.exampl\u{65}\u{301}", nil),
      ("http://127.0.0.1:9721, http://127.0.0.1:9721", "same-site"), ("null", "cross-site"),
    ] as [(String?, String?)])
  func `nothing else goes on because there are allowed origins`(origin: String?, site: String?) {
    let request = request("127.0.0.1:9720", origin: origin, site: site)
    #expect(shared.refusalOfOrigin(request)?.status == 403)
  }

  @Test func `an answer is shared with the exact allowed origin, and caches know it`() {
    func headers(_ gate: RequestGate, _ origin: String?) -> [[String]] {
      gate.corsHeaders(request("127.0.0.1:9720", origin: origin))
    }
    let expose = ["Access-Control-Expose-Headers", "Retry-After"]
    let vary = ["Vary", "Origin"]
    for origin in ["http://127.0.0.1:9721", "https://b.example"] {
      let allow = ["Access-Control-Allow-Origin", origin]
      #expect(headers(shared, origin) == [vary, allow, expose])
      #expect(headers(gate, origin) == [])
    }
    for origin in [nil, "http://127.0.0.1:9720", "http://evil.test", "null"] {
      #expect(headers(shared, origin) == [vary])
    }
    // A gateway may name itself, so that all of a cluster can have the same list.
    let own = RequestGate(allowedOrigins: ["http://127.0.0.1:9720"])
    #expect(headers(own, "http://127.0.0.1:9720") == [vary])
  }

  @Test(
    arguments: [
      ("POST", "authorization", true), ("POST", nil, true),
      ("POST", "authorization,nsp-stream", true), ("POST", "nsp-number", false),
      ("GET", "authorization", false),
      (nil, "authorization", false), ("POST", "authorization,x-evil", false), ("POST", "*", false),
    ] as [(String?, String?, Bool)])
  func `a preflight asks for the method of the route and the token alone`(
    method: String?, headers: String?, isPermitted: Bool
  ) {
    var asked = request("127.0.0.1:9720", origin: "https://b.example", site: "cross-site")
    asked.method = "OPTIONS"
    asked.requestedMethod = method
    asked.requestedHeaders = headers
    func permits(_ gate: RequestGate) -> Bool {
      gate.permitsPreflight(asked, method: "POST", headers: ["authorization", "nsp-stream"])
    }
    #expect(permits(shared) == isPermitted)
    #expect(!permits(gate))
    asked.origin = "http://127.0.0.1:9720"
    #expect(!permits(shared))
  }

  @Test(arguments: [
    "http://a.example", "https://a.example:8443", "http://127.0.0.1:9720", "http://[::1]:9720",
    "https://a.example:80", "http://a-b_c.example",
  ])
  func `an origin is a scheme, a name and a port that is not the usual one`(text: String) {
    #expect(RequestGate.isOrigin(text))
  }

  @Test(arguments: [
    "", "*", "null", "a.example", "http://", "http://a.example/", "http://a.example:80",
    "https://a.example:443", "http://a.example:080", "http://A.example", "HTTP://a.example",
    "http://a.example:", "http://*.example", "http://u@a.example", "http://a.example;",
    "http://a.example b", "ws://a.example", "http://\u{212A}.example", "http://a.example:0",
  ])
  func `another form is no origin`(text: String) { #expect(!RequestGate.isOrigin(text)) }

  @Test func `a refusal names what the request has, as far as people can read it`() {
    let gate = RequestGate()
    var request = HTTPRequest(
      method: "GET", path: "/", hosts: ["localhost"], origin: "http://localhost:8081")
    let named = gate.refusalOfOrigin(request)?.reason
    #expect(named?.contains("Origin is http://localhost:8081, Host is localhost;") == true)
    request.hosts = ["b\u{E9}\n" + String(repeating: "x", count: 200)]
    let host = gate.refusalOfHost(request)?.reason
    #expect(host?.hasSuffix("Host is b???" + String(repeating: "x", count: 96)) == true)
  }

  @Test(
    arguments: [
      ("Bearer abc", "abc"), ("bearer abc", "abc"), ("Basic abc", nil), ("Bearer", nil),
      ("Bearer a b", nil), ("", nil), ("abc", nil),
      ("Bearer " + String(repeating: "x", count: 600), nil),
    ] as [(String, String?)])
  func `a token comes as bearer`(header: String, token: String?) {
    let request = HTTPRequest(method: "GET", path: "/", authorization: header)
    #expect(request.token == token)
  }

  @Test(arguments: [
    ("chunked", true), ("ChunKed", true), ("chun\u{212A}ed", false), ("chunke\u{64}\u{301}", false),
  ])
  func `only an ASCII letter stands for its other case`(coding: String, isChunked: Bool) {
    #expect((Framing.fault(of: [("Transfer-Encoding", coding)]) == nil) == isChunked)
  }

  @Test func `the policy runs nothing but files of the server, and no text as script`() {
    let policy = SecurityHeaders.contentSecurityPolicy()
    for part in [
      "default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'",
      "require-trusted-types-for 'script'", "trusted-types 'none'",
    ] { #expect(policy.contains(part)) }
    #expect(!policy.contains("unsafe"))
    #expect(policy.contains("connect-src 'self';"))
    let wider = SecurityHeaders.contentSecurityPolicy(connectingTo: ["http://b", "http://a"])
    #expect(wider.contains("connect-src 'self' http://a http://b;"))
    #expect(wider.replacing(" http://a http://b", with: "") == policy)
  }
}
