import Foundation
import Journal
import NavigationCore
import NavigationHub
@testable import NavigationDaemon
import Testing
import TransportGuard

@Suite struct ConfigurationTests {
  private func parse(_ text: String) throws -> Configuration {
    try Configuration.parse(text, file: "f")
  }

  private func refusal(_ text: String) -> String {
    do {
      _ = try Configuration.parse(text, file: "f")
      return "accepted"
    } catch {
      return error.description
    }
  }

  @Test func `an empty file gives the defaults`() throws {
    #expect(try parse("") == Configuration())
  }

  @Test func `values are stored under their keys`() throws {
    let configuration = try parse(
      """
      # a comment
      [daemon]
      listen = ipc:///run/a.sock
        listen = ipc:///run/b.sock
      durability = relaxed
      socket-group = navd
      [limits]
      depth = 8
      message-to-daemon-bytes = 1M   ; a remark
      remembered-idle-seconds = 10 min
      [session]
      heartbeat = 2s
      [classes]
      MyBar = NavigationBar
      MyTools = Toolbar
      [log]
      level = debug
      """)
    #expect(configuration.daemon.endpoints == ["ipc:///run/a.sock", "ipc:///run/b.sock"])
    #expect(configuration.daemon.durability == .relaxed)
    #expect(configuration.daemon.effectiveSocketMode == 0o660)
    #expect(configuration.hub.nav.stackDepth == 8)
    #expect(configuration.hub.maximumRequestBytes == 1 << 20)
    #expect(configuration.hub.rememberedIdle == 600_000)
    #expect(configuration.hub.defaultHeartbeat == 2000)
    #expect(configuration.classes.map(\.name) == ["MyBar", "MyTools"])
    #expect(configuration.classes.map(\.base) == [.navigationBar, .toolbar])
    #expect(configuration.logLevel == .debug)
  }

  @Test(
    arguments: [
      ("[access] role = admin user:a\n", 1, "expected nothing behind [section]"),
      ("[access]\n[log] # x\nlevel = debug\n", 2, "expected nothing behind [section]"),
      ("[log]; x\n", 1, "expected nothing behind [section]"),
      ("[log]\rlevel = debug\r", 1, "a carriage return ends no line"),
      ("# a\r[log]\rlevel = debug\n", 1, "a carriage return ends no line"),
      ("[log]\nlevel = debug ; a\rb\n", 2, "a carriage return ends no line"),
      ("[log]\nlevel = debug\r\r\n", 2, "a carriage return ends no line"),
    ] as [(String, Int, String)])
  func `what would be passed over in silence is a fault`(text: String, line: Int, fault: String) {
    #expect(refusal(text).hasPrefix("f:\(line): \(fault)"), "\(refusal(text))")
  }

  @Test func `lines may end as in DOS, and a remark may stand behind a heading`() throws {
    let text = "\r\n[log] ; a remark ] of [any] kind\r\n  level = debug\r\n  [limits]  \ndepth = 8"
    let configuration = try parse(text)
    #expect(configuration.logLevel == .debug && configuration.hub.nav.stackDepth == 8)
  }

  @Test func `a line of another encoding is a fault, in a remark it is none`() {
    let texts: [(octets: [UInt8], problems: Int)] = [
      (Array("[daemon]\nstate = /".utf8) + [0xE9], 1), (Array("# ".utf8) + [0xE9], 0),
      (Array("[log] ; ".utf8) + [0xE9], 0),
    ]
    for (octets, problems) in texts {
      #expect(readAssignments(octets, of: "f").problems.map(\.message).count == problems)
    }
  }

  @Test func `an empty listen forgets the addresses before`() throws {
    let text = "[daemon]\nlisten = ipc:///a\nlisten =\nlisten = ipc:///b\n"
    #expect(try parse(text).daemon.endpoints == ["ipc:///b"])
  }

