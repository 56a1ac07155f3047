import Foundation
import NavigationCore
import NavigationHub
import RuntimePaths
import Systemd
import Testing
import TransportGuard

@testable import NavigationDaemon

@Suite struct ConfigurationSourcesTests {
  private func sources(
    _ variables: [String: String] = [:], file: String? = nil,
    _ options: [(String, [String])] = []
  ) -> ConfigurationSources {
    ConfigurationSources(
      file: file, environment: ProcessEnvironment(variables),
      options: options.map { ($0.0, $0.1) })
  }

  /// Where things are for a user, in a unit with a credential.
  private let rules = PathRules(
    environment: ProcessEnvironment([
      "HOME": "/home/a", "XDG_RUNTIME_DIR": "/run/user/7", "CREDENTIALS_DIRECTORY": "/c",
    ]), userID: 7)

  private func refusal(_ sources: ConfigurationSources) -> String {
    do {
      _ = try sources.load()
      return "accepted"
    } catch {
      return error.description
    }
  }

  /// A file with a drop-in, which are gone afterwards.
  private func withFiles(
    _ text: String, dropIn: String = "", _ body: (String) throws -> Void
  ) throws {
    try withTemporaryDirectory { root in
      let file = root + "/navd.conf"
      try FileManager.default.createDirectory(
        atPath: file + ".d", withIntermediateDirectories: false)
      try text.write(toFile: file, atomically: false, encoding: .utf8)
      try dropIn.write(toFile: file + ".d/10.conf", atomically: false, encoding: .utf8)
      try body(file)
    }
  }

  @Test func `an option goes before a variable, that before a drop-in, that before the file`()
    throws
  {
    let text = "[daemon]\nstate = /file\n[limits]\ndepth = 1\nnavs = 1\nconnections = 301\n"
    try withFiles(text, dropIn: "[limits]\ndepth = 2\nnavs = 2\n[daemon]\nstate = /drop\n") {
      file in
      let loaded = try sources(
        ["NAVD_LIMITS_DEPTH": "3", "NAVD_DAEMON_STATE": "/variable"], file: file,
        [("state", ["/option"])]
      ).load()
      let configuration = loaded.configuration
      #expect(configuration.hub.nav.stackDepth == 3)
      #expect(configuration.hub.navs == 2)
      #expect(configuration.router.connections == 301)
      #expect(configuration.daemon.stateDirectory == "/option")
      #expect(loaded.origins(of: "limits", "depth") == [.variable("NAVD_LIMITS_DEPTH")])
      #expect(loaded.origins(of: "limits", "navs") == [.file(file + ".d/10.conf", line: 3)])
      #expect(loaded.origins(of: "limits", "connections") == [.file(file, line: 6)])
      #expect(loaded.origins(of: "limits", "inflight") == [.initial])
      #expect(loaded.origins(of: "daemon", "state") == [.option("--state")])
    }
  }

  @Test(arguments: ConfigurationKey.all.map { "\($0.section).\($0.name)" })
  func `each key has a variable that says the same as a line of a file`(_ name: String) throws {
    let key = try #require(ConfigurationKey.all.first { "\($0.section).\($0.name)" == name })
    let words = ["relaxed", "debug", "0600", "ipc:///a", "http://a", "/a", "b"]
    let lines = ["operator user:kiosk", "role:operator * read", "user:kiosk"]
    let values = ["4M", "4K", "5000", "64", "1", "5 min"] + words + lines
    var taken = 0
    for value in values {
      let text = "[\(key.section)]\n\(key.name) = \(value)\n"
      do {
        let expected = try Configuration.parse(text, file: "f")
        #expect(try sources([key.environmentVariable: value]).load().configuration == expected)
        taken += 1
      } catch {
        let wanted = error.description.replacing("f:2: ", with: "\(key.environmentVariable): ")
        #expect(refusal(sources([key.environmentVariable: value])) == wanted)
      }
    }
    #expect(taken > 0)
  }

