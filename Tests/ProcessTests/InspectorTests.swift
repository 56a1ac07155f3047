import Foundation
import Testing

extension ProcessTests {
  /// navd-inspector and `navctl inspect`; BrowserTests have the page.
  @Suite struct InspectorTests {
    private let directory: TestDirectory
    private let daemon: TestDaemon

    init() throws {
      directory = try TestDirectory()
      daemon = try TestDaemon(["--durability", "relaxed"])
      try "<!DOCTYPE html><title>page</title>".write(
        toFile: directory.path + "/index.html", atomically: false, encoding: .utf8)
    }

    private func inspector(_ more: [String] = []) throws -> Child {
      try Child(
        Binaries.path("navd-inspector"),
        ["--endpoint", daemon.endpoint, "--page", directory.path] + more)
    }

    /// Whether a file has a text somewhere.
    private func file(_ path: String, has text: String) throws -> Bool {
      let data = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
      return data.range(of: Data(text.utf8)) != nil
    }

    @Test func `navd-inspector links no module that writes operations`() throws {
      let inspector = Binaries.path("navd-inspector")
      // As Swift mangles the names of modules, in symbols and in metadata.
      for module in ["17NavigationReplica", "16NavigationClient", "13NavctlSupport"] {
        #expect(try !file(inspector, has: module), "\(module)")
        // The check can fail: this program has them.
        #expect(try file(Binaries.path("navctl"), has: module), "\(module)")
      }
      #expect(try file(inspector, has: "17NavigationGateway"))
    }