  @Test(arguments: ConfigurationKey.all.map { "\($0.section).\($0.name)" })
  func `both ends of a range are accepted and their neighbours refused`(_ name: String) throws {
    let key = try #require(ConfigurationKey.all.first { "\($0.section).\($0.name)" == name })
    guard let (path, _, range) = key.value.number else { return }
    for value in [range.lowerBound, range.upperBound] {
      // The keys that must not exceed another one are tested by themselves.
      let others = "remembered-ops = 4096\nremembered-clients = 1000000\nconnections = 50000\n"
      let text =
        "[limits]\n\(others)resume-total-bytes = 16G\nresume-bytes = 4K\ninflight = 1\n"
        + "connections-per-principal = 1\nremembered-clients-per-principal = 1\n"
        + "[\(key.section)]\n\(key.name) = \(value)\n"
      #expect(try parse(text)[keyPath: path] == value)
    }
    for value in [range.lowerBound - 1, range.upperBound + 1] {
      #expect(refusal("[\(key.section)]\n\(key.name) = \(value)\n").hasPrefix("f:2: "))
    }
  }

  @Test(arguments: [
    (
      "[limits]\ndepth = 0",
      "f:2: [limits] depth = 0: expected a whole number from 1 to 65536; default 64"
    ),
    ("[limits]\ndepth = -1", "f:2: [limits] depth = -1: expected a whole number"),
    ("[limits]\ndepth =", "f:2: [limits] depth is empty: expected"),
    ("[limits]\ndepth = 8K", "f:2: [limits] depth = 8K: expected"),
    ("[session]\nstall-seconds = 1500ms", "f:2: [session] stall-seconds = 1500ms: expected"),
    (
      "[limits]\nstate-bytes = 99999999999999999999",
      "expected bytes, K, M or G, from 4K to 64M; default 1M"
    ),
    ("[limits]\nstate-bytes = 9223372036854775807G", "f:2: [limits] state-bytes"),
    (
      "[limits]\n\nheight = 1",
      "f:3: [limits] has no key height: expected message-to-daemon-bytes, "
    ),
    ("[limit]\ndepth = 1", "f:2: there is no section [limit]: expected [daemon] [cluster]"),
    ("depth = 1", "f:1: depth stands before the first section"),
    ("[daemon]\nnonsense\n[limits]\ndepth = 0", "f:2: expected a [section], a name = value"),
    ("[limits]\ndepth = 0\nnonsense", "f:2: [limits] depth = 0"),
    ("[daemon]\nlisten = tcp://*:5555", "f:2: [daemon] listen = tcp://*:5555: expected tcp://"),
    ("[daemon]\nlisten = ipc://relative", "expected ipc:///absolute/path, tcp://ADDRESS:PORT"),
    ("[daemon]\nsocket-mode = 0666", "expected auto, 0600 or 0660; default auto"),
    ("[daemon]\ndurability = fast", "expected sync, relaxed; default sync"),
    ("[classes]\nMyBar = Bar", "f:2: [classes] MyBar = Bar: expected NavigationBar or Toolbar"),
    ("[classes]\nToolbar = Toolbar", "this is the name of a built-in class"),
    ("[limits]\ninflight = 65", "f:2: [limits] inflight is 65, remembered-ops is 64"),
    ("[limits]\nremembered-ops = 63", "f:2: [limits] inflight is 64, remembered-ops is 63"),
    ("[log]\nlevel = \u{0}", "f:2: the line contains a zero byte"),
  ])
  func `a bad line is refused with its place and what was expected`(
    _ text: String, _ expected: String
  ) {
    let message = refusal(text)
    #expect(message.contains(expected))
    #expect(message.hasPrefix("f:"))
  }