  @Test func `of a key that may be repeated a variable has a line for each, and replaces others`()
    throws
  {
    try withFiles("[daemon]\nlisten = ipc:///a\nlisten = ipc:///b\n") { file in
      let before = try sources(file: file).load()
      #expect(before.configuration.daemon.endpoints == ["ipc:///a", "ipc:///b"])
      #expect(
        before.origins(of: "daemon", "listen") == [.file(file, line: 2), .file(file, line: 3)])
      let variables = ["NAVD_DAEMON_LISTEN": "ipc:///c\nipc:///d ipc:///e\n"]
      let after = try sources(variables, file: file).load()
      #expect(after.configuration.daemon.endpoints == ["ipc:///c", "ipc:///d", "ipc:///e"])
      let option = try sources(variables, file: file, [("listen", ["ipc:///f", "ipc:///g"])]).load()
      #expect(option.configuration.daemon.endpoints == ["ipc:///f", "ipc:///g"])
      #expect(
        option.origins(of: "daemon", "listen") == [.option("--listen"), .option("--listen")])
    }
  }

  @Test(arguments: [
    (["NAVD_LIMITS_DEPHT": "3"], "NAVD_LIMITS_DEPHT: [limits] has no key depht: expected message-"),
    (["NAVD_LOG_LEVELS": "info"], "NAVD_LOG_LEVELS: [log] has no key levels: expected level"),
    (["NAVD_LIMITS_depth": "3"], "NAVD_LIMITS_depth: [limits] has no key depth"),
    (["NAVD_LIMITS_DEPTH": "0"], "NAVD_LIMITS_DEPTH: [limits] depth = 0: expected a whole number"),
    (["NAVD_CLASSES_MyBar": "Bar"], "NAVD_CLASSES_MyBar: [classes] MyBar = Bar: expected Nav"),
    (["NAVD_LIMITS_INFLIGHT": "65"], "NAVD_LIMITS_INFLIGHT: [limits] inflight is 65, remembered"),
    (["NAVD_DAEMON_STATE": "/a ;b"], "NAVD_DAEMON_STATE: [daemon] state = /a ;b: expected one "),
    (["NAVD_DAEMON_STATE": "/a\n/b"], "NAVD_DAEMON_STATE: [daemon] state = /a\n/b: expected one "),
    (["NAVD_DAEMON_STATE": "/a\n[log]\nlevel = x"], "NAVD_DAEMON_STATE: [daemon] state = /a\n"),
  ])
  func `a variable is refused as a line would be, by its name`(
    _ variables: [String: String], _ expected: String
  ) {
    #expect(refusal(sources(variables)).hasPrefix(expected))
  }

  @Test(arguments: [
    ("listen", "tcp://*:1", "--listen: [daemon] listen = tcp://*:1: expected tcp://ADDRESS:PORT"),
    ("state", "a", "--state: [daemon] state = a: expected an absolute path"),
    ("state", "/a ;b", "--state: [daemon] state = /a ;b: expected one line"),
    ("durability", "fast", "--durability: [daemon] durability = fast: expected sync, relaxed"),
  ])
  func `an option is refused by its name`(_ name: String, _ value: String, _ expected: String) {
    #expect(refusal(sources([:], [(name, [value])])).hasPrefix(expected))
  }

  @Test func `other variables are no configuration, and classes are named as they are`() throws {
    let variables = [
      "NAVD_ENDPOINT": "x", "NAVD_BOOT_ID": "y", "NAVD_NAV": "z", "NAVD_KEY": "k", "LIMITS_A": "1",
      "NAVD_LIMITS_DEPTH": "", "NAVD_CLASSES_MyBar": "Toolbar",
    ]
    var expected = Configuration()
    expected.classes = [Configuration.DeclaredClass(name: "MyBar", base: .toolbar)]
    #expect(try sources(variables).load().configuration == expected)
  }

  @Test(arguments: ["CLUSTER", "LOG", "LIMITS", "CLASSES", "DAEMON_2"])
  func `variables that kubelet and Docker make for a service are noted, and set nothing`(
    service: String
  ) throws {
    let values = [
      "SERVICE_HOST": "10.0.0.7", "SERVICE_PORT": "5719", "SERVICE_PORT_OPS": "5719",
      "PORT": "tcp://10.0.0.7:5719", "PORT_5719_TCP": "tcp://10.0.0.7:5719",
      "PORT_5719_TCP_PROTO": "tcp", "PORT_5719_TCP_PORT": "5719",
      "PORT_5719_TCP_ADDR": "10.0.0.7", "PORT_53_UDP": "udp://10.0.0.7:53",
      "NAME": "/web/db", "ENV_PATH": "/bin",
    ]
    let variables = Dictionary(uniqueKeysWithValues: values.map { ("NAVD_\(service)_\($0)", $1) })
    let loaded = try sources(variables).load()
    #expect(loaded.configuration == Configuration())
    #expect(loaded.ignoredVariables == variables.keys.sorted())
    let warnings = Daemon.warnings(about: loaded).map(\.description)
    #expect(warnings.count == 1)
    #expect(warnings[0].hasPrefix("NAVD_\(service)_ENV_PATH: this variable and 10 more of a serv"))
  }

  @Test func `a variable that only resembles one of a service is refused as before`() throws {
    for (name, value) in [
      ("CLUSTER_PORT", "5719"), ("LIMITS_NAME", "x"), ("LOG_PORT_LEVEL", "info"),
      ("CLUSTER_PORT_1_ICMP", "x"), ("LIMITS_SERVICE", "x"), ("CLASSES_PORT", "Bar"),
    ] {
      #expect(refusal(sources(["NAVD_" + name: value])).hasPrefix("NAVD_\(name): "), "\(name)")
    }
    let loaded = try sources(["NAVD_CLASSES_SERVICE_HOST": "Toolbar"]).load()
    #expect(loaded.configuration.classes.map(\.name) == ["SERVICE_HOST"])
  }

  @Test func `what is printed is a file that means the same`() throws {
    let long = "/" + String(repeating: "a", count: 180)
    try withFiles(
      "[daemon]\nlisten = ipc:///a\nlisten = ipc:///b\n[classes]\nMyBar = NavigationBar\n",
      dropIn: "[history]\ndays = 7 d\n[limits]\nstate-bytes = 3000000\n[session]\nheartbeat = 2s\n"
    ) { file in
      let loaded = try sources(
        ["NAVD_LOG_LEVEL": "debug", "NAVD_DAEMON_SOCKET_GROUP": "users"], file: file,
        [("state", [long])]
      ).load()
      let text = loaded.text(rules)
      var expected = loaded.configuration
      // Of what the rules decide, the one that nothing else has decided.
      expected.access.secretKeyFile = "/c/navd.key"
      #expect(try Configuration.parse(text, file: "f") == expected)
      let lines = text.split(separator: "\n").map {
        $0.split(separator: " ").joined(separator: " ")
      }
      #expect(lines.contains("listen = ipc:///a ; \(file):2"))
      #expect(lines.contains("listen = ipc:///b ; \(file):3"))
      #expect(lines.contains("MyBar = NavigationBar ; \(file):5"))
      #expect(lines.contains("days = 7 ; \(file).d/10.conf:2"))
      #expect(lines.contains("level = debug ; NAVD_LOG_LEVEL"))
      #expect(lines.contains("state = \(long) ; --state"))
      #expect(lines.contains("depth = 64 ; default"))
      let settings = lines.count { $0.contains("=") }
      #expect(settings == ConfigurationKey.all.count + 2)
    }
  }

  @Test func `the default in force is printed where a rule decides`() throws {
    let text = try sources().load().text(rules)
    let lines = text.split(separator: "\n").map {
      $0.split(separator: " ").joined(separator: " ")
    }
    #expect(lines.contains("listen = ipc:///run/user/7/navd/navd.sock ; default"))
    #expect(lines.contains("state = /home/a/.local/state/navd ; default"))
    #expect(lines.contains("secret-key = /c/navd.key ; default"))
    // Nobody, until somebody is named.
    #expect(lines.contains("socket-group = ; default"))
    #expect(lines.contains("role = ; default"))
    var expected = Configuration()
    expected.daemon.endpoints = ["ipc:///run/user/7/navd/navd.sock"]
    expected.daemon.stateDirectory = "/home/a/.local/state/navd"
    expected.access.secretKeyFile = "/c/navd.key"
    #expect(try Configuration.parse(text, file: "f") == expected)
    // A line that leaves it open is no value.
    try withFiles("[daemon]\nlisten = ipc:///a\nlisten =\n") { file in
      let lines = try sources(file: file).load().text(rules).split(separator: "\n")
      #expect(lines.contains { $0.hasPrefix("listen = ipc:///run/user/7/") })
    }
  }

  @Test func `a remark may be of any length, a value may not`() throws {
    let remark = String(repeating: "r", count: 5_000)
    let text = "# \(remark)\n[limits]\ndepth = 3 ; \(remark)\n  ; \(remark)\nnavs = 4\n"
    let configuration = try Configuration.parse(text, file: "f")
    #expect(configuration.hub.nav.stackDepth == 3)
    #expect(configuration.hub.navs == 4)
    let state = "/" + String(repeating: "a", count: 5_000)
    #expect(refusal(sources(["NAVD_DAEMON_STATE": state])).hasPrefix("NAVD_DAEMON_STATE: the line"))
  }

  @Test func `what a start alone can take over is named with both values`() throws {
    let first = Configuration()
    func reason(_ text: String, from former: Configuration = Configuration()) throws -> String? {
      let new = try Configuration.parse(text, file: "f")
      return former.reasonAgainstReload(new, startedWith: first)
    }
    #expect(
      try reason("[daemon]\nlisten = ipc:///a")
        == "[daemon] listen is (empty) and would be ipc:///a, which needs a restart")
    #expect(try reason("[daemon]\ndurability = relaxed")?.contains("sync and would be rel") == true)
    for line in ["state = /a", "socket-mode = 0660", "socket-group = users"] {
      #expect(try reason("[daemon]\n" + line)?.contains("needs a restart") == true)
    }
    #expect(try reason("[limits]\nmessage-to-daemon-bytes = 128K")?.contains("64K and wo") == true)
    var smaller = first
    smaller.hub.maximumRequestBytes = 1024
    #expect(try reason("", from: smaller) == nil)
    for key in ConfigurationKey.all where !["daemon", "cluster"].contains(key.section) {
      guard let (path, _, range) = key.value.number else { continue }
      var new = first
      new[keyPath: path] = range.lowerBound
      #expect(first.reasonAgainstReload(new, startedWith: first) == nil)
    }
    #expect(
      ConfigurationKey.all.filter { $0.change == .atStart }.map(\.name)
        == [
          "listen", "state", "durability", "witness", "socket-mode", "socket-group", "database",
          "member", "host", "announce", "web", "lease", "secret-key",
        ])
  }

  @Test func `values that Unicode calls equal are different values`() throws {
    let composed = "[daemon]\nlisten = ipc:///caf\u{E9}\n[classes]\nCaf\u{E9} = Toolbar\n"
    let decomposed = "[daemon]\nlisten = ipc:///cafe\u{301}\n[classes]\nCafe\u{301} = Toolbar\n"
    try withFiles(composed + decomposed, dropIn: "") { file in
      let both = try sources([:], file: file).load()
      #expect(both.configuration.daemon.endpoints.count == 2)
      #expect(both.origins(of: "daemon", "listen").count == 2)
      let classes = both.configuration.classes.map { both.origins(of: "classes", $0.name) }
      #expect(classes == [[.file(file, line: 4)], [.file(file, line: 8)]])
    }
    let changes = try Configuration.parse(composed, file: "f")
      .changes(to: Configuration.parse(decomposed, file: "f"))
    #expect(changes.map(\.key) == ["daemon.listen", "classes"])
  }

  @Test func `changes are told by key, with both values`() throws {
    let new = try Configuration.parse(
      "[limits]\ndepth = 8\n[log]\nlevel = debug\n[classes]\nA = Toolbar\n", file: "f")
    #expect(
      Configuration().changes(to: new).map(\.description)
        == ["limits.depth 64 to 8", "log.level info to debug", "classes (empty) to A=Toolbar"])
    #expect(new.changes(to: new).isEmpty)
  }

  @Test func `a log's level can be changed while others write`() {
    let log = Log(level: .error, destination: .function { _ in })
    let written = Written()
    let counting = Log(level: .info, destination: .function { written.add($0) })
    log.setLevel(.debug)
    counting(LogEntry(.debug, "a"))
    counting.setLevel(.debug)
    counting(LogEntry(.debug, "b"))
    counting.setLevel(.error)
    counting(LogEntry(.warning, "c"))
    counting(LogEntry(.error, "d"))
    #expect(written.messages == ["b", "d"])
  }

  @Test func `a reload is announced by the time it began`() {
    #expect(
      ServiceNotification.reloading(sinceMicroseconds: 12).assignment
        == "RELOADING=1\nMONOTONIC_USEC=12")
  }
}

/// What a log wrote.
private final class Written: @unchecked Sendable {
  private let lock = NSLock()
  private var list: [String] = []

  func add(_ entry: LogEntry) { lock.withLock { list.append(entry.message) } }
  var messages: [String] { lock.withLock { list } }
}
