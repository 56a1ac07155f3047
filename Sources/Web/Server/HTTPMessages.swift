import RuntimePaths

/// A request as the server received it.
struct HTTPRequest: Hashable, Sendable {
  /// The method, such as `GET`; a request with the method `HEAD` has `GET` here.
  var method: String
  /// Whether only the head of the answer is wanted: the method is `HEAD`.
  var isForHead = false
  /// The path, percent-decoded, without the query.
  var path: String
  /// The members of the query, percent-decoded; of a name that occurs twice, the last.
  var query: [String: String] = [:]
  /// The values of the header `Host`; a good request has one.
  var hosts: [String] = []
  /// The header `Origin`; several are joined by commas, so that they equal no origin.
  var origin: String?
  /// The header `Sec-Fetch-Site`; several are joined by commas.
  var fetchSite: String?
  /// The headers whose names begin with `nsp-`, by name in lower case.
  var nspHeaders: [String: String] = [:]
  var requestedMethod: String?
  var requestedHeaders: String?
  var authorization: String?
  /// Why the headers do not clearly say where the body ends; nil if they do.
  var framingFault: String?
  /// The body; empty until the application asks for it.
  var body: [UInt8] = []

  /// The token of `NSP-Token: TOKEN` or else of `Authorization: Bearer TOKEN`; nil without one.
  ///
  /// A proxy in front of the gateway may need `Authorization` for itself.
  var token: String? {
    if let token = nspHeaders["nsp-token"] { return token.utf8.count <= 512 ? token : nil }
    guard let authorization, authorization.utf8.count <= 512 else { return nil }
    let words = authorization.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].equalsIgnoringASCIICase("bearer") else { return nil }
    return String(words[1])
  }
}

/// A response whose body is known.
struct HTTPResponse: Hashable, Sendable {
  var status: UInt32
  var type: String
  /// Further headers, as name and value.
  var headers: [[String]]
  var body: [UInt8]

  init(_ status: UInt32, type: String, headers: [[String]] = [], body: [UInt8]) {
    self.status = status
    self.type = type
    self.headers = headers
    self.body = body
  }

  init(_ status: UInt32, _ line: String) {
    self.init(status, type: "text/plain; charset=utf-8", body: Array((line + "\n").utf8))
  }

  func with(_ name: String, _ value: String) -> HTTPResponse { with([[name, value]]) }

  func with(_ headers: [[String]]) -> HTTPResponse {
    var copy = self
    copy.headers += headers
    return copy
  }
}

/// What the server shall do with a request of which it has read the head, or all.
enum HTTPDecision {
  case respond(HTTPResponse)
  /// Read the body, then ask the application again; answer a body above `limit` octets with 413.
  case readBody(limit: Int)
  /// Send a file from its descriptor, which the server closes.
  case sendFile(OpenFile, HTTPResponse)
  /// Begin a response whose body goes on until the stream ends.
  case stream(ResponseStream, HTTPResponse)
}

/// The program behind a server; the server calls it on its own thread.
protocol HTTPApplication: AnyObject {
  /// Decides about a request before the server reads its body.
  func decideAfterHead(_ request: HTTPRequest) -> HTTPDecision
  /// Decides about a request with its body, after `.readBody`.
  func decideAfterBody(_ request: HTTPRequest) -> HTTPDecision
  /// The response to a request that the server itself refuses.
  func refusalResponse(_ status: UInt32, _ reason: String) -> HTTPResponse
}

/// Checks the headers that say where the body of a request ends.
enum Framing {
  /// Why the headers of a request do not say clearly where its body ends; nil if they do.
  ///
  /// If a proxy and this server disagreed about the end of a request, the rest would be another
  /// request, which the proxy has not checked (RFC 9112, §6.3). They may also disagree about a
  /// header whose name is no token (§5.1).
  static func fault(of headers: [(name: String, value: String)]) -> String? {
    guard headers.allSatisfy({ isToken($0.name) }) else {
      return "the name of a header has letters, digits and !#$%&'*+-.^_`|~"
    }
    func values(of name: String) -> [String] {
      headers.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value)
    }
    let lengths = values(of: "content-length")
    let encodings = values(of: "transfer-encoding")
    if lengths.count + encodings.count > 1 {
      return "a request has one header Content-Length or Transfer-Encoding at most"
    }
    guard encodings.allSatisfy({ $0.equalsIgnoringASCIICase("chunked") }) else {
      return "Transfer-Encoding is chunked"
    }
    return lengths.allSatisfy(isLength) ? nil : "Content-Length is a number"
  }

  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { $0.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
  }

  private static func isLength(_ value: String) -> Bool {
    (1...18).contains(value.utf8.count)
      && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}

extension StringProtocol {
  /// Whether two texts have the same octets.
  ///
  /// `==` also equates texts with other octets, such as the two forms of a letter with an accent.
  func isSame(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

  /// Whether two texts have the same octets but for the case of ASCII letters.
  ///
  /// `lowercased()` and `==` take U+212A for a K, and a proxy does not.
  func equalsIgnoringASCIICase(_ other: String) -> Bool {
    func lower(_ octet: UInt8) -> UInt8 { (0x41...0x5A).contains(octet) ? octet | 0x20 : octet }
    return utf8.elementsEqual(other.utf8) { lower($0) == lower($1) }
  }
}