  @Test(arguments: [198, 199, 1_000, 4_096])
  func `a value may fill a line of 4,096 octets, and a comment may be longer`(octets: Int) throws {
    func filled(_ start: String, _ end: String = "") -> String {
      start + String(repeating: "a", count: octets - start.utf8.count - end.utf8.count) + end
    }
    let remark = " ; " + String(repeating: "=", count: 5_000)
    let lines = [
      "[cluster]", filled("database = host=db1,db2 sslrootcert=/", " dbname=navd") + remark,
      "[daemon]", filled("state = /"),
      "listen = " + repeatElement("ipc:///a", count: octets / 10).joined(separator: " "),
      "[access]", filled("keys = /"),
    ]
    let configuration = try parse(lines.joined(separator: "\n"))
    #expect(configuration.cluster.database?.utf8.count == octets - "database = ".utf8.count)
    #expect(configuration.daemon.stateDirectory?.utf8.count == octets - "state = ".utf8.count)
    #expect(configuration.daemon.endpoints == ["ipc:///a"])
    let database = "[cluster]\n" + lines[1]
    #expect(
      octets < 4_096
        || refusal(database.replacing("navd ;", with: "navd2 ;"))
          .hasPrefix("f:2: the line is longer than 4096 bytes")
    )
  }

  @Test func `drop-ins are read after the file in the order of their bytes`() throws {
    try withTemporaryDirectory { root in
      let file = root + "/navd.conf"
      let files = [
        "": "[limits]\ndepth = 1\nnavs = 1\n", ".d/20-b.conf": "[limits]\ndepth = 3\n",
        ".d/10-a.conf": "[limits]\ndepth = 2\nconnections = 500\n", ".d/z.txt": "nonsense",
        ".d/.hidden.conf": "nonsense",
      ]
      try FileManager.default.createDirectory(
        atPath: file + ".d", withIntermediateDirectories: false)
      for (name, text) in files {
        try text.write(toFile: file + name, atomically: false, encoding: .utf8)
      }
      let configuration = try Configuration.load(path: file)
      #expect(configuration.hub.nav.stackDepth == 3)
      #expect(configuration.router.connections == 500)
      #expect(configuration.hub.navs == 1)
    }
  }

  @Test func `a file that is not there is refused with status 3`() {
    do {
      _ = try Configuration.load(path: "/nowhere/navd.conf")
      Issue.record("loaded")
    } catch {
      #expect(error.exitStatus == .configuration)
      #expect(error.description.contains("No such file or directory"))
    }
  }
}

@Suite struct ExampleFileTests {
  private let path = packageRoot.appendingPathComponent("config/navd.conf")

  @Test func `the example file is what the table of keys says`() throws {
    let expected = Self.rendered()
    if ProcessInfo.processInfo.environment["NAVD_REWRITE_EXAMPLES"] != nil {
      try expected.write(to: path, atomically: true, encoding: .utf8)
    }
    let found = try String(contentsOf: path, encoding: .utf8)
    #expect(
      found == expected,
      "write it anew: NAVD_REWRITE_EXAMPLES=1 swift test --filter ExampleFileTests")
  }

  @Test func `the example file as shipped changes nothing`() throws {
    #expect(try Configuration.load(path: path.path) == Configuration())
  }

  @Test func `every default of the example file is the default`() throws {
    let text = try String(contentsOf: path, encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let uncommented = lines.map { line in
      line.hasPrefix("#") && !line.hasPrefix("# ") && line.contains("=") && !line.contains("MyBar")
        ? String(line.dropFirst()) : String(line)
    }
    #expect(
      uncommented.count { $0.first?.isLetter == true } == ConfigurationKey.all.count)
    let configuration = try Configuration.parse(
      uncommented.joined(separator: "\n"), file: "navd.conf")
    #expect(configuration == Configuration())
  }

  private static func rendered() -> String {
    var lines = [
      "# Configuration of navd. Every key is shown with its default; none needs to be set.",
      "# navd reads this file only when --config names it, and then navd.conf.d/*.conf in the order",
      "# of their names; a later line wins. Bytes take K, M and G (times 1024), times take ms, s,",
      "# min, h and d. A line that cannot be understood keeps navd from starting, with status 3.",
    ]
    for section in ConfigurationKey.sections {
      lines += ["", "[\(section)]"]
      if section == "access" {
        lines += [
          "# Without a line here root and the user of the daemon have the role admin, who may do",
          "# everything. Other users of this machine have the role ui: they read, push and pop, and",
          "# administer the navs they made. That ends for users without a role where something is",
          "# granted, and for those with it where something is granted to role:ui.",
        ]
      }
      if section == "classes" {
        lines += [
          "# Class names clients may give for a bar or a toolbar, each with its base: NavigationBar",
          "# or Toolbar. Default: none.", "#MyBar = NavigationBar",
        ]
      }
      for key in ConfigurationKey.all where key.section == section {
        lines += ["# \(key.documentation)", "# \(key.expectation)"]
        let value = key.defaultText
        lines += [value.isEmpty ? "#\(key.name) =" : "#\(key.name) = \(value)"]
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
