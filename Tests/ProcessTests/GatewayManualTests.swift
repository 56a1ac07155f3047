import Foundation
import Testing

extension ProcessTests {
  @Suite struct GatewayManualTests {
    @Test func `the manual has the options of the help, and no others`() throws {
      let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
      let manual = try String(
        contentsOf: repository.appendingPathComponent("man/navd-web.8.scd"), encoding: .utf8)
      let child = try Child(Binaries.path("navd-web"), ["--help"])
      #expect(try child.ended() == 0)
      func options(_ text: String) -> Set<String> {
        Set(text.matches(of: /--([a-z][a-z-]+)/).map { String($0.1) })
      }
      // Examples may have the options of other programs.
      let own = manual.replacing(/```[^`]*```/, with: "")
      #expect(options(own) == options(child.standardOutput))
    }

    @Test func `--launch at a Unix socket is a usage error`() throws {
      let directory = try TestDirectory()
      let path = directory.path + "/web.sock"
      let child = try Child(
        Binaries.path("navd-web"), ["--launch", "ui", "--listen", "unix:" + path])
      #expect(try child.ended() == 2)
      #expect(child.standardError.contains("--launch needs ADDRESS:PORT"), "\(child.transcript)")
      #expect(!child.standardError.contains("open http"))
      #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(
      .enabled(if: ServiceManagerTests.hasActivator, "systemd-socket-activate is not installed"))
    func `--launch at a Unix socket of the service manager ends it with status 1`() throws {
      let directory = try TestDirectory()
      let path = directory.path + "/web.sock"
      let child = try Child(
        "/usr/bin/systemd-socket-activate",
        ["--listen=" + path, Binaries.path("navd-web"), "--launch", "ui"])
      try child.complains("Listening on ")
      let connection = try RawConnection(path)
      #expect(try child.ended() == 1, "\(child.transcript)")
      #expect(
        child.standardError.contains(
          "check ListenStream= of the socket unit: --launch needs ADDRESS:PORT"),
        "\(child.transcript)")
      withExtendedLifetime(connection) {}
    }

    @Test func `a file of tokens that others can read ends it with status 3`() throws {
      let directory = try TestDirectory()
      let tokens = directory.path + "/tokens"
      try "".write(toFile: tokens, atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: tokens)
      let arguments = ["--listen", "127.0.0.1:0", "--tokens", tokens]
      let refused = try Child(Binaries.path("navd-web"), arguments)
      #expect(try refused.ended() == 3)
      #expect(refused.standardError.contains("other users can read \(tokens)"))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: tokens)
      let served = try Child(Binaries.path("navd-web"), arguments)
      try served.complains("serving on 127.0.0.1:")
      served.kill(SIGTERM)
      #expect(try served.ended() == 0)
    }
  }
}
