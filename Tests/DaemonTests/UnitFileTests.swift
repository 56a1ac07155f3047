import ChildProcess
import Foundation
import Testing

@testable import NavigationDaemon

@Suite(.timeLimit(.minutes(5))) struct UnitFileTests {
  private static let tool = "/usr/bin/systemd-analyze"
  private static let directory = packageRoot.appendingPathComponent("systemd")
  private static let services = ["navd.service", "user/navd.service"]

  /// Whether the tool is there; says so when it is not.
  private static func hasTool() -> Bool {
    if FileManager.default.isExecutableFile(atPath: tool) { return true }
    print("skipped: \(tool) is not installed")
    return false
  }

  private func run(_ arguments: [String], home: String = "/nonexistent") throws
    -> (status: Int32, output: String)
  {
    let output = try ChildOutput(
      of: Self.tool, arguments,
      environment: ["HOME": home, "XDG_RUNTIME_DIR": home, "PATH": "/usr/bin:/bin"],
      withErrors: true)
    return (output.status, output.text)
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: Self.directory.appendingPathComponent(name), encoding: .utf8)
  }

  /// Puts units into a directory, as they would be installed where this runs: neither the binaries
  /// nor the manual need be there.
  private func install(_ names: [String], into root: String) throws {
    for name in names {
      let file = root + "/" + (name.split(separator: "/").last.map(String.init) ?? name)
      let programs = try text(name).replacing("/usr/bin/navd-exporter", with: "/bin/true")
        .replacing("/usr/bin/navd-web", with: "/bin/true")
        .replacing("/usr/bin/navd", with: "/bin/true")
        .replacing("/usr/bin/navctl", with: "/bin/true")
      try programs.write(toFile: file, atomically: false, encoding: .utf8)
    }
  }

  /// Puts what `navd-tcp enable` gives the service beside it, as its drop-in.
  private func addDropIn(_ root: String) throws {
    let directory = root + "/navd.service.d"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: false)
    try text("navd-tcp.conf")
      .write(toFile: directory + "/navd-tcp.conf", atomically: false, encoding: .utf8)
  }

  @Test(.enabled(if: hasTool())) func `systemd accepts the units without a warning`() throws {
    try withTemporaryDirectory { root in
      let names = [
        "navd.service", "navd.socket", "navd-exporter.service", "navd-web.service",
        "navd-web.socket", "navd-inspector.service", "examples/navd-client.service",
      ]
      try install(names, into: root)
      try addDropIn(root)
      let files = names.map { root + "/" + ($0.split(separator: "/").last.map(String.init) ?? $0) }
      let (status, output) = try run(["verify", "--man=no"] + files, home: root)
      #expect(status == 0)
      #expect(output.isEmpty, "\(output)")
    }
  }

  @Test(.enabled(if: hasTool())) func `systemd accepts a user's units without a warning`() throws {
    try withTemporaryDirectory { root in
      try install(["user/navd.service", "user/navd.socket"], into: root)
      let (status, output) = try run(
        ["verify", "--user", "--man=no", root + "/navd.service", root + "/navd.socket"], home: root)
      #expect(status == 0)
      #expect(output.isEmpty, "\(output)")
    }
  }

  @Test(.enabled(if: hasTool()), arguments: [(false, 5), (true, 11)])
  func `the service's exposure is at most 0.5, and 1.1 with TCP`(tcp: Bool, tenths: Int) throws {
    try withTemporaryDirectory { root in
      try install(["navd.service"], into: root)
      if tcp { try addDropIn(root) }
      let (status, output) = try run([
        "security", "--offline=true", "--no-pager", "--threshold=\(tenths)", root + "/navd.service",
      ])
      #expect(status == 0, "\(output.suffix(200))")
      let level = output.firstMatch(of: /exposure level for navd.service: ([0-9.]+)/)?.1
      print("exposure\(tcp ? " with TCP" : ""): \(level ?? "not said")")
      // The drop-in was read, if there is one.
      #expect(((level.flatMap { Double($0) } ?? 0) > 0.5) == tcp)
    }
  }

  @Test(
    .enabled(if: hasTool()),
    arguments: [
      ("navd-exporter.service", 11), ("navd-web.service", 5),
      ("navd-inspector.service", 11),
    ])
  func `the exporter's exposure is at most 1.1, the gateway's 0.5`(
    name: String, tenths: Int
  ) throws {
    let unit = Self.directory.appendingPathComponent(name).path
    let (status, output) = try run([
      "security", "--offline=true", "--no-pager", "--threshold=\(tenths)", unit,
    ])
    #expect(status == 0, "\(output.suffix(200))")
  }

  @Test(arguments: services)
  func `the unit does not restart what would end the same way`(name: String) throws {
    let final: [NavigationDaemon.ExitStatus] = [
      .usage, .configuration, .journalDamaged, .journalFormat,
    ]
    let words = final.map { "\($0.rawValue)" }.joined(separator: " ")
    #expect(try text(name).contains("\nRestartPreventExitStatus=\(words)\n"))
  }

  @Test(arguments: services)
  func `the unit restarts everything else, however often, and has a limit of memory`(name: String)
    throws
  {
    let lines = Set(try text(name).split(separator: "\n"))
    for line in ["Restart=always", "RestartSec=100ms", "StartLimitIntervalSec=0", "MemoryMax=1G"] {
      #expect(lines.contains(Substring(line)))
    }
    // Without it libzmq aborts where the filter refuses what it asks for.
    #expect(lines.contains("SystemCallFilter=~sched_setscheduler:0"))
  }

  @Test("rule 10: the service of a cluster reaches the server, and tells passwords to nobody")
  func clusterService() throws {
    let unit = try text("navd-cluster.service").split(separator: "\n")
    let ways = ["PrivateNetwork=yes", "IPAddressDeny="]
    #expect(!unit.contains { line in ways.contains { line.hasPrefix($0) } })
    #expect(unit.contains("RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6"))
    #expect(!unit.contains { $0.hasPrefix("Exec") && $0.contains("host=") })
    // Its own file, so that navd on the same machine stays without a network.
    #expect(unit.contains("ExecStart=/usr/bin/navd-cluster --config /etc/navd/cluster.conf"))
    #expect(try text("navd.service").contains("\nPrivateNetwork=yes\n"))
  }

  @Test func `the service keeps identities, the kernel's boot and the socket`() throws {
    let lines = Set(try text("navd.service").split(separator: "\n"))
    #expect(!lines.contains { $0.hasPrefix("PrivateUsers=") })
    #expect(lines.contains("Environment=NAVD_BOOT_ID=%b"))
    #expect(lines.contains("RuntimeDirectoryPreserve=yes"))
  }

  @Test func `the gateway listens by its socket only, and has a limit of memory`() throws {
    let lines = Set(try text("navd-web.service").split(separator: "\n"))
    for line in [
      "PrivateNetwork=yes", "RestrictAddressFamilies=AF_UNIX", "MemoryMax=1G", "ProtectHome=yes",
      "RestartPreventExitStatus=2 3", "SystemCallFilter=~sched_setscheduler:0",
    ] {
      #expect(lines.contains(Substring(line)))
    }
    #expect(try text("navd-web.socket").contains("\nListenStream=127.0.0.1:9720\n"))
  }

  @Test func `the inspector's drop-in lets it read, and grants nothing`() throws {
    let file = packageRoot.appendingPathComponent("config/navd-inspector.conf").path
    var expected = Configuration()
    expected.access.gateways = [
      try #require(Configuration.Access.GatewayLine("user:navd-inspector"))
    ]
    expected.access.roles = [
      try #require(Configuration.Access.RoleLine("read user:navd-inspector"))
    ]
    #expect(try Configuration.load(path: file) == expected)
  }

  @Test func `the gateway's drop-in names the gateway, and grants nothing`() throws {
    let file = packageRoot.appendingPathComponent("config/navd-web.conf").path
    var expected = Configuration()
    expected.access.gateways = [try #require(Configuration.Access.GatewayLine("user:navd-web"))]
    expected.access.roles = [try #require(Configuration.Access.RoleLine("ui user:navd-web"))]
    #expect(try Configuration.load(path: file) == expected)
  }

  @Test func `a reload begins with a check of the files that the service reads`() throws {
    let lines = try text("navd.service").split(separator: "\n")
    let start = try #require(lines.first { $0.hasPrefix("ExecStart=") })
    let reload = try #require(lines.first { $0.hasPrefix("ExecReload=") })
    #expect(reload == start.replacing("ExecStart=", with: "ExecReload=") + " --check-config")
  }
}
