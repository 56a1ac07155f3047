import Foundation
import NavigationDaemon
import Testing

@Suite(.timeLimit(.minutes(5))) struct UnitFileTests {
  private static let tool = "/usr/bin/systemd-analyze"
  private static let directory = packageRoot.appendingPathComponent("systemd")

  /// Whether the tool is there; says so when it is not.
  private static func hasTool() -> Bool {
    if FileManager.default.isExecutableFile(atPath: tool) { return true }
    print("skipped: \(tool) is not installed")
    return false
  }

  private func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Self.tool)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }

  @Test(.enabled(if: hasTool())) func `systemd accepts the units without a warning`() throws {
    try withTemporaryDirectory { root in
      // The binary and the manual need not be installed where this runs.
      for name in ["navd.service", "navd.socket", "navd-exporter.service"] {
        let text = try String(
          contentsOf: Self.directory.appendingPathComponent(name), encoding: .utf8)
        try text.replacing("/usr/bin/navd-exporter", with: "/bin/true")
          .replacing("/usr/bin/navd", with: "/bin/true")
          .write(toFile: root + "/" + name, atomically: false, encoding: .utf8)
      }
      let (status, output) = try run([
        "verify", "--man=no", root + "/navd.service", root + "/navd.socket",
        root + "/navd-exporter.service",
      ])
      #expect(status == 0)
      #expect(output.isEmpty, "\(output)")
    }
  }

  @Test(.enabled(if: hasTool())) func `the service's exposure is at most 0.5`() throws {
    let unit = Self.directory.appendingPathComponent("navd.service").path
    let (status, output) = try run([
      "security", "--offline=true", "--no-pager", "--threshold=5", unit,
    ])
    #expect(status == 0, "\(output.suffix(200))")
  }

  @Test(.enabled(if: hasTool())) func `the exporter's exposure is at most 1.1`() throws {
    let unit = Self.directory.appendingPathComponent("navd-exporter.service").path
    let (status, output) = try run([
      "security", "--offline=true", "--no-pager", "--threshold=11", unit,
    ])
    #expect(status == 0, "\(output.suffix(200))")
  }

  @Test func `the unit does not restart what would end the same way`() throws {
    let text = try String(
      contentsOf: Self.directory.appendingPathComponent("navd.service"), encoding: .utf8)
    let final = ExitStatus.allCases.filter { !$0.isWorthRestarting }.map { "\($0.rawValue)" }
    #expect(text.contains("\nRestartPreventExitStatus=\(final.joined(separator: " "))\n"))
    #expect(!text.contains("\nPrivateUsers="))
    #expect(text.contains("\nEnvironment=NAVD_BOOT_ID=%b\n"))
    #expect(text.contains("\nRuntimeDirectoryPreserve=yes\n"))
  }
}
