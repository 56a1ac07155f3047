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
      let text = "[limits]\ndepth = none\nnavs = 0\n[access]\nrole = ui\n"
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

    @Test func `a user that does not exist is one warning, and keeps navd from nothing`() throws {
      let directory = try TestDirectory()
      let file = try directory.write(
        "navd.conf", "[access]\nrole = read user:nobody-here\ngateways = group:nobody-here\n")
      let warnings = [
        "2: [access] role: there is no user", "3: [access] gateways: there is no group",
      ]
      .map { "\(file):\($0) nobody-here, which gets nothing: create it and reload" }
      let check = try ends(["--config", file, "--check-config"])
      #expect(check.status == 0)
      #expect(check.errors == warnings.map { "navd: warning: " + $0 })
      let daemon = try TestDaemon(["--config", file])
      daemon.child.kill(SIGHUP)
      try daemon.child.complains("reloaded: nothing has changed")
      #expect(try daemon.stop() == 0)
      for warning in warnings {
        // At the start, and at the reload.
        #expect(daemon.child.standardError.components(separatedBy: warning).count == 3)
      }
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
