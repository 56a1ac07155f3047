import NavigationCore
import NavigationHub
import Testing
import ZeroMQ

@testable import TransportGuard

/// Who is let in, of all that a peer can prove: docs/security.md, "Who is trusted with what".
@Suite struct PeerAuthorityTests {
  private static let key = (0..<32).map { UInt8($0) }
  private static let other = (0..<32).map { UInt8(255 - $0) }

  private func guests(_ isOpen: Bool = true) throws -> Guests {
    let key = try #require(CurvePublicKey(bytes: Self.key))
    return Guests(names: [key: "panel"], isOpen: isOpen)
  }

  private func request(
    _ domain: String, _ mechanism: String, _ credentials: [[UInt8]], _ address: String
  ) throws -> ZAPRequest {
    let head = ["1.0", "1", domain, address, "", mechanism].map { Array($0.utf8) }
    return try #require(ZAPRequest(frames: [[0], []] + head + credentials))
  }

  @Test func `of all domains, mechanisms and addresses two together are admitted`() throws {
    let guests = try guests()
    var admitted: [String] = []
    let mechanisms: [(String, [[UInt8]])] = [
      ("NULL", []), ("CURVE", [Self.key]), ("CURVE", [Self.other]), ("PLAIN", [[1], [2]]),
      ("GSSAPI", [[1]]), ("", []), ("null", []), ("curve", [Self.key]),
    ]
    for domain in ["navd.ipc", "navd.tcp", "", "navd.ip", "global"] {
      for (mechanism, credentials) in mechanisms {
        for address in ["localhost:1000:100:77", "127.0.0.1", "::1", "", "localhost"] {
          let request = try request(domain, mechanism, credentials, address)
          guard let (peer, userID) = try? guests.admit(request) else { continue }
          admitted.append("\(domain) \(mechanism) \(address) \(peer.principal) \(userID)")
        }
      }
    }
    let z85 = try #require(CurvePublicKey(bytes: Self.key)).description
    let network = ["127.0.0.1", "::1", "", "localhost"].map { "navd.tcp CURVE \($0) panel \(z85)" }
    #expect(admitted == ["navd.ipc NULL localhost:1000:100:77 uid:1000 uid:1000"] + network)
  }

  @Test func `a refusal names the peer as far as it is proven, and why`() throws {
    func incident(_ guests: Guests, _ request: ZAPRequest) -> Notice? {
      do throws(AdmissionRefusal) {
        _ = try guests.admit(request)
        return nil
      } catch {
        return error.notice
      }
    }
    let local = try request("navd.ipc", "NULL", [], "localhost:1000:100:77")
    let stranger = try request("navd.tcp", "CURVE", [Self.other], "192.0.2.7")
    let known = try request("navd.tcp", "CURVE", [Self.key], "192.0.2.7")
    let mixed = try request("navd.tcp", "NULL", [], "localhost:0:0:1")
    let closed = try guests(false)
    let rows = [
      incident(closed, local), incident(closed, known), incident(try guests(), stranger),
      incident(try guests(), mixed),
    ]
    let key = try #require(CurvePublicKey(bytes: Self.other))
    #expect(
      rows.map { $0?.text } == [
        "uid:1000 is refused: nothing is granted to it",
        "panel is refused: nothing is granted to it",
        "192.0.2.7 is refused: its key is not authorised: \(key)",
        "a peer is refused: its address or mechanism is not the socket's",
      ])
    #expect(rows.map { $0?.principal } == ["uid:1000", "panel", nil, nil])
    #expect(rows.allSatisfy { $0?.code == "not-admitted" && $0?.level == .warning })
  }

  @Test func `a message is its peer's as long as the key has a name`() throws {
    let guests = try guests()
    let z85 = try #require(CurvePublicKey(bytes: Self.key)).description
    let local = guests.peer(.process(user: 5, group: 6, process: 7), userID: nil)
    #expect(local?.peer == .local(user: 5, group: 6, process: 7) && local?.key == nil)
    let network = guests.peer(.network("192.0.2.7"), userID: z85)
    #expect(network?.peer == .key(name: "panel", address: "192.0.2.7"))
    #expect(network?.key?.bytes == Self.key)
    let other = try #require(CurvePublicKey(bytes: Self.other)).description
    for userID in [nil, "", other, "uid:0", String(z85.dropLast()), z85 + "0", z85.uppercased()] {
      #expect(guests.peer(.network("192.0.2.7"), userID: userID) == nil, "\(userID ?? "nil")")
    }
  }

  @Test(
    arguments: [
      ("7 uid:1000", 7, "uid:1000"), ("18446744073709551615 x y", .max, "x y"), ("0 a", 0, "a"),
    ] as [(String, UInt64, String)])
  func `the user id of a message leads back to its admission`(
    text: String, admission: UInt64, userID: String
  ) throws {
    let read = try #require(GuardedRouter.readUserID(text))
    #expect(read.admission == admission && read.userID == userID)
  }

  @Test(arguments: ["", "7", "uid:1000", "-1 a", "18446744073709551616 a", "a 7", "7 ", "0x7 a"])
  func `a user id of another form is none of this router's`(text: String) {
    #expect(GuardedRouter.readUserID(text) == nil)
  }
}

