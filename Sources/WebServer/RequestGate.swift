/// The checks that keep other pages away from a server on loopback.
///
/// A page of any site can send requests to a port of this machine. A pure value.
package struct RequestGate: Hashable, Sendable {
  /// A status code and its reason.
  package struct Refusal: Hashable, Sendable {
    /// The status code.
    package var status: UInt32
    /// The reason, for people.
    package var reason: String

    init(_ status: UInt32, _ reason: String) {
      self.status = status
      self.reason = reason
    }
  }

  /// Further names that `Host` may have, lower case, for a proxy in front of the server.
  package var allowedHosts: Set<String>

  /// Makes a gate.
  package init(allowedHosts: Set<String> = []) {
    self.allowedHosts = Set(allowedHosts.map { $0.lowercased() })
  }

  /// The refusal of a request that names another host; nil if the request may go on.
  ///
  /// By a name that an attacker controls (DNS rebinding), a page of another site would count as
  /// ours. So the host must be an address of loopback, `localhost` or an allowed name.
  package func refusalOfHost(_ request: HTTPRequest) -> Refusal? {
    guard request.hosts.count == 1 else {
      return Refusal(400, "a request needs one header Host")
    }
    guard let (name, _) = Self.split(request.hosts[0]), isAllowed(name) else {
      return Refusal(
        421, "this server answers for loopback names only; --allow-host NAME permits another")
    }
    return nil
  }

  /// The refusal of a request of a page of another origin; nil if the request may go on.
  ///
  /// To be called after `refusalOfHost` only: a page can have the origin that it claims as host.
  package func refusalOfOrigin(_ request: HTTPRequest) -> Refusal? {
    guard let host = request.hosts.first else { return Refusal(400, "no header Host") }
    if let origin = request.origin {
      var allowed = ["http://" + host]
      if let (name, _) = Self.split(host), allowedHosts.contains(name.lowercased()) {
        allowed.append("https://" + host)
      }
      guard allowed.contains(origin) else {
        return Refusal(403, "requests of pages of other origins are refused")
      }
    }
    if let site = request.fetchSite, site != "same-origin" {
      return Refusal(403, "requests of pages of other sites are refused")
    }
    return nil
  }

  private func isAllowed(_ name: String) -> Bool {
    let name = name.lowercased()
    return name == "localhost" || name == "[::1]" || Self.isLoopback(name)
      || allowedHosts.contains(name)
  }

  /// Whether a name is an address in 127.0.0.0/8, in its usual form.
  static func isLoopback(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "127" else { return false }
    return parts.allSatisfy { part in
      guard let number = UInt8(part) else { return false }
      return String(number) == part
    }
  }

  /// Splits `NAME:PORT`, where the port may be left out; nil for anything else.
  static func split(_ host: String) -> (name: String, port: UInt16?)? {
    // By Unicode, the lower case of U+212A is k.
    guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
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

/// The headers that keep a page from loading and running what is not the server's own.
package enum SecurityHeaders {
  /// The value of `Content-Security-Policy`.
  package static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    + "font-src 'self'; media-src 'self'; connect-src 'self'; manifest-src 'self'; "
    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    + "require-trusted-types-for 'script'; trusted-types 'none'"

  /// The headers of every response of a server with pages.
  package static let all = [
    ["Content-Security-Policy", policy],
    ["X-Content-Type-Options", "nosniff"],
    ["Referrer-Policy", "no-referrer"],
    ["Cross-Origin-Resource-Policy", "same-origin"],
    ["Cross-Origin-Opener-Policy", "same-origin"],
  ]
}
