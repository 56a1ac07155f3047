import NavigationCore
import Testing

@testable import Web

@Suite struct TokenTableTests {
  private static let token = "abcdefghijklmnopqrstuvwxyz0123456789"

  @Test func `a launch code works once, and in its time`() {
    var table = TokenTable()
    table.add(code: "c1", for: actor("a"), at: 0)
    #expect(table.trade(code: "c1", for: "t1", at: 59_999) == actor("a"))
    #expect(table.trade(code: "c1", for: "t2", at: 59_999) == nil)
    #expect(table.actor(of: "t1", at: 60_000) == actor("a"))
    #expect(table.actor(of: "t2", at: 60_000) == nil)
    table.add(code: "c2", for: actor("a"), at: 0)
    #expect(table.trade(code: "c2", for: "t3", at: 60_000) == nil)
    table.add(code: "c3", for: actor("a"), at: 0, expires: false)
    #expect(table.trade(code: "c3", for: "t4", at: 1 << 40) == actor("a"))
    #expect(table.trade(code: "never", for: "t5", at: 0) == nil)
  }

  @Test func `a token of a code ends after twelve idle hours, one of the file never`() {
    var table = TokenTable([Self.token: actor("file")])
    table.add(code: "c", for: actor("a"), at: 0)
    _ = table.trade(code: "c", for: "t", at: 0)
    #expect(table.actor(of: "t", at: TokenTable.tokenIdleMilliseconds - 1) == actor("a"))
    #expect(table.actor(of: "t", at: 2 * TokenTable.tokenIdleMilliseconds - 2) == actor("a"))
    #expect(table.actor(of: "t", at: 3 * TokenTable.tokenIdleMilliseconds - 2) == nil)
    #expect(table.actor(of: Self.token, at: .max / 2) == actor("file"))
    table.replaceFileTokens([:])
    #expect(table.actor(of: Self.token, at: 0) == nil)
  }

  @Test func `an open stream counts as use of a launched token`() {
    var table = TokenTable()
    table.add(code: "c", for: actor("a"), at: 0)
    _ = table.trade(code: "c", for: "t", at: 0)
    table.noteUse(of: "t", at: TokenTable.tokenIdleMilliseconds - 1)
    table.noteUse(of: "never", at: 0)
    #expect(table.actor(of: "t", at: 2 * TokenTable.tokenIdleMilliseconds - 2) != nil)
    #expect(table.actor(of: "never", at: 1) == nil)
  }

  @Test func `what was made with a token of the file ends with it`() {
    var table = TokenTable(["old": actor("a"), "kept": actor("b")])
    for (code, name) in [("c1", "a"), ("c2", "a"), ("c3", "b"), ("c4", "launch")] {
      table.add(code: code, for: actor(name), at: 0)
    }
    for (code, token) in [("c1", "t1"), ("c3", "t3"), ("c4", "t4")] {
      _ = table.trade(code: code, for: token, at: 0)
    }
    table.replaceFileTokens(["new": actor("a"), "kept": actor("b")])
    #expect(table.actor(of: "old", at: 0) == nil && table.actor(of: "t1", at: 0) == nil)
    #expect(table.trade(code: "c2", for: "t2", at: 0) == nil)
    #expect(table.actor(of: "new", at: 0) == actor("a"))
    #expect(table.actor(of: "t3", at: 0) == actor("b"))
    #expect(table.actor(of: "t4", at: 0) == actor("launch"))
  }

  @Test func `the codes and tokens kept are bounded`() {
    var table = TokenTable()
    for number in 0..<3000 {
      table.add(code: "c\(number)", for: actor("a"), at: 0)
      if number < 1500 {
        _ = table.trade(code: "c\(number)", for: "t\(number)", at: UInt64(number))
      }
    }
    #expect(table.actor(of: "t0", at: 2000) == nil && table.actor(of: "t1499", at: 2000) != nil)
    #expect(table.trade(code: "c2999", for: "x", at: 1) != nil)
  }

