import CMicroHTTPD

/// The checks that keep foreign pages away from a server on loopback.
///
/// Without them, a page of any site could send requests to a port of this machine.
package struct RequestGate: Hashable, Sendable {
  /// A status code and its reason; for 405, with the methods that are allowed.
  struct Refusal: Error, Hashable, Sendable {
    var status: UInt32
    var reason: String
    var allowedMethods: String?

    init(_ status: UInt32, _ reason: String, allowedMethods: String? = nil) {
      (self.status, self.reason, self.allowedMethods) = (status, reason, allowedMethods)
    }
  }

  /// Further names that `Host` may have, lower case, for a proxy in front of the server.
  var allowedHosts: Set<String>
  /// The origins of other servers whose pages may use the protocol of this one.
  package var allowedOrigins: Set<String>

  package init(allowedHosts: Set<String> = [], allowedOrigins: Set<String> = []) {
    self.allowedHosts = Set(allowedHosts.map { $0.lowercased() })
    self.allowedOrigins = allowedOrigins
  }

  /// The refusal of a request that names another host; nil if the request may go on.
  ///
  /// The host must be a loopback address, `localhost` or an allowed name. Any other name may be one
  /// that an attacker has pointed to this machine (DNS rebinding).
  func refusalOfHost(_ request: HTTPRequest) -> Refusal? {
    guard request.hosts.count == 1 else { return Refusal(400, "a request needs one header Host") }
    guard let (name, _) = Self.split(request.hosts[0]), isAllowedHost(name) else {
      return Refusal(
        421,
        "this server answers for loopback names only; --allow-host NAME permits another; "
          + "Host is \(Self.printable(request.hosts[0]))")
    }
    return nil
  }

  /// The refusal of a request of a page of another origin; nil if the request may go on.
  ///
  /// Call it only after `refusalOfHost`, which rules out a host that an attacker chose.
  func refusalOfOrigin(_ request: HTTPRequest) -> Refusal? {
    guard request.hosts.count == 1 else { return Refusal(400, "no header Host") }
    let isShared = allowedForeignOrigin(of: request) != nil
    guard request.origin == nil || isShared || isOwnOrigin(of: request) else {
      return Refusal(
        403,
        "requests of pages of other origins are refused; Origin is \(Self.printable(request.origin)), "
          + "Host is \(Self.printable(request.hosts[0])); a proxy must pass Host on, with its port")
    }
    // What a browser says of the site must fit to the origin, by which the answer is shared.
    let sites: Set = isShared ? ["same-site", "cross-site"] : ["same-origin"]
    guard request.fetchSite.map(sites.contains) ?? true else {
      return Refusal(
        403,
        "requests of pages of other sites are refused; Sec-Fetch-Site is "
          + Self.printable(request.fetchSite))
    }
    return nil
  }

  /// The first 100 octets of a header for a message, with question marks for all but ASCII.
  private static func printable(_ value: String?) -> String {
    String(
      decoding: (value ?? "absent").utf8.prefix(100).map { octet in
        (0x20...0x7E).contains(octet) ? octet : UInt8(ascii: "?")
      }, as: UTF8.self)
  }

  /// Whether a request is a preflight for what a page of an allowed origin may send to a route.
  ///
  /// Call it only after `refusalOfHost`.
  func permitsPreflight(_ request: HTTPRequest, method: String, headers: [String]) -> Bool {
    guard request.method == "OPTIONS", allowedForeignOrigin(of: request) != nil,
      refusalOfOrigin(request) == nil
    else { return false }
    let asked = (request.requestedHeaders ?? "").split(separator: ",")
    return request.requestedMethod == method
      && asked.allSatisfy { name in headers.contains { $0.isSame(as: name) } }
  }

  /// The headers that let a page of an allowed origin read the answer to a request.
  ///
  /// The answer differs by the header `Origin`, so caches must keep one answer for each origin.
  func corsHeaders(_ request: HTTPRequest) -> [[String]] {
    guard !allowedOrigins.isEmpty else { return [] }
    let vary = [["Vary", "Origin"]]
    guard let origin = allowedForeignOrigin(of: request) else { return vary }
    return vary + [
      ["Access-Control-Allow-Origin", origin], ["Access-Control-Expose-Headers", "Retry-After"],
    ]
  }

  /// The allowed origin that a request comes from; nil for its own origin and for any other.
  private func allowedForeignOrigin(of request: HTTPRequest) -> String? {
    guard let origin = request.origin, allowedOrigins.contains(where: { $0.isSame(as: origin) }),
      !isOwnOrigin(of: request)
    else { return nil }
    return origin
  }

  private func isOwnOrigin(of request: HTTPRequest) -> Bool {
    guard let origin = request.origin, let host = request.hosts.first else { return false }
    if origin.isSame(as: "http://" + host) { return true }
    guard let (name, _) = Self.split(host), allowedHosts.contains(name.lowercased()) else {
      return false
    }
    return origin.isSame(as: "https://" + host)
  }

  /// Whether a text is an origin as a browser writes it in the header `Origin`.
  ///
  /// Another form of the same origin would never be equal to that header.
  package static func isOrigin(_ text: String) -> Bool {
    for (scheme, port) in [("http://", 80 as UInt16), ("https://", 443)]
    where text.hasPrefix(scheme) {
      let host = String(text.dropFirst(scheme.count))
      guard let (name, given) = split(host), given != port, given != 0 else { return false }
      if let given, host != "\(name):\(given)" { return false }
      let letters =
        name.hasPrefix("[") ? "[]:0123456789abcdef" : "-.0123456789_abcdefghijklmnopqrstuvwxyz"
      return name.utf8.allSatisfy(letters.utf8.contains)
    }
    return false
  }

  private func isAllowedHost(_ name: String) -> Bool {
    let name = name.lowercased()
    return unsafe navd_is_loopback(name) == 1 || name == "localhost" || name == "[::1]"
      || allowedHosts.contains(name)
  }

  /// Splits `NAME:PORT`, where the port may be left out; nil for anything else.
  static func split(_ host: String) -> (name: String, port: UInt16?)? {
    // By Unicode, the lower case of U+212A is k. C reads an address up to a zero byte only.
    guard host.utf8.allSatisfy({ 0x20 < $0 && $0 < 0x7F }) else { return nil }
    let end: String.Index
    if host.hasPrefix("[") {
      guard let bracket = host.firstIndex(of: "]") else { return nil }
      end = host.index(after: bracket)
    } else {
      end = host.firstIndex(of: ":") ?? host.endIndex
    }
    let name = String(host[..<end])
    let rest = host[end...]
    guard !name.isEmpty else { return nil }
    if rest.isEmpty { return (name, nil) }
    let digits = rest.dropFirst()
    guard rest.first == ":", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = UInt16(digits)
    else { return nil }
    return (name, port)
  }
}

/// The headers that forbid a page to load or run what comes from another server.
enum SecurityHeaders {
  /// The value of `Content-Security-Policy` for a page that may also connect to `origins`.
  static func contentSecurityPolicy(connectingTo origins: Set<String> = []) -> String {
    let connections = (["'self'"] + origins.sorted()).joined(separator: " ")
    return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
      + "font-src 'self'; media-src 'self'; connect-src \(connections); manifest-src 'self'; "
      + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
      + "require-trusted-types-for 'script'; trusted-types 'none'"
  }

  static let all = headers()

  /// The security headers of a page that may also connect to `origins`.
  static func headers(connectingTo origins: Set<String> = []) -> [[String]] {
    [
      ["Content-Security-Policy", contentSecurityPolicy(connectingTo: origins)],
      ["X-Content-Type-Options", "nosniff"],
      ["Referrer-Policy", "no-referrer"],
      ["Cross-Origin-Resource-Policy", "same-origin"],
      ["Cross-Origin-Opener-Policy", "same-origin"],
    ]
  }
}
