import ZeroMQ
import Foundation
import NavigationClient
import RuntimePaths
import Testing

/// Which keys a client needs for an address, and where it finds them.
@Suite struct NetworkIdentityTests {
  private static let remote = "tcp://127.0.0.1:1"
  private static let key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
  private static let secret = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"

  private func environment(_ variables: [String: String] = [:]) -> ProcessEnvironment {
    ProcessEnvironment(variables)
  }

  /// The text of the error; nil without one.
  private func error(
    _ endpoint: String, _ serverKey: String?, _ keyFile: String?,
    _ variables: [String: String] = [:]
  ) -> String? {
    do {
      _ = try NetworkIdentity.read(
        for: endpoint, serverKey: serverKey, keyFile: keyFile,
        environment: environment(variables))
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func withKeyFile(_ text: String, _ body: (String) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    let path = directory.url.appending(path: "own.key").path
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    try body(path)
  }

  @Test(arguments: ["ipc:///run/navd/navd.sock", "ipc://x", "inproc://x"])
  func `a socket of this machine needs no key, not even one that is given`(endpoint: String) throws
  {
    #expect(
      try NetworkIdentity.read(
        for: endpoint, serverKey: "nonsense", keyFile: "/nowhere", environment: environment())
        == nil)
  }

  @Test func `over tcp each missing key is named, with the option and the variable`() throws {
    let server = try #require(error(Self.remote, nil, "/k"))
    #expect(server.contains("--server-key") && server.contains("NAVD_SERVER_KEY"))
    let own = try #require(error(Self.remote, Self.key, nil))
    #expect(own.contains("--key") && own.contains("NAVD_KEY"))
    #expect(own.contains("navctl key new FILE"))
    // An empty variable counts as unset.
    #expect(error(Self.remote, nil, "/k", ["NAVD_SERVER_KEY": ""]) == server)
    #expect(error(Self.remote, Self.key, "/nowhere")?.contains("/nowhere") == true)
  }

  @Test func `an argument takes precedence over its variable`() throws {
    try withKeyFile(Self.secret) { path in
      let variables = ["NAVD_SERVER_KEY": Self.key, "NAVD_KEY": path]
      let identity = try #require(
        try NetworkIdentity.read(for: Self.remote, environment: environment(variables)))
      #expect(
        try NetworkIdentity.read(
          for: Self.remote, serverKey: Self.key, keyFile: path,
          environment: environment(["NAVD_SERVER_KEY": "x", "NAVD_KEY": "/nowhere"])) == identity)
      #expect(error(Self.remote, "x", nil, variables)?.contains("'x'") == true)
      #expect(error(Self.remote, nil, "/nowhere", variables)?.contains("/nowhere") == true)
    }
  }

  @Test func `the server key is a key or a file, the own key only a file`() throws {
    try withKeyFile(Self.secret) { path in
      let server = path + ".pub"
      try (Self.key + "\n").write(toFile: server, atomically: false, encoding: .utf8)
      let byText = try NetworkIdentity.read(
        for: Self.remote, serverKey: Self.key, keyFile: path, environment: environment())
      let byFile = try NetworkIdentity.read(
        for: Self.remote, serverKey: server, keyFile: path, environment: environment())
      #expect(byText == byFile && byText != nil)
      #expect(error(Self.remote, Self.key, Self.secret) != nil)
    }
  }

  @Test func `a path of 40 characters that a key could have is a path if the file exists`() throws {
    let path = "/tmp/" + UUID().uuidString.prefix(35)
    #expect(path.utf8.count == 40 && CurvePublicKey(z85: path) != nil)
    try withKeyFile(Self.secret) { own in
      let asKey = try NetworkIdentity.read(
        for: Self.remote, serverKey: path, keyFile: own, environment: environment())
      try Self.key.write(toFile: path, atomically: false, encoding: .utf8)
      defer { try? FileManager.default.removeItem(atPath: path) }
      let asFile = try NetworkIdentity.read(
        for: Self.remote, serverKey: path, keyFile: own, environment: environment())
      #expect(asKey?.serverKey.description == path && asFile?.serverKey.description == Self.key)
    }
  }

  @Test func `no error repeats what a key file holds`() throws {
    try withKeyFile("hunter2") { path in
      let text = try #require(error(Self.remote, Self.key, path))
      #expect(text.contains(path) && !text.contains("hunter2"))
    }
  }
}