  @Test func `an actor with many codes and tokens ends its own oldest ones only`() {
    var table = TokenTable()
    for name in ["other", "many"] {
      table.add(code: name, for: actor(name), at: 0)
      table.add(code: name + "-kept", for: actor(name), at: 0)
      _ = table.trade(code: name, for: name, at: 0)
    }
    table.add(code: "printed", for: actor("many"), at: 0, expires: false)
    for number in 1...UInt64(2000) {
      table.add(code: "c\(number)", for: actor("many"), at: number)
      _ = table.trade(code: "c\(number)", for: "t\(number)", at: number)
      table.add(code: "d\(number)", for: actor("many"), at: number)
    }
    #expect(table.actor(of: "other", at: 2000) == actor("other"))
    #expect(table.actor(of: "many", at: 2000) == nil)
    #expect(table.actor(of: "t1936", at: 2000) == nil && table.actor(of: "t1937", at: 2000) != nil)
    #expect(table.trade(code: "other-kept", for: "x", at: 2000) == actor("other"))
    #expect(table.trade(code: "many-kept", for: "y", at: 2000) == nil)
    // The code without an end is not the oldest.
    #expect(table.trade(code: "printed", for: "z", at: 2000) == actor("many"))
    #expect(table.trade(code: "d1938", for: "v", at: 2000) != nil)
  }

  @Test func `all codes and tokens together are bounded`() {
    var table = TokenTable()
    for number in 0..<UInt64(1025) {
      table.add(code: "c", for: actor("a\(number)"), at: number)
      _ = table.trade(code: "c", for: "t\(number)", at: number)
    }
    #expect(table.actor(of: "t0", at: 1025) == nil)
    #expect(table.actor(of: "t1", at: 1025) != nil && table.actor(of: "t1024", at: 1025) != nil)
  }

  @Test func `a file names who a token is for, read by default`() throws {
    let text = """
      # kiosks
      hall \(Self.token)1
      till \(Self.token)2 ui till/* $navs  # two patterns

      """
    let actors = try TokenFile.read(text)
    let hall = try #require(actors[Self.token + "1"])
    #expect(hall.name == "hall" && hall.role == .read && hall.navs.map(\.text) == ["*"])
    let till = try #require(actors[Self.token + "2"])
    #expect(till.role == .ui && till.navs.map(\.text) == ["till/*", "$navs"])
    #expect(try TokenFile.read("").isEmpty)
  }

  @Test func `a file with CRLF line ends has the same lines, and faults the same numbers`() throws {
    let lines = ["# kiosks", "hall \(Self.token)1 ui", "", "till \(Self.token)2 read till/*", ""]
    // Behind a comment, and behind a line that would take the next one as patterns of navs.
    for count in [0, 1] {
      let rest = lines.dropFirst(count)
      let actors = try TokenFile.read(rest.joined(separator: "\r\n"))
      #expect(try actors == TokenFile.read(rest.joined(separator: "\n")))
      #expect(actors[Self.token + "1"]?.navs.map(\.text) == ["*"])
      #expect(actors[Self.token + "2"]?.role == .read)
    }
    let fault = #expect(throws: TokenFile.Fault.self) {
      try TokenFile.read("# kiosks\r\n\r\nhall \(Self.token)\r\ntill short\r\n")
    }
    #expect(fault?.line == 4)
  }

  @Test func `no line has the name of pages of --launch`() throws {
    let fault = #expect(throws: TokenFile.Fault.self) {
      try TokenFile.read("hall \(Self.token)1\nlaunch \(Self.token)2 ui")
    }
    #expect(fault?.description == "line 2: launch is the name of pages of --launch; use another")
    #expect(Gateway.launchActor(role: "ui")?.name == "launch")
    #expect(try TokenFile.read("Launch \(Self.token)").count == 1)
  }

  @Test(arguments: [
    ("hall", 1), ("hall short", 1), ("# x\nha/ll \(token)", 2), ("a \(token)\na \(token)x", 2),
    ("a \(token)\nb \(token)", 2), ("a \(token)\"", 1),
    ("a \(token) ui \(String(repeating: "x", count: 257))", 1),
  ])
  func `a line of another form is named`(text: String, line: Int) {
    let fault = #expect(throws: TokenFile.Fault.self) { try TokenFile.read(text) }
    #expect(fault?.line == line)
  }
}

@Suite struct AdmissionTests {
  private static let token = "abcdefghijklmnopqrstuvwxyz0123456789"

