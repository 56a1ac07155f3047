import Foundation
import Testing

extension ProcessTests {
  /// What navd says of a configuration, and how its lines begin.
  @Suite struct ConfigurationCheckTests {
    private func ends(_ options: [String]) throws -> (status: Int32, errors: [String]) {
      let directory = try TestDirectory()
      let child = try Child(
        Binaries.path("navd"), options, environment: ["HOME": directory.path])
      let status = try child.ended()
      return (status, child.standardError.split(separator: "\n").map(String.init))
    }

    @Test func `check-config tells every fault of a file, each once, and no time`() throws {
      let directory = try TestDirectory()
      let text = "[limits]\ndepth = none\nnavs = 0\n[access]\nrole = ui user:nobody-here\n"
      let file = try directory.write("navd.conf", text)
      let (status, errors) = try ends(["--config", file, "--check-config"])
      #expect(status == 3)
      #expect(errors.count == 3, "\(errors)")
      for (error, line) in zip(errors, [2, 3, 5]) {
        #expect(error.hasPrefix("navd: error: \(file):\(line): ["))
      }
      let missing = try ends(["--config", "/nowhere/navd.conf", "--check-config"])
      #expect(missing.status == 3)
      #expect(
        missing.errors
          == ["navd: error: /nowhere/navd.conf: cannot open: No such file or directory"])
    }

    @Test func `a daemon that serves writes the time of every line`() throws {
      let daemon = try TestDaemon()
      #expect(try daemon.stop() == 0)
      let lines = daemon.child.standardError.split(separator: "\n")
      #expect(lines.count >= 2)
      for line in lines {
        let time = line.prefixMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z navd:/)
        #expect(time != nil, "\(line)")
      }
    }
  }
}