    @Test func `the printed address opens a page once, and its page cannot change a nav`() throws {
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      let child = try inspector(["--nav", "a/b c"])
      try child.says("http://127.0.0.1:")
      let url = child.standardOutput.prefix { !$0.isNewline }
      #expect(url.hasSuffix("&nav=a%2Fb%20c"))
      let parts = url.split(separator: "/#c=")
      let code = try #require(parts.last?.split(separator: "&").first)
      let address = try #require(parts.first)
      func post(_ path: String, _ body: String, _ token: String? = nil) throws -> (String, String) {
        let authorization = token.map { ["--header", "Authorization: Bearer \($0)"] } ?? []
        let curl = try Child(
          "/usr/bin/curl",
          ["--silent", "--write-out", " %{http_code}", "--data-binary", body] + authorization
            + [address + path])
        #expect(try curl.ended() == 0)
        let words = curl.standardOutput.split(separator: " ")
        return (words.dropLast().joined(separator: " "), String(words.last ?? ""))
      }
      let (answer, status) = try post("/nsp1/token", #"{"code":"\#(code)"}"#)
      #expect(status == "200")
      let json = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
      let token = try #require(json?["token"] as? String)
      #expect(try post("/nsp1/token", #"{"code":"\#(code)"}"#).1 == "401")
      let stream = try Child(
        "/usr/bin/curl",
        [
          "--silent", "--no-buffer", "--header", "Authorization: Bearer \(token)",
          "\(address)/nsp1/stream",
        ])
      try stream.says("[\"stream\"")
      let id = try #require(stream.standardOutput.firstMatch(of: /"id":"([^"]+)"/)?.1)
      let hello =
        #"["hello",{"ver":[1,1],"client":"6f1c0f5e9a7d4c52b0d3c6c1f5a2e9d1","name":"page","nonce":"n"}]"#
      #expect(try post("/nsp1/messages?stream=\(id)&n=1", hello, token).1 == "200")
      try stream.says(#"["welcome""#)
      // The rights are those of the caller, whom the kernel names.
      #expect(stream.standardOutput.contains(#""uid":\#(getuid())"#))
      #expect(!stream.standardOutput.contains(#""actor""#))
      let push = #"["op",{"id":1,"nav":"kiosk","do":[{"push":{"screen":{"id":"a"}}}]}]"#
      let (refusal, forbidden) = try post("/nsp1/messages?stream=\(id)&n=2", push, token)
      #expect(forbidden == "403" && refusal.contains("the inspector only reads: it sends no op"))
      let get = #"["get",{"id":2,"nav":"kiosk","what":"diffs"}]"#
      #expect(try post("/nsp1/messages?stream=\(id)&n=2", get, token).1 == "200")
      try stream.says(#"["ok",{"id":2"#)
      #expect(stream.standardOutput.contains(#""kind":"created""#))
      // Without tokens in a file, nobody but its caller needs it: the end of the terminal ends it.
      child.kill(SIGHUP)
      #expect(try child.ended() == 0)
      #expect(try stream.ended() == 0)
      #expect(stream.standardOutput.hasSuffix("[\"gone\",{}]\n"))
    }

    @Test func `with tokens it prints no address, and SIGHUP reads them again`() throws {
      let tokens = directory.path + "/tokens"
      try "".write(toFile: tokens, atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: tokens)
      let child = try inspector(["--tokens", tokens])
      try child.complains("serving on 127.0.0.1:")
      child.kill(SIGHUP)
      try child.complains("read the tokens again")
      child.kill(SIGTERM)
      #expect(try child.ended() == 0)
      #expect(child.standardOutput.isEmpty)
    }

    @Test func `a missing page and an address of other machines are errors that say what to do`()
      throws
    {
      let child = try Child(
        Binaries.path("navd-inspector"), ["--endpoint", daemon.endpoint, "--page", "/nowhere"])
      #expect(try child.ended() == 1)
      #expect(child.standardError.contains("is in none of /nowhere: install navd-inspector"))
      let remote = try inspector(["--listen", "192.0.2.1:80"])
      #expect(try remote.ended() == 2)
      #expect(remote.standardError.contains("navd-inspector does not encrypt"))
    }

    @Test func `navctl inspect starts it, with the nav and the endpoint`() throws {
      let share = directory.path + "/share/navd/inspector"
      let bin = directory.path + "/bin"
      let manager = FileManager.default
      for path in [share, bin] {
        try manager.createDirectory(atPath: path, withIntermediateDirectories: true)
      }
      try manager.copyItem(
        atPath: directory.path + "/index.html", toPath: share + "/index.html")
      for program in ["navctl", "navd-inspector"] {
        try manager.copyItem(atPath: Binaries.path(program), toPath: "\(bin)/\(program)")
      }
      let child = try Child(
        bin + "/navctl", ["--endpoint", daemon.endpoint, "inspect", "kiosk", "--print"])
      try child.says("&nav=kiosk")
      child.kill(SIGTERM)
      #expect(try child.ended() == 0)
      // A browser that prints the file that it gets.
      try "#!/bin/sh\nexec cat \"$1\"\n".write(
        toFile: bin + "/xdg-open", atomically: false, encoding: .utf8)
      try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: bin + "/xdg-open")
      for (desktop, options) in [
        ("DISPLAY", []), ("WAYLAND_DISPLAY", []), ("DISPLAY", ["--print"]),
      ]
        as [(String, [String])]
      {
        let child = try Child(
          bin + "/navctl", ["--endpoint", daemon.endpoint, "inspect", "kiosk"] + options,
          environment: [
            "PATH": bin + ":/usr/bin:/bin", "XDG_RUNTIME_DIR": directory.path, desktop: "x",
          ])
        try child.says("&nav=kiosk\n")
        let address = child.standardOutput.prefix { $0 != "\n" }.replacing("&", with: "&amp;")
        let page = "content=\"0;url=\(address)\">\n"
        if options.isEmpty { try child.says(page) }
        child.kill(SIGTERM)
        #expect(try child.ended() == 0)
        #expect(child.standardOutput.contains(page) == options.isEmpty)
      }
      try manager.removeItem(atPath: bin + "/navd-inspector")
      let missing = try Child(
        bin + "/navctl", ["--endpoint", daemon.endpoint, "inspect", "kiosk", "--print"],
        environment: ["PATH": bin])
      #expect(try missing.ended() == 127)
      #expect(missing.standardError.contains("install the package navd-inspector"))
    }
  }
}