  /// The answer to a request that is wrong in some respects.
  private func status(
    _ method: String, _ path: String, host: String = "localhost:1", origin: String? = nil,
    site: String? = nil, token: String? = AdmissionTests.token, gate: RequestGate = RequestGate()
  ) -> UInt32 {
    let actor = actor("a")
    var tokens = TokenTable([Self.token: actor])
    var request = HTTPRequest(
      method: method, path: path, hosts: [host], origin: origin, fetchSite: site,
      authorization: token.map { "Bearer \($0)" })
    request.requestedMethod = "POST"
    do throws(RequestGate.Refusal) {
      switch try Admission(request, gate, &tokens, at: 0) {
      case .admitted(let route, let found):
        #expect((found == actor) == route.needsToken)
        return 200
      case .preflight: return 204
      }
    } catch {
      #expect(!error.reason.isEmpty && (error.allowedMethods != nil) == (error.status == 405))
      return error.status
    }
  }

  @Test func `a token may come in a header of its own, for a proxy that wants the other one`() {
    var tokens = TokenTable([Self.token: actor("a")])
    func status(_ own: String, _ authorization: String?) -> Bool {
      var request = HTTPRequest(
        method: "GET", path: "/nsp1/stream", hosts: ["localhost:1"], authorization: authorization)
      request.nspHeaders = ["nsp-token": own]
      guard case .admitted? = try? Admission(request, RequestGate(), &tokens, at: 0) else {
        return false
      }
      return true
    }
    #expect(status(Self.token, "Basic cmVhZGVyOnNlY3JldA==") && status(Self.token, nil))
    // The own header decides.
    #expect(!status("wrong", "Bearer \(Self.token)") && !status("", nil))
  }

  @Test func `the first check that fails answers: host, path, method, origin, site, token`() {
    let evil = "http://evil.test"
    #expect(
      status("PUT", "/nsp1/x", host: "evil.test", origin: evil, site: "cross-site", token: nil)
        == 421)
    #expect(status("PUT", "/nsp1/x", origin: evil, site: "cross-site", token: nil) == 404)
    #expect(status("PUT", "/nsp1/stream", origin: evil, site: "cross-site", token: nil) == 405)
    #expect(status("GET", "/nsp1/stream", origin: evil, site: "same-origin", token: nil) == 403)
    #expect(status("GET", "/nsp1/stream", site: "cross-site", token: nil) == 403)
    #expect(status("GET", "/nsp1/stream", token: nil) == 401)
    #expect(status("GET", "/nsp1/stream", token: "wrong") == 401)
    #expect(status("GET", "/nsp1/stream") == 200)
  }

  @Test(arguments: ["/nsp1/stream", "/nsp1/messages", "/nsp1/code"])
  func `what is part of the protocol needs a token, and no other site`(path: String) {
    let method = path == "/nsp1/stream" ? "GET" : "POST"
    #expect(status(method, path) == 200)
    #expect(status(method, path, token: nil) == 401)
    #expect(status(method, path, site: "same-site") == 403)
  }

  @Test(arguments: ["/", "/index.html", "/navigation-client.js"])
  func `files are for any page that navigates here, without a token`(path: String) {
    #expect(status("GET", path, origin: nil, site: "cross-site", token: nil) == 200)
    #expect(status("PUT", path) == 405 && status("POST", path) == 405)
    #expect(status("GET", path, host: "evil.test") == 421)
  }

  @Test func `a preflight needs an allowed origin, its host and a route of the protocol`() {
    let other = "http://localhost:2"
    let gate = RequestGate(allowedOrigins: [other])
    func asked(
      _ path: String, _ origin: String?, host: String = "localhost:1", gate: RequestGate
    ) -> UInt32 {
      status("OPTIONS", path, host: host, origin: origin, site: "same-site", token: nil, gate: gate)
    }
    #expect(asked("/nsp1/code", other, gate: gate) == 204)
    #expect(asked("/nsp1/stream", other, gate: gate) == 405)
    #expect(asked("/nsp1/code", "http://localhost:3", gate: gate) == 405)
    #expect(asked("/nsp1/code", nil, gate: gate) == 405)
    #expect(asked("/nsp1/code", other, gate: RequestGate()) == 405)
    #expect(asked("/nsp1/code", other, host: "evil.test", gate: gate) == 421)
    #expect(asked("/nsp1/none", other, gate: gate) == 404)
    #expect(asked("/index.html", other, gate: gate) == 405)
    #expect(status("POST", "/nsp1/code", origin: other, site: "same-site", gate: gate) == 200)
    #expect(status("POST", "/nsp1/code", origin: other, token: "wrong", gate: gate) == 401)
  }

  @Test(arguments: ["/nsp1", "/nsp1/", "/nsp1/index.html", "/nsp1x", "*", "http://evil.test/"])
  func `no file can stand for a route`(path: String) {
    #expect(status("GET", path) == 404)
  }
}