/// How many connections are too many, against sums over a list.
@Suite struct ConnectionExcessTests {
  @Test(arguments: 0..<10 as Range<UInt64>)
  func `a connection is in excess of what its origin may have, and of no other's`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var connections = Connections()
    let limits = GuardedRouter.Limits(
      connections: Int.random(in: 0...20, using: &random),
      ofPrincipal: Int.random(in: 0...20, using: &random))
    var open: [(descriptor: Int32, user: UInt32?)] = []
    for step in 0..<300 {
      if open.count > 150 || Int.random(in: 0..<4, using: &random) == 0, let last = open.popLast() {
        connections.noteClosed(last.descriptor, cookie: UInt64(last.descriptor), at: 0)
        continue
      }
      let user: UInt32? = [nil, 5, 6].randomElement(using: &random) ?? nil
      let descriptor = Int32(step + 3)
      let origin: Connection.Origin =
        user.map { .process(user: $0, number: descriptor) } ?? .network
      let slot = connections.noteAccepted(
        Acceptance(
          descriptor: descriptor, cookie: UInt64(descriptor), origin: origin,
          admissionsBefore: 0), at: 0)
      open.append((descriptor, user))
      let own = open.count { $0.user == user }
      let local = open.count { $0.user != nil }
      let excess = connections.excess(of: slot, limits)
      if user == nil {
        #expect(excess.count == own - limits.connections - 64 && !excess.isOfUser)
      } else {
        let all = local - limits.connections - 64
        let mine = own - limits.connectionsPerPrincipal - 64
        #expect(excess.count == max(all, mine) && excess.isOfUser == (mine > all))
      }
      #expect(connections.openCount == open.count)
    }
  }

  @Test func `principals are listed with the most connections first, silent ones apart`() throws {
    var connections = Connections()
    let limits = GuardedRouter.Limits(connections: 100, ofPrincipal: 100)
    let users: [UInt32] = [7, 9, 7, 8, 9, 7, 6]
    for (index, user) in users.enumerated() {
      let process = Int32(index)
      connections.noteAccepted(
        Acceptance(
          descriptor: process + 3, cookie: UInt64(index),
          origin: .process(user: user, number: process),
          admissionsBefore: 0), at: 0)
      // The last one does not ask for admission.
      guard user != 6 else { continue }
      let verdict = connections.admit(
        .local(user: user, group: 0, process: process), as: UInt64(index) + 1, limits)
      #expect(verdict == .admitted)
    }
    #expect(connections.principals.map(\.name) == ["uid:7", "uid:9", "uid:8"])
    #expect(connections.principals.map(\.connections) == [3, 2, 1])
    #expect(connections.openCookies.sorted() == Array(0..<7))
  }
}
