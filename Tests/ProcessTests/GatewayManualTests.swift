import Foundation
import Testing

extension ProcessTests {
  @Suite struct GatewayManualTests {
    @Test func `the manual of navd-web has the options of its help, and no others`() throws {
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
