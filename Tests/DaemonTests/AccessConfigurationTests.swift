import ZeroMQ
import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Systemd
import Testing

@testable import NavigationDaemon
@testable import TransportGuard

/// Section `[access]`, addresses of networks, and what becomes of both.
@Suite struct AccessConfigurationTests {
  private func parse(_ lines: String) throws -> Configuration {
    try Configuration.parse("[access]\n" + lines, file: "f")
  }

  private func refusal(_ lines: String) -> String {
    do {
      _ = try parse(lines)
      return "accepted"
    } catch {
      return "\(error)"
    }
  }

  private func control(_ lines: String) throws -> AccessControl {
    AccessControl(try parse("keys = /nowhere/keys\n" + lines).access, daemonUser: 7)
  }

  @Test func `lines are kept in their order, and forgotten by an empty one`() throws {
    let access = try parse(
      """
      role = operator  uid:5   gid:6 key:panel-1
      role = audit user:root
      grant = role:operator kiosk-* read push pop
      grant = key:panel-1 $navs read
      grant = uid:5 * admin
      keys = /srv/keys
      secret-key = /srv/navd.key
      """
    ).access
    #expect(access.roles.map(\.role) == ["operator", "audit"])
    #expect(access.roles.first?.members == [.userID(5), .groupID(6), .key("panel-1")])
    #expect(access.grants.map(\.rights) == [[.read, .push, .pop], .read, .admin])
    #expect(access.grants.map(\.navs.text) == ["kiosk-*", "$navs", "*"])
    #expect(access.keyDirectory == "/srv/keys" && access.secretKeyFile == "/srv/navd.key")
    let later = try parse("role = a uid:1\nrole =\ngrant = uid:1 * read\ngrant =\n").access
    #expect(later.roles.isEmpty && later.grants.isEmpty)
  }

  @Test(arguments: [
    "role = operator", "role = op:erator uid:1", "role = a uid:-1", "role = a uid:x",
    "role = a uid:4294967296", "role = a user:", "role = a role:b", "role = a key:a/b",
    "role = a nobody", "role = a uid:1 x", "grant = uid:1", "grant = uid:1 *",
    "grant = uid:1 * write", "grant = uid:1 * read, push", "grant = * * read",
    "grant = role: * read", "keys = relative", "keys =", "secret-key = relative",
    "grant = uid:1 " + String(repeating: "a", count: 257) + " read",
  ])
  func `a line of another form is refused with its place`(line: String) {
    let message = refusal(line)
    #expect(message.hasPrefix("f:2: "), "\(line): \(message)")
  }

  @Test func `a message says what a line should look like`() {
    #expect(refusal("role = a x").contains("expected ROLE WHO..., WHO is uid:N, user:NAME"))
    #expect(refusal("grant = uid:1 * all").contains("RIGHT read, push, pop, admin"))
  }

  @Test func `a name that nobody has gets nothing, and opens nothing to others`() throws {
    let access = try control(
      """
      role = admin user:no-such-user-here group:no-such-group-here uid:5
      grant = user:no-such-user-here * read
      gateways = user:no-such-user-here
      """
    ).access
    #expect(access.role(of: .local(user: 5, group: 6, process: 1)) == .admin)
    // Something is granted, so a user without a role has none.
    let other = Peer.local(user: 6, group: 6, process: 1)
    #expect(access.role(of: other) == .none)
    for peer in [other, .local(user: .max, group: .max, process: 1), .key(name: "", address: "")] {
      #expect(!access.admits(peer) && !access.maySpeakForActors(peer))
    }
  }

  @Test func `names are looked up`() throws {
    let access = try control("role = a user:root\nrole = b group:root\n").access
    #expect(access.roles.first?.members == [.user(0)])
    #expect(access.roles.last?.members.first == .group(0))
  }

