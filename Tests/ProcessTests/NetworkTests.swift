import ZeroMQ
import Foundation
import NavigationClient
import RuntimePaths
import Testing

extension ProcessTests {
  /// Clients on a network: keys, rights, and what an administrator does about them.
  @Suite struct NetworkTests {
    /// A key made by navctl, in a file.
    private func newKey(_ site: NetworkDaemon, _ name: String) throws -> (file: String, key: String)
    {
      let file = "\(site.keys.path)/\(name).key"
      let made = try site.daemon.navctl(["key", "new", file])
      #expect(made.status == 0, "\(made.errors)")
      return (file, made.output.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func key(_ site: NetworkDaemon, _ words: [String]) throws -> (
      status: Int32, output: String, errors: String
    ) {
      try site.daemon.navctl(["key"] + words + ["--keys", "\(site.keys.path)/keys"])
    }

    @Test func `a key is made, shown, authorised, used, listed and revoked by navctl`() throws {
      let site = try NetworkDaemon()
      let (file, text) = try newKey(site, "panel")
      #expect(try site.daemon.navctl(["key", "public", file]).output == text + "\n")
      #expect(try site.daemon.navctl(["key", "new", file]).status == 2)
      // Nobody yet: navctl gives up when its handshake is refused.
      #expect(try site.navctl(["ls", "--timeout", "1s"], key: file).status != 0)
      #expect(try key(site, ["authorize", "panel", text, "--role", "ui"]).status == 0)
      #expect(try key(site, ["list"]).output.contains("panel"))
      let create = try untilDone(site, file, ["create", "kiosk", "--root", "home"])
      #expect(create.status == 0, "\(create.errors)")
      #expect(try site.navctl(["push", "kiosk", "wifi", "--new"], key: file).status == 0)
      #expect(try site.navctl(["show", "kiosk"], key: file).output.contains("wifi"))
      let owned = try Peer(site.daemon.endpoint).get(#""nav":"$navs""#)["value"]?["screens"]?.array
      #expect(owned?.first?["owner"]?.string == "panel")
      let watch = try site.startNavctl(["watch", "kiosk"], key: file)
      try watch.says("wifi")
      #expect(try key(site, ["revoke", "panel"]).status == 0)
      #expect(try watch.ended() == 5, "\(watch.transcript)")
      #expect(try key(site, ["revoke", "panel"]).status == 6)
      #expect(try key(site, ["list"]).output.contains("panel") == false)
      #expect(try site.navctl(["show", "kiosk", "--timeout", "1s"], key: file).status != 0)
      try site.daemon.child.complains("code revoked")
    }

    /// Runs navctl until the daemon has taken notice of a key.
    private func untilDone(
      _ site: NetworkDaemon, _ file: String, _ words: [String]
    ) throws -> (status: Int32, output: String, errors: String) {
      var last = try site.navctl(words, key: file)
      _ = try eventually {
        if last.status == 0 { return true }
        last = try site.navctl(words, key: file)
        return last.status == 0
      }
      return last
    }

    @Test func `the library connects with a key, follows and changes a nav`() throws {
      let site = try NetworkDaemon()
      let (file, text) = try newKey(site, "app")
      #expect(try key(site, ["authorize", "app", text, "--role", "ui"]).status == 0)
      let environment = ProcessEnvironment([
        "NAVD_SERVER_KEY": "\(site.server)", "NAVD_KEY": file,
      ])
      let identity = try NetworkIdentity.read(for: site.endpoint, environment: environment)
      var connection = try NavigationConnection.connect(
        to: site.endpoint, as: identity, name: "app", timeout: .seconds(20))
      try connection.openSession()
      try Peer(site.daemon.endpoint).create("kiosk")
      try connection.request { $0.watch("kiosk") }
      _ = try #require(try connection.next(timeout: .seconds(20)))
      #expect(connection.cluster.replica(of: "kiosk") != nil)
      try connection.leave()
    }

    @Test func `rights over a network are those of the key's role and grants`() throws {
      let pairs = try ["reader", "pusher", "bare"].map { ($0, try CurveKeyPair.generate()) }
      let site = try NetworkDaemon(
        """
        grant = role:viewers kiosk* read
        grant = key:pusher kiosk read push
        grant = uid:\(getuid()) * read push pop admin
        """,
        authorized: [
          "reader": (pairs[0].1, "viewers"), "pusher": (pairs[1].1, nil), "bare": (pairs[2].1, nil),
        ])
      try Peer(site.daemon.endpoint).create("kiosk")
      let reader = try site.peer(pairs[0].1)
      #expect(try reader.hello()["you"]?["role"]?.string == "viewers")
      #expect(try reader.state("kiosk")["rev"] != nil)
      let push = #""do":[{"push":{"screen":{"id":"a"}}}],"nav":"#
      #expect(try reader.ask("op", push + "\"kiosk\"").body["code"]?.string == "forbidden")
      #expect(try reader.ask("get", "\"nav\":\"other\"").body["code"]?.string == "forbidden")
      let pusher = try site.peer(pairs[1].1)
      #expect(try pusher.hello()["you"]?["key"]?.string == "pusher")
      #expect(try pusher.ask("op", push + "\"kiosk\"").verb == "ok")
      let pop = #""nav":"kiosk","if":{"top":"a"},"do":[{"pop":{}}]"#
      #expect(try pusher.ask("op", pop).body["code"]?.string == "forbidden")
      // Who could do nothing is not even let in.
      #expect(try !site.peer(pairs[2].1).isAdmitted())
      try site.daemon.child.complains("nothing is granted to it")
    }

    @Test func `a session, a client id and remembered ops are bound to who proved himself`() throws
    {
      let (one, two) = (try CurveKeyPair.generate(), try CurveKeyPair.generate())
      let site = try NetworkDaemon(authorized: ["one": (one, "ui"), "two": (two, "ui")])
      let victim = try site.peer(one)
      try victim.hello()
      try victim.create("kiosk")
      let thief = try site.peer(two)
      try thief.send(
        "hello", #"{"ver":[1,1],"client":"\#(victim.client)","nonce":"n"}"#)
      let refused = try thief.awaits("refusal") { $0.verb == "err" }
      #expect(refused.body["code"]?.string == "forbidden")
      // The same octets under another's client id are another op, in the thief's own name.
      let members =
        #""client":"\#(victim.client)","nav":"kiosk","do":[{"push":{"screen":{}}}]"#
      #expect(try victim.ask("op", members).body["rev"]?.integer == 2)
      _ = try thief.ask("ping", "\"a\":1")
      #expect(try thief.ask("op", members).body["rev"]?.integer == 3)
      #expect(try victim.log("kiosk").last?["by"]?["principal"]?.string == "two")
      // Within a session a client id is the session's.
      try thief.hello()
      #expect(try thief.ask("op", members).body["code"]?.string == "invalid-argument")
      #expect(
        try thief.ask("op", #""nav":"kiosk","if":{"any":true},"do":[{"nav.close":{}}]"#)
          .body["code"]?.string == "forbidden")
      #expect(try victim.ask("ping", "\"a\":1").verb == "pong")
    }

    static let refusals: [(String, Int, String, String)] = [
      (
        "tcp://127.0.0.1:5719", 0, "",
        "tcp needs a secret key: create one with navctl key new FILE"
      ),
      ("tcp://127.0.0.1:5719", 0o644, "", "other users can read this secret key: chmod 0600"),
      ("tcp://0.0.0.0:5719", 0o600, "", "expected tcp://ADDRESS:PORT"),
      ("tcp://[::]:5719", 0o600, "", "expected tcp://ADDRESS:PORT"),
      ("tcp://*:5719", 0o600, "", "expected tcp://ADDRESS:PORT"),
      ("tcp://localhost:5719", 0o600, "", "expected tcp://ADDRESS:PORT"),
      ("ipc:///tmp/navd-t-unused", 0o600, "grant = uid:1 * all\n", "RIGHT read, push, pop, admin"),
    ]

    @Test(arguments: refusals) func `a configuration that is not safe is refused with status 3`(
      listen: String, mode: Int, lines: String, message: String
    ) throws {
      let directory = try TestDirectory()
      var text = "[access]\n" + lines
      if mode != 0 {
        let file = "\(directory.path)/navd.key"
        _ = try SecretKeyFile.create(file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        text += "secret-key = \(file)\n"
      }
      text += "[daemon]\nlisten = \(listen)\nstate = \(directory.path)/state\n"
      let file = try directory.write("navd.conf", text)
      let child = try Child(Binaries.path("navd"), ["--config", file], environment: ["HOME": "/"])
      #expect(try child.ended() == 3, "\(child.transcript)")
      #expect(child.standardError.contains(message), "\(child.transcript)")
    }
  }
}
