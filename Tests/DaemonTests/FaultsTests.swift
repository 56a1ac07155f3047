import ZeroMQ
import Foundation
import RuntimePaths
import Testing

@testable import NavigationDaemon

/// All that is wrong with a configuration, at once.
@Suite struct FaultsTests {
  private func faults(of text: String, dropIn: String = "", _ variables: [String: String] = [:])
    throws -> [String]
  {
    try withTemporaryDirectory { root in
      let file = root + "/navd.conf"
      try FileManager.default.createDirectory(
        atPath: file + ".d", withIntermediateDirectories: false)
      try text.write(toFile: file, atomically: false, encoding: .utf8)
      try dropIn.write(toFile: file + ".d/10.conf", atomically: false, encoding: .utf8)
      let sources = ConfigurationSources(
        file: file, environment: ProcessEnvironment(variables),
        options: [("durability", ["fast"])])
      let (loaded, faults) = sources.examine()
      let rules = PathRules(environment: ProcessEnvironment(variables), userID: getuid())
      let own = Daemon.faults(of: loaded, rules: rules)
      return (faults + Daemon.warnings(about: loaded) + own).map {
        $0.description.replacing(root + "/", with: "")
      }
    }
  }

  @Test func `every fault of every file, variable and option is told, in their order`() throws {
    let text = """
      [daemon]
      nonsense
      listen = tcp://*:1
      [limits]
      depth = none
      heigth = 3
      more nonsense
      navs = 0
      """
    let found = try faults(
      of: text, dropIn: "[log]\nlevel = loud\n", ["NAVD_LIMITS_DEPHT": "3"])
    let expected = [
      "navd.conf:2: expected a [section], a name = value or a # comment",
      "navd.conf:3: [daemon] listen = tcp://*:1: expected tcp://ADDRESS:PORT with the numeric",
      "navd.conf:5: [limits] depth = none: expected a whole number from 1 to 65536",
      "navd.conf:6: [limits] has no key heigth: expected message-to-daemon-bytes",
      "navd.conf:7: expected a [section]",
      "navd.conf:8: [limits] navs = 0: expected a whole number from 1 to",
      "navd.conf.d/10.conf:2: [log] level = loud: expected error, warning, notice, info, debug",
      "NAVD_LIMITS_DEPHT: [limits] has no key depht: expected",
      "--durability: [daemon] durability = fast: expected sync, relaxed",
    ]
    #expect(found.count == expected.count, "\(found)")
    for (found, expected) in zip(found, expected) { #expect(found.hasPrefix(expected)) }
  }

  @Test func `a path that goes with the service's own tmp is refused, and no other`() throws {
    try withTemporaryDirectory { root in
      let mounts = """
        22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
        36 22 8:1 /tmp/systemd-private-4f-navd.service-Ab/tmp \(root)/tmp rw - ext4 /dev/sda1 rw
        37 22 8:1 /kept \(root)/kept rw - ext4 /dev/sda1 rw
        """
      for name in ["tmp", "kept"] {
        try FileManager.default.createDirectory(
          atPath: "\(root)/\(name)", withIntermediateDirectories: false)
      }
      try FileManager.default.createSymbolicLink(
        atPath: root + "/link", withDestinationPath: root + "/tmp")
      func faults(_ text: String, _ mounts: String = mounts) -> [String] {
        var builder = ConfigurationBuilder()
        builder.add(Array(text.utf8), of: "navd.conf")
        return Daemon.temporaryPathFaults(in: builder.finish().0, mounts: mounts).map(\.description)
      }
      for path in ["tmp/backups", "link/backups", "tmp/none/backups"] {
        let found = faults("[backup]\ndirectory = \(root)/\(path)\n")
        let expected = "navd.conf:2: [backup] directory: \(root)/\(path) is a file of this service"
        #expect(found.count == 1 && found[0].hasPrefix(expected), "\(found)")
      }
      for (name, path) in [("state", "tmp/s"), ("witness", "link/w")] {
        #expect(faults("[daemon]\n\(name) = \(root)/\(path)\n").count == 1)
      }
      #expect(faults("[backup]\ndirectory = \(root)/kept/backups\n").isEmpty)
      #expect(faults("[backup]\ndirectory = \(root)/tmpfiles\n").isEmpty)
      #expect(faults("[backup]\ndirectory = \(root)/tmp/b\n", "").isEmpty)
    }
  }

  @Test func `one fault leads to no others`() throws {
    // The heading is wrong, what stands below it need not be.
    let heading = "[limits\ndepth = 3\nstate = /a\n[log]\nlevel = loud\n"
    #expect(
      try faults(of: heading).map { $0.prefix(12) }.dropLast()
        == ["navd.conf:1:", "navd.conf:5:"])
    let section = "[limit]\ndepth = 3\nnavs = 4\n"
    #expect(
      try faults(of: section).dropLast().map { $0.prefix(40) }
        == ["navd.conf:2: there is no section [limit]"])
    // A value that was refused is compared with nothing.
    let pair = "[limits]\nremembered-ops = many\ninflight = 65\n"
    #expect(
      try faults(of: pair).dropLast().map { $0.prefix(39) }
        == ["navd.conf:2: [limits] remembered-ops = "])
  }

  @Test func `a line that holds a zero or is too long hides nothing`() throws {
    let long = "state = /" + String(repeating: "a", count: 5000)
    let found = try faults(of: "[daemon]\n\(long)\n\u{0}\nstate = a\n[log]\nlevel = loud\n")
    #expect(
      found.dropLast().map { $0.prefix(12) }
        == ["navd.conf:2:", "navd.conf:3:", "navd.conf:4:", "navd.conf:6:"])
  }

  @Test func `a file of nonsense ends after a hundred faults`() throws {
    let found = try faults(of: String(repeating: "nonsense\n", count: 3000))
    #expect(found.count == 101)
  }

  @Test func `users and groups that there are not are told by their lines, and a lost key`() throws
  {
    try withTemporaryDirectory { root in
      let key = root + "/key"
      try "x".write(toFile: key, atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
      let found = try faults(
        of: """
          [access]
          role = operator user:root user:nobody-here
          grant = group:nowhere * read
          grant = user:root * read
          secret-key = \(key)
          """)
      let remedy = "which gets nothing: create it and reload"
      let expected = [
        "navd.conf:2: [access] role: there is no user nobody-here, \(remedy)",
        "navd.conf:3: [access] grant: there is no group nowhere, \(remedy)",
        "navd.conf:5: [access] secret-key: other users can read this secret key: chmod 0600 \(key), "
          + "or create another",
      ]
      #expect(Array(found.dropFirst()) == expected)
    }
  }

  @Test(arguments: ["no-such-group-here", "4294967295"])
  func `a group of the socket that there is not is told by its line`(group: String) throws {
    let found = try faults(of: "[daemon]\nsocket-group = \(group)\n")
    #expect(
      found.dropFirst() == ["navd.conf:2: [daemon] socket-group: there is no group \(group)"])
    #expect(try faults(of: "[daemon]\nsocket-group = 4294967294\n").count == 1)
  }

  @Test func `an address of a network without a key is told by its line, unless the unit has one`()
    throws
  {
    let text = "[daemon]\nlisten = ipc:///a\nlisten = tcp://127.0.0.1:5719 ipc:///b\n"
    let found = try faults(of: text).dropFirst()
    #expect(found.count == 1)
    let start = "navd.conf:3: [daemon] listen: tcp needs a secret key: create one with "
    #expect(found.first?.hasPrefix(start) == true, "\(found)")
    try withTemporaryDirectory { credentials in
      let variables = ["CREDENTIALS_DIRECTORY": credentials]
      // The service manager may hide what a start gets.
      #expect(try faults(of: text, variables).count == 1)
      let navd = credentials + "/navd.key"
      _ = try SecretKeyFile.create(navd)
      // As the service manager gives it: readable by whom it chooses.
      try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: navd)
      #expect(try faults(of: text, variables).count == 1)
      let other = credentials + "/other"
      try FileManager.default.copyItem(atPath: navd, toPath: other)
      let named = text + "[access]\nsecret-key = \(other)\n"
      #expect(try faults(of: named, variables).count == 1)
      // The credential comes before the file, which a check by hand reads.
      #expect(try faults(of: named).count == 2)
      try FileManager.default.removeItem(atPath: navd)
      #expect(try faults(of: named, variables).count == 1)
    }
  }

  @Test func `a file that cannot be read is named once`() {
    let sources = ConfigurationSources(file: "/nowhere/navd.conf")
    #expect(
      sources.examine().faults.map(\.description)
        == ["/nowhere/navd.conf: cannot open: No such file or directory"])
    #expect(
      throws: KeyError(
        "'/nowhere/key' is neither 40 characters of a public key nor a file: cannot open: "
          + "No such file or directory")
    ) { try SecretKeyFile.publicKey("/nowhere/key") }
  }
}
