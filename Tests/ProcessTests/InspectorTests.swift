import Foundation
import Testing

extension ProcessTests {
  /// `navd-web --inspector` and `navctl inspect`; BrowserTests have the page.
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
        Binaries.path("navd-web"),
        ["--inspector", "--endpoint", daemon.endpoint, "--page", directory.path] + more)
    }

    /// Messages that change a nav, the daemon or another session.
    private static let changing = [
      #"["op",{"id":1,"nav":"kiosk","do":[{"push":{"screen":{"id":"a"}}}]}]"#,
      #"["op",{"id":1,"nav":"kiosk","dry":true,"do":[{"pop":{}}]}]"#,
      #"["delegate",{"id":1,"nav":"kiosk","roles":["veto"]}]"#,
      #"["answer",{"ask":1,"value":true}]"#,
      #"["lease",{"id":1,"nav":"kiosk","take":true}]"#,
      #"["cluster",{"id":1,"drain":"m1","on":true}]"#,
      #"["get",{"id":1,"what":"backup"}]"#, #"["get",{"id":1,"what":"reload"}]"#,
      #"["get",{"id":1,"nav":"kiosk","what":"verify"}]"#,
    ]

    @Test func `the printed address opens a page once, and an administrator's page only reads`()
      throws
    {
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
      // The user of the daemon has the role admin: reading refusals needs it.
      let refusals = #"["get",{"id":7,"what":"refusals"}]"#
      #expect(try post("/nsp1/messages?stream=\(id)&n=2", refusals, token).1 == "200")
      try stream.says(#"["ok",{"id":7"#)
      for line in Self.changing {
        let (refusal, status) = try post("/nsp1/messages?stream=\(id)&n=3", line, token)
        #expect(status == "403" && refusal.contains("the inspector only reads"), "\(line)")
      }
      #expect(try peer.state("kiosk")["rev"]?.integer == 1)
      let get = #"["get",{"id":2,"nav":"kiosk","what":"diffs"}]"#
      #expect(try post("/nsp1/messages?stream=\(id)&n=3", get, token).1 == "200")
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
      let child = try inspector(["--page", "/nowhere"])
      #expect(try child.ended() == 1)
      #expect(child.standardError.contains("is in none of /nowhere: install navd-inspector"))
      let remote = try inspector(["--listen", "192.0.2.1:80"])
      #expect(try remote.ended() == 2)
      #expect(remote.standardError.contains("navd-web does not encrypt"))
    }

    @Test(arguments: [
      (["--inspector", "--launch", "ui"], "--launch does not go with --inspector"),
      (["--inspector", "--module", "/m.js"], "--module does not go with --inspector"),
      (["--open"], "--open needs --inspector"),
      (["--nav", "kiosk"], "--nav needs --inspector"),
    ])
    func `an option of the other purpose is refused`(options: [String], text: String) throws {
      let child = try Child(Binaries.path("navd-web"), options)
      #expect(try child.ended() == 2)
      #expect(child.standardError.contains(text), "\(child.transcript)")
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
      for program in ["navctl", "navd-web"] {
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
      try manager.removeItem(atPath: bin + "/navd-web")
      let missing = try Child(
        bin + "/navctl", ["--endpoint", daemon.endpoint, "inspect", "kiosk", "--print"],
        environment: ["PATH": bin])
      #expect(try missing.ended() == 127)
      #expect(missing.standardError.contains("install the package navd-inspector"))
    }
  }
}