  @Test(arguments: [
    ("tcp://192.0.2.7:5719", "192.0.2.7", 5719), ("tcp://127.0.0.1:1", "127.0.0.1", 1),
    ("tcp://[::1]:65535", "::1", 65535), ("tcp://[2001:db8::1]:80", "2001:db8::1", 80),
  ])
  func `an address of one place is taken`(text: String, host: String, port: Int32) throws {
    let address = try #require(NetworkAddress(text))
    #expect(address.host == host && address.port == port)
    #expect(address.endpoint == text)
    #expect(
      try Configuration.parse("[daemon]\nlisten = \(text)\n", file: "f")
        .daemon.endpoints == [text])
  }

  @Test(arguments: [
    "tcp://*:5719", "tcp://0.0.0.0:5719", "tcp://[::]:5719", "tcp://[::ffff:0.0.0.0]:5719",
    "tcp://[::ffff:192.0.2.1]:5719", "tcp://224.0.0.1:5719", "tcp://255.255.255.255:5719",
    "tcp://[ff02::1]:5719", "tcp://localhost:5719", "tcp://eth0:5719", "tcp://192.0.2.7",
    "tcp://192.0.2.7:", "tcp://192.0.2.7:0", "tcp://192.0.2.7:65536", "tcp://192.0.2.7:+80",
    "tcp://192.0.2.7:*", "tcp://192.0.2.7;192.0.2.8:80", "tcp://0:80", "tcp://:80", "tcp://",
    "tcp://192.0.2.7:80/x", "tcp://0x7f.1:80", "udp://192.0.2.7:80", "tcp://::1:80",
    "tcp://192.0.2.7\u{0}.8:80",
  ])
  func `an address of many places, a name, and what is none is refused`(text: String) {
    #expect(NetworkAddress(text) == nil)
    #expect(throws: ConfigurationError.self) {
      try Configuration.parse("[daemon]\nlisten = \(text)\n", file: "f")
    }
  }

  /// Access with a directory of two keys, one without a role and a grant.
  private func withKeys(_ body: (inout AccessControl, KeyDirectory, [CurveKeyPair]) throws -> Void)
    throws
  {
    try withTemporaryDirectory { root in
      let directory = KeyDirectory(path: root + "/keys")
      let pairs = try (0..<3).map { _ in try CurveKeyPair.generate() }
      for (name, pair, role) in [("panel", pairs[0], "ui"), ("bare", pairs[1], nil)] {
        try directory.authorize(
          AuthorizedKey(name: name, publicKey: pair.publicKey, role: role))
      }
      let configuration = try parse("keys = \(root)/keys\nrole = operator key:stray\n")
      var control = AccessControl(configuration.access, daemonUser: getuid())
      try body(&control, directory, pairs)
    }
  }

  private func request(
    _ domain: String, _ key: CurvePublicKey?, _ address: String, mechanism: String? = nil
  ) throws -> ZAPRequest {
    let credentials = key.map { [$0.bytes] } ?? []
    let texts = ["1.0", "1", domain, address, "", mechanism ?? (key == nil ? "NULL" : "CURVE")]
    return try #require(
      ZAPRequest(frames: [[0], []] + texts.map { Array($0.utf8) } + credentials))
  }

  @Test func `only an authorised key that may do something is admitted from a network`() throws {
    try withKeys { control, _, pairs in
      let address = PeerAddress.network("192.0.2.1")
      let answers = pairs.map { pair in
        try? control.admit(request("navd.tcp", pair.publicKey, "192.0.2.1"))
      }
      #expect(answers.map { $0?.peer.principal } == ["panel", nil, nil])
      #expect(answers[0]?.userID == "\(pairs[0].publicKey)")
      let peer = control.peer(address, userID: "\(pairs[0].publicKey)")
      #expect(peer?.peer == .key(name: "panel", address: "192.0.2.1"))
      #expect(control.peer(address, userID: nil) == nil)
      #expect(control.peer(address, userID: "uid:0") == nil)
      #expect(control.peer(address, userID: "\(pairs[2].publicKey)") == nil)
    }
  }

  @Test func `a mechanism, a domain or an address of the other kind is refused`() throws {
    try withKeys { control, _, pairs in
      let (network, local) = ("192.0.2.1", "localhost:0:0:1")
      let key = pairs[0].publicKey
      let wrong: [(String, CurvePublicKey?, String)] = [
        ("navd.tcp", nil, network), ("navd.tcp", nil, local), ("navd.tcp", key, local),
        ("navd.ipc", key, network), ("navd.ipc", nil, network), ("navd.ipc", key, local),
        ("", nil, local), ("other", nil, local), ("navd.ipc", nil, ""),
        ("navd.ipc", nil, "localhost:0:0"), ("navd.tcp", key, "localhost:0:0:1"),
        ("navd.ipc", nil, "fe80::0:0:1"),
      ]
      for (domain, key, address) in wrong {
        let answer = try? control.admit(request(domain, key, address))
        #expect(answer == nil, "\(domain) \(address)")
      }
      for mechanism in ["PLAIN", "GSSAPI", ""] {
        let asked = try request("navd.ipc", nil, local, mechanism: mechanism)
        #expect((try? control.admit(asked)) == nil)
      }
      #expect(throws: Never.self) { _ = try control.admit(request("navd.ipc", nil, local)) }
    }
  }

  @Test func `keys that come and go are taken notice of when read again`() throws {
    try withKeys { control, directory, pairs in
      try directory.authorize(
        AuthorizedKey(name: "stray", publicKey: pairs[2].publicKey, role: nil))
      #expect(control.name(of: pairs[2].publicKey) == nil)
      control.readKeys()
      #expect(control.name(of: pairs[2].publicKey) == "stray")
      let stray = Peer.key(name: "stray", address: "")
      #expect(control.access.role(of: stray) == Role("operator"))
      #expect(try directory.revoke("panel"))
      control.readKeys()
      #expect(control.name(of: pairs[0].publicKey) == nil)
      #expect(control.access.keys.keys.sorted() == ["bare", "stray"])
      #expect(control.problems == [])
      #expect(unsafe chmod(directory.path, 0o777) == 0)
      control.readKeys()
      #expect(control.access.keys.isEmpty && control.problems.count == 1)
    }
  }
}
